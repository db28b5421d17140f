"""Queue attributes: defaults, ranges, what `All` means, JSON-valued ones, encryption rules."""

import json

import pytest

from harness import clock
from harness.errors import refused

DEFAULTS = {
    "VisibilityTimeout": "30",
    "MessageRetentionPeriod": "345600",
    "DelaySeconds": "0",
    "MaximumMessageSize": "1048576",
    "ReceiveMessageWaitTimeSeconds": "0",
    "SqsManagedSseEnabled": "true",
    "ApproximateNumberOfMessages": "0",
    "ApproximateNumberOfMessagesNotVisible": "0",
    "ApproximateNumberOfMessagesDelayed": "0",
}
FIFO_DEFAULTS = {
    "FifoQueue": "true",
    "ContentBasedDeduplication": "false",
    "DeduplicationScope": "queue",
    "FifoThroughputLimit": "perQueue",
}
ALWAYS = {"QueueArn", "CreatedTimestamp", "LastModifiedTimestamp"}
RANGES = {
    "VisibilityTimeout": (0, 43200),
    "MessageRetentionPeriod": (60, 1209600),
    "DelaySeconds": (0, 900),
    "MaximumMessageSize": (1024, 1048576),
    "ReceiveMessageWaitTimeSeconds": (0, 20),
}


def test_all_on_a_fresh_standard_queue_is_exactly_twelve(new_queue):
    found = new_queue().attributes("All")
    assert set(found) == set(DEFAULTS) | ALWAYS
    assert {name: found[name] for name in DEFAULTS} == DEFAULTS


def test_all_on_a_fresh_fifo_queue_adds_four(new_queue):
    found = new_queue(fifo=True).attributes("All")
    expected = {**DEFAULTS, **FIFO_DEFAULTS}
    assert set(found) == set(expected) | ALWAYS
    assert {name: found[name] for name in expected} == expected


def test_no_names_return_nothing(api, new_queue):
    queue = new_queue()
    assert api.GetQueueAttributes(QueueUrl=queue.url) == {}


def test_an_empty_name_list_is_the_same_as_none(api, new_queue):
    queue = new_queue()
    assert api.GetQueueAttributes(QueueUrl=queue.url, AttributeNames=[]) == {}


def test_only_the_named_attributes_return(new_queue):
    found = new_queue().attributes("DelaySeconds", "VisibilityTimeout")
    assert found == {"DelaySeconds": "0", "VisibilityTimeout": "30"}


def test_names_that_are_not_set_are_skipped(api, new_queue):
    queue = new_queue()
    names = ["Policy", "RedrivePolicy", "KmsMasterKeyId", "KmsDataKeyReusePeriodSeconds"]
    assert api.GetQueueAttributes(QueueUrl=queue.url, AttributeNames=names) == {}
    fifo_names = ["FifoQueue", "ContentBasedDeduplication", "DeduplicationScope"]
    assert api.GetQueueAttributes(QueueUrl=queue.url, AttributeNames=fifo_names) == {}


def test_all_may_be_mixed_with_other_names(new_queue):
    assert len(new_queue().attributes("All", "DelaySeconds")) == 12


@pytest.mark.parametrize("name", ["Bogus", "visibilitytimeout", "all"])
def test_unknown_names_are_refused_on_get(new_queue, name):
    queue = new_queue()
    with refused("InvalidAttributeName", f"Unknown Attribute {name}."):
        queue.attributes(name)


@pytest.mark.parametrize(
    "name", ["Bogus", "QueueArn", "CreatedTimestamp", "ApproximateNumberOfMessages", "All"]
)
def test_unknown_and_read_only_names_are_refused_on_set(new_queue, name):
    queue = new_queue()
    with refused("InvalidAttributeName", f"Unknown Attribute {name}."):
        queue.set(**{name: "1"})


def test_unknown_names_are_refused_on_create(new_queue):
    with refused("InvalidAttributeName", "Unknown Attribute Bogus."):
        new_queue(attributes={"Bogus": "1"})


@pytest.mark.parametrize("name,limits", RANGES.items())
def test_both_ends_of_a_range_are_valid(new_queue, name, limits):
    queue = new_queue()
    for value in limits:
        queue.set(**{name: str(value)})
        assert queue.attribute(name) == str(value)
    created = new_queue(attributes={name: str(limits[0])})
    assert created.attribute(name) == str(limits[0])


