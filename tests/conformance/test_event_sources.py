"""What becomes of messages that a queue brings to a function, with real handlers in Python.

The handler does what a message tells it. Time stands still but for clock.wait, so that delays are
exact; handlers run in real time, so what they have done is waited for.
"""

import http.client
import json
import os

import pytest

from harness import clock
from harness.functions import address_of, client, redrive, settings
from harness.management import Management
from harness.queue import unique_name

pytestmark = [
    pytest.mark.virtual_clock,
    pytest.mark.skipif("REDRIVE_ENDPOINT" in os.environ, reason="moves the server's time"),
]

OBEDIENT = """
import json, os, time

class Soft(Exception):
    pass

def obey(order, receives):
    if order == "soft":
        raise Soft("once more, please")
    if order == "once" and receives == 1:
        raise Soft("the second time it goes well")
    if order == "fatal":
        raise ValueError("never")
    if order == "exit":
        os._exit(3)
    if order == "sleep":
        time.sleep(30)

def handler(event, context):
    failures = []
    for record in event["Records"]:
        order = record["body"]
        if order == "report":
            failures.append({"itemIdentifier": record["messageId"]})
        obey(order, int(record["attributes"]["ApproximateReceiveCount"]))
    return {"batchItemFailures": failures}

def obey_event(event, context):
    obey(event["order"], 1)
    return {"done": context.aws_request_id}
"""


class World:
    """A queue with a dead-letter queue, a function, and what lies between them."""

    def __init__(self, endpoint):
        self.endpoint = endpoint
        self.sqs = client("sqs", endpoint)
        self.functions = client("lambda", endpoint)
        self.urls = []
        self.names = []
        self.mappings = []

    def queue(self, **attributes):
        name = unique_name("es") + (".fifo" if attributes.get("FifoQueue") else "")
        self.urls.append(self.sqs.create_queue(QueueName=name, Attributes=attributes)["QueueUrl"])
        return self.urls[-1]

    def arn(self, url):
        told = self.sqs.get_queue_attributes(QueueUrl=url, AttributeNames=["QueueArn"])
        return told["Attributes"]["QueueArn"]

    def with_dead_letters(self, receives=100, **attributes):
        dead = self.queue(**attributes)
        policy = {"deadLetterTargetArn": self.arn(dead), "maxReceiveCount": receives}
        return self.queue(RedrivePolicy=json.dumps(policy), **attributes), dead

    def function(self, **more):
        made = self.functions.create_function(**settings(OBEDIENT, Timeout=5, **more))
        self.names.append(made["FunctionName"])
        return made["FunctionName"]

    def post(self, path, body):
        """Our boto3 does not know what we have beyond AWS."""
        address = address_of(self.endpoint)
        connection = http.client.HTTPConnection(address.hostname, address.port, timeout=20)
        connection.request("POST", path, json.dumps(body), {"Content-Type": "application/json"})
        answer = connection.getresponse()
        text = answer.read()
        assert answer.status in (200, 201, 202), text
        return json.loads(text)

    def feed(self, url, function, **rules):
        body = {"EventSourceArn": self.arn(url), "FunctionName": function, "BatchSize": 1, **rules}
        self.mappings.append(self.post("/2015-03-31/event-source-mappings", body)["UUID"])
        return self.mappings[-1]

    def send(self, url, *bodies, **more):
        for body in bodies:
            self.sqs.send_message(QueueUrl=url, MessageBody=body, **more)

    def size(self, url):
        """How many messages are there, whoever has them."""
        names = ["ApproximateNumberOfMessages", "ApproximateNumberOfMessagesNotVisible",
                 "ApproximateNumberOfMessagesDelayed"]
        told = self.sqs.get_queue_attributes(QueueUrl=url, AttributeNames=names)["Attributes"]
        return sum(int(count) for count in told.values())

    def runs(self, function):
        """How often it has run to some end."""
        return self.ask(f"functions/{function}/logs?after=0").count("END RequestId")

    def ask(self, path):
        address = address_of(self.endpoint)
        connection = http.client.HTTPConnection(address.hostname, address.port, timeout=20)
        connection.request("GET", f"/_redrive/v1/{path}")
        return connection.getresponse().read().decode()

    def rests(self, function):
        """Whether it is decided what becomes of its last run: time may go on."""
        handlers = json.loads(self.ask("overview"))["handlers"]
        return not any(handler["running"] for handler in handlers if handler["function"] == function)

    def until_runs(self, function, count):
        clock.until(f"{count} runs", lambda: self.runs(function) >= count and self.rests(function), timeout=30)
        assert self.runs(function) == count

    def until_size(self, url, size):
        clock.until(f"{size} messages", lambda: self.size(url) == size, timeout=30)

    def bodies(self, url):
        received = self.sqs.receive_message(
            QueueUrl=url, MaxNumberOfMessages=10, MessageAttributeNames=["All"])
        return received.get("Messages", [])

    def clean(self):
        for mapping in self.mappings:
            self.functions.delete_event_source_mapping(UUID=mapping)
        for name in self.names:
            self.functions.delete_function(FunctionName=name)
        for url in self.urls:
            self.sqs.delete_queue(QueueUrl=url)


