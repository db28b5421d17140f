#!/usr/bin/python3
"""Cuts the power of a loaded server at many moments and checks that it kept every promise.

A kill leaves in the kernel whatever the server wrote; a power loss does not. So one run of a real
server under load is recorded (record_writes.c, preloaded), disks are made as power losses at random
moments may leave them (disk_images.py), and a server is started on each and compared with what was
acknowledged until then: no message is lost, none that was deleted comes back, none is there twice,
receive counts hold, groups keep their order. Exit code 0: no promise was broken.

    tests/crash/power_loss.py                 20 disks
    tests/crash/power_loss.py 500 --seed 7    many, with a given seed; --seconds for a longer load
"""

import argparse
import collections
import contextlib
import dataclasses
import hashlib
import os
import pathlib
import random
import shutil
import subprocess
import sys
import tempfile
import threading
import time
import traceback

HERE = pathlib.Path(__file__).resolve().parent
sys.path[:0] = [str(HERE), str(HERE.parent / "conformance")]

import disk_images  # noqa: E402
from kill_loop import make_queues  # noqa: E402
from ledger import Violation  # noqa: E402

from harness.clients import JsonRaw  # noqa: E402
from harness.errors import ApiError  # noqa: E402
from harness.server import Server, ServerFailed  # noqa: E402

HOLD_SECONDS = 2
CERTAIN_SECONDS = 1.5  # Counted from before the receive, so the server's timeout is still running.
LARGE_BYTES = 200_000
NEVER = float("inf")


@dataclasses.dataclass
class Operation:
    """How long the record was before its request left, and when its answer had come."""

    begun: int
    acknowledged: float = NEVER


@dataclasses.dataclass
class Message:
    place: str
    group: str | None
    number: int
    send: Operation
    receives: list = dataclasses.field(default_factory=list)
    deletes: list = dataclasses.field(default_factory=list)


class Load:
    """Clients of the server that is recorded."""

    def __init__(self, endpoint, urls, record, seed, threads):
        self._endpoint = endpoint
        self._urls = urls
        self._record = record
        self._seed = seed
        self._threads = threads
        self._stop = threading.Event()
        self.messages = {}  # Body -> Message; each body is written by one thread.
        self.failures = []

    def run(self, seconds):
        threads = [threading.Thread(target=self._work, args=(n,)) for n in range(self._threads)]
        for thread in threads:
            thread.start()
        time.sleep(seconds)
        self._stop.set()
        for thread in threads:
            thread.join()
        if self.failures:
            raise self.failures[0]

    def _position(self):
        return os.stat(self._record).st_size

    def _work(self, number):
        try:
            client = _Client(self, number)
            while not self._stop.is_set():
                client.step()
        except Exception as error:
            self.failures.append(error)