@pytest.mark.parametrize("name,limits", RANGES.items())
def test_values_outside_a_range_are_refused(new_queue, name, limits):
    queue = new_queue()
    before = queue.attribute(name)
    for value in (str(limits[0] - 1), str(limits[1] + 1), "many", "1.5"):
        with refused(
            "InvalidAttributeValue",
            f"Invalid value for the parameter {name}.",
            rule=f"{name}={value!r}",
        ):
            queue.set(**{name: value})
    assert queue.attribute(name) == before


def test_out_of_range_is_refused_on_create(new_queue):
    with refused("InvalidAttributeValue", rule="MaximumMessageSize below 1024"):
        new_queue(attributes={"MaximumMessageSize": "1023"})


def test_set_leaves_other_attributes_alone(new_queue):
    queue = new_queue(attributes={"DelaySeconds": "7"})
    queue.set(VisibilityTimeout="5")
    queue.set(Policy='{"Version":"2012-10-17","Statement":[]}')
    queue.set(RedriveAllowPolicy='{"redrivePermission":"denyAll"}')
    found = queue.attributes()
    assert (found["DelaySeconds"], found["VisibilityTimeout"]) == ("7", "5")
    assert json.loads(found["Policy"]) == {"Version": "2012-10-17", "Statement": []}
    assert "RedriveAllowPolicy" in found


def test_set_is_all_or_nothing(new_queue):
    queue = new_queue()
    with refused("InvalidAttributeValue", rule="one bad value spoils the whole call"):
        queue.set(VisibilityTimeout="5", DelaySeconds="901")
    assert queue.attribute("VisibilityTimeout") == "30"


@pytest.mark.virtual_clock
def test_timestamps_are_whole_seconds_and_set_moves_last_modified(new_queue):
    queue = new_queue()
    before = queue.attributes()
    assert abs(int(before["CreatedTimestamp"]) * 1000 - clock.now_ms()) < 10_000
    clock.wait(1)
    queue.set(VisibilityTimeout="5")
    after = queue.attributes()
    assert after["CreatedTimestamp"] == before["CreatedTimestamp"]
    assert int(after["LastModifiedTimestamp"]) > int(before["LastModifiedTimestamp"])


def test_terraforms_explicit_size_comes_back_as_sent(new_queue):
    queue = new_queue(attributes={"MaximumMessageSize": "262144"})
    assert queue.attribute("MaximumMessageSize") == "262144"


def test_booleans_are_accepted_in_any_case(new_queue):
    queue = new_queue(fifo=True, attributes={"ContentBasedDeduplication": "True"})
    assert queue.attribute("ContentBasedDeduplication") == "true"
    queue.set(ContentBasedDeduplication="FALSE", SqsManagedSseEnabled="False")
    assert queue.attribute("ContentBasedDeduplication") == "false"
    assert queue.attribute("SqsManagedSseEnabled") == "false"


# --- FIFO attributes --------------------------------------------------------------------------


@pytest.mark.parametrize("name", ["FifoQueue", "ContentBasedDeduplication"])
@pytest.mark.parametrize("value", ["true", "false"])
def test_fifo_attributes_are_unknown_to_standard_queues(new_queue, name, value):
    queue = new_queue()
    with refused("InvalidAttributeName", f"Unknown Attribute {name}."):
        queue.set(**{name: value})


@pytest.mark.parametrize("name", ["FifoQueue", "ContentBasedDeduplication"])
def test_fifo_attributes_are_unknown_when_creating_a_standard_queue(new_queue, name):
    with refused("InvalidAttributeName", f"Unknown Attribute {name}."):
        new_queue(attributes={name: "false"})


@pytest.mark.parametrize(
    "name,value", [("DeduplicationScope", "queue"), ("FifoThroughputLimit", "perQueue")]
)
def test_throughput_attributes_need_a_fifo_queue(new_queue, name, value):
    text = f"You can specify the {name} only when FifoQueue is set to true."
    with refused("InvalidAttributeName", text):
        new_queue(attributes={name: value})
    queue = new_queue()
    with refused("InvalidAttributeName", text):
        queue.set(**{name: value})


def test_the_queue_type_cannot_be_changed(new_queue):
    queue = new_queue(fifo=True)
    queue.set(FifoQueue="true")
    with refused(
        "InvalidAttributeValue",
        "Invalid value for the parameter FifoQueue. "
        "Reason: Modifying queue type is not supported.",
    ):
        queue.set(FifoQueue="false")


def test_high_throughput_needs_deduplication_per_group(new_queue):
    queue = new_queue(fifo=True)
    with refused("InvalidAttributeValue", rule="perMessageGroupId needs messageGroup scope"):
        queue.set(FifoThroughputLimit="perMessageGroupId")
    queue.set(FifoThroughputLimit="perMessageGroupId", DeduplicationScope="messageGroup")
    assert queue.attribute("FifoThroughputLimit") == "perMessageGroupId"


