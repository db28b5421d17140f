"""Sends a task for each line of stdin: a number and its fate."""

import concurrent.futures
import sys

from celery_tasks import work


def send(line):
    n, fate = line.split()
    work.delay(int(n), fate)


# Each send waits for the server's disk, and one sync serves all that wait.
with concurrent.futures.ThreadPoolExecutor(8) as pool:
    list(pool.map(send, sys.stdin))
