"""Takes every message out of every queue and compares with the ledger."""

import time

from ledger import YES, Violation, check_order

from harness.queue import Queue

HOLD_SECONDS = 300
PATIENCE_SECONDS = 20


class Check:
    """One complete look at a server nobody else is using."""

    def __init__(self, api, urls, ledger, random, keep):
        self._queues = {place: Queue(api, place, url) for place, url in urls.items()}
        self._ledger = ledger
        self._random = random
        self._keep = keep  # Share of standard messages that stays for later rounds.
        self._live = {}  # body -> place where it was found

    def run(self):
        """Raises Violation, or returns how many messages were found."""
        held = {"standard": self._take_all("standard")}
        # Taking from the source moves spent messages on, so their DLQ comes after it.
        held["flaky"] = self._take_all("flaky")
        held["dead"] = self._take_all("dead")
        self._drain_fifo()
        self._ledger.settle(self._live)
        for place, messages in held.items():
            self._dispose(place, messages)
        return len(self._live)

    def _receive(self, place):
        started_at = time.monotonic()
        messages = self._queues[place].receive(
            VisibilityTimeout=HOLD_SECONDS, MessageSystemAttributeNames=["All"]
        )
        return [(self._judge(place, each, started_at), each) for each in messages]

    def _judge(self, place, answer, started_at):
        entry = self._ledger.received(answer, started_at)
        if entry.body in self._live:
            raise Violation(f"in {self._live[entry.body]} and in {place} at once: {entry}")
        home = "flaky" if place == "dead" else place
        if entry.place != home:
            raise Violation(f"found in {place}, where it never belonged: {entry}")
        self._live[entry.body] = place
        self._ledger.found_live(entry)
        return entry

    def _take_all(self, place):
        held = []
        deadline = time.monotonic() + PATIENCE_SECONDS
        while True:
            found = self._receive(place)
            held += found
            if not found and self._settled(place, (0, len(held), 0), deadline):
                return held

    def _drain_fifo(self):
        """Deletes as it goes: a group yields its next messages only then."""
        deadline = time.monotonic() + PATIENCE_SECONDS
        seen = []
        while True:
            found = self._receive("fifo")
            if not found and self._settled("fifo", (0, 0, 0), deadline):
                break
            seen += [entry for entry, _ in found]
            self._delete("fifo", found)
        check_order(seen)

    def _settled(self, place, expected, deadline):
        """True when the counters agree that nothing is left to wait for."""
        counts = self._queues[place].counts()
        if counts == expected:
            return True
        if time.monotonic() > deadline:
            raise Violation(f"{place}: counters stay at {counts}, expected {expected}")
        time.sleep(0.05)
        return False

    def _dispose(self, place, held):
        """Deletes most, releases the rest so that some messages live through many crashes."""
        kept = [pair for pair in held if self._random.random() < self._keep]
        kept_bodies = {entry.body for entry, _ in kept}
        self._delete(place, [pair for pair in held if pair[0].body not in kept_bodies])
        for tens in _tens(kept):
            answer = self._queues[place].api.ChangeMessageVisibilityBatch(
                QueueUrl=self._queues[place].url,
                Entries=[{**entry, "VisibilityTimeout": 0} for entry in _entries(tens)],
            )
            _require_success(answer)

    def _delete(self, place, held):
        for tens in _tens(held):
            answer = self._queues[place].api.DeleteMessageBatch(
                QueueUrl=self._queues[place].url, Entries=_entries(tens)
            )
            _require_success(answer)
            for entry, _ in tens:
                self._ledger.deleted(entry, YES)


def _tens(items):
    return [items[start : start + 10] for start in range(0, len(items), 10)]


def _entries(held):
    return [{"Id": str(n), "ReceiptHandle": m["ReceiptHandle"]} for n, (_, m) in enumerate(held)]


def _require_success(answer):
    if answer.get("Failed"):
        raise Violation(f"refused while the message was held: {answer['Failed']}")