@pytest.mark.parametrize("name", ["DeduplicationScope", "FifoThroughputLimit"])
def test_fifo_enumerations_refuse_other_words(new_queue, name):
    queue = new_queue(fifo=True)
    with refused("InvalidAttributeValue", rule=f"{name} is one of two words"):
        queue.set(**{name: "sometimes"})


# --- JSON-valued attributes -------------------------------------------------------------------


@pytest.mark.parametrize("count", [3, "3"], ids=["number", "numeric string"])
def test_redrive_policy_returns_compact_sorted_and_numeric(new_queue, count):
    target, queue = new_queue(), new_queue()
    policy = json.dumps({"maxReceiveCount": count, "deadLetterTargetArn": target.arn}, indent=2)
    queue.set(RedrivePolicy=policy)
    assert queue.attribute("RedrivePolicy") == (
        f'{{"deadLetterTargetArn":"{target.arn}","maxReceiveCount":3}}'
    )


def test_redrive_allow_policy_returns_compact_and_sorted(new_queue):
    source, queue = new_queue(), new_queue()
    policy = {"sourceQueueArns": [source.arn], "redrivePermission": "byQueue"}
    queue.set(RedriveAllowPolicy=json.dumps(policy, indent=1))
    assert queue.attribute("RedriveAllowPolicy") == (
        f'{{"redrivePermission":"byQueue","sourceQueueArns":["{source.arn}"]}}'
    )


def test_an_empty_string_removes_a_json_attribute(new_queue):
    target, queue = new_queue(), new_queue()
    queue.redrive_to(target, 3)
    queue.set(Policy='{"Statement":[]}', RedriveAllowPolicy='{"redrivePermission":"denyAll"}')
    assert {"Policy", "RedrivePolicy", "RedriveAllowPolicy"} < set(queue.attributes())
    for name in ("Policy", "RedrivePolicy", "RedriveAllowPolicy"):
        queue.set(**{name: ""})
        assert name not in queue.attributes(), f'"" removes {name}'


def test_policy_comes_back_equal(new_queue):
    policy = {
        "Version": "2012-10-17",
        "Statement": [{"Sid": 'q"uote\n', "Effect": "Allow", "Principal": "*", "Action": "sqs:*"}],
    }
    queue = new_queue(attributes={"Policy": json.dumps(policy)})
    assert json.loads(queue.attribute("Policy")) == policy


def test_malformed_policy_is_refused(new_queue):
    queue = new_queue()
    with refused("InvalidAttributeValue", "Invalid value for the parameter Policy."):
        queue.set(Policy="{not json")


# --- Encryption -------------------------------------------------------------------------------


def test_a_kms_key_turns_managed_encryption_off_for_good(new_queue):
    queue = new_queue()
    queue.set(KmsMasterKeyId="alias/never-checked")
    found = queue.attributes()
    assert found["KmsMasterKeyId"] == "alias/never-checked"
    assert found["KmsDataKeyReusePeriodSeconds"] == "300"
    assert found["SqsManagedSseEnabled"] == "false"
    queue.set(KmsMasterKeyId="", KmsDataKeyReusePeriodSeconds="300")
    found = queue.attributes()
    assert "KmsMasterKeyId" not in found and "KmsDataKeyReusePeriodSeconds" not in found
    assert found["SqsManagedSseEnabled"] == "false", "stays off after the key is removed"


def test_both_kinds_of_encryption_at_once_are_refused(new_queue):
    text = (
        "You can use one type of server-side encryption (SSE) at one time. "
        "You can either enable KMS SSE or SQS SSE."
    )
    both = {"KmsMasterKeyId": "alias/a", "SqsManagedSseEnabled": "true"}
    with refused("InvalidAttributeName", text):
        new_queue(attributes=both)
    queue = new_queue()
    with refused("InvalidAttributeName", text):
        queue.set(**both)
    assert queue.attribute("SqsManagedSseEnabled") == "true"


@pytest.mark.parametrize(
    "value,valid", [("59", False), ("60", True), ("86400", True), ("86401", False)]
)
def test_kms_reuse_period_range(new_queue, value, valid):
    queue = new_queue(attributes={"KmsMasterKeyId": "alias/a"})
    if valid:
        queue.set(KmsDataKeyReusePeriodSeconds=value)
        assert queue.attribute("KmsDataKeyReusePeriodSeconds") == value
    else:
        with refused("InvalidAttributeValue", rule="KmsDataKeyReusePeriodSeconds is 60..86400"):
            queue.set(KmsDataKeyReusePeriodSeconds=value)
