#!/usr/bin/python3
"""Kills a loaded server again and again and checks that it kept every promise.

Each round starts the server on the same data directory, loads it from several threads, and kills
it with SIGKILL at a random moment. Every few rounds, and at the end, all queues are emptied and
compared with what was acknowledged. Exit code 0: no promise was broken.

    tests/crash/kill_loop.py                 50 rounds
    tests/crash/kill_loop.py 5000 --seed 7   many rounds with a given seed
"""

import argparse
import pathlib
import random
import shutil
import sys
import tempfile
import threading
import time
import traceback

HERE = pathlib.Path(__file__).resolve().parent
sys.path[:0] = [str(HERE), str(HERE.parent / "conformance")]

from check import Check  # noqa: E402
from ledger import Ledger, Violation  # noqa: E402
from load import Load  # noqa: E402

from harness.clients import JsonRaw  # noqa: E402
from harness.server import Server, ServerFailed, kill_while_starting  # noqa: E402

KILL_AFTER_SECONDS = (0.02, 0.3)
KILL_WHILE_STARTING_ONE_IN = 10


class KillLoop:
    """One run: a data directory, a ledger, and a sequence of servers."""

    def __init__(self, options, data):
        self._options = options
        self._random = random.Random(options.seed)
        self._arguments = ("--data", str(data / "data"))
        self._log = data / "server.log"
        self._ledger = Ledger()
        self._unfinished = [[] for _ in range(options.threads)]
        self._failures = []
        self._found = 0

    def run(self):
        for number in range(1, self._options.rounds + 1):
            self._round()
            if number % self._options.check_every == 0:
                self._check(keep=0.3)
        self._check(keep=0.3)
        self._check(keep=0.0)  # After a clean stop nothing may have changed.
        print(
            f"kill_loop: {self._options.rounds} kills, {self._ledger.size()} messages, "
            f"{self._ledger.acknowledged} operations acknowledged, "
            f"{self._ledger.in_doubt} in doubt, {self._found} found live in checks"
        )

    def _start(self):
        if self._random.randrange(KILL_WHILE_STARTING_ONE_IN) == 0:
            kill_while_starting(self._random.uniform(0, 0.05), *self._arguments)
        server = Server(*self._arguments, log_path=self._log)
        api = JsonRaw(server.endpoint)
        return server, api, make_queues(api)

    def _round(self):
        server, _, urls = self._start()
        threads = [
            threading.Thread(target=self._load, args=(n, server.endpoint, urls, seed))
            for n, seed in enumerate(self._seeds())
        ]
        for thread in threads:
            thread.start()
        time.sleep(self._random.uniform(*KILL_AFTER_SECONDS))
        died_by_itself = not server.running()
        server.kill()
        for thread in threads:
            thread.join()
        if died_by_itself:
            raise Violation(f"the server died before it was killed; see {self._log}")
        if self._failures:
            raise self._failures[0]

    def _seeds(self):
        return [self._random.randrange(2**32) for _ in range(self._options.threads)]

    def _client(self, number, endpoint, urls, seed):
        return Load(number, endpoint, urls, self._ledger, seed, self._unfinished[number])

    def _load(self, number, endpoint, urls, seed):
        try:
            self._client(number, endpoint, urls, seed).run()
        except Exception as error:
            self._failures.append(error)

    def _check(self, keep):
        server, api, urls = self._start()
        try:
            for number, seed in enumerate(self._seeds()):
                self._client(number, server.endpoint, urls, seed).finish_fifo_sends()
            self._found += Check(api, urls, self._ledger, self._random, keep).run()
        except BaseException:
            server.kill()
            raise
        code = server.stop()
        if code != 0:
            raise Violation(f"SIGTERM ended the server with code {code}; see {self._log}")


def make_queues(api):
    """The four queues; creating them again after a restart finds the same ones."""
    urls = {"dead": api.CreateQueue(QueueName="dead")["QueueUrl"]}
    urls["standard"] = api.CreateQueue(QueueName="standard")["QueueUrl"]
    fifo = {"FifoQueue": "true"}
    urls["fifo"] = api.CreateQueue(QueueName="fifo.fifo", Attributes=fifo)["QueueUrl"]
    arn = "arn:aws:sqs:us-east-1:000000000000:dead"
    policy = {"RedrivePolicy": f'{{"deadLetterTargetArn":"{arn}","maxReceiveCount":2}}'}
    urls["flaky"] = api.CreateQueue(QueueName="flaky", Attributes=policy)["QueueUrl"]
    return urls


def parse_options():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("rounds", nargs="?", type=int, default=50)
    parser.add_argument("--seed", type=int, default=random.randrange(2**32))
    parser.add_argument("--threads", type=int, default=4)
    parser.add_argument("--check-every", type=int, default=10)
    parser.add_argument("--directory", help="where to put the data (default: temporary)")
    return parser.parse_args()


def main():
    options = parse_options()
    data = pathlib.Path(tempfile.mkdtemp(prefix="redrive-crash-", dir=options.directory))
    print(f"kill_loop: seed {options.seed}, data in {data}", flush=True)
    started_at = time.monotonic()
    try:
        KillLoop(options, data).run()
    except (Violation, ServerFailed) as error:
        print(f"kill_loop: FAILED (seed {options.seed}): {error}")
    except Exception:
        print(f"kill_loop: FAILED (seed {options.seed}):")
        traceback.print_exc(file=sys.stdout)
    else:
        shutil.rmtree(data)
        print(f"kill_loop: passed in {time.monotonic() - started_at:.1f} s")
        return 0
    print(f"kill_loop: the data directory is kept: {data}")
    return 1


if __name__ == "__main__":
    sys.exit(main())
