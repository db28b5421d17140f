"""The work itself, written once for every client that can be called action by action.

A share of the messages fails: some once, some always. Half of the failures are given back at
once, half by a timeout that ends; some messages take longer than their timeout and are held by
extending it. What fails for good must be in the dead-letter queue, and nothing else; then the
"bug" is fixed, a move task brings them back, and they are worked off.
"""

import concurrent.futures
import json
import time

from harness.clock import until
from harness.queue import Queue, number
from plan import DELIVERIES, FLAKY, MAX_RECEIVES, OK, POISON, SLOW, Book, numbers_with

# Long for the many, so that only what the plan holds briefly can time out on a busy machine.
VISIBILITY_SECONDS = 60
DAY_SECONDS_MAX = 80


def run_day(api, plan):
    """Standard and FIFO work at the same time, as one application would do it."""
    with concurrent.futures.ThreadPoolExecutor(2) as pool:
        days = [pool.submit(_standard_day, api, plan), pool.submit(_fifo_day, api, plan)]
        for day in days:
            day.result()


def _standard_day(api, plan):
    source, dead = _make_pair(api)
    fates = plan.standard_fates()
    _send_all(source, [{"MessageBody": f"work {n}"} for n in fates])
    book = Book(fates)
    _work(source, book, plan, batch=10)
    book.check()
    _check_and_redrive(source, dead, numbers_with(fates, POISON), plan, batch=10)


def _fifo_day(api, plan):
    source, dead = _make_pair(api, fifo=True)
    fates = plan.fifo_fates()
    ids = [{"MessageGroupId": plan.group_of(n), "MessageDeduplicationId": str(n)} for n in fates]
    _send_all(source, [{"MessageBody": f"work {n}", **ids[n]} for n in fates])
    book = Book(fates)
    # One at a time: what comes after a failure in a batch would be given back and counted, too.
    _work(source, book, plan, batch=1)
    book.check()
    book.check_order(plan.group_of)
    _check_and_redrive(source, dead, numbers_with(fates, POISON), plan, batch=1)


def _make_pair(api, fifo=False):
    dead = Queue.create(api, "dead", fifo)
    source = Queue.create(
        api, "work", fifo, attributes={"VisibilityTimeout": str(VISIBILITY_SECONDS)}
    )
    source.redrive_to(dead, MAX_RECEIVES)
    return source, dead


def _send_all(queue, messages):
    for start in range(0, len(messages), 10):
        entries = [
            {"Id": str(n), "MessageAttributes": {"number": number(str(n))}, **message}
            for n, message in enumerate(messages[start : start + 10], start)
        ]
        answer = queue.send_batch(entries)
        assert len(answer["Successful"]) == len(entries), answer


# --- Consumers ------------------------------------------------------------------------------------


def _work(queue, book, plan, batch):
    """Several consumers until the queue is empty; the book tells whether all was there."""
    deadline = time.monotonic() + DAY_SECONDS_MAX
    with concurrent.futures.ThreadPoolExecutor(plan.consumers) as pool:
        consumers = [
            pool.submit(_consume, queue, book, plan, batch, deadline)
            for _ in range(plan.consumers)
        ]
        for consumer in consumers:
            consumer.result()


def _consume(queue, book, plan, batch, deadline):
    while (left := queue.counts()) != (0, 0, 0):
        assert time.monotonic() < deadline, f"{queue.name}: still {left} messages"
        messages = queue.receive(
            max=batch,
            wait=plan.wait_seconds,
            MessageAttributeNames=["All"],
            MessageSystemAttributeNames=["ApproximateReceiveCount"],
        )
        slow = [message for message in messages if book.fates[_number(message)] == SLOW]
        _finish(queue, book, [m for m in messages if _handle(queue, book, m) and m not in slow])
        for message in slow:
            _hold(queue, message, plan.hold_seconds)
            _finish(queue, book, [message])


def _number(message):
    """Body and message attribute say the same, or one of them was damaged on the way."""
    n = int(message["Body"].removeprefix("work "))
    assert message["MessageAttributes"]["number"] == number(str(n))
    return n


def _handle(queue, book, message):
    """True if the work succeeded. A failure gives the message back, at once or a second later."""
    n = _number(message)
    attempt = book.deliver(n)
    assert int(message["Attributes"]["ApproximateReceiveCount"]) == attempt, f"number {n}"
    fate = book.fates[n]
    if fate == POISON or (fate == FLAKY and attempt < DELIVERIES[FLAKY]):
        queue.change_visibility(message, 0 if n % 80 < 40 else 1)
        return False
    return True


def _hold(queue, message, seconds):
    """Works for longer than the timeout of the moment, extending it before it ends."""
    queue.change_visibility(message, seconds)
    end = time.monotonic() + 1.2 * seconds
    while time.monotonic() < end:
        time.sleep(0.25 * seconds)
        queue.change_visibility(message, seconds)


def _finish(queue, book, messages):
    if len(messages) == 1:
        queue.delete(messages[0])
    elif messages:
        entries = _entries(messages)
        answer = queue.api.DeleteMessageBatch(QueueUrl=queue.url, Entries=entries)
        assert len(answer["Successful"]) == len(entries), answer
    for message in messages:
        book.succeed(_number(message))


def _entries(messages, **more):
    return [
        {"Id": str(place), "ReceiptHandle": message["ReceiptHandle"], **more}
        for place, message in enumerate(messages)
    ]


# --- Dead letters ---------------------------------------------------------------------------------


def _check_and_redrive(source, dead, poison, plan, batch):
    _check_dead_letters(source, dead, poison)
    redrive(dead, len(poison))
    assert source.counts() == (len(poison), 0, 0)
    book = Book({n: OK for n in poison})
    _work(source, book, plan, batch)
    book.check()
    assert source.counts() == dead.counts() == (0, 0, 0), "after the last message"
    for queue in (source, dead):
        queue.api.DeleteQueue(QueueUrl=queue.url)


def _check_dead_letters(source, dead, poison):
    """Looks at every dead letter, then lets them all go again."""
    assert source.counts() == (0, 0, 0)
    assert dead.counts() == (len(poison), 0, 0)
    seen = []
    while len(seen) < len(poison):
        messages = dead.receive(MessageSystemAttributeNames=["All"], MessageAttributeNames=["All"])
        assert messages, f"{len(seen)} of {len(poison)} dead letters could be received"
        seen += messages
    assert {_number(message) for message in seen} == poison
    for message in seen:
        assert message["Attributes"]["DeadLetterQueueSourceArn"] == source.arn
        assert message["Attributes"]["ApproximateReceiveCount"] == str(MAX_RECEIVES + 1)
    for start in range(0, len(seen), 10):
        entries = _entries(seen[start : start + 10], VisibilityTimeout=0)
        dead.api.ChangeMessageVisibilityBatch(QueueUrl=dead.url, Entries=entries)


def redrive(dead, count):
    """Everything back to where it failed, by the server; returns when it is done."""
    dead.api.StartMessageMoveTask(SourceArn=dead.arn)

    def completed():
        (task,) = dead.api.ListMessageMoveTasks(SourceArn=dead.arn)["Results"]
        assert task["Status"] in ("RUNNING", "COMPLETED"), json.dumps(task)
        return task["Status"] == "COMPLETED" and task

    task = until("the move task completes", completed, timeout=20)
    assert task["ApproximateNumberOfMessagesMoved"] == count
    assert dead.counts() == (0, 0, 0)
