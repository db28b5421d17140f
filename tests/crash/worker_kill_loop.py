#!/usr/bin/env python3
"""Kills `redrive worker` at random points and looks for every message afterwards.

    /usr/bin/python3 tests/crash/worker_kill_loop.py [rounds] [--target s3|file] [--seed N]

Each round puts messages into a dead-letter queue, some of them with their retries spent, and kills
the worker while it drains it. Time stands still at the server but for jumps over the visibility
timeout. In the end every message is in the source queue or in the archive, whichever it belongs
to, an archived one has one document, and copies in the source beyond the first are counted: until
messages are moved in one step, a kill between copy and deletion makes such.
"""

import argparse
import collections
import json
import pathlib
import random
import subprocess
import sys
import tempfile
import time

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "conformance"))

import boto3  # noqa: E402
from harness.server import Server, binary_path  # noqa: E402

KEYS = {
    "region_name": "us-east-1",
    "aws_access_key_id": "test",
    "aws_secret_access_key": "test",
}
MESSAGES_A_ROUND = 60


class Loop:
    def __init__(self, server, place, rounds, target, seed):
        self.server, self.rounds, self.random = server, rounds, random.Random(seed)
        self.sqs = boto3.client("sqs", endpoint_url=server.endpoint, **KEYS)
        self.s3 = boto3.client("s3", endpoint_url=server.endpoint, **KEYS)
        self.source = self.sqs.create_queue(QueueName="source")["QueueUrl"]
        self.dlq = self.sqs.create_queue(QueueName="dlq")["QueueUrl"]
        self.directory = place / "archive"
        self.target = target
        self.s3.create_bucket(Bucket="archive")
        self.archive = "s3://archive/stage" if target == "s3" else f"file://{self.directory}"
        self.fresh, self.worn = set(), set()
        self.killed = 0
        self.struck = 0  # Kills that found messages in hand.

    def fill(self, number):
        entries = []
        for i in range(MESSAGES_A_ROUND):
            body = f"message {number}.{i}"
            worn = self.random.random() < 0.5
            (self.worn if worn else self.fresh).add(body)
            count = {"StringValue": "3", "DataType": "Number"}
            attributes = {"retryCount": count} if worn else {}
            entries.append(
                {"Id": str(i % 10), "MessageBody": body, "MessageAttributes": attributes}
            )
        for begin in range(0, len(entries), 10):
            done = self.sqs.send_message_batch(
                QueueUrl=self.dlq, Entries=entries[begin : begin + 10]
            )
            assert not done.get("Failed")

    def start_worker(self):
        command = [
            binary_path(), "worker", "--dlq", self.dlq, "--source", self.source,
            "--archive", self.archive, "--endpoint-url", self.server.endpoint,
            "--concurrency", "3",
        ]  # fmt: skip
        return subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT)

    def advance(self, seconds):
        subprocess.run(
            [binary_path(), "clock", "advance", str(seconds),
             "--endpoint-url", self.server.endpoint],
            check=True, stdout=subprocess.DEVNULL,
        )  # fmt: skip

    def run(self):
        for number in range(self.rounds):
            self.fill(number)
            worker = self.start_worker()
            time.sleep(self.random.uniform(0.003, 0.06))
            if worker.poll() is None:
                worker.kill()
                self.killed += 1
            worker.wait()
            worker.stdout.close()
            self.struck += self.in_flight() > 0
            self.advance(200)
        worker = self.start_worker()
        # It waits a second for more before it calls the queue empty, and time stands still.
        while worker.poll() is None:
            self.advance(2)
            time.sleep(0.2)
        printed = worker.stdout.read()
        worker.stdout.close()
        assert worker.returncode == 0, printed

    def in_flight(self):
        name = "ApproximateNumberOfMessagesNotVisible"
        answer = self.sqs.get_queue_attributes(QueueUrl=self.dlq, AttributeNames=[name])
        return int(answer["Attributes"][name])

    def bodies_of(self, url):
        found = []
        while True:
            answer = self.sqs.receive_message(QueueUrl=url, MaxNumberOfMessages=10)
            if "Messages" not in answer:
                return found
            found += [message["Body"] for message in answer["Messages"]]

    def documents(self):
        if self.target == "file":
            return [path.read_text() for path in self.directory.rglob("*.json")]
        pages = self.s3.get_paginator("list_objects_v2").paginate(Bucket="archive")
        keys = [one["Key"] for page in pages for one in page.get("Contents", [])]
        return [
            self.s3.get_object(Bucket="archive", Key=key)["Body"].read().decode() for key in keys
        ]

    def check(self):
        assert self.bodies_of(self.dlq) == [], "the last pass left something"
        returned = collections.Counter(self.bodies_of(self.source))
        archived = collections.Counter(json.loads(text)["Body"] for text in self.documents())
        assert set(returned) == self.fresh, set(returned) ^ self.fresh
        assert set(archived) == self.worn, set(archived) ^ self.worn
        twice = [body for body, count in archived.items() if count > 1]
        assert not twice, f"archived twice: {twice}"
        assert self.struck > 0, "no kill found the worker at work"
        copies = sum(returned.values()) - len(returned)
        print(
            f"worker kill loop ({self.target}): {self.rounds} rounds, {self.killed} kills "
            f"({self.struck} with messages in hand), "
            f"{len(self.fresh)} returned, {len(self.worn)} archived, none lost, {copies} copies"
        )


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("rounds", nargs="?", type=int, default=20)
    parser.add_argument("--target", choices=["s3", "file"], default="s3")
    parser.add_argument("--seed", type=int, default=random.randrange(1 << 30))
    options = parser.parse_args()
    print(f"seed {options.seed}")
    with tempfile.TemporaryDirectory(prefix="worker-kill-") as directory:
        place = pathlib.Path(directory)
        server = Server("--data", str(place / "data"), "--virtual-clock")
        try:
            loop = Loop(server, place, options.rounds, options.target, options.seed)
            loop.run()
            loop.check()
        finally:
            server.kill()


if __name__ == "__main__":
    main()
