"""What is sent, what becomes of it, and the book in which every delivery is counted.

node/plan.mjs is the same plan for the clients in JavaScript.
"""

import collections
import dataclasses
import threading

MAX_RECEIVES = 2
OK, FLAKY, POISON, SLOW = "ok", "flaky", "poison", "slow"
# How often a message with that fate is delivered from its queue, if nothing is lost or doubled.
DELIVERIES = {OK: 1, SLOW: 1, FLAKY: 2, POISON: MAX_RECEIVES}


@dataclasses.dataclass(frozen=True)
class Plan:
    """How many messages, in how many groups. The rest suits the client's own speed."""

    standard: int = 800
    fifo: int = 200
    groups: int = 10
    consumers: int = 3
    wait_seconds: int = 1
    hold_seconds: int = 2

    def standard_fates(self):
        return {n: _standard_fate(n) for n in range(self.standard)}

    def fifo_fates(self):
        return {n: self._fifo_fate(n) for n in range(self.fifo)}

    def group_of(self, n):
        return f"group-{n % self.groups}"

    def _fifo_fate(self, n):
        place, group = divmod(n, self.groups)
        if place == 3 and group % 2 == 0:
            return POISON
        return FLAKY if place == 6 else OK


def _standard_fate(n):
    special = {0: POISON, 1: FLAKY}.get(n % 40, OK)
    return SLOW if n % 200 == 2 else special


class Book:
    """Counts deliveries and successes of one queue's messages. Safe from several threads."""

    def __init__(self, fates):
        self.fates = fates
        self._lock = threading.Lock()
        self._delivered = collections.Counter()
        self._done = collections.Counter()
        self._order = []

    def deliver(self, n):
        """Notes one more delivery and says which one it is, counted from 1."""
        with self._lock:
            self._delivered[n] += 1
            self._order.append(n)
            return self._delivered[n]

    def succeed(self, n):
        with self._lock:
            self._done[n] += 1

    def check(self):
        """Every message was delivered exactly as often as its fate says, and ended as it says."""
        expected = {n: DELIVERIES[fate] for n, fate in self.fates.items()}
        assert _different(self._delivered, expected) == {}, "deliveries: number: (seen, expected)"
        done = {n: 1 for n, fate in self.fates.items() if fate != POISON}
        assert _different(self._done, done) == {}, "successes: number: (seen, expected)"

    def check_order(self, group_of):
        """Within its group a message is delivered again and again until it is out of the way."""
        expected, seen = collections.defaultdict(list), collections.defaultdict(list)
        for n, fate in self.fates.items():
            expected[group_of(n)] += [n] * DELIVERIES[fate]
        for n in self._order:
            seen[group_of(n)].append(n)
        assert seen == expected, "the order within each group"


def _different(seen, expected):
    return {
        n: (seen.get(n, 0), expected.get(n, 0))
        for n in sorted(set(seen) | set(expected))
        if seen.get(n, 0) != expected.get(n, 0)
    }


def numbers_with(fates, fate):
    return {n for n, each in fates.items() if each == fate}
