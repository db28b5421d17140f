"""Runs the two scripts against a server, and the commands that do the same, and compares.

    /usr/bin/python3 examples/scripts_check.py poison-consumer|retry-and-archive
"""

import json
import os
import pathlib
import re
import subprocess
import sys

import boto3

HERE = pathlib.Path(__file__).resolve().parent
BINARY = os.environ.get("REDRIVE_BINARY", str(HERE.parent / "build/release/redrive"))
KEY = re.compile(r"^stage/[A-Z][a-z]{2}-\d\d-\d{4}/\d+\.\d+_[0-9a-f-]{36}\.json$")


class Place:
    """A server of its own, two queues and a bucket."""

    def __init__(self):
        command = [BINARY, "serve", "--memory", "--listen", "127.0.0.1:0"]
        self.server = subprocess.Popen(
            command, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True
        )
        self.endpoint = self.server.stdout.readline().split()[-1]
        os.environ.update(
            AWS_ENDPOINT_URL=self.endpoint,
            AWS_ACCESS_KEY_ID="test",
            AWS_SECRET_ACCESS_KEY="test",
            AWS_DEFAULT_REGION="us-east-2",
            WAIT_SECONDS="1",
        )
        self.sqs = boto3.client("sqs", endpoint_url=self.endpoint)
        self.s3 = boto3.client("s3", endpoint_url=self.endpoint)
        self.source = self.sqs.create_queue(QueueName="source")["QueueUrl"]
        self.dlq = self.sqs.create_queue(QueueName="dlq")["QueueUrl"]
        self.s3.create_bucket(
            Bucket="redrivepurge",
            CreateBucketConfiguration={"LocationConstraint": "us-east-2"},
        )
        os.environ.update(SOURCE_QUEUE_URL=self.source, DLQ_QUEUE_URL=self.dlq)

    def stop(self):
        self.server.terminate()
        assert self.server.wait(20) == 0

    def fill(self, url, messages):
        for body, attributes in messages:
            values = {
                name: {"StringValue": value, "DataType": kind}
                for name, (kind, value) in attributes.items()
            }
            self.sqs.send_message(QueueUrl=url, MessageBody=body, MessageAttributes=values)

    def empty(self, url):
        """Everything in a queue, as comparable values."""
        found = []
        while True:
            answer = self.sqs.receive_message(
                QueueUrl=url, MaxNumberOfMessages=10, MessageAttributeNames=["All"]
            )
            if "Messages" not in answer:
                return sorted(found)
            for message in answer["Messages"]:
                attributes = json.dumps(message.get("MessageAttributes", {}), sort_keys=True)
                found.append((message["Body"], attributes))
                self.sqs.delete_message(
                    QueueUrl=url, ReceiptHandle=message["ReceiptHandle"]
                )

    def archived(self):
        documents = []
        for page in self.s3.get_paginator("list_objects_v2").paginate(Bucket="redrivepurge"):
            for one in page.get("Contents", []):
                assert KEY.match(one["Key"]), one["Key"]
                body = self.s3.get_object(Bucket="redrivepurge", Key=one["Key"])["Body"].read()
                document = json.loads(body)
                attributes = json.dumps(document["Attribute"], sort_keys=True)
                documents.append((document["Body"], attributes))
        return sorted(documents)


def run(*command):
    subprocess.run(command, check=True, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)


def poison(command):
    place = Place()
    good = [(json.dumps({"order": i}), {"kind": ("String", "order")}) for i in range(5)]
    bad = [(f"{{broken {i}", {"kind": ("String", "order"), "n": ("Number", "1")}) for i in range(7)]
    place.fill(place.source, good + bad)
    run(*command(place))
    left, dead = place.empty(place.source), place.empty(place.dlq)
    place.stop()
    assert left == []
    assert sorted(body for body, _ in dead) == sorted(body for body, _ in bad)
    for _, attributes in dead:
        kept = json.loads(attributes)
        assert kept["kind"]["StringValue"] == "order" and kept["n"]["DataType"] == "Number"


def retries(command):
    """What lies in the queues and the archive after each pass."""
    place = Place()
    os.environ.update(ARCHIVE_BUCKET="redrivepurge", ARCHIVE_PREFIX="stage", MAX_RETRIES="2")
    fresh = [(f"fresh {i}", {"kind": ("String", "order")}) for i in range(12)]
    worn = [(f"worn {i}", {"retryCount": ("Number", str(i))}) for i in range(5)]
    place.fill(place.dlq, fresh + worn + [("bare", {})])
    states = []
    for _ in range(5):
        run(*command(place))
        assert place.empty(place.dlq) == []
        returned = place.empty(place.source)
        states.append((returned, place.archived()))
        # The consumer fails on all of them again.
        for body, attributes in returned:
            place.sqs.send_message(
                QueueUrl=place.dlq, MessageBody=body, MessageAttributes=json.loads(attributes)
            )
    place.stop()
    assert [len(returned) for returned, _ in states] == [16, 15, 14, 0, 0]
    assert len(states[-1][1]) == 18
    return states


if __name__ == "__main__":
    if sys.argv[1] == "poison-consumer":
        poison(lambda _: [sys.executable, str(HERE / "poison-consumer/consumer.py")])
        poison(lambda place: [BINARY, "consume", "--queue", place.source, "--dlq", place.dlq,
                              "--validate", "json", "--once"])  # fmt: skip
    else:
        theirs = retries(lambda _: [sys.executable, str(HERE / "retry-and-archive/drain.py")])
        ours = retries(lambda place: [BINARY, "worker", "--dlq", place.dlq, "--source",
                                      place.source, "--archive", "s3://redrivepurge/stage",
                                      "--max-retries", "2"])  # fmt: skip
        assert ours == theirs
    print(f"examples/{sys.argv[1]}: as expected")
