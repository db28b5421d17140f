"""Messages moved by those who received them: POST /_redrive/v1/queues/{queue}/moves."""

import pytest

from harness.clients import JsonRaw
from harness.management import Management, Refused
from harness.queue import string, unique_name


def arn(url):
    return f"arn:aws:sqs:us-east-1:000000000000:{url.rsplit('/', 1)[1]}"


class Pair:
    """A queue, its dead-letter queue, and a message that has failed."""

    def __init__(self, endpoint, **attributes):
        self.sqs, self.management = JsonRaw(endpoint), Management(endpoint)
        end = ".fifo" if attributes else ""
        make = lambda name: self.sqs.CreateQueue(  # noqa: E731
            QueueName=unique_name(name) + end, Attributes=attributes
        )["QueueUrl"]
        self.source, self.dlq = make("source"), make("dlq")

    def receive(self, url, **more):
        answer = self.sqs.ReceiveMessage(
            QueueUrl=url, AttributeNames=["All"], MessageAttributeNames=["All"],
            MaxNumberOfMessages=10, **more,
        )  # fmt: skip
        return answer.get("Messages", [])

    def move(self, *moves, **more):
        name = self.dlq.rsplit("/", 1)[1]
        return self.management.call(
            "POST", f"queues/{name}/moves", {"moves": list(moves), **more}
        )


@pytest.fixture
def pair(endpoint):
    return Pair(endpoint)


def test_a_move_is_one_step_with_other_contents(pair):
    sent = pair.sqs.SendMessage(
        QueueUrl=pair.dlq,
        MessageBody="hello",
        MessageAttributes={"keep": string("k"), "drop": string("d")},
    )
    handle = pair.receive(pair.dlq)[0]["ReceiptHandle"]
    answer = pair.move(
        {
            "receiptHandle": handle,
            "destination": arn(pair.source),
            "setAttributes": {"retryCount": {"DataType": "Number", "StringValue": "1"}},
            "removeAttributes": ["drop"],
            "traceHeader": "Root=1",
        },
        reason="a test",
    )
    assert answer["moved"] == 1
    (message,) = pair.receive(pair.source)
    assert message["MessageId"] == answer["results"][0]["messageId"] != sent["MessageId"]
    assert message["Body"] == "hello"
    assert sorted(message["MessageAttributes"]) == ["keep", "retryCount"]
    assert message["Attributes"]["AWSTraceHeader"] == "Root=1"
    assert message["Attributes"]["ApproximateReceiveCount"] == "1"
    assert pair.receive(pair.dlq) == []
    name = pair.source.rsplit("/", 1)[1]
    (seen,) = pair.management.call("GET", f"queues/{name}/messages")["messages"]
    assert seen["lineageId"] == sent["MessageId"]
    assert [event["what"] for event in seen["events"]] == ["edited", "redriven"]
    assert seen["events"][-1]["reason"] == "a test"


def test_each_move_stands_for_itself(pair):
    for i in range(3):
        pair.sqs.SendMessage(QueueUrl=pair.dlq, MessageBody=str(i))
    messages = sorted(pair.receive(pair.dlq), key=lambda message: message["Body"])
    first, second, third = (message["ReceiptHandle"] for message in messages)
    to = pair.source.rsplit("/", 1)[1]
    answer = pair.move(
        {"receiptHandle": first, "destination": to, "body": "changed", "delaySeconds": 900},
        {"receiptHandle": first, "destination": to},
        {"receiptHandle": second, "destination": "nowhere"},
        {"receiptHandle": second},
        {"receiptHandle": third, "destination": to, "body": "\x00"},
        {"receiptHandle": "none"},
    )
    codes = [result.get("code") for result in answer["results"]]
    assert codes == [
        None, "ResourceNotFoundException", "NonExistentQueue", "InvalidParameterValue",
        "InvalidMessageContents", "ReceiptHandleIsInvalid",
    ]  # fmt: skip
    counts = pair.sqs.GetQueueAttributes(QueueUrl=pair.source, AttributeNames=["All"])
    assert counts["Attributes"]["ApproximateNumberOfMessagesDelayed"] == "1"
    assert pair.move() == {"moved": 0}
    with pytest.raises(Refused) as refused:
        pair.move(*[{"receiptHandle": "x"}] * 101)
    assert refused.value.code == "InvalidParameterValue"


def test_fifo_messages_keep_their_group(endpoint):
    pair = Pair(endpoint, FifoQueue="true")
    for i in range(3):
        pair.sqs.SendMessage(
            QueueUrl=pair.dlq, MessageBody=str(i), MessageGroupId="g", MessageDeduplicationId=str(i)
        )
    handles = [message["ReceiptHandle"] for message in pair.receive(pair.dlq)]
    answer = pair.move(
        *[{"receiptHandle": handle, "destination": arn(pair.source)} for handle in handles]
    )
    assert answer["moved"] == 3
    found = pair.receive(pair.source)
    assert [message["Body"] for message in found] == ["0", "1", "2"]
    assert {message["Attributes"]["MessageGroupId"] for message in found} == {"g"}
