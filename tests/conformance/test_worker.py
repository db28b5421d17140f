"""redrive worker, consume and archive, against a real server and as people type them."""

import json
import pathlib
import subprocess

import boto3
import pytest

from harness.queue import unique_name
from harness.server import binary_path

KEYS = {
    "region_name": "us-east-1",
    "aws_access_key_id": "test",
    "aws_secret_access_key": "test",
}


class Stage:
    """Two queues, an archive, and the commands."""

    def __init__(self, endpoint, directory, fifo=False):
        self.endpoint = endpoint
        self.sqs = boto3.client("sqs", endpoint_url=endpoint, **KEYS)
        end = ".fifo" if fifo else ""
        attributes = {"FifoQueue": "true"} if fifo else {}
        self.source_name = unique_name("source") + end
        self.source = self.sqs.create_queue(QueueName=self.source_name, Attributes=attributes)[
            "QueueUrl"
        ]
        self.dlq = self.sqs.create_queue(
            QueueName=unique_name("dlq") + end, Attributes=attributes
        )["QueueUrl"]
        self.directory = pathlib.Path(directory) / "archive"
        self.archive = f"file://{self.directory}"

    def run(self, *arguments, code=0):
        command = [binary_path(), *arguments, "--endpoint-url", self.endpoint]
        done = subprocess.run(
            command, capture_output=True, text=True, timeout=60, stdin=subprocess.DEVNULL
        )
        assert done.returncode == code, done.stdout + done.stderr
        return done.stdout

    def worker(self, *arguments, code=0):
        printed = self.run(
            "worker", "--dlq", self.dlq, "--source", self.source, "--archive", self.archive,
            "--json", *arguments, code=code,
        )  # fmt: skip
        return json.loads(printed)

    def send(self, body, url=None, **more):
        self.sqs.send_message(QueueUrl=url or self.dlq, MessageBody=body, **more)

    def receive(self, url=None):
        found = []
        while True:
            answer = self.sqs.receive_message(
                QueueUrl=url or self.source, MaxNumberOfMessages=10,
                MessageAttributeNames=["All"], AttributeNames=["All"],
            )  # fmt: skip
            if "Messages" not in answer:
                return found
            found += answer["Messages"]
            for message in answer["Messages"]:
                self.sqs.delete_message(
                    QueueUrl=url or self.source, ReceiptHandle=message["ReceiptHandle"]
                )

    def close(self):
        self.sqs.delete_queue(QueueUrl=self.source)
        self.sqs.delete_queue(QueueUrl=self.dlq)


@pytest.fixture
def stage(endpoint, tmp_path):
    made = Stage(endpoint, tmp_path)
    yield made
    made.close()


def text(value, kind="String"):
    return {"StringValue": value, "DataType": kind}


def test_odd_messages_come_back_whole(stage):
    binary = {"BinaryValue": b"\x00\xff\x10", "DataType": "Binary.raw"}
    ten = {f"a{i}": text("v") for i in range(10)}
    large = "x" * (1 << 20)
    stage.send("bytes", MessageAttributes={"b": binary, "n": text("1.50", "Number.price")})
    stage.send("often", MessageAttributes={"retryCount": text("often")})
    stage.send("ten", MessageAttributes=ten)
    stage.send(large)
    summary = stage.worker()
    assert summary == {
        "Returned": 4, "Archived": 0, "Skipped": 0, "Failed": 0, "NotDeleted": 0,
        "UnreadableCounters": 1, "CountersInTraceHeader": 2,
    }  # fmt: skip
    found = {message["Body"]: message for message in stage.receive()}
    assert found["bytes"]["MessageAttributes"] == {
        "b": binary, "n": text("1.50", "Number.price"), "retryCount": text("1", "Number"),
    }  # fmt: skip
    assert found["often"]["MessageAttributes"]["retryCount"] == text("1", "Number")
    assert found["ten"]["MessageAttributes"] == ten
    assert found["ten"]["Attributes"]["AWSTraceHeader"] == "Redrive-Retry=1"
    assert found[large]["Attributes"]["AWSTraceHeader"] == "Redrive-Retry=1"
    assert stage.receive(stage.dlq) == []