class _Client:
    def __init__(self, load, number):
        self._load = load
        self._api = JsonRaw(load._endpoint)
        self._random = random.Random(f"{load._seed} {number}")
        self._name = number
        self._sent = 0

    def step(self):
        self._random.choice([self._send, self._send, self._send_large, self._consume])()

    @contextlib.contextmanager
    def _operation(self):
        operation = Operation(self._load._position())
        yield operation
        operation.acknowledged = self._load._position()

    def _new_message(self, place, operation, size=0):
        self._sent += 1
        group = f"group-{self._name}" if place == "fifo" else None
        body = f"{place} {self._name} {self._sent} ".ljust(size, "x")
        self._load.messages[body] = Message(place, group, self._sent, operation)
        return body

    def _call(self, action, place, **parameters):
        return self._api.call(action, {"QueueUrl": self._load._urls[place], **parameters})

    def _send(self):
        place = self._random.choice(["standard", "flaky", "fifo"])
        with self._operation() as operation:
            bodies = [self._new_message(place, operation) for _ in range(self._random.choice([1, 3, 10]))]
            entries = [{"Id": str(n), "MessageBody": body, **self._ids(place, body)} for n, body in enumerate(bodies)]
            answer = self._call("SendMessageBatch", place, Entries=entries)
            if answer.get("Failed"):
                raise Violation(f"a batch of valid messages was refused: {answer['Failed']}")

    def _ids(self, place, body):
        if place != "fifo":
            return {}
        return {"MessageGroupId": f"group-{self._name}", "MessageDeduplicationId": hashlib.md5(body.encode()).hexdigest()}

    def _send_large(self):
        if self._random.random() < 0.7:
            return self._send()
        with self._operation() as operation:
            body = self._new_message("standard", operation, LARGE_BYTES)
            self._call("SendMessage", "standard", MessageBody=body)

    def _consume(self):
        place = self._random.choice(["standard", "standard", "flaky", "fifo", "fifo"])
        hold = self._random.choice([0, HOLD_SECONDS, HOLD_SECONDS]) if place != "fifo" else HOLD_SECONDS
        started_at = time.monotonic()
        with self._operation() as receive:
            messages = self._call(
                "ReceiveMessage", place, MaxNumberOfMessages=10, VisibilityTimeout=hold
            ).get("Messages", [])
            for each in messages:
                self._load.messages[each["Body"]].receives.append(receive)
        if hold and messages and self._random.random() < 0.7:
            self._delete(place, messages, started_at)

    def _delete(self, place, messages, started_at):
        with self._operation() as operation:
            for each in messages:
                self._load.messages[each["Body"]].deletes.append(operation)
            entries = [{"Id": str(n), "ReceiptHandle": each["ReceiptHandle"]} for n, each in enumerate(messages)]
            answer = self._call("DeleteMessageBatch", place, Entries=entries)
            uncertain = answer.get("Failed") or time.monotonic() - started_at > CERTAIN_SECONDS
            if uncertain:  # Our hold may have ended: whether it is gone is not known.
                for each in messages:
                    deletes = self._load.messages[each["Body"]].deletes
                    deletes[deletes.index(operation)] = Operation(operation.begun)


class Check:
    """One look at everything on a server that was started on an image."""

    def __init__(self, endpoint, messages, position):
        self._api = JsonRaw(endpoint)
        self._messages = messages
        self._position = position
        self._found = {}  # Body -> receive count, with this one.

    def run(self):
        urls = make_queues(self._api) if self._has_queues() else {}
        status, _, _ = self._api.wire.request("POST", "/_redrive/v1/clock/advance", b'{"seconds":60}')
        if status != 200:
            raise Violation(f"time could not be moved: {status}")
        order = collections.defaultdict(int)
        for place in urls and ("standard", "flaky", "dead", "fifo"):
            self._take_all(place, urls[place], order)
        self._judge_missing()
        return len(self._found)

    def _has_queues(self):
        return bool(self._api.ListQueues().get("QueueUrls"))

    def _take_all(self, place, url, order):
        while messages := self._api.ReceiveMessage(
            QueueUrl=url,
            MaxNumberOfMessages=10,
            VisibilityTimeout=3600,
            MessageSystemAttributeNames=["All"],
        ).get("Messages"):
            for each in messages:
                self._judge(place, each, order)
            if place == "fifo":  # A group yields its next messages only then.
                entries = [{"Id": str(n), "ReceiptHandle": each["ReceiptHandle"]} for n, each in enumerate(messages)]
                self._api.DeleteMessageBatch(QueueUrl=url, Entries=entries)

    def _judge(self, place, answer, order):
        body = answer["Body"]
        message = self._messages.get(body)
        if message is None or message.send.begun > self._position:
            raise Violation(f"{body[:40]!r} was never sent, and is there")
        if body in self._found:
            raise Violation(f"{body[:40]!r} is there twice")
        if message.place != ("flaky" if place == "dead" else place):
            raise Violation(f"{body[:40]!r} is in {place}")
        if any(delete.acknowledged <= self._position for delete in message.deletes):
            raise Violation(f"{body[:40]!r} came back after its delete was acknowledged")
        count = int(answer["Attributes"]["ApproximateReceiveCount"])
        known = sum(1 for receive in message.receives if receive.acknowledged <= self._position)
        if count < known + 1:
            raise Violation(f"{body[:40]!r} was received {known} times before, and says {count}")
        if message.group and message.number <= order[message.group]:
            raise Violation(f"{body[:40]!r} comes after number {order[message.group]} of its group")
        order[message.group] = message.number
        self._found[body] = count

    def _judge_missing(self):
        lost = [
            body
            for body, message in self._messages.items()
            if message.send.acknowledged <= self._position
            and all(delete.begun > self._position for delete in message.deletes)
            and body not in self._found
        ]
        if lost:
            raise Violation(f"{len(lost)} acknowledged messages are lost, such as {lost[0][:40]!r}")