@pytest.fixture
def world(endpoint):
    made = World(endpoint)
    yield made
    made.clean()


def test_success_deletes_and_failure_waits_out_the_timeout(world):
    source, dead = world.with_dead_letters(receives=2)
    function = world.function()
    world.feed(source, function)
    world.send(source, "fine", "once", "soft")
    world.until_size(source, 2)
    world.until_runs(function, 3)
    clock.wait(30)
    world.until_size(source, 1)
    world.until_runs(function, 5)
    clock.wait(30)
    world.until_size(dead, 1)
    assert world.size(source) == 0
    assert world.runs(function) == 5


def test_retriers_tell_errors_apart(world):
    source, dead = world.with_dead_letters()
    function = world.function()
    world.feed(source, function, RetryPolicy=[
        {"ErrorEquals": ["ValueError"], "MaxAttempts": 0},
        {"ErrorEquals": ["Soft"], "IntervalSeconds": 300, "MaxAttempts": 1}])
    world.send(source, "fatal")
    world.until_size(dead, 1)
    world.send(source, "soft")
    world.until_runs(function, 2)
    clock.wait(299)
    world.until_runs(function, 2)
    clock.wait(1)
    world.until_size(dead, 2)
    world.until_runs(function, 3)


def test_a_process_that_ends_or_hangs_is_a_failure_with_a_name(world):
    source, dead = world.with_dead_letters()
    function = world.function()
    world.functions.update_function_configuration(FunctionName=function, Timeout=1)
    world.feed(source, function, RetryPolicy=[
        {"ErrorEquals": ["Runtime.ExitError", "States.Timeout"], "MaxAttempts": 0},
        {"ErrorEquals": ["States.ALL"], "IntervalSeconds": 5}])
    world.send(source, "exit", "sleep")
    world.until_size(dead, 2)
    assert world.size(source) == 0


def test_reported_items_stay(world):
    source, _ = world.with_dead_letters()
    function = world.function()
    world.send(source, "report", "fine", "fine", "report")
    world.feed(source, function, BatchSize=10, FunctionResponseTypes=["ReportBatchItemFailures"])
    world.until_size(source, 2)
    clock.wait(30)
    world.until_runs(function, 2)
    assert world.size(source) == 2


def test_bisecting_finds_the_bad_one(world):
    source, dead = world.with_dead_letters()
    world.send(source, "fine", "fine", "fatal", "fine")
    world.feed(source, world.function(), BatchSize=10, BisectBatchOnFunctionError=True,
               MaximumRetryAttempts=0)
    world.until_size(source, 0)
    assert [message["Body"] for message in world.bodies(dead)] == ["fatal"]


def test_only_the_bad_one_of_a_batch_dies(world):
    source, dead = world.with_dead_letters(receives=2)
    function = world.function()
    world.send(source, "fine", "fatal", "fine")
    world.feed(source, function, BatchSize=10)
    world.until_runs(function, 1)
    clock.wait(31)
    world.until_size(source, 1)
    clock.wait(31)
    world.until_size(dead, 1)
    assert world.size(source) == 0
    name = dead.rsplit("/", 1)[-1]
    listed = redrive(world.endpoint, "dlq", "peek", name).stdout
    assert "failed in a batch of 3, not run alone" in listed, listed
    page = Management(world.endpoint).call("GET", f"queues/{name}/messages")
    [message] = page["messages"]
    assert message["body"] == "fatal"
    first, last = message["attempts"]
    assert first["company"] == 3 and first["shared"] is True
    assert "company" not in last and "shared" not in last and last["errorType"] == "ValueError"


