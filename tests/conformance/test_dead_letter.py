"""Dead-letter queues: policies, when a message moves, what it looks like afterwards."""

import concurrent.futures
import contextlib
import json

import pytest

from harness import clock
from harness.errors import ApiError, refused
from harness.queue import string


@pytest.fixture
def pair(new_queue):
    """Makes (source, dead-letter queue) joined by a redrive policy."""

    def make(max_receives=1, fifo=False, **attributes):
        target = new_queue("dlq", fifo=fifo)
        source = new_queue("source", fifo=fifo, attributes=attributes)
        source.redrive_to(target, max_receives)
        return source, target

    return make


def burn(queue, times):
    """Receives and releases the same message `times` times."""
    for _ in range(times):
        queue.receive_one(VisibilityTimeout=0)


# --- Policies ---------------------------------------------------------------------------------


def test_the_target_must_exist(new_queue):
    queue = new_queue()
    arn = "arn:aws:sqs:us-east-1:000000000000:no-such-queue"
    policy = f'{{"deadLetterTargetArn":"{arn}","maxReceiveCount":3}}'
    with refused(
        "InvalidParameterValue",
        f"Value {policy} for parameter RedrivePolicy is invalid. "
        "Reason: Dead letter target does not exist.",
    ):
        queue.set(RedrivePolicy=policy)
    with refused("InvalidParameterValue", matching="Dead letter target does not exist"):
        new_queue(attributes={"RedrivePolicy": policy})


@pytest.mark.parametrize("missing", ["deadLetterTargetArn", "maxReceiveCount"])
def test_both_members_are_mandatory(new_queue, missing):
    queue, target = new_queue(), new_queue()
    policy = {"deadLetterTargetArn": target.arn, "maxReceiveCount": 3}
    del policy[missing]
    with refused(
        "InvalidParameterValue",
        matching=f"Redrive policy does not contain mandatory attribute: {missing}",
    ):
        queue.set(RedrivePolicy=json.dumps(policy))


@pytest.mark.parametrize("count", [0, 1001, -1, "many", "1.5"])
def test_max_receive_count_range(new_queue, count):
    queue, target = new_queue(), new_queue()
    with refused(
        "InvalidParameterValue",
        matching=f"Invalid value for maxReceiveCount: {count}, "
        "valid values are from 1 to 1000 both inclusive",
    ):
        queue.redrive_to(target, count)


@pytest.mark.parametrize("count", [1, 1000, "1000"])
def test_max_receive_count_limits_are_valid(new_queue, count):
    queue, target = new_queue(), new_queue()
    queue.redrive_to(target, count)
    assert json.loads(queue.attribute("RedrivePolicy"))["maxReceiveCount"] == int(count)


@pytest.mark.parametrize("policy", ["{not json", "[]", '"text"', "3"])
def test_a_redrive_policy_is_a_json_object(new_queue, policy):
    queue = new_queue()
    with pytest.raises(ApiError) as caught:
        queue.set(RedrivePolicy=policy)
    assert caught.value.code in ("InvalidParameterValue", "InvalidAttributeValue")


@pytest.mark.parametrize("source_is_fifo", [True, False])
def test_both_queues_are_of_one_type(new_queue, source_is_fifo):
    source, target = new_queue(fifo=source_is_fifo), new_queue(fifo=not source_is_fifo)
    with refused("InvalidParameterValue", rule="a dead-letter queue has its source's type"):
        source.redrive_to(target, 3)


def test_a_queue_may_name_itself_and_then_keeps_its_messages(new_queue):
    queue = new_queue()
    queue.redrive_to(queue, 1)
    queue.send("m")
    for _ in range(3):
        assert queue.bodies(VisibilityTimeout=0) == ["m"], "as if there were no policy"


def test_the_target_is_in_the_same_region(api, new_queue):
    elsewhere = new_queue(using=api.derive(region="eu-west-1"))
    queue = new_queue()
    with refused("InvalidParameterValue", rule="a dead-letter queue is in its source's region"):
        queue.redrive_to(elsewhere, 3)


def test_list_dead_letter_source_queues(api, new_queue):
    target = new_queue("dlq")
    assert api.ListDeadLetterSourceQueues(QueueUrl=target.url).get("queueUrls", []) == []
    sources = [new_queue() for _ in range(3)]
    for source in sources:
        source.redrive_to(target, 3)
    urls = api.ListDeadLetterSourceQueues(QueueUrl=target.url)["queueUrls"]
    assert sorted(urls) == sorted(source.url for source in sources)
    page = api.ListDeadLetterSourceQueues(QueueUrl=target.url, MaxResults=2)
    rest = api.ListDeadLetterSourceQueues(
        QueueUrl=target.url, MaxResults=2, NextToken=page["NextToken"]
    )
    assert sorted(page["queueUrls"] + rest["queueUrls"]) == sorted(urls)
    sources[0].set(RedrivePolicy="")
    urls = api.ListDeadLetterSourceQueues(QueueUrl=target.url)["queueUrls"]
    assert sorted(urls) == sorted(source.url for source in sources[1:])