def test_the_count_in_the_trace_header_is_spent_too(stage):
    trace = {"AWSTraceHeader": text("Root=1-5759e988-bd862e3fe1be46a994272793;Redrive-Retry=3")}
    ten = {f"a{i}": text("v") for i in range(10)}
    stage.send("ten", MessageAttributes=ten, MessageSystemAttributes=trace)
    assert stage.worker()["Archived"] == 1


def test_fifo_keeps_groups_and_order(endpoint, tmp_path):
    stage = Stage(endpoint, tmp_path, fifo=True)
    for i in range(12):
        stage.send(
            f"{i}", MessageGroupId=f"g{i % 2}", MessageDeduplicationId=f"d{i}",
            MessageAttributes={"n": text(str(i))},
        )  # fmt: skip
    assert stage.worker("--backoff", "60")["Returned"] == 12
    found = stage.receive()
    for group in ("g0", "g1"):
        bodies = [
            int(message["Body"])
            for message in found
            if message["Attributes"]["MessageGroupId"] == group
        ]
        assert bodies == sorted(bodies) and len(bodies) == 6
    dedup_ids = {message["Attributes"]["MessageDeduplicationId"] for message in found}
    assert len(dedup_ids) == 12 and not any(f"d{i}" in dedup_ids for i in range(12))
    stage.close()


def test_only_what_is_meant_is_touched(stage):
    for i in range(6):
        stage.send(f"m{i}", MessageAttributes={"kind": text("a" if i < 4 else "b")})
    summary = stage.worker("--filter", 'attribute.kind == "a"', "--max-messages", "3")
    assert summary["Returned"] == 3
    assert len(stage.receive()) == 3
    assert len(stage.receive(stage.dlq)) == 3  # Those left were made visible again.


def test_a_dry_run_moves_nothing(stage):
    stage.send("a")
    stage.send("b", MessageAttributes={"retryCount": text("9", "Number")})
    summary = stage.worker("--dry-run")
    assert (summary["Returned"], summary["Archived"]) == (1, 1)
    assert stage.receive() == []
    assert len(stage.receive(stage.dlq)) == 2
    assert not stage.directory.exists()


def test_what_cannot_be_archived_stays(stage):
    stage.send("worn", MessageAttributes={"retryCount": text("9", "Number")})
    stage.archive = "s3://no-such-bucket-here/x"
    assert stage.worker("--visibility", "10", code=1)["Failed"] == 1
    attributes = stage.sqs.get_queue_attributes(QueueUrl=stage.dlq, AttributeNames=["All"])
    assert attributes["Attributes"]["ApproximateNumberOfMessagesNotVisible"] == "1"
    assert "Try:" not in stage.run("worker", "--dlq", stage.dlq, "--source", stage.dlq,
                                   "--archive", "file:///tmp/x", code=2)  # fmt: skip


def test_delays_grow_with_the_count(stage):
    stage.send("late", MessageAttributes={"retryCount": text("1", "Number")})
    assert stage.worker("--backoff", "400")["Returned"] == 1
    attributes = stage.sqs.get_queue_attributes(QueueUrl=stage.source, AttributeNames=["All"])
    assert attributes["Attributes"]["ApproximateNumberOfMessagesDelayed"] == "1"


def archive_three(stage):
    for i, word in enumerate(["apple", "pear", "plum"]):
        attributes = {"retryCount": text("3", "Number"), "fruit": text(word)}
        stage.send(f'{{"fruit": "{word}"}}', MessageAttributes=attributes)
    assert stage.worker()["Archived"] == 3


