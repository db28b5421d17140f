"""Message move tasks: taking messages out of a dead-letter queue again."""

import base64
import json
import uuid

import pytest

from harness import clock
from harness.errors import ApiError, refused
from harness.queue import string

MISSING = "arn:aws:sqs:us-east-1:000000000000:no-such-queue"
NO_SOURCE = "The resource that you specified for the SourceArn parameter doesn't exist."
NO_DESTINATION = "The resource that you specified for the DestinationArn parameter doesn't exist."


@pytest.fixture
def dead(new_queue):
    """Makes (source, dead-letter queue) with messages that died in the source."""

    def make(*bodies, fifo=False, target=None):
        target = target or new_queue("dlq", fifo=fifo)
        source = new_queue("source", fifo=fifo)
        source.redrive_to(target, 1)
        for body in bodies:
            source.send_fifo(body) if fifo else source.send(body)
        while source.receive(VisibilityTimeout=0):
            pass
        return source, target

    return make


def tasks(queue, count=10):
    answer = queue.api.ListMessageMoveTasks(SourceArn=queue.arn, MaxResults=count)
    return answer.get("Results", [])


def start(queue, **parameters):
    return queue.api.StartMessageMoveTask(SourceArn=queue.arn, **parameters)["TaskHandle"]


def finished(queue, status="COMPLETED"):
    """Waits for the newest task to reach `status` and returns its entry."""

    def newest():
        found = tasks(queue)[0]
        return found if found["Status"] == status else None

    return clock.until(f"the task becomes {status}", newest)


def test_messages_return_to_the_queue_they_died_in(dead):
    source, target = dead("a", "b", "c")
    assert target.counts() == (3, 0, 0)
    assert start(target)
    entry = finished(target)
    assert entry["SourceArn"] == target.arn
    assert entry["ApproximateNumberOfMessagesMoved"] == 3
    assert entry["ApproximateNumberOfMessagesToMove"] == 3
    assert abs(entry["StartedTimestamp"] - clock.now_ms()) < 20_000, "epoch milliseconds"
    for absent in ("TaskHandle", "DestinationArn", "MaxNumberOfMessagesPerSecond", "FailureReason"):
        assert absent not in entry, f"{absent} is not shown for this finished task"
    assert target.counts() == (0, 0, 0)
    assert source.bodies() == ["a", "b", "c"], "oldest first"


def test_each_message_finds_its_own_source(dead, new_queue):
    first, target = dead("from first")
    second, _ = dead("from second", target=target)
    start(target)
    finished(target)
    assert first.bodies() == ["from first"]
    assert second.bodies() == ["from second"]


def test_a_destination_can_be_named(dead, new_queue):
    source, target = dead("a")
    other = new_queue("destination")
    start(target, DestinationArn=other.arn, MaxNumberOfMessagesPerSecond=500)
    entry = finished(target)
    assert entry["DestinationArn"] == other.arn
    assert entry["MaxNumberOfMessagesPerSecond"] == 500
    assert other.bodies() == ["a"]
    assert source.receive() == []


def test_a_moved_message_counts_as_new(new_queue):
    source, target = new_queue(), new_queue("dlq")
    source.redrive_to(target, 1)
    sent = source.send("m", MessageAttributes={"k": string("x")})
    source.receive_one(VisibilityTimeout=0)
    source.receive()
    start(target)
    finished(target)
    message = source.receive_one(AttributeNames=["All"], MessageAttributeNames=["All"])
    assert message["MessageId"] != sent["MessageId"]
    assert message["Attributes"]["ApproximateReceiveCount"] == "1"
    assert message["MessageAttributes"] == {"k": string("x")}
    assert message["MD5OfMessageAttributes"] == sent["MD5OfMessageAttributes"]


def test_fifo_messages_keep_order_and_group(dead):
    source, target = dead("m0", "m1", "m2", fifo=True)
    start(target)
    finished(target)
    messages = source.receive(AttributeNames=["MessageGroupId"])
    assert [message["Body"] for message in messages] == ["m0", "m1", "m2"]
    assert {message["Attributes"]["MessageGroupId"] for message in messages} == {"g"}


def test_only_visible_messages_move(dead):
    source, target = dead("a", "b")
    held = target.receive_one()
    start(target)
    finished(target)
    assert target.counts() == (0, 1, 0)
    assert source.bodies() == ["b" if held["Body"] == "a" else "a"]


def test_the_rate_is_kept(dead):
    source, target = dead("a", "b", "c", "d")
    watch = clock.Stopwatch()
    start(target, MaxNumberOfMessagesPerSecond=1)
    clock.until("all moved", lambda: source.counts()[0] == 4, timeout=10)
    assert watch.seconds >= 2.9, "four messages at one per second take at least three seconds"


