#!/usr/bin/env python3
"""Kills `redrive worker` at random points and looks for every message afterwards.

    /usr/bin/python3 tests/crash/worker_kill_loop.py [rounds] [--target s3|file] [--seed N]
                                                     [--no-atomic] [--elsewhere]

Each round puts messages into a dead-letter queue, some of them with their retries spent, and kills
the worker while it drains it. In the end every message is in the source queue or in the archive,
whichever it belongs to, and an archived one has one document. Redrive moves messages in one step,
so none may come back twice; with --no-atomic, and with --elsewhere (npm's fauxqs), a kill between
copy and deletion makes a second copy, and these are counted.

Time stands still at our server but for jumps over the visibility timeout. Elsewhere it has to be
waited for, once at the end.
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
from harness.elsewhere import Fauxqs, install  # noqa: E402
from harness.server import Server, binary_path  # noqa: E402

KEYS = {
    "region_name": "us-east-1",
    "aws_access_key_id": "test",
    "aws_secret_access_key": "test",
}
MESSAGES_A_ROUND = 60
ELSEWHERE_VISIBILITY = 10


class Loop:
    def __init__(self, server, place, options):
        self.server, self.options, self.random = server, options, random.Random(options.seed)
        self.s3 = boto3.client("s3", endpoint_url=server.endpoint, **KEYS)
        for name in ("source", "dlq"):
            self.command("queue", "create", name)
        self.directory = place / "archive"
        self.s3.create_bucket(Bucket="archive")
        in_s3 = options.target == "s3"
        self.archive = "s3://archive/stage" if in_s3 else f"file://{self.directory}"
        self.fresh, self.worn = set(), set()
        self.killed = 0
        self.struck = 0  # Kills that found messages in hand.
        self.patience = 0.05  # Seconds.

    def command(self, *arguments, text=""):
        """One of our commands: Debian's boto3 speaks the older protocol, which fauxqs does not."""
        done = subprocess.run(
            [binary_path(), *arguments, "--endpoint-url", self.server.endpoint],
            check=True, capture_output=True, text=True, input=text,
        )  # fmt: skip
        return [json.loads(line) for line in done.stdout.splitlines() if line.startswith("{")]

    def fill(self, number):
        lines = []
        for i in range(MESSAGES_A_ROUND):
            message = {"Body": f"message {number}.{i}"}
            worn = self.random.random() < 0.5
            (self.worn if worn else self.fresh).add(message["Body"])
            if worn:
                count = {"StringValue": "3", "DataType": "Number"}
                message["MessageAttributes"] = {"retryCount": count}
            lines.append(json.dumps(message) + "\n")
        self.command("send", "dlq", "--ndjson", text="".join(lines))

    def start_worker(self):
        command = [
            binary_path(), "worker", "--dlq", "dlq", "--source", "source",
            "--archive", self.archive, "--endpoint-url", self.server.endpoint,
            "--concurrency", "3",
        ]  # fmt: skip
        if self.options.no_atomic:
            command.append("--no-atomic")
        if self.options.elsewhere:
            command += ["--visibility", str(ELSEWHERE_VISIBILITY)]
        return subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT)

    def advance(self, seconds):
        if not self.options.elsewhere:
            self.command("clock", "advance", str(seconds))

    def run(self):
        for number in range(self.options.rounds):
            self.fill(number)
            worker = self.start_worker()
            time.sleep(self.random.uniform(0.3, 1) * self.patience)
            if worker.poll() is None:
                worker.kill()
                self.killed += 1
            worker.wait()
            worker.stdout.close()
            self.learn()
            self.advance(200)
        if self.options.elsewhere:
            time.sleep(ELSEWHERE_VISIBILITY + 1)
        self.drain()

    def drain(self):
        worker = self.start_worker()
        # It waits a second for more before it calls the queue empty, and time stands still.
        while worker.poll() is None:
            self.advance(2)
            time.sleep(0.2)
        printed = worker.stdout.read()
        worker.stdout.close()
        assert worker.returncode == 0, printed

    def learn(self):
        """A kill is to find messages in hand: how long that takes is the machine's affair."""
        queues = self.command("queue", "ls", "--json")
        (dlq,) = [one for one in queues if one["QueueUrl"].endswith("/dlq")]
        counts = dlq["Attributes"]
        if counts["ApproximateNumberOfMessagesNotVisible"] != "0":
            self.struck += 1
        elif counts["ApproximateNumberOfMessages"] != "0":
            self.patience = min(self.patience * 1.3, 5)
        else:
            self.patience *= 0.8

    def bodies_of(self, queue):
        return [message["Body"] for message in self.command("receive", queue, "--all", "--json")]

    def documents(self):
        if self.options.target == "file":
            return [path.read_text() for path in self.directory.rglob("*.json")]
        pages = self.s3.get_paginator("list_objects_v2").paginate(Bucket="archive")
        keys = [one["Key"] for page in pages for one in page.get("Contents", [])]
        return [
            self.s3.get_object(Bucket="archive", Key=key)["Body"].read().decode() for key in keys
        ]

    def check(self):
        assert self.bodies_of("dlq") == [], "the last pass left something"
        returned = collections.Counter(self.bodies_of("source"))
        archived = collections.Counter(json.loads(text)["Body"] for text in self.documents())
        assert set(returned) == self.fresh, set(returned) ^ self.fresh
        assert set(archived) == self.worn, set(archived) ^ self.worn
        twice = [body for body, count in archived.items() if count > 1]
        assert not twice, f"archived twice: {twice}"
        assert self.struck > 0, "no kill found the worker at work"
        copies = sum(returned.values()) - len(returned)
        atomic = not (self.options.no_atomic or self.options.elsewhere)
        assert copies == 0 or not atomic, f"{copies} came back twice"
        where = "fauxqs" if self.options.elsewhere else "redrive"
        how = "moves" if atomic else "copies"
        print(
            f"worker kill loop ({where}, {how}, {self.options.target}): "
            f"{self.options.rounds} rounds, {self.killed} kills "
            f"({self.struck} with messages in hand), {len(self.fresh)} returned, "
            f"{len(self.worn)} archived, none lost, {copies} came back twice"
        )


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("rounds", nargs="?", type=int, default=20)
    parser.add_argument("--target", choices=["s3", "file"], default="s3")
    parser.add_argument("--seed", type=int, default=random.randrange(1 << 30))
    parser.add_argument("--no-atomic", action="store_true", help="copy and delete")
    parser.add_argument("--elsewhere", action="store_true", help="against npm's fauxqs")
    options = parser.parse_args()
    if options.elsewhere:
        install()
    print(f"seed {options.seed}")
    with tempfile.TemporaryDirectory(prefix="worker-kill-") as directory:
        place = pathlib.Path(directory)
        ours = ("--data", str(place / "data"), "--virtual-clock")
        server = Fauxqs() if options.elsewhere else Server(*ours)
        try:
            loop = Loop(server, place, options)
            loop.run()
            loop.check()
        finally:
            server.kill()


if __name__ == "__main__":
    main()
