"""Event source mappings: every rule of creating and changing one, and that messages arrive."""

import json
import re

import pytest
from botocore.exceptions import ClientError

from harness import clock
from harness.functions import address_of, client, settings
from harness.queue import unique_name

INVALID = "InvalidParameterValueException"


@pytest.fixture
def functions(endpoint):
    return client("lambda", endpoint)


@pytest.fixture
def sqs(endpoint):
    return client("sqs", endpoint)


@pytest.fixture
def function(functions):
    wanted = settings()
    functions.create_function(**wanted)
    yield wanted["FunctionName"]
    for mapping in functions.list_event_source_mappings(FunctionName=wanted["FunctionName"])[
            "EventSourceMappings"]:
        functions.delete_event_source_mapping(UUID=mapping["UUID"])
    functions.delete_function(FunctionName=wanted["FunctionName"])


@pytest.fixture
def queue(sqs):
    """ARNs of queues that are gone afterwards."""
    urls = []

    def make(fifo=False, **attributes):
        name = unique_name("src") + (".fifo" if fifo else "")
        if fifo:
            attributes["FifoQueue"] = "true"
        urls.append(sqs.create_queue(QueueName=name, Attributes=attributes)["QueueUrl"])
        told = sqs.get_queue_attributes(QueueUrl=urls[-1], AttributeNames=["QueueArn"])
        return told["Attributes"]["QueueArn"]

    yield make
    for url in urls:
        sqs.delete_queue(QueueUrl=url)


def bare(endpoint, method, path, body=None):
    """Our boto3 is older than some members, so those are sent without it."""
    import http.client
    address = address_of(endpoint)
    connection = http.client.HTTPConnection(address.hostname, address.port, timeout=20)
    connection.request(method, path, json.dumps(body) if body is not None else None,
                       {"Content-Type": "application/json"})
    answer = connection.getresponse()
    text = answer.read().decode()
    connection.close()
    return answer.status, answer.getheader("x-amzn-ErrorType"), json.loads(text or "{}")


def create(endpoint, **body):
    return bare(endpoint, "POST", "/2015-03-31/event-source-mappings/", body)


def test_a_mapping_comes_and_goes(functions, function, queue):
    source = queue()
    created = functions.create_event_source_mapping(EventSourceArn=source, FunctionName=function)
    assert created["ResponseMetadata"]["HTTPStatusCode"] == 202
    assert created["State"] == "Creating" and created["StateTransitionReason"] == "USER_INITIATED"
    assert created["BatchSize"] == 10 and created["MaximumBatchingWindowInSeconds"] == 0
    assert created["FunctionResponseTypes"] == []
    assert created["FunctionArn"].endswith(f":function:{function}")
    for absent in ("FilterCriteria", "ScalingConfig", "DestinationConfig", "MaximumRetryAttempts",
                   "BisectBatchOnFunctionError"):
        assert absent not in created
    uuid = created["UUID"]
    assert re.fullmatch("[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}", uuid)
    assert functions.get_event_source_mapping(UUID=uuid)["State"] == "Enabled"

    paused = functions.update_event_source_mapping(UUID=uuid, Enabled=False)
    assert paused["State"] == "Disabling"
    clock.until(
        "the poller has let go",
        lambda: functions.get_event_source_mapping(UUID=uuid)["State"] == "Disabled",
        timeout=20,
    )
    assert functions.update_event_source_mapping(UUID=uuid, BatchSize=5)["State"] == "Updating"
    assert functions.update_event_source_mapping(UUID=uuid, Enabled=True)["State"] == "Enabling"
    assert functions.get_event_source_mapping(UUID=uuid)["BatchSize"] == 5

    deleted = functions.delete_event_source_mapping(UUID=uuid)
    assert deleted["State"] == "Deleting" and deleted["ResponseMetadata"]["HTTPStatusCode"] == 202
    with pytest.raises(ClientError) as failure:
        functions.get_event_source_mapping(UUID=uuid)
    assert failure.value.response["ResponseMetadata"]["HTTPStatusCode"] == 404
    assert failure.value.response["Error"] == {
        "Code": "ResourceNotFoundException",
        "Message": "The resource you requested does not exist."}


