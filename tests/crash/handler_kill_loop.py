#!/usr/bin/env python3
"""Kills the server, or its handlers, at random points and looks for every message afterwards.

    /usr/bin/python3 tests/crash/handler_kill_loop.py [rounds] [--seed N]

A handler does its work by sending what it got to another queue, with the number of the receive it
got it by; now and then it fails instead. In the end

- every message has been worked on: one that is neither in its queue nor worked on was deleted
  without success. Every event of an asynchronous invocation, too, or it is where events go that
  failed for good;
- no receive was worked on twice: a handler begins only when its receive is durable, so that a
  crash forgets no run that has begun;
- no process of a handler outlives its server, and no directory of a killed server the next start.

Time stands still but for jumps over the visibility timeout.
"""

import argparse
import json
import os
import pathlib
import random
import signal
import sys
import tempfile
import time

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "conformance"))

from harness.functions import client, settings  # noqa: E402
from harness.management import Management  # noqa: E402
from harness.server import Server  # noqa: E402

MESSAGES_A_ROUND = 40
WAIT_SECONDS_MAX = 60
HANDLER = """
import http.client, json, os, random, urllib.parse

address = urllib.parse.urlsplit(os.environ["AWS_ENDPOINT_URL"])
connection = http.client.HTTPConnection(address.hostname, address.port)

def handler(event, context):
    if random.random() < 0.1 and "event" not in event:
        raise RuntimeError("bad luck")
    done = [{"Id": str(i), "MessageBody": json.dumps([record["body"], record["attributes"]["ApproximateReceiveCount"]])}
            for i, record in enumerate(event["Records"])]
    connection.request("POST", "/", json.dumps({"QueueUrl": "done", "Entries": done}), {
        "X-Amz-Target": "AmazonSQS.SendMessageBatch", "Content-Type": "application/x-amz-json-1.0"})
    answer = connection.getresponse()
    answer.read()
    if answer.status != 200:
        raise RuntimeError(str(answer.status))
"""


def descendants(pid):
    try:
        tasks = list(pathlib.Path(f"/proc/{pid}/task").iterdir())
        children = [int(child) for task in tasks for child in (task / "children").read_text().split()]
    except FileNotFoundError:
        return []
    return children + [below for child in children for below in descendants(child)]


def words_of(pid):
    try:
        return pathlib.Path(f"/proc/{pid}/cmdline").read_bytes()
    except (FileNotFoundError, ProcessLookupError):
        return b""


def is_handler(pid):
    """And not the sandbox around it."""
    return b"bootstrap.py" in words_of(pid) and b"bwrap" not in words_of(pid)