@pytest.mark.parametrize("target", ["file", "s3"])
def test_archived_messages_are_found_and_come_back(stage, target):
    if target == "s3":
        bucket = unique_name("archive").lower().replace("_", "-")
        boto3.client("s3", endpoint_url=stage.endpoint, **KEYS).create_bucket(Bucket=bucket)
        stage.archive = f"s3://{bucket}/deep/prefix"
    archive_three(stage)

    def lines(*arguments):
        printed = stage.run("archive", *arguments, "--json")
        return [json.loads(line) for line in printed.splitlines()]

    listed = lines("ls", stage.archive)
    assert len(listed) == 3
    assert lines("ls", stage.archive, "--until", "2001-01-01") == []
    assert len(lines("ls", stage.archive, "--date", listed[0]["ArchivedAt"][:10])) == 3
    found = lines("search", stage.archive, "--text", "pear")
    assert [one["Body"] for one in found] == ['{"fruit": "pear"}']
    assert len(lines("search", stage.archive, "--queue", stage.source_name)) == 3
    assert lines("search", stage.archive, "--queue", "other") == []
    shown = lines("show", stage.archive, found[0]["MessageId"])
    assert shown[0]["Attribute"]["retryCount"] == text("4", "Number")

    assert stage.run("archive", "restore", stage.archive, found[0]["Key"]) == "1 restored\n"
    (message,) = stage.receive()
    assert message["Body"] == '{"fruit": "pear"}'
    assert message["MessageAttributes"] == {"fruit": text("pear")}
    assert len(lines("ls", stage.archive)) == 2
    stage.run("archive", "restore", stage.archive, code=2)
    stage.run("archive", "rm", stage.archive, "--text", "plum", code=2)
    assert stage.run("archive", "rm", stage.archive, "--text", "plum", "--yes") == "1 removed\n"
    printed = stage.run("archive", "restore", stage.archive, "--all", "--to", stage.dlq, "--keep")
    assert printed == "1 restored\n"
    assert [one["Body"] for one in stage.receive(stage.dlq)] == ['{"fruit": "apple"}']
    assert len(lines("ls", stage.archive)) == 1
    stage.run("archive", "show", stage.archive, "unknown-id", code=1)


def test_archives_of_other_scripts_are_read(stage):
    day = stage.directory / "unprocessedmessages/Nov-16-2026"
    day.mkdir(parents=True)
    document = {"Body": "theirs", "Attribute": {"retryCount": text("3", "Number")}}
    (day / "1794787200.123456_5f0a.json").write_text(json.dumps(document))
    (day / "notes.txt").write_text("not a message")
    (listed,) = stage.run("archive", "ls", stage.archive, "--json").splitlines()
    assert json.loads(listed)["MessageId"] == "5f0a"
    stage.run("archive", "restore", stage.archive, "5f0a", code=2)  # To which queue?
    stage.run("archive", "restore", stage.archive, "5f0a", "--to", stage.source)
    assert [message["Body"] for message in stage.receive()] == ["theirs"]


def test_consume_runs_a_command(stage, tmp_path):
    log = tmp_path / "log"
    for body in ("good", "bad", "good"):
        stage.send(body, stage.source, MessageAttributes={"kind": text(body)})
    command = (
        f'read -r line; echo "$line $REDRIVE_ATTRIBUTE_kind" >> {log}; '
        '[ "$line" = good ] || { echo "cannot do $line" >&2; exit 3; }'
    )
    printed = stage.run(
        "consume", "--queue", stage.source, "--dlq", stage.dlq, "--exec", command, "--once"
    )
    assert printed == "2 done, 1 failed\n"
    assert sorted(log.read_text().splitlines()) == ["bad bad", "good good", "good good"]
    (dead,) = stage.receive(stage.dlq)
    assert dead["Body"] == "bad"
    assert dead["MessageAttributes"]["kind"] == text("bad")
    assert dead["MessageAttributes"]["failureReason"] == text("exit code 3: cannot do bad")
    assert stage.receive(stage.source) == []


def test_consume_holds_a_message_while_it_works(stage):
    stage.send("slow", stage.source)
    printed = stage.run(
        "consume", "--queue", stage.source, "--exec", "sleep 4", "--visibility", "3",
        "--max-messages", "1",
    )  # fmt: skip
    assert printed == "1 done, 0 failed\n"
    assert stage.receive(stage.source) == []


def test_consume_ends_a_command_that_takes_too_long(stage):
    stage.send("stuck", stage.source)
    stage.run("consume", "--queue", stage.source, "--dlq", stage.dlq, "--exec", "sleep 60",
              "--timeout", "1", "--max-messages", "1")  # fmt: skip
    (dead,) = stage.receive(stage.dlq)
    assert dead["MessageAttributes"]["failureReason"] == text("timed out")