def test_every_refusal_in_its_words(endpoint, function, queue):
    standard, fifo, short = queue(), queue(fifo=True), queue(VisibilityTimeout="1")
    missing = standard + "-none"
    for body, message in [
        ({}, "Unrecognized event source."),
        ({"EventSourceArn": "arn:aws:kinesis:us-east-1:000000000000:stream/s"},
         "Unrecognized event source."),
        ({"EventSourceArn": standard, "FunctionName": "nobody"}, "Function does not exist"),
        ({"EventSourceArn": standard, "BatchSize": 11},
         "Maximum batch window in seconds must be greater than 0 if maximum batch size is greater "
         "than 10"),
        ({"EventSourceArn": fifo, "MaximumBatchingWindowInSeconds": 1},
         "Batching window is not supported for FIFO queues"),
        ({"EventSourceArn": short},
         "Queue visibility timeout: 1 seconds is less than Function timeout: 3 seconds"),
        ({"EventSourceArn": missing},
         "Error occurred while ReceiveMessage. SQS Error Code: "
         "AWS.SimpleQueueService.NonExistentQueue. SQS Error Message: The specified queue does not "
         "exist."),
        ({"EventSourceArn": standard, "FilterCriteria": {"Filters": [{"Pattern": "[]"}]}},
         "Invalid filter pattern definition."),
        ({"EventSourceArn": standard, "StartingPosition": "LATEST"},
         "Unsupported StartingPosition parameter for given event source mapping type."),
        ({"EventSourceArn": standard, "ScalingConfig": {"MaximumConcurrency": 5},
          "ProvisionedPollerConfig": {"MinimumPollers": 2}},
         "ScalingConfig and ProvisionedPollerConfig cannot be set at the same time."),
        ({"EventSourceArn": standard, "DestinationConfig": {"OnFailure": {"Destination": standard}}},
         "The queue of a mapping cannot be its destination."),
    ]:
        status, code, told = create(endpoint, **{"FunctionName": function, **body})
        assert (status, code, told.get("message")) == (400, INVALID, message), body
        assert told["Type"] == "User"


@pytest.mark.parametrize("body", [
    {"BatchSize": 0}, {"BatchSize": 10001}, {"MaximumBatchingWindowInSeconds": 301},
    {"ScalingConfig": {"MaximumConcurrency": 1}}, {"ScalingConfig": {"MaximumConcurrency": 1001}},
    {"FunctionResponseTypes": ["Other"]}, {"MaximumRetryAttempts": 10001},
    {"MaximumRecordAgeInSeconds": 59},
    {"RetryPolicy": [{"ErrorEquals": ["A"], "JitterStrategy": "SOME"}]},
])
def test_values_out_of_range(endpoint, function, queue, body):
    status, code, told = create(endpoint, EventSourceArn=queue(), FunctionName=function, **body)
    assert (status, code) == (400, "ValidationException"), told


@pytest.mark.parametrize("policy", [
    [{"ErrorEquals": []}],
    [{"ErrorEquals": ["A"], "MaxAttempt": 0}],
    [{"ErrorEquals": ["States.ALL"]}, {"ErrorEquals": ["A"]}],
    [{"ErrorEquals": ["A"], "BackoffRate": 0.5}],
    [{"ErrorEquals": ["States.Unheard"]}],
])
def test_retry_policies_that_make_no_sense(endpoint, function, queue, policy):
    status, code, told = create(endpoint, EventSourceArn=queue(), FunctionName=function,
                                RetryPolicy=policy)
    assert (status, code) == (400, INVALID), told


def test_one_queue_and_function_are_mapped_once(functions, function, queue):
    source = queue()
    first = functions.create_event_source_mapping(EventSourceArn=source, FunctionName=function)
    with pytest.raises(ClientError) as failure:
        functions.create_event_source_mapping(EventSourceArn=source, FunctionName=function)
    assert failure.value.response["ResponseMetadata"]["HTTPStatusCode"] == 409
    assert failure.value.response["Error"] == {
        "Code": "ResourceConflictException",
        "Message": f'An event source mapping with SQS arn (" {source} ") and function (" {function} ")'
                   f" already exists. Please update or delete the existing mapping with UUID "
                   f"{first['UUID']}"}


