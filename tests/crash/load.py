"""The load: clients that send, receive, delete and change visibility until the server dies.

A client deletes only what it certainly holds: received moments ago, with a timeout that has not
ended. So an acknowledged delete is certain, and everything else is recorded as in doubt.
"""

import http.client
import random
import time
import uuid

from ledger import DOUBT, YES, Violation, check_order

from harness.clients import JsonRaw
from harness.errors import ApiError

HOLD_SECONDS = 2
CERTAIN_SECONDS = 1.5  # Counted from before the receive, so the server's timeout is still running.
DEDUP_PROBE_SECONDS = 240  # Well inside the five-minute window.


class ServerGone(Exception):
    """The connection broke: the round is over, the last operation is in doubt."""


class Load:
    """One client thread of one round."""

    def __init__(self, name, endpoint, urls, ledger, seed, unfinished):
        self._api = JsonRaw(endpoint)
        self._urls = urls
        self._ledger = ledger
        self._random = random.Random(seed)
        self._group = f"group-{name}"
        # FIFO sends of an earlier round whose fate is unknown; sent again with the same ids.
        self._unfinished = unfinished

    def run(self):
        """Works until the server is gone. Violations are left to the caller."""
        try:
            self.finish_fifo_sends()
            self._probe_deduplication()
            while True:
                self._random.choice(self._ACTIONS)(self)
        except ServerGone:
            self._api.wire.close()

    def _call(self, action, place, **parameters):
        try:
            answer = self._api.call(action, {"QueueUrl": self._urls[place], **parameters})
        except (OSError, http.client.HTTPException, ValueError):
            self._ledger.note(acknowledged=False)
            raise ServerGone from None
        self._ledger.note(acknowledged=True)
        return answer

    # --- Sending ------------------------------------------------------------------------------

    def _send_one(self):
        place = self._random.choice(["standard", "flaky"])
        message = self._ledger.new_message(place)
        delay = {"DelaySeconds": 1} if self._random.random() < 0.1 else {}
        answer = self._call("SendMessage", place, MessageBody=message.body, **delay)
        self._ledger.sent(message, answer["MessageId"])

    def _send_batch(self):
        place = self._random.choice(["standard", "flaky"])
        count = self._random.randint(2, 10)
        self._send_entries(place, [self._ledger.new_message(place) for _ in range(count)])

    def _send_fifo(self):
        """One or several, always in this thread's own group, so the order sent is known."""
        count = self._random.choice([1, 1, 5])
        batch = [self._ledger.new_message("fifo", self._group) for _ in range(count)]
        self._unfinished.append(batch)
        self._send_entries("fifo", batch)
        self._unfinished.remove(batch)

    def finish_fifo_sends(self):
        """In order, before anything new: the retry must give exactly one copy of each."""
        for batch in list(self._unfinished):
            self._send_entries("fifo", batch)
            self._unfinished.remove(batch)

    def _send_entries(self, place, messages):
        entries = [
            {"Id": str(n), "MessageBody": message.body, **_fifo_ids(message)}
            for n, message in enumerate(messages)
        ]
        answer = self._call("SendMessageBatch", place, Entries=entries)
        if answer.get("Failed"):
            raise Violation(f"a batch of valid messages was refused: {answer['Failed']}")
        for entry in answer["Successful"]:
            self._ledger.sent(messages[int(entry["Id"])], entry["MessageId"])

    def _probe_deduplication(self):
        """An id used before the crash is still taken: the first message's id comes back."""
        known = self._ledger.recent_fifo(DEDUP_PROBE_SECONDS)
        for message in self._random.sample(known, min(2, len(known))):
            body = f"duplicate of {message.body} {uuid.uuid4()}"
            answer = self._call("SendMessage", "fifo", MessageBody=body, **_fifo_ids(message))
            if answer["MessageId"] != message.message_id:
                raise Violation(f"deduplication id accepted twice: {message}, answer {answer}")

    # --- Receiving ----------------------------------------------------------------------------

    def _receive(self, place, hold):
        """Returns (time before the request, [(ledger entry, receipt handle)])."""
        started_at = time.monotonic()
        answer = self._call(
            "ReceiveMessage",
            place,
            MaxNumberOfMessages=self._random.choice([1, 3, 10]),
            VisibilityTimeout=hold,
            MessageSystemAttributeNames=["All"],
        )
        messages = answer.get("Messages", [])
        entries = [self._ledger.received(each, started_at) for each in messages]
        check_order(entries)
        return started_at, [
            (entry, each["ReceiptHandle"]) for entry, each in zip(entries, messages)
        ]

    def _glance(self):
        """Receives without holding: counts grow, and flaky messages move to their DLQ."""
        self._receive(self._random.choice(["standard", "flaky", "flaky", "dead"]), hold=0)

    def _consume(self):
        place = self._random.choice(["standard", "fifo", "fifo", "flaky", "dead"])
        started_at, held = self._receive(place, HOLD_SECONDS)
        if not held:
            return
        fate = self._random.random()
        if fate < 0.35 or (place == "fifo" and fate < 0.8):
            self._delete_batch(place, started_at, held)
        elif fate < 0.6:
            for entry, handle in held:
                self._delete_one(place, started_at, entry, handle)
        elif fate < 0.9:
            self._release(place, held)
        # Otherwise it is forgotten, as by a consumer that crashed.

    def _delete_one(self, place, started_at, entry, handle):
        self._ledger.deleted(entry, DOUBT)
        try:
            self._call("DeleteMessage", place, ReceiptHandle=handle)
        except ApiError as error:
            self._allow_late(error, started_at)
            return
        self._confirm_delete(entry, started_at)

    def _delete_batch(self, place, started_at, held):
        for entry, _ in held:
            self._ledger.deleted(entry, DOUBT)
        entries = [{"Id": str(n), "ReceiptHandle": handle} for n, (_, handle) in enumerate(held)]
        answer = self._call("DeleteMessageBatch", place, Entries=entries)
        for each in answer.get("Failed", []):
            self._allow_late(each, started_at)
        for each in answer.get("Successful", []):
            self._confirm_delete(held[int(each["Id"])][0], started_at)

    def _confirm_delete(self, entry, started_at):
        if time.monotonic() - started_at < CERTAIN_SECONDS:
            self._ledger.deleted(entry, YES)

    @staticmethod
    def _allow_late(error, started_at):
        """A refusal is right only when our hold on the message may have ended."""
        if time.monotonic() - started_at < CERTAIN_SECONDS:
            raise Violation(f"refused while the message was held: {error}")

    def _release(self, place, held):
        """Lets some go at once, singly or as a batch."""
        if self._random.random() < 0.5:
            entries = [
                {"Id": str(n), "ReceiptHandle": handle, "VisibilityTimeout": 0}
                for n, (_, handle) in enumerate(held)
            ]
            self._call("ChangeMessageVisibilityBatch", place, Entries=entries)
            return
        handle = held[0][1]
        try:
            self._call(
                "ChangeMessageVisibility", place, ReceiptHandle=handle, VisibilityTimeout=0
            )
        except ApiError as error:
            if error.code != "InvalidParameterValue":
                raise Violation(f"unexpected refusal: {error}") from None

    _ACTIONS = [_send_one, _send_batch, _send_fifo, _send_fifo, _glance, _consume, _consume]


def _fifo_ids(message):
    if message.group is None:
        return {}
    return {
        "MessageGroupId": message.group,
        "MessageDeduplicationId": message.deduplication_id,
    }