# --- Allow policies ---------------------------------------------------------------------------


def test_deny_all_refuses_new_sources_but_keeps_old_ones(new_queue):
    target, old, new = new_queue("dlq"), new_queue(), new_queue()
    old.redrive_to(target, 3)
    target.set(RedriveAllowPolicy='{"redrivePermission":"denyAll"}')
    with refused("InvalidParameterValue", rule="denyAll"):
        new.redrive_to(target, 3)
    assert "RedrivePolicy" in old.attributes()


def test_by_queue_admits_only_the_named_sources(new_queue):
    target, friend, stranger = new_queue("dlq"), new_queue(), new_queue()
    policy = {"redrivePermission": "byQueue", "sourceQueueArns": [friend.arn]}
    target.set(RedriveAllowPolicy=json.dumps(policy))
    friend.redrive_to(target, 3)
    with refused("InvalidParameterValue", rule="byQueue without this source"):
        stranger.redrive_to(target, 3)


def test_allow_all_and_removal_admit_everybody(new_queue):
    target, queue = new_queue("dlq"), new_queue()
    target.set(RedriveAllowPolicy='{"redrivePermission":"allowAll"}')
    queue.redrive_to(target, 3)
    target.set(RedriveAllowPolicy='{"redrivePermission":"denyAll"}')
    target.set(RedriveAllowPolicy="")
    queue.redrive_to(target, 4)


BAD_ALLOW_POLICIES = {
    "unknown word": {"redrivePermission": "sometimes"},
    "sources without byQueue": {"redrivePermission": "denyAll", "sourceQueueArns": ["a"]},
    "byQueue without sources": {"redrivePermission": "byQueue"},
    "eleven sources": {
        "redrivePermission": "byQueue",
        "sourceQueueArns": [f"arn:aws:sqs:us-east-1:000000000000:q{n}" for n in range(11)],
    },
}


@pytest.mark.parametrize("policy", BAD_ALLOW_POLICIES.values(), ids=BAD_ALLOW_POLICIES)
def test_malformed_allow_policies_are_refused(new_queue, policy):
    queue = new_queue()
    with pytest.raises(ApiError) as caught:
        queue.set(RedriveAllowPolicy=json.dumps(policy))
    assert caught.value.code in ("InvalidParameterValue", "InvalidAttributeValue")


# --- Moving -----------------------------------------------------------------------------------


@pytest.mark.parametrize("max_receives", [1, 3])
def test_exactly_n_receives_return_it_and_the_next_moves_it(pair, max_receives):
    source, target = pair(max_receives)
    source.send("m")
    burn(source, max_receives)
    assert source.counts() == (1, 0, 0) and target.counts() == (0, 0, 0)
    assert source.receive() == [], "the attempt after the last allowed one moves it"
    assert source.counts() == (0, 0, 0) and target.counts() == (1, 0, 0)
    assert target.bodies() == ["m"]


@pytest.mark.virtual_clock
def test_no_move_happens_by_time_alone(pair):
    source, target = pair(1)
    source.send("m")
    source.receive_one(VisibilityTimeout=1)
    clock.wait(1)
    assert source.counts() == (1, 0, 0)
    assert target.receive() == []


def test_the_receive_goes_on_to_other_messages(pair):
    source, target = pair(1)
    source.send("spent")
    burn(source, 1)
    source.send("fresh")
    assert source.bodies() == ["fresh"]
    assert target.bodies() == ["spent"]


def test_many_spent_messages_move_in_one_receive(pair):
    source, target = pair(1)
    source.send_batch([{"Id": str(n), "MessageBody": f"m{n}"} for n in range(10)])
    assert len(source.receive(VisibilityTimeout=0)) == 10
    assert source.receive() == []
    assert target.counts() == (10, 0, 0)