class Loop:
    def __init__(self, place, options):
        self.options, self.random = options, random.Random(options.seed)
        self.temporary = place / "tmp"
        self.temporary.mkdir()
        self.arguments = ("--data", str(place / "data"), "--virtual-clock")
        self.sent, self.events, self.done = set(), set(), []
        self.server_kills = self.handler_kills = self.struck = 0
        self.start()
        for name in ("source", "done", "failed"):
            self.sqs.create_queue(QueueName=name)
        self.function = self.functions.create_function(**settings(HANDLER, Timeout=10))["FunctionName"]
        self.functions.put_function_event_invoke_config(
            FunctionName=self.function, DestinationConfig={"OnFailure": {"Destination": self.arn("failed")}}
        )
        self.functions.create_event_source_mapping(
            EventSourceArn=self.arn("source"), FunctionName=self.function, BatchSize=3
        )

    def arn(self, queue):
        told = self.sqs.get_queue_attributes(QueueUrl=queue, AttributeNames=["QueueArn"])
        return told["Attributes"]["QueueArn"]

    def scratch_directories(self):
        return set(self.temporary.glob("redrive-handlers-*"))

    def start(self):
        os.environ["TMPDIR"] = str(self.temporary)
        self.server = Server(*self.arguments)
        self.sqs = client("sqs", self.server.endpoint)
        self.functions = client("lambda", self.server.endpoint)

    def fill(self, number):
        bodies = [f"{number}.{i}" for i in range(MESSAGES_A_ROUND)]
        self.sent.update(bodies)
        for begin in range(0, len(bodies), 10):
            entries = [{"Id": str(i), "MessageBody": body} for i, body in enumerate(bodies[begin : begin + 10])]
            self.sqs.send_message_batch(QueueUrl="source", Entries=entries)
        event = f"event {number}"
        self.events.add(event)
        record = {"body": event, "attributes": {"ApproximateReceiveCount": ""}}
        self.functions.invoke(
            FunctionName=self.function, InvocationType="Event",
            Payload=json.dumps({"event": True, "Records": [record]}),
        )  # fmt: skip

    def advance(self):
        Management(self.server.endpoint).advance(60)

    def in_flight(self):
        name = "ApproximateNumberOfMessagesNotVisible"
        told = self.sqs.get_queue_attributes(QueueUrl="source", AttributeNames=[name])
        return int(told["Attributes"][name])

    def kill_handlers(self):
        handlers = [pid for pid in descendants(self.server.pid) if is_handler(pid)]
        for pid in self.random.sample(handlers, min(len(handlers), 2)):
            try:
                os.kill(pid, signal.SIGKILL)
                self.handler_kills += 1
            except ProcessLookupError:
                pass

    def kill_server(self):
        processes = {pid: words_of(pid) for pid in descendants(self.server.pid)}
        left = self.scratch_directories()
        self.server.kill()
        self.server_kills += 1
        self.await_("its handlers end with the server", lambda: not any(map(is_handler, processes)))
        self.start()
        # A sandbox that was being built ends now at the latest.
        self.await_("nothing is left of it", lambda: not any(
            words and words == words_of(pid) and b"redrive-handlers" in words for pid, words in processes.items()))
        self.struck += self.in_flight() > 0
        assert not left & self.scratch_directories(), "a killed server's directory is still there"

    def run(self):
        for number in range(self.options.rounds):
            self.fill(number)
            time.sleep(self.random.uniform(0, 0.25))
            if self.random.random() < 0.3:
                self.kill_handlers()
                time.sleep(self.random.uniform(0, 0.05))
            if self.random.random() < 0.8:
                self.kill_server()
            # What was in hand becomes visible again.
            self.advance()
            self.collect()

    def await_(self, what, holds):
        end = time.monotonic() + WAIT_SECONDS_MAX
        while not holds():
            assert time.monotonic() < end, f"in vain: {what}"
            time.sleep(0.02)

    def collect(self):
        while True:
            messages = self.sqs.receive_message(QueueUrl="done", MaxNumberOfMessages=10).get("Messages", [])
            if not messages:
                return
            self.done += [tuple(json.loads(message["Body"])) for message in messages]
            entries = [{"Id": str(i), "ReceiptHandle": m["ReceiptHandle"]} for i, m in enumerate(messages)]
            self.sqs.delete_message_batch(QueueUrl="done", Entries=entries)

    def are_events_over(self):
        self.advance()
        self.collect()
        failed = self.sqs.receive_message(QueueUrl="failed", MaxNumberOfMessages=10).get("Messages", [])
        for message in failed:
            payload = json.loads(message["Body"])["requestPayload"]
            self.events.discard(payload["Records"][0]["body"])
        return self.events <= {body for body, _ in self.done}

    def is_over(self):
        self.advance()
        self.collect()
        names = ["ApproximateNumberOfMessages", "ApproximateNumberOfMessagesNotVisible"]
        told = self.sqs.get_queue_attributes(QueueUrl="source", AttributeNames=names)["Attributes"]
        return all(count == "0" for count in told.values())

    def check(self):
        self.await_("the source is empty", self.is_over)
        self.collect()
        lost = self.sent - {body for body, _ in self.done}
        assert not lost, f"deleted without success: {sorted(lost)}"
        self.await_("every event has run or failed", self.are_events_over)
        counted = [run for run in self.done if run[1]]
        twice = len(counted) - len(set(counted))
        assert twice == 0, f"{twice} receives were worked on and then forgotten"
        assert self.struck > 0 or self.options.rounds < 10, "no kill found a handler at work"
        assert self.server.stop() == 0
        assert not self.scratch_directories()
        again = len(counted) - len(self.sent)
        print(
            f"handler kill loop: {self.options.rounds} rounds, the server killed {self.server_kills} times "
            f"({self.struck} with messages in hand), {self.handler_kills} handlers; "
            f"{len(self.sent)} messages worked on, {again} of them again, none lost"
        )


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("rounds", nargs="?", type=int, default=20)
    parser.add_argument("--seed", type=int, default=random.randrange(1 << 30))
    options = parser.parse_args()
    print(f"seed {options.seed}")
    with tempfile.TemporaryDirectory(prefix="handler-kill-") as directory:
        os.chmod(directory, 0o711)  # Handlers of a server that is root are other users.
        loop = Loop(pathlib.Path(directory), options)
        try:
            loop.run()
            loop.check()
        finally:
            if loop.server.running():
                loop.server.kill()


if __name__ == "__main__":
    main()