class PowerLoss:
    def __init__(self, options, directory):
        self._options = options
        self._random = random.Random(options.seed)
        self._directory = directory
        self._record = directory / "record"
        self._found = 0

    def run(self):
        messages = self._record_run()
        ends = [event[0] for event in disk_images.read_events(self._record)]
        cuts = sorted(self._random.choices(ends, k=self._options.images - 1) + [ends[-1]])
        self._try_images(cuts, messages, disk_images.Disk())
        print(
            f"power_loss: {len(cuts)} disks, {len(ends)} calls and {ends[-1] >> 20} MiB recorded, "
            f"{len(messages)} messages, {self._found} found live"
        )
        self._try_without_syncs(ends, messages)

    def _record_run(self):
        data = self._directory / "data"
        data.mkdir(mode=0o700)
        library = self._directory / "record_writes.so"
        command = ["cc", "-O1", "-shared", "-fPIC", "-o", str(library), str(HERE / "record_writes.c"), "-ldl", "-lpthread"]
        subprocess.run(command, check=True)
        preloaded = {
            "LD_PRELOAD": str(library),
            "REDRIVE_RECORD_DIRECTORY": str(data.resolve()),
            "REDRIVE_RECORD_LOG": str(self._record),
        }
        os.environ.update(preloaded)
        server = Server("--data", str(data), log_path=self._directory / "recorded.log")
        for name in preloaded:
            del os.environ[name]
        try:
            urls = make_queues(JsonRaw(server.endpoint))
            load = Load(server.endpoint, urls, self._record, self._options.seed, self._options.threads)
            load.run(self._options.seconds)
        finally:
            server.kill()
        return load.messages

    def _try_images(self, cuts, messages, disk):
        events = disk_images.read_events(self._record)
        position = 0
        for number, cut in enumerate(cuts):
            while position < cut:
                position, *event = next(events)
                disk.follow(*event)
            self._try_image(number, disk.crash(self._random), messages, position)

    def _try_image(self, number, image, messages, position):
        directory = self._directory / f"image-{number}"
        disk_images.save(image, directory)
        arguments = ("--data", str(directory), "--virtual-clock")
        try:
            server = Server(*arguments, log_path=self._directory / f"image-{number}.log")
            try:
                self._found += Check(server.endpoint, messages, position).run()
            finally:
                server.kill()
        except (Violation, ServerFailed, ApiError) as error:
            raise Violation(f"power lost at {position}, {directory}: {error}") from error
        shutil.rmtree(directory)

    def _try_without_syncs(self, ends, messages):
        """The same disks as if the server never synced: the check must notice."""
        for attempt in range(10):
            try:
                self._try_images([ends[-1 - attempt]], messages, disk_images.Disk(syncs_count=False))
            except Violation:
                shutil.rmtree(self._directory / "image-0")
                return
        raise Violation("a server that never syncs would pass: this test sees nothing")


def parse_options():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("images", nargs="?", type=int, default=20)
    parser.add_argument("--seed", type=int, default=random.randrange(2**32))
    parser.add_argument("--seconds", type=float, default=3.0, help="how long the load lasts")
    parser.add_argument("--threads", type=int, default=4)
    parser.add_argument("--directory", help="where to put the data (default: temporary)")
    return parser.parse_args()


def main():
    options = parse_options()
    data = pathlib.Path(tempfile.mkdtemp(prefix="redrive-power-", dir=options.directory))
    print(f"power_loss: seed {options.seed}, data in {data}", flush=True)
    started_at = time.monotonic()
    try:
        PowerLoss(options, data).run()
    except (Violation, ServerFailed) as error:
        print(f"power_loss: FAILED (seed {options.seed}): {error}")
    except Exception:
        print(f"power_loss: FAILED (seed {options.seed}):")
        traceback.print_exc(file=sys.stdout)
    else:
        shutil.rmtree(data)
        print(f"power_loss: passed in {time.monotonic() - started_at:.1f} s")
        return 0
    print(f"power_loss: the disks are kept: {data}")
    return 1


if __name__ == "__main__":
    sys.exit(main())
