"""Celery with SQS as its broker: retries, late acknowledgement, a worker killed in the middle."""

import collections
import os
import pathlib
import signal
import subprocess
import sys

import pytest

from harness.clock import until
from harness.queue import Queue, unique_name
from plan import FLAKY, OK, POISON
from wires import signed_query
from workload import redrive

TASKS = 1000
# One for the worker that is killed, and then twice as everywhere.
DELIVERIES = 3
KILL_AFTER = 300
PROCESSES = 2
PREFETCH = 5
# Longer than it takes to run what a worker has fetched, short enough to wait for it.
VISIBILITY_SECONDS = 3
HERE = pathlib.Path(__file__).parent


def fate(n):
    return {0: POISON, 1: FLAKY}.get(n % 50, OK)


class Application:
    """The workers of one application, its queues and what its tasks told."""

    def __init__(self, endpoint, folder):
        self.prefix = unique_name("celery") + "-"
        self.story = folder / "story"
        self.story.touch()
        self.fixed = folder / "fixed"
        self._log = open(folder / "worker.log", "ab")
        self._environment = {
            **os.environ,
            "AWS_ACCESS_KEY_ID": "test",
            "AWS_SECRET_ACCESS_KEY": "test",
            "PYTHONPATH": str(HERE),
            "REDRIVE_ENDPOINT": endpoint,
            "CLIENTS_PREFIX": self.prefix,
            "CLIENTS_PREFETCH": str(PREFETCH),
            "CLIENTS_VISIBILITY_SECONDS": str(VISIBILITY_SECONDS),
            "CLIENTS_STORY": str(self.story),
            "CLIENTS_FIXED": str(self.fixed),
        }

    def start_worker(self):
        command = [sys.executable, "-m", "celery", "-A", "celery_tasks", "worker", "--concurrency"]
        command += [str(PROCESSES), "--without-gossip", "--without-mingle", "--loglevel", "WARNING"]
        return subprocess.Popen(
            command, env=self._environment, stdout=self._log, stderr=self._log, cwd=HERE,
            start_new_session=True,
        )  # fmt: skip

    def send_tasks(self):
        """From a program of its own, as a web application would be."""
        lines = "".join(f"{n} {fate(n)}\n" for n in range(TASKS))
        command = [sys.executable, "celery_send.py"]
        subprocess.run(command, env=self._environment, input=lines.encode(), check=True, cwd=HERE)

    def events(self, name):
        """How often each task told that event."""
        told = (line.split() for line in self.story.read_text().splitlines())
        return collections.Counter(int(n) for event, n in told if event == name)


@pytest.fixture
def application(endpoint, tmp_path):
    return Application(endpoint, tmp_path)


@pytest.fixture
def start_worker(application):
    """Starts workers with all their processes in one group, which is gone after the test."""
    workers = []

    def start():
        workers.append(application.start_worker())
        return workers[-1]

    yield start
    for worker in workers:
        if worker.poll() is None:
            kill(worker)


def kill(worker):
    """SIGKILL for the worker and its children: nothing is given back, nothing acknowledged."""
    os.killpg(worker.pid, signal.SIGKILL)
    worker.wait()


def stop(worker):
    """SIGTERM: a warm shutdown, which finishes what was begun."""
    worker.terminate()
    worker.wait(timeout=20)


def own_queue(api, application):
    """The queue as Celery made it for itself, now with a dead-letter queue behind it."""
    name = application.prefix + "celery"
    queue = Queue(api, name, api.GetQueueUrl(QueueName=name)["QueueUrl"])
    assert queue.attribute("VisibilityTimeout") == str(VISIBILITY_SECONDS)
    dead = Queue.create(api, "celery-dead")
    queue.redrive_to(dead, DELIVERIES)
    return queue, dead


def test_celery(endpoint, application, start_worker):
    application.send_tasks()
    queue, dead = own_queue(signed_query(endpoint), application)
    assert queue.counts() == (TASKS, 0, 0)

    first = start_worker()
    until("the worker is in the middle", lambda: len(application.events("done")) >= KILL_AFTER, 60)
    kill(first)
    done = len(application.events("done"))
    assert KILL_AFTER <= done < TASKS, "the worker was killed too late to prove anything"

    second = start_worker()
    poison = {n for n in range(TASKS) if fate(n) == POISON}
    until("the work is done", lambda: dead.counts() == (len(poison), 0, 0), 90)
    until("nothing is left", lambda: queue.counts() == (0, 0, 0), 20)
    check_story(application, poison)

    application.fixed.touch()
    redrive(dead, len(poison))
    until("redriven tasks are done", lambda: poison <= set(application.events("done")), 20)
    until("nothing is left", lambda: queue.counts() == dead.counts() == (0, 0, 0), 20)
    stop(second)


def check_story(application, poison):
    """Nothing is lost. Only what the killed worker had in hand may have run once more."""
    done, started = application.events("done"), application.events("started")
    assert set(done) == set(range(TASKS)) - poison
    assert all(count <= 2 for count in done.values()), "more than once again after one kill"
    usual = {OK: 1, FLAKY: 2, POISON: DELIVERIES}
    odd = {n: count for n, count in started.items() if count != usual[fate(n)]}
    assert len(odd) <= PROCESSES * PREFETCH, f"started another number of times than usual: {odd}"
