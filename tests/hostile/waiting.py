#!/usr/bin/python3
"""Ten thousand receives that wait, over a hundred queues: they cost no CPU while nothing comes, each
message goes to exactly one of them and soon, and when time is up all are answered."""

import json
import os
import pathlib
import selectors
import socket
import statistics
import sys
import tempfile
import time

HERE = pathlib.Path(__file__).resolve().parent
sys.path[:0] = [str(HERE), str(HERE.parent / "conformance")]

from harness.server import Server  # noqa: E402
from run import Api, Failed, memory_of, raise_file_limit, require  # noqa: E402

WAITING = 10_000
QUEUES = 100
WAIT_SECONDS = 12
IDLE_SECONDS = 2.0
IDLE_CPU_SHARE_MAX = 0.05
SENDS = 500
ANSWER_SECONDS_MAX = 1.0


def request(queue_url):
    body = json.dumps({"QueueUrl": queue_url, "WaitTimeSeconds": WAIT_SECONDS}).encode()
    return (
        b"POST / HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/x-amz-json-1.0\r\n"
        b"X-Amz-Target: AmazonSQS.ReceiveMessage\r\nContent-Length: %d\r\n\r\n%b" % (len(body), body)
    )


def cpu_seconds(pid):
    fields = pathlib.Path(f"/proc/{pid}/stat").read_text().rsplit(")", 1)[1].split()
    return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")


class Crowd:
    """The waiting receives, one connection each."""

    def __init__(self, address, urls):
        self._selector = selectors.DefaultSelector()
        self.left = 0
        self.bodies = []
        self.last_asked = None
        for number in range(WAITING):
            connection = socket.create_connection(address)
            self.last_asked = time.monotonic()
            connection.sendall(request(urls[number % QUEUES]))
            connection.setblocking(False)
            self._selector.register(connection, selectors.EVENT_READ)
            self.left += 1

    def collect(self, seconds):
        """Takes answers for so long, or until one with a message has come; tells whether it did."""
        deadline = time.monotonic() + seconds
        while self.left > 0 and (rest := deadline - time.monotonic()) > 0:
            came = False
            for key, _ in self._selector.select(rest):
                came = self._take(key.fileobj) or came
            if came:
                return True
        return False

    def _take(self, connection):
        answer = connection.recv(65536)
        require(answer.startswith(b"HTTP/1.1 200"), f"answered with {answer[:100]!r}")
        self._selector.unregister(connection)
        connection.close()
        self.left -= 1
        messages = json.loads(answer.split(b"\r\n\r\n", 1)[1]).get("Messages", [])
        self.bodies += [message["Body"] for message in messages]
        return bool(messages)


def check(server):
    address = ("127.0.0.1", int(server.endpoint.rsplit(":", 1)[1]))
    api = Api(address)
    urls = [api.call("CreateQueue", QueueName=f"q{n}")["QueueUrl"] for n in range(QUEUES)]
    before = memory_of(server.pid, "VmRSS")
    crowd = Crowd(address, urls)
    each = (memory_of(server.pid, "VmRSS") - before) / WAITING

    used = cpu_seconds(server.pid)
    time.sleep(IDLE_SECONDS)
    share = (cpu_seconds(server.pid) - used) / IDLE_SECONDS
    require(share <= IDLE_CPU_SHARE_MAX, f"waiting takes {share:.1%} of a core")

    delays = []
    for number in range(SENDS):
        api.call("SendMessage", QueueUrl=urls[number % QUEUES], MessageBody=str(number))
        answered = time.monotonic()
        require(crowd.collect(ANSWER_SECONDS_MAX), f"nobody got message {number}")
        delays.append(time.monotonic() - answered)
    require(crowd.collect(WAIT_SECONDS + 10) is False, "a message came twice")
    require(crowd.left == 0, f"{crowd.left} receives were never answered")
    require(sorted(map(int, crowd.bodies)) == list(range(SENDS)), "not every message came once")
    waited = time.monotonic() - crowd.last_asked
    require(waited >= WAIT_SECONDS - 0.01, f"the wait ended after {waited:.3f} s")
    print(
        f"waiting: {WAITING} receives, {each / 1024:.1f} KiB each, {share:.1%} of a core; "
        f"message behind the answer to its send: median {statistics.median(delays) * 1e3:.2f} ms"
    )


def main():
    raise_file_limit(WAITING + 1_000)
    with tempfile.TemporaryDirectory(prefix="redrive-waiting-") as home:
        server = Server("--data", home + "/data")
        try:
            check(server)
        except Failed as failure:
            sys.exit(f"waiting: {failure}")
        finally:
            require(server.stop() == 0, "the server did not end well")


main()