def test_a_running_task_shows_its_handle_and_can_be_cancelled(dead):
    source, target = dead(*(f"m{n}" for n in range(10)))
    handle = start(target, MaxNumberOfMessagesPerSecond=1)
    (entry,) = tasks(target)
    assert entry["Status"] == "RUNNING"
    assert entry["TaskHandle"] == handle
    assert entry["ApproximateNumberOfMessagesToMove"] == 10
    answer = target.api.CancelMessageMoveTask(TaskHandle=handle)
    moved = answer["ApproximateNumberOfMessagesMoved"]
    entry = finished(target, "CANCELLED")
    assert entry["ApproximateNumberOfMessagesMoved"] >= moved
    assert "TaskHandle" not in entry
    total = source.counts()[0] + target.counts()[0]
    assert total == 10 and target.counts()[0] > 0, "moved messages stay moved, the rest stays"


def test_one_active_task_per_source(dead):
    _, target = dead(*(f"m{n}" for n in range(5)))
    handle = start(target, MaxNumberOfMessagesPerSecond=1)
    with refused(
        "InvalidParameterValue",
        "There is already a task running. Only one active task is allowed for a source queue arn "
        "at a given time.",
    ):
        start(target)
    target.api.CancelMessageMoveTask(TaskHandle=handle)
    finished(target, "CANCELLED")
    start(target)
    finished(target)


def test_tasks_are_listed_newest_first(dead):
    _, target = dead("a")
    for rate in (10, 20, 30):
        start(target, MaxNumberOfMessagesPerSecond=rate)
        finished(target)
        clock.wait(0.01)
    rates = [entry["MaxNumberOfMessagesPerSecond"] for entry in tasks(target)]
    assert rates == [30, 20, 10]
    newest = target.api.ListMessageMoveTasks(SourceArn=target.arn)["Results"]
    assert len(newest) == 1, "MaxResults defaults to 1"
    assert newest[0]["MaxNumberOfMessagesPerSecond"] == 30


def test_a_vanished_destination_fails_the_task(dead, new_queue):
    _, target = dead(*(f"m{n}" for n in range(5)))
    other = new_queue("destination")
    start(target, DestinationArn=other.arn, MaxNumberOfMessagesPerSecond=1)
    other.api.DeleteQueue(QueueUrl=other.url)
    entry = finished(target, "FAILED")
    assert entry["FailureReason"] == "AWS.SimpleQueueService.NonExistentQueue"
    assert target.counts()[0] >= 3, "what was not moved stays"


def test_a_message_without_a_source_fails_the_task(dead):
    _, target = dead()
    target.send("sent here directly")
    start(target)
    entry = finished(target, "FAILED")
    assert entry["FailureReason"]
    assert target.counts() == (1, 0, 0)


def test_no_tasks_no_results(dead):
    _, target = dead()
    assert tasks(target) == []


# --- Refusals ---------------------------------------------------------------------------------


def test_the_source_must_be_a_dead_letter_queue(new_queue):
    queue = new_queue()
    with refused(
        "InvalidParameterValue", "Source queue must be configured as a Dead Letter Queue."
    ):
        start(queue)


def test_missing_queues(api, dead):
    _, target = dead()
    with refused("ResourceNotFoundException", NO_DESTINATION):
        start(target, DestinationArn=MISSING)
    with refused("ResourceNotFoundException", NO_SOURCE):
        api.StartMessageMoveTask(SourceArn=MISSING)
    with refused("ResourceNotFoundException", NO_SOURCE):
        api.ListMessageMoveTasks(SourceArn=MISSING)


def test_cancel_with_an_undecodable_handle(api):
    with refused("InvalidParameterValue", "Value for parameter TaskHandle is invalid."):
        api.CancelMessageMoveTask(TaskHandle="garbage")


def handle_for(arn):
    """A handle in the form SQS uses, for a task nobody started."""
    content = json.dumps({"taskId": str(uuid.uuid4()), "sourceArn": arn})
    return base64.b64encode(content.encode()).decode()


def test_cancel_an_unknown_task(api, dead):
    _, target = dead()
    with refused("ResourceNotFoundException", "Task does not exist."):
        api.CancelMessageMoveTask(TaskHandle=handle_for(target.arn))


def test_cancel_a_task_of_a_missing_queue(api):
    with refused("ResourceNotFoundException", NO_SOURCE):
        api.CancelMessageMoveTask(TaskHandle=handle_for(MISSING))


def test_a_finished_task_cannot_be_cancelled(api, dead):
    _, target = dead("a")
    handle = start(target)
    finished(target)
    with pytest.raises(ApiError) as caught:
        api.CancelMessageMoveTask(TaskHandle=handle)
    allowed = ("InvalidParameterValue", "AWS.SimpleQueueService.UnsupportedOperation")
    assert caught.value.code in allowed


def test_a_malformed_arn(api):
    with refused("InvalidParameterValue", matching="SourceArn"):
        api.StartMessageMoveTask(SourceArn="not-an-arn")


@pytest.mark.parametrize("rate", [0, 501, -1])
def test_the_rate_has_a_range(dead, rate):
    _, target = dead()
    with refused("InvalidParameterValue", rule="MaxNumberOfMessagesPerSecond is 1..500"):
        start(target, MaxNumberOfMessagesPerSecond=rate)


def test_the_destination_has_the_sources_type(dead, new_queue):
    _, target = dead()
    with refused("InvalidParameterValue", rule="a standard queue cannot feed a FIFO queue"):
        start(target, DestinationArn=new_queue(fifo=True).arn)