@pytest.mark.virtual_clock
def test_a_short_poll_finds_what_is_behind_many_spent_messages(pair):
    """More than the server moves aside at once: a receive goes on until it knows."""
    source, target = pair(1)
    count = 1500
    for first in range(0, count, 10):
        source.send_batch([{"Id": str(n), "MessageBody": f"m{first + n}"} for n in range(10)])
    for _ in range(count // 10):
        assert len(source.receive(VisibilityTimeout=30)) == 10
    clock.wait(31)
    source.send("behind")
    assert source.bodies() == ["behind"]
    assert source.receive() == []
    assert target.counts() == (count, 0, 0)


def test_a_long_poll_on_the_target_sees_the_arrival(pair):
    source, target = pair(1)
    source.send("m")
    burn(source, 1)
    with concurrent.futures.ThreadPoolExecutor() as pool:
        poll = pool.submit(target.bodies, wait=15)
        clock.wait(0.2)
        source.receive()
        assert poll.result() == ["m"]


def test_what_a_moved_standard_message_keeps(pair):
    source, target = pair(1)
    attributes = {"k": string("x")}
    sent = source.send(
        "m",
        MessageAttributes=attributes,
        MessageGroupId="tenant",
        MessageSystemAttributes={"AWSTraceHeader": string("Root=1-a")},
    )
    names = {"AttributeNames": ["All"], "MessageAttributeNames": ["All"]}
    before = source.receive_one(VisibilityTimeout=0, **names)
    source.receive()
    after = target.receive_one(**names)
    assert after["MessageId"] == sent["MessageId"] == before["MessageId"]
    assert after["Body"] == "m" and after["MD5OfBody"] == before["MD5OfBody"]
    assert after["MessageAttributes"] == attributes
    assert after["MD5OfMessageAttributes"] == before["MD5OfMessageAttributes"]
    found = after["Attributes"]
    assert found["ApproximateReceiveCount"] == "2", "the count continues in the DLQ"
    assert found["DeadLetterQueueSourceArn"] == source.arn
    assert found["SentTimestamp"] == before["Attributes"]["SentTimestamp"]
    assert found["AWSTraceHeader"] == "Root=1-a"
    assert found["MessageGroupId"] == "tenant"
    assert "DeadLetterQueueSourceArn" not in before["Attributes"]


def test_handles_of_the_source_do_not_delete_the_moved_message(pair):
    source, target = pair(1)
    source.send("m")
    message = source.receive_one(VisibilityTimeout=0)
    source.receive()
    with contextlib.suppress(ApiError):
        source.delete(message)
    assert target.counts() == (1, 0, 0)


def test_a_fifo_message_keeps_its_group_and_gets_a_new_deduplication_id(pair):
    source, target = pair(1, fifo=True)
    sent = source.send_fifo("m", group="g", dedup="d")
    burn(source, 1)
    assert source.receive() == []
    message = target.receive_one(AttributeNames=["All"])
    assert message["MessageId"] == sent["MessageId"]
    found = message["Attributes"]
    assert found["MessageGroupId"] == "g"
    assert found["MessageDeduplicationId"] == sent["MessageId"]
    assert found["ApproximateReceiveCount"] == "2"
    assert found["DeadLetterQueueSourceArn"] == source.arn


def test_the_move_unblocks_the_fifo_group(pair):
    source, target = pair(1, fifo=True)
    source.send_fifo("poison", group="g")
    source.send_fifo("next", group="g")
    assert source.bodies(max=1, VisibilityTimeout=0) == ["poison"]
    assert source.bodies() == ["next"]
    assert target.bodies() == ["poison"]
    source.send_fifo("later", group="other")
    assert source.bodies() == ["later"], "the source stays usable"


def test_fifo_order_survives_the_move(pair):
    source, target = pair(1, fifo=True)
    for n in range(4):
        source.send_fifo(f"m{n}")
    assert len(source.receive(VisibilityTimeout=0)) == 4
    assert source.receive() == []
    assert target.bodies() == ["m0", "m1", "m2", "m3"]


def test_dead_letter_queues_may_be_chained(pair, new_queue):
    source, middle = pair(1)
    last = new_queue("last")
    middle.redrive_to(last, 2)
    source.send("m")
    burn(source, 1)
    source.receive()
    for _ in range(3):  # Two allowed receives at most, whether or not the count continues.
        middle.receive(VisibilityTimeout=0)
    assert last.bodies() == ["m"]


def test_without_its_target_a_message_stays_in_the_source(api, pair):
    source, target = pair(1)
    source.send("m")
    burn(source, 1)
    api.DeleteQueue(QueueUrl=target.url)
    assert "RedrivePolicy" in source.attributes(), "deleting a DLQ leaves the policies alone"
    source.receive(VisibilityTimeout=0)
    assert source.counts() == (1, 0, 0)


def test_lowering_the_count_applies_to_messages_already_received(pair):
    source, target = pair(10)
    source.send("m")
    burn(source, 3)
    source.redrive_to(target, 2)
    assert source.receive() == []
    assert target.bodies() == ["m"]


def test_without_a_policy_nothing_moves(pair):
    source, target = pair(1)
    source.send("m")
    burn(source, 1)
    source.set(RedrivePolicy="")
    assert source.bodies() == ["m"]
    assert target.receive() == []
