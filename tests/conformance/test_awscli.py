"""The AWS command line as its users type it: everyday commands against the server."""

import json
import os
import subprocess

import pytest

from harness.queue import unique_name

AWS = "/usr/bin/aws"

pytestmark = pytest.mark.skipif(not os.path.exists(AWS), reason="awscli is not installed")


@pytest.fixture
def aws(endpoint, tmp_path):
    """Runs `aws sqs ...`; returns the parsed output, or (exit code, error text) when it failed."""
    environment = {
        "PATH": "/usr/bin:/bin",
        "HOME": str(tmp_path),
        "AWS_ACCESS_KEY_ID": "test",
        "AWS_SECRET_ACCESS_KEY": "test",
        "AWS_DEFAULT_REGION": "us-east-1",
        "AWS_PAGER": "",
        "AWS_MAX_ATTEMPTS": "1",
    }

    def run(*arguments):
        command = [AWS, "--endpoint-url", endpoint, "--output", "json", "sqs", *arguments]
        done = subprocess.run(command, env=environment, capture_output=True, text=True, timeout=60)
        if done.returncode != 0:
            return done.returncode, done.stderr.strip()
        return json.loads(done.stdout) if done.stdout.strip() else None

    return run


def test_a_day_with_a_queue(aws):
    name = unique_name("cli")
    url = aws(
        "create-queue", "--queue-name", name, "--attributes", "VisibilityTimeout=45",
        "--tags", "env=dev",
    )["QueueUrl"]  # fmt: skip
    assert aws("get-queue-url", "--queue-name", name) == {"QueueUrl": url}
    assert aws("list-queues", "--queue-name-prefix", name) == {"QueueUrls": [url]}
    assert aws("list-queue-tags", "--queue-url", url) == {"Tags": {"env": "dev"}}

    sent = aws(
        "send-message", "--queue-url", url, "--message-body", "hello",
        "--message-attributes", "k={DataType=String,StringValue=x}",
    )  # fmt: skip
    assert sent["MD5OfMessageBody"] == "5d41402abc4b2a76b9719d911017c592"
    assert sent["MD5OfMessageAttributes"] == "a45daa70926828a2f0a1db3418e6feb4"

    (message,) = aws(
        "receive-message", "--queue-url", url, "--attribute-names", "All",
        "--message-attribute-names", "All", "--wait-time-seconds", "1",
    )["Messages"]  # fmt: skip
    assert message["Body"] == "hello"
    assert message["MessageAttributes"]["k"] == {"StringValue": "x", "DataType": "String"}
    assert aws("receive-message", "--queue-url", url) is None, "an empty receive prints nothing"

    handle = message["ReceiptHandle"]
    aws(
        "change-message-visibility", "--queue-url", url, "--receipt-handle", handle,
        "--visibility-timeout", "10",
    )  # fmt: skip
    assert aws("delete-message", "--queue-url", url, "--receipt-handle", handle) is None
    assert aws("delete-queue", "--queue-url", url) is None


def test_attributes_batches_and_purge(aws):
    dead = aws("create-queue", "--queue-name", unique_name("cli-dlq"))["QueueUrl"]
    url = aws("create-queue", "--queue-name", unique_name("cli"))["QueueUrl"]
    arn = aws("get-queue-attributes", "--queue-url", dead, "--attribute-names", "QueueArn")[
        "Attributes"
    ]["QueueArn"]
    policy = json.dumps({"deadLetterTargetArn": arn, "maxReceiveCount": "3"})
    aws(
        "set-queue-attributes", "--queue-url", url,
        "--attributes", json.dumps({"RedrivePolicy": policy, "DelaySeconds": "0"}),
    )  # fmt: skip
    found = aws("get-queue-attributes", "--queue-url", url, "--attribute-names", "All")
    assert json.loads(found["Attributes"]["RedrivePolicy"])["maxReceiveCount"] == 3
    sources = aws("list-dead-letter-source-queues", "--queue-url", dead)
    assert sources["queueUrls"] == [url]

    entries = [{"Id": str(n), "MessageBody": f"m{n}"} for n in range(3)]
    answer = aws("send-message-batch", "--queue-url", url, "--entries", json.dumps(entries))
    assert len(answer["Successful"]) == 3
    aws("tag-queue", "--queue-url", url, "--tags", "a=1,b=2")
    aws("untag-queue", "--queue-url", url, "--tag-keys", "a")
    assert aws("list-queue-tags", "--queue-url", url) == {"Tags": {"b": "2"}}
    assert aws("purge-queue", "--queue-url", url) is None
    assert aws("receive-message", "--queue-url", url) is None


def test_a_fifo_queue(aws):
    url = aws(
        "create-queue", "--queue-name", unique_name("cli", fifo=True),
        "--attributes", "FifoQueue=true,ContentBasedDeduplication=true",
    )["QueueUrl"]  # fmt: skip
    for body in ("one", "two", "one"):
        aws(
            "send-message", "--queue-url", url, "--message-body", body, "--message-group-id", "g"
        )
    found = aws("receive-message", "--queue-url", url, "--max-number-of-messages", "10")
    assert [message["Body"] for message in found["Messages"]] == ["one", "two"]


def test_the_error_line(aws):
    code, text = aws("get-queue-url", "--queue-name", unique_name("missing"))
    assert code == 254
    # The tool may put "(reached max retries: 0)" before the colon.
    assert text.startswith(
        "An error occurred (AWS.SimpleQueueService.NonExistentQueue) when calling the "
        "GetQueueUrl operation"
    )
    assert ": The specified queue does not exist" in text
