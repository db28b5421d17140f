"""The one place where a test lets time pass.

A test marked `virtual_clock` has a server whose time stands still: there a wait moves the server's
clock, exactly and at once. Elsewhere a wait takes as long as it says.
"""

import time

from .management import Management

_moved = None  # The server of the running test, if its time is moved.


def follow(endpoint):
    """From now on time is that of the server at `endpoint`; None: real time."""
    global _moved
    _moved = Management(endpoint) if endpoint else None


def wait(seconds):
    """Lets `seconds` pass; in real time a little more, so that the moment is surely over."""
    if _moved:
        _moved.advance(seconds)
    else:
        time.sleep(seconds + 0.1)


def now_ms():
    """The wall clock as SQS writes it in message timestamps: milliseconds since 1970."""
    return _moved.clock()["epochMilliseconds"] if _moved else int(time.time() * 1000)


def until(rule, condition, timeout=5.0):
    """Polls `condition` until it is true; names `rule` when it never becomes so."""
    deadline = time.monotonic() + timeout
    while True:
        result = condition()
        if result:
            return result
        if time.monotonic() > deadline:
            raise AssertionError(f"{rule}: did not happen within {timeout} s (last: {result!r})")
        time.sleep(0.05)


class Stopwatch:
    """Measures real time, for rules such as "a long poll ends as soon as a message arrives"."""

    def __init__(self):
        self._start = time.monotonic()

    @property
    def seconds(self):
        return time.monotonic() - self._start
