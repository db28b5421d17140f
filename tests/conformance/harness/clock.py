"""The one place where a test lets time pass.

Every wait goes through here, so a server with a clock that can be moved needs a change in this
file only.
"""

import time


def wait(seconds):
    """Lets `seconds` pass for the server, and a little more so that the moment is surely over."""
    time.sleep(seconds + 0.1)


def now_ms():
    """The wall clock as SQS writes it in message timestamps: milliseconds since 1970."""
    return int(time.time() * 1000)


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