def test_filters_delete_what_nobody_wants(world):
    source, dead = world.with_dead_letters()
    function = world.function()
    world.send(source, "fine", "other", json.dumps({"a": 1}))
    pattern = json.dumps({"body": [{"prefix": "fi"}]})
    world.feed(source, function, FilterCriteria={"Filters": [{"Pattern": pattern}]})
    world.until_size(source, 0)
    world.until_runs(function, 1)
    assert world.size(dead) == 0


def test_a_fifo_group_waits_for_its_failed_message(world):
    fifo = {"FifoQueue": "true", "ContentBasedDeduplication": "true"}
    source, _ = world.with_dead_letters(**fifo)
    function = world.function()
    world.send(source, "once", "after", MessageGroupId="g")
    world.send(source, "elsewhere", MessageGroupId="h")
    world.feed(source, function)
    world.until_size(source, 2)
    world.until_runs(function, 2)
    clock.wait(30)
    world.until_size(source, 0)
    world.until_runs(function, 4)


def test_what_is_given_up_goes_to_its_destination(world):
    source, dead = world.with_dead_letters()
    records = world.queue()
    world.feed(source, world.function(), MaximumRetryAttempts=0,
               DestinationConfig={"OnFailure": {"Destination": world.arn(records)}})
    world.send(source, "fatal")
    world.until_size(records, 1)
    assert world.size(source) == world.size(dead) == 0
    record = json.loads(world.bodies(records)[0]["Body"])
    assert record["requestContext"]["condition"] == "RetryAttemptsExhausted"
    assert record["responsePayload"]["errorType"] == "ValueError"
    assert record["payload"]["Records"][0]["body"] == "fatal"
    assert record["SQSBatchInfo"]["queueArn"] == world.arn(source)


def test_a_paused_mapping_receives_nothing(world):
    source, _ = world.with_dead_letters()
    function = world.function()
    uuid = world.feed(source, function, Enabled=False)
    world.send(source, "fine")
    clock.wait(60)
    assert world.size(source) == 1
    world.functions.update_event_source_mapping(UUID=uuid, Enabled=True)
    world.until_size(source, 0)


def test_an_event_is_tried_three_times_and_then_told_of(world):
    dead, records = world.queue(), world.queue()
    function = world.function(Handler="index.obey_event",
                              DeadLetterConfig={"TargetArn": world.arn(dead)})
    world.functions.put_function_event_invoke_config(
        FunctionName=function,
        DestinationConfig={"OnFailure": {"Destination": world.arn(records)}})
    event = json.dumps({"order": "fatal"})
    answer = world.functions.invoke(FunctionName=function, InvocationType="Event", Payload=event)
    assert answer["StatusCode"] == 202
    world.until_runs(function, 1)
    clock.wait(60)
    world.until_runs(function, 2)
    clock.wait(119)
    world.until_runs(function, 2)
    clock.wait(1)
    world.until_runs(function, 3)
    world.until_size(dead, 1)
    world.until_size(records, 1)
    letter = world.bodies(dead)[0]
    assert letter["Body"] == event
    attributes = {name: value["StringValue"] for name, value in letter["MessageAttributes"].items()}
    record = json.loads(world.bodies(records)[0]["Body"])
    assert attributes == {"ErrorCode": "200", "ErrorMessage": "never",
                          "RequestID": record["requestContext"]["requestId"]}
    assert record["requestContext"]["condition"] == "RetriesExhausted"
    assert record["requestContext"]["approximateInvokeCount"] == 3
    assert record["requestPayload"] == {"order": "fatal"}
    assert record["responsePayload"]["errorType"] == "ValueError"


def test_an_event_that_went_well_is_told_of(world):
    records = world.queue()
    function = world.function(Handler="index.obey_event")
    world.functions.put_function_event_invoke_config(
        FunctionName=function,
        DestinationConfig={"OnSuccess": {"Destination": world.arn(records)}})
    world.functions.invoke(FunctionName=function, InvocationType="Event",
                           Payload=json.dumps({"order": "fine"}))
    world.until_size(records, 1)
    record = json.loads(world.bodies(records)[0]["Body"])
    assert record["requestContext"]["condition"] == "Success"
    assert record["responsePayload"] == {"done": record["requestContext"]["requestId"]}
