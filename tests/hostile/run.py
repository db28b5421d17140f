#!/usr/bin/python3
"""Ten thousand idle connections and a thousand hostile ones, against a real server.

While they are there a client that behaves itself must be served, with every message it sent coming
back intact; the server's memory must stay below what its limits promise; and when the time for a
request is over the hostile connections must be gone, the idle ones not.
"""

import hashlib
import http.client
import json
import pathlib
import resource
import socket
import sys
import tempfile
import threading
import time

HERE = pathlib.Path(__file__).resolve().parent
sys.path[:0] = [str(HERE), str(HERE.parent / "conformance")]

from harness.server import Server  # noqa: E402
from swarm import KINDS, Swarm  # noqa: E402

IDLE = 10_000
HOSTILE = 1_000
REQUEST_SECONDS = 5
MIB = 1 << 20
UNFINISHED = 32 * MIB
UNSENT = 32 * MIB
# The budgets (that for answers counts twice: held, and not taken), 6 KiB for each connection, and the rest: buffers of the threads, the journal's, the
# heap's loose ends.
GROWTH_MAX = UNFINISHED + 2 * UNSENT + (IDLE + HOSTILE) * 6 * 1024 + 64 * MIB
ANSWER_SECONDS_MAX = 5.0

CONFIG = f"""
[limits]
connections = 12000
request-time = {REQUEST_SECONDS}
reply-time = {REQUEST_SECONDS}
unfinished-bytes = {UNFINISHED}
unsent-bytes = {UNSENT}
"""


class Failed(Exception):
    pass


def require(holds, what):
    if not holds:
        raise Failed(what)


def raise_file_limit(wanted):
    _, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    if hard != resource.RLIM_INFINITY and hard < wanted:
        resource.setrlimit(resource.RLIMIT_NOFILE, (wanted, wanted))  # For root only.
    else:
        resource.setrlimit(resource.RLIMIT_NOFILE, (max(wanted, hard), hard))


def memory_of(pid, name):
    for line in pathlib.Path(f"/proc/{pid}/status").read_text().splitlines():
        if line.startswith(name + ":"):
            return int(line.split()[1]) * 1024
    raise Failed(f"no {name}")


def descriptors_of(pid):
    return sum(1 for _ in pathlib.Path(f"/proc/{pid}/fd").iterdir())


class Api:
    """The JSON protocol over one kept connection."""

    def __init__(self, address):
        self._connection = http.client.HTTPConnection(*address, timeout=30)
        self.retries = 0

    def call(self, action, **parameters):
        while True:
            status, body = self._exchange(action, parameters)
            if status != 503:
                break
            self.retries += 1  # As every SDK does.
            time.sleep(0.05)
        require(status == 200, f"{action}: {status} {body[:200]!r}")
        return json.loads(body or b"{}")

    def _exchange(self, action, parameters):
        self._connection.request(
            "POST",
            "/",
            json.dumps(parameters),
            {"Content-Type": "application/x-amz-json-1.0", "X-Amz-Target": f"AmazonSQS.{action}"},
        )
        response = self._connection.getresponse()
        return response.status, response.read()


class GoodClient(threading.Thread):
    """Sends, receives, compares and deletes until told to stop."""

    def __init__(self, address):
        super().__init__(daemon=True)
        self._api = Api(address)
        self._queue = self._api.call("CreateQueue", QueueName="good")["QueueUrl"]
        self._stop_wanted = threading.Event()
        self.rounds = 0
        self.slowest = 0.0
        self.failure = None

    def run(self):
        try:
            while not self._stop_wanted.is_set():
                begun = time.monotonic()
                self._round()
                self.slowest = max(self.slowest, time.monotonic() - begun)
                self.rounds += 1
        except Exception as error:  # noqa: BLE001 - told by finish().
            self.failure = error

    def _round(self):
        # From some bytes to a size that takes several packets, so that it is buffered.
        body = f"{self.rounds} " + hashlib.sha256(str(self.rounds).encode()).hexdigest() * (
            1 if self.rounds % 4 else 2000
        )
        sent = self._api.call("SendMessage", QueueUrl=self._queue, MessageBody=body)
        require(sent["MD5OfMessageBody"] == hashlib.md5(body.encode()).hexdigest(), "wrong digest")
        got = self._api.call("ReceiveMessage", QueueUrl=self._queue)["Messages"]
        require([message["Body"] for message in got] == [body], "not what was sent")
        handle = got[0]["ReceiptHandle"]
        self._api.call("DeleteMessage", QueueUrl=self._queue, ReceiptHandle=handle)

    @property
    def retries(self):
        return self._api.retries

    def finish(self):
        self._stop_wanted.set()
        self.join(60)
        require(self.failure is None, f"the good client failed: {self.failure!r}")
        require(self.slowest <= ANSWER_SECONDS_MAX, f"a round took {self.slowest:.1f} s")
        require(self.rounds >= 50, f"only {self.rounds} rounds")