def test_everything_beyond_aws_is_told_where_it_was_set(endpoint, function, queue):
    source, dead = queue(), queue()
    policy = [{"ErrorEquals": ["Fatal"], "MaxAttempts": 0},
              {"ErrorEquals": ["States.ALL"], "IntervalSeconds": 2, "BackoffRate": 1.5,
               "MaxDelaySeconds": 60, "JitterStrategy": "FULL"}]
    status, _, told = create(
        endpoint, EventSourceArn=source, FunctionName=function, Enabled=False,
        BisectBatchOnFunctionError=True, MaximumRetryAttempts=4, MaximumRecordAgeInSeconds=3600,
        IsolateRetries=False, ScalingConfig={"MaximumConcurrency": 2}, MetricsConfig={"Metrics": ["EventCount"]},
        FilterCriteria={"Filters": [{"Pattern": '{"body":{"a":[1]}}'}]}, RetryPolicy=policy,
        FunctionResponseTypes=["ReportBatchItemFailures"],
        DestinationConfig={"OnFailure": {"Destination": dead},
                           "OnSuccess": {"Destination": "http://127.0.0.1:9/hook"}},
        Tags={"team": "a"})
    assert status == 202, told
    path = f"/2015-03-31/event-source-mappings/{told['UUID']}"
    _, _, told = bare(endpoint, "GET", path)
    assert told["State"] == "Disabled" and told["BisectBatchOnFunctionError"] is True
    assert told["IsolateRetries"] is False
    assert told["MaximumRetryAttempts"] == 4 and told["MaximumRecordAgeInSeconds"] == 3600
    assert told["ScalingConfig"] == {"MaximumConcurrency": 2}
    assert told["MetricsConfig"] == {"Metrics": ["EventCount"]}
    assert told["FilterCriteria"] == {"Filters": [{"Pattern": '{"body":{"a":[1]}}'}]}
    assert told["FunctionResponseTypes"] == ["ReportBatchItemFailures"]
    assert told["DestinationConfig"] == {"OnFailure": {"Destination": dead},
                                         "OnSuccess": {"Destination": "http://127.0.0.1:9/hook"}}
    assert told["RetryPolicy"][0] == {"ErrorEquals": ["Fatal"], "IntervalSeconds": 1,
                                      "MaxAttempts": 0, "BackoffRate": 2, "JitterStrategy": "NONE"}
    assert told["RetryPolicy"][1]["MaxDelaySeconds"] == 60

    # Empty takes away; what is not named stays.
    _, _, told = bare(endpoint, "PUT", path, {
        "FilterCriteria": {}, "ScalingConfig": {}, "RetryPolicy": [], "FunctionResponseTypes": [],
        "DestinationConfig": {}, "MaximumRetryAttempts": -1})
    for absent in ("FilterCriteria", "ScalingConfig", "RetryPolicy", "DestinationConfig",
                   "MaximumRetryAttempts"):
        assert absent not in told, absent
    assert told["FunctionResponseTypes"] == [] and told["MaximumRecordAgeInSeconds"] == 3600
    assert told["IsolateRetries"] is False
    _, _, told = bare(endpoint, "PUT", path, {"IsolateRetries": True})
    assert told["IsolateRetries"] is True


def test_lists_by_queue_and_function(functions, function, queue):
    sources = [queue(), queue()]
    made = [functions.create_event_source_mapping(EventSourceArn=each, FunctionName=function,
                                                  Enabled=False)["UUID"] for each in sources]
    by_queue = functions.list_event_source_mappings(EventSourceArn=sources[0])
    assert [each["UUID"] for each in by_queue["EventSourceMappings"]] == [made[0]]
    paged = functions.get_paginator("list_event_source_mappings").paginate(
        FunctionName=function, PaginationConfig={"PageSize": 1})
    assert sorted(each["UUID"] for page in paged for each in page["EventSourceMappings"]) == (
        sorted(made))


def test_tags_of_mappings(functions, function, queue):
    functions.create_event_source_mapping(EventSourceArn=queue(), FunctionName=function)
    mapping = functions.list_event_source_mappings(FunctionName=function)["EventSourceMappings"][0]
    arn = f"arn:aws:lambda:us-east-1:000000000000:event-source-mapping:{mapping['UUID']}"
    assert functions.list_tags(Resource=arn)["Tags"] == {}
    functions.tag_resource(Resource=arn, Tags={"a": "1"})
    assert functions.list_tags(Resource=arn)["Tags"] == {"a": "1"}


def test_messages_reach_the_function_and_leave_the_queue(functions, sqs, queue):
    results = queue()
    code = """
import json, urllib.parse, urllib.request, os

def handler(event, context):
    for record in event["Records"]:
        form = urllib.parse.urlencode({"Action": "SendMessage", "Version": "2012-11-05",
                                       "QueueUrl": os.environ["RESULTS"],
                                       "MessageBody": json.dumps(record)}).encode()
        urllib.request.urlopen(os.environ["AWS_ENDPOINT_URL"], form).read()
"""
    source = queue()
    url = sqs.get_queue_url(QueueName=results.split(":")[-1])["QueueUrl"]
    wanted = settings(code, Environment={"Variables": {"RESULTS": url}})
    functions.create_function(**wanted)
    mapping = functions.create_event_source_mapping(EventSourceArn=source,
                                                    FunctionName=wanted["FunctionName"])
    source_url = sqs.get_queue_url(QueueName=source.split(":")[-1])["QueueUrl"]
    sent = sqs.send_message(QueueUrl=source_url, MessageBody="hello")

    def arrived():
        return sqs.receive_message(QueueUrl=url, WaitTimeSeconds=5).get("Messages")

    record = json.loads(clock.until("the message was handled", arrived, timeout=20)[0]["Body"])
    assert record["messageId"] == sent["MessageId"] and record["body"] == "hello"
    assert record["eventSourceARN"] == source

    def empty():
        told = sqs.get_queue_attributes(QueueUrl=source_url, AttributeNames=["All"])["Attributes"]
        return (told["ApproximateNumberOfMessages"],
                told["ApproximateNumberOfMessagesNotVisible"]) == ("0", "0")

    clock.until("the message left its queue", empty)
    functions.delete_event_source_mapping(UUID=mapping["UUID"])
    functions.delete_function(FunctionName=wanted["FunctionName"])
