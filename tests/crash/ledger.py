"""What the clients know for certain, and what a crash left in doubt.

Every message has a unique body. An operation is acknowledged when its answer arrived, in doubt
when the connection broke first. The ledger is the judge: `Violation` means the server broke a
promise, whatever the timing of the crash was.
"""

import dataclasses
import hashlib
import threading
import time

NO, DOUBT, YES = "no", "in doubt", "acknowledged"


class Violation(Exception):
    """The server lost, doubled, revived or reordered something it had acknowledged."""


@dataclasses.dataclass
class Message:
    body: str
    place: str  # The pair of queues it may be in: "standard", "fifo" or "flaky".
    group: str | None = None
    number: int = 0  # Position within the group's sending order.
    sent: str = DOUBT
    sent_at: float = 0.0
    deleted: str = NO
    deleted_at: float = 0.0
    message_id: str | None = None
    received_at: list[float] = dataclasses.field(default_factory=list)

    @property
    def deduplication_id(self):
        return f"d-{self.body}"

    def must_be_live(self):
        return self.sent == YES and self.deleted == NO

    def must_be_gone(self):
        return self.deleted == YES or self.sent == NO


class Ledger:
    """All messages of a run. Thread-safe: every method takes the lock once."""

    def __init__(self):
        self._lock = threading.Lock()
        self._messages = {}  # guarded by _lock
        self._counter = 0  # guarded by _lock
        self.acknowledged = 0  # guarded by _lock
        self.in_doubt = 0  # guarded by _lock

    def new_message(self, place, group=None):
        with self._lock:
            self._counter += 1
            body = f"{place}-{group}-{self._counter}"
            self._messages[body] = Message(body, place, group, number=self._counter)
            return self._messages[body]

    def note(self, acknowledged):
        with self._lock:
            if acknowledged:
                self.acknowledged += 1
            else:
                self.in_doubt += 1

    def sent(self, message, message_id):
        with self._lock:
            self._check_id(message, message_id, "send")
            message.sent = YES
            message.sent_at = time.monotonic()

    def received(self, answer, started_at):
        """Judges one message of a receive that began at `started_at`; returns its entry."""
        with self._lock:
            body = answer["Body"]
            message = self._messages.get(body)
            if message is None:
                raise Violation(f"received {body!r}, which was never stored under this body")
            self._check_alive(message, started_at)
            self._check_id(message, answer["MessageId"], "receive")
            if answer["MD5OfBody"] != hashlib.md5(body.encode()).hexdigest():
                raise Violation(f"wrong MD5OfBody for {message}")
            self._check_count(message, answer, started_at)
            message.received_at.append(time.monotonic())
            message.sent = YES  # Whoever was shown a message may rely on it.
            return message

    def deleted(self, message, certainty):
        with self._lock:
            if message.deleted != YES:
                message.deleted = certainty
                message.deleted_at = time.monotonic()

    def found_live(self, message):
        """A check holds the message in its hands: no doubt is left."""
        with self._lock:
            message.sent, message.deleted = YES, NO

    def settle(self, live_bodies):
        """After a check saw everything there is: judges the absent, then forgets the gone."""
        with self._lock:
            missing = [
                message
                for message in self._messages.values()
                if message.must_be_live() and message.body not in live_bodies
            ]
            if missing:
                lines = "\n  ".join(map(str, missing[:10]))
                raise Violation(f"{len(missing)} acknowledged messages are lost:\n  {lines}")
            for message in self._messages.values():
                if message.body not in live_bodies and not message.must_be_gone():
                    message.deleted, message.deleted_at = YES, time.monotonic()

    def recent_fifo(self, seconds):
        """FIFO messages acknowledged within `seconds`: their ids must still be taken."""
        with self._lock:
            since = time.monotonic() - seconds
            return [
                message
                for message in self._messages.values()
                if message.group and message.sent == YES and message.sent_at > since
            ]

    def size(self):
        with self._lock:
            return len(self._messages)

    @staticmethod
    def _check_id(message, message_id, action):
        if message.message_id not in (None, message_id):
            raise Violation(f"{action} answered id {message_id}: a second copy of {message}")
        message.message_id = message_id

    @staticmethod
    def _check_alive(message, started_at):
        if message.must_be_gone() and message.deleted_at < started_at:
            raise Violation(f"reborn after its delete was acknowledged: {message}")

    @staticmethod
    def _check_count(message, answer, started_at):
        earlier = sum(1 for moment in message.received_at if moment < started_at)
        count = int(answer["Attributes"]["ApproximateReceiveCount"])
        if count < earlier + 1:
            raise Violation(f"receive count {count} after {earlier} earlier receives: {message}")


def check_order(entries):
    """Messages of one group must come in the order they were sent."""
    last = {}
    for message in entries:
        if message.group and message.number <= last.get(message.group, 0):
            raise Violation(f"out of order after number {last[message.group]}: {message}")
        last[message.group] = message.number
