"""Connections that behave badly, a thousand at a time, driven by one selector loop."""

import random
import selectors
import socket
import time

HEAD = b"POST / HTTP/1.1\r\nHost: 127.0.0.1\r\n"


def receive_request(queue_url):
    """A receive whose answer is large, and leaves the messages where they are."""
    body = (
        '{"QueueUrl":"%s","MaxNumberOfMessages":10,"VisibilityTimeout":0}' % queue_url
    ).encode()
    return (
        HEAD
        + b"Content-Type: application/x-amz-json-1.0\r\nX-Amz-Target: AmazonSQS.ReceiveMessage\r\n"
        + b"Content-Length: %d\r\n\r\n" % len(body)
        + body
    )


class Member:
    """One connection: what it still has to send, how, and what it got back."""

    def __init__(self, kind, bytes_to_send, *, pause=0.0, piece=65536, reads=True, half_close=False):
        self.kind = kind
        self.left = memoryview(bytes_to_send)
        self.pause = pause
        self.piece = piece
        self.reads = reads
        self.half_close = half_close
        self.answer = b""
        self.ended = False
        self.next_send = 0.0
        self.socket = None

    @property
    def status(self):
        return int(self.answer[9:12]) if self.answer.startswith(b"HTTP/1.1 ") else 0

    def send_some(self, now):
        if not self.left or now < self.next_send:
            return
        try:
            self.left = self.left[self.socket.send(self.left[: self.piece]) :]
        except BlockingIOError:
            return
        except OSError:
            self.left = self.left[:0]
            return
        self.next_send = now + self.pause
        if not self.left and self.half_close:
            self.socket.shutdown(socket.SHUT_WR)

    def read_some(self):
        try:
            received = self.socket.recv(65536)
        except BlockingIOError:
            return
        except OSError:
            received = b""
        self.ended = not received
        self.answer = (self.answer + received)[:65536]


def slow_head(_):
    return Member("slow head", HEAD + b"X-Slow: " + b"z" * 1000, piece=1, pause=0.5)


def slow_body(_):
    body = b"Content-Length: 8000000\r\n\r\n" + b"b" * 1_000_000
    return Member("unfinished body", HEAD + body)


def trickled_chunks(_):
    body = b"Transfer-Encoding: chunked\r\n\r\n" + b"1;x=y\r\nb\r\n" * 1000
    return Member("trickled chunks", HEAD + body, piece=7, pause=0.3)


def never_reads(queue_url):
    return Member("never reads", receive_request(queue_url) * 200, reads=False)


def huge_head(_):
    return Member("huge head", HEAD + b"".join(b"X-%d: %s\r\n" % (i, b"h" * 990) for i in range(64)))


def garbage(_):
    return Member("garbage", b"\xff" + random.randbytes(4000))


def half_closed(_):
    return Member("half closed", HEAD + b"Content-Length: 10\r\n\r\nhalf", half_close=True)


KINDS = [slow_head, slow_body, trickled_chunks, never_reads, huge_head, garbage, half_closed]


class Swarm:
    def __init__(self, address, count, queue_url):
        self.members = [KINDS[i % len(KINDS)](queue_url) for i in range(count)]
        self._selector = selectors.DefaultSelector()
        for member in self.members:
            member.socket = socket.create_connection(address)
            member.socket.setblocking(False)
            if not member.reads:
                member.socket.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 4096)
            events = selectors.EVENT_READ if member.reads else 0
            if events:
                self._selector.register(member.socket, events, member)

    def run(self, seconds):
        end = time.monotonic() + seconds
        while time.monotonic() < end:
            now = time.monotonic()
            for member in self.members:
                if not member.ended:
                    member.send_some(now)
            for key, _ in self._selector.select(0.02):
                key.data.read_some()
                if key.data.ended:
                    self._selector.unregister(key.fileobj)

    def of_kind(self, kind):
        return [member for member in self.members if member.kind == kind]

    def close(self):
        for member in self.members:
            member.socket.close()