def fill_large_queue(address):
    api = Api(address)
    url = api.call("CreateQueue", QueueName="large")["QueueUrl"]
    for _ in range(10):
        api.call("SendMessage", QueueUrl=url, MessageBody="m" * 200_000)
    return url


def check_answers(swarm):
    """Each kind was told what it did wrong, as far as it listened."""
    expected = {
        "slow head": {408},
        "trickled chunks": {408},
        "unfinished body": {408, 503},
        "huge head": {431},
        "garbage": {400},
        "half closed": {0},
    }
    for kind, statuses in expected.items():
        got = {member.status for member in swarm.of_kind(kind)}
        require(got <= statuses and got, f"{kind}: answered {got}, expected {statuses}")
    refused = [member for member in swarm.of_kind("unfinished body") if member.status == 503]
    require(refused, "nobody met the limit of unfinished bytes")
    require(len(expected) + 1 == len(KINDS), "a kind is not checked")


def wait_until(condition, seconds):
    deadline = time.monotonic() + seconds
    while not condition() and time.monotonic() < deadline:
        time.sleep(0.05)
    return condition()


def attack(server, address):
    large = fill_large_queue(address)
    good = GoodClient(address)
    before = memory_of(server.pid, "VmRSS")
    descriptors_before = descriptors_of(server.pid)
    good.start()

    idle = [socket.create_connection(address) for _ in range(IDLE)]
    swarm = Swarm(address, HOSTILE, large)
    swarm.run(REQUEST_SECONDS + 4)
    growth = memory_of(server.pid, "VmHWM") - before
    left = lambda: descriptors_of(server.pid) - descriptors_before - IDLE  # noqa: E731
    gone = wait_until(lambda: left() <= 16, REQUEST_SECONDS + 5)
    check_answers(swarm)
    require(gone, f"{left()} hostile connections are still there")

    for connection in idle[:: IDLE // 100]:
        connection.sendall(b"GET /health HTTP/1.1\r\nHost: 127.0.0.1\r\n\r\n")
    for connection in idle[:: IDLE // 100]:
        require(connection.recv(100).startswith(b"HTTP/1.1 200 "), "an idle connection is dead")
    good.finish()
    for connection in idle:
        connection.close()
    swarm.close()
    require(growth <= GROWTH_MAX, f"memory grew by {growth / MIB:.0f} MiB")
    print(
        f"hostile: {IDLE} idle and {HOSTILE} hostile connections; memory grew by {growth / MIB:.0f}"
        f" MiB at most (bound {GROWTH_MAX / MIB:.0f}); {good.rounds} rounds of a good client,"
        f" the slowest {good.slowest:.2f} s, {good.retries} retries"
    )


def main():
    raise_file_limit(IDLE + HOSTILE + 500)
    with tempfile.TemporaryDirectory(prefix="redrive-hostile-") as folder:
        config = pathlib.Path(folder, "redrive.toml")
        config.write_text(CONFIG)
        server = Server("--data", f"{folder}/data", "--config", str(config))
        try:
            host, port = server.endpoint.removeprefix("http://").rsplit(":", 1)
            attack(server, (host, int(port)))
            require(server.running(), "the server died")
            require(server.stop() == 0, "the server did not end well")
        except Failed as failure:
            print(f"hostile: FAILED: {failure}", file=sys.stderr)
            return 1
        finally:
            if server.running():
                server.kill()
    return 0


if __name__ == "__main__":
    sys.exit(main())
