"""Visibility timeouts, receipt handles, and what deleting with each kind of handle does."""

import pytest

from harness import clock
from harness.errors import refused

pytestmark = pytest.mark.virtual_clock


def test_a_received_message_is_hidden_and_comes_back(new_queue):
    queue = new_queue()
    queue.send("m")
    queue.receive_one(VisibilityTimeout=1)
    assert queue.bodies() == []
    clock.wait(1)
    message = queue.receive_one(AttributeNames=["ApproximateReceiveCount"])
    assert message["Attributes"]["ApproximateReceiveCount"] == "2"


def test_the_queues_timeout_is_the_default(new_queue):
    queue = new_queue(attributes={"VisibilityTimeout": "1"})
    queue.send("m")
    queue.receive_one()
    assert queue.bodies() == []
    clock.wait(1)
    assert queue.bodies() == ["m"]


def test_timeout_zero_leaves_it_receivable_but_counts(new_queue):
    queue = new_queue()
    queue.send("m")
    for expected in ("1", "2", "3"):
        message = queue.receive_one(
            VisibilityTimeout=0, AttributeNames=["ApproximateReceiveCount"]
        )
        assert message["Attributes"]["ApproximateReceiveCount"] == expected
        assert message["ReceiptHandle"]
    queue.delete(message)
    assert queue.counts() == (0, 0, 0)


def test_a_timeout_is_not_remembered_for_the_next_receive(new_queue):
    queue = new_queue(attributes={"VisibilityTimeout": "1"})
    queue.send("m")
    queue.change_visibility(queue.receive_one(VisibilityTimeout=100), 0)
    queue.receive_one()
    clock.wait(1)
    assert queue.bodies() == ["m"]


def test_a_message_whose_timeout_ended_comes_before_a_newer_one(new_queue):
    queue = new_queue()
    queue.send("old")
    queue.receive_one(VisibilityTimeout=1)
    queue.send("new")
    clock.wait(1)
    assert queue.bodies(max=1) == ["old"]


def test_change_visibility_zero_releases_at_once(new_queue):
    queue = new_queue()
    queue.send("m")
    queue.change_visibility(queue.receive_one(), 0)
    assert queue.bodies() == ["m"]


def test_change_visibility_counts_from_now_and_does_not_add(new_queue):
    queue = new_queue()
    queue.send("m")
    queue.change_visibility(queue.receive_one(VisibilityTimeout=100), 1)
    clock.wait(1)
    assert queue.bodies() == ["m"]


def test_change_visibility_extends(new_queue):
    queue = new_queue()
    queue.send("m")
    queue.change_visibility(queue.receive_one(VisibilityTimeout=1), 60)
    clock.wait(1)
    assert queue.bodies() == []
    assert queue.counts() == (0, 1, 0)


def test_the_longest_timeout(new_queue):
    queue = new_queue()
    queue.send("m")
    queue.receive_one(VisibilityTimeout=43200)
    assert queue.counts() == (0, 1, 0)


@pytest.mark.parametrize("seconds", [-1, 43201])
def test_change_visibility_range(new_queue, seconds):
    queue = new_queue()
    queue.send("m")
    message = queue.receive_one()
    with refused("InvalidParameterValue", rule="0..43200", matching="VisibilityTimeout"):
        queue.change_visibility(message, seconds)


def test_twelve_hours_are_counted_from_the_receive(new_queue):
    queue = new_queue()
    queue.send("m")
    message = queue.receive_one()
    clock.wait(1)
    with refused(
        "InvalidParameterValue",
        "Value 43200 for parameter VisibilityTimeout is invalid. Reason: Total VisibilityTimeout "
        "for the message is beyond the limit [43200 seconds]",
    ):
        queue.change_visibility(message, 43200)
    queue.change_visibility(message, 43190)


# --- Receipt handles --------------------------------------------------------------------------


def test_every_receive_gives_a_new_handle(new_queue):
    queue = new_queue()
    queue.send("m")
    handles = {queue.receive_one(VisibilityTimeout=0)["ReceiptHandle"] for _ in range(3)}
    assert len(handles) == 3
    assert all(0 < len(handle) <= 1024 for handle in handles)


def test_garbage_handles_are_refused(api, new_queue):
    queue = new_queue()
    text = 'The input receipt handle "garbage" is not a valid receipt handle.'
    with refused("ReceiptHandleIsInvalid", text):
        queue.delete_handle("garbage")
    with refused("ReceiptHandleIsInvalid", text):
        queue.change_visibility({"ReceiptHandle": "garbage"}, 1)


def test_a_damaged_handle_is_refused(new_queue):
    queue = new_queue()
    queue.send("m")
    handle = queue.receive_one()["ReceiptHandle"]
    other = "A" if handle[5] != "A" else "B"
    with refused("ReceiptHandleIsInvalid", rule="one character changed"):
        queue.delete_handle(handle[:5] + other + handle[6:])
    assert queue.counts() == (0, 1, 0)


def test_handles_belong_to_their_queue(new_queue):
    queue, other = new_queue(), new_queue()
    queue.send("m")
    message = queue.receive_one()
    with refused("ReceiptHandleIsInvalid", rule="a handle of another queue"):
        other.delete(message)
    assert queue.counts() == (0, 1, 0)


def test_an_older_handle_can_change_visibility_on_a_standard_queue(new_queue):
    queue = new_queue()
    queue.send("m")
    older = queue.receive_one(VisibilityTimeout=0)
    queue.receive_one(VisibilityTimeout=60)
    assert queue.bodies() == []
    queue.change_visibility(older, 0)
    assert queue.bodies() == ["m"]


def test_a_handle_past_its_timeout_can_still_change_visibility(new_queue):
    queue = new_queue()
    queue.send("m")
    message = queue.receive_one(VisibilityTimeout=1)
    clock.wait(1)
    assert queue.change_visibility(message, 10) == {}


def test_change_visibility_after_delete_is_refused(new_queue):
    queue = new_queue()
    queue.send("m")
    message = queue.receive_one()
    queue.delete(message)
    with refused(
        "InvalidParameterValue",
        f"Value {message['ReceiptHandle']} for parameter ReceiptHandle is invalid. Reason: "
        "Message does not exist or is not available for visibility timeout change.",
    ):
        queue.change_visibility(message, 10)


# --- Deleting ---------------------------------------------------------------------------------


def test_delete_removes_and_is_idempotent(new_queue):
    queue = new_queue()
    queue.send("m")
    message = queue.receive_one()
    assert queue.delete(message) == {}
    assert queue.delete(message) == {}
    assert queue.counts() == (0, 0, 0)


def test_a_standard_message_can_be_deleted_after_its_timeout(new_queue):
    queue = new_queue()
    queue.send("m")
    message = queue.receive_one(VisibilityTimeout=1)
    clock.wait(1)
    queue.delete(message)
    assert queue.counts() == (0, 0, 0)


def test_deleting_with_a_stale_handle_answers_success(new_queue):
    queue = new_queue()
    queue.send("m")
    older = queue.receive_one(VisibilityTimeout=0)
    queue.receive_one(VisibilityTimeout=60)
    assert queue.delete(older) == {}


def test_deleting_after_a_purge_answers_success(api, new_queue):
    queue = new_queue()
    queue.send("m")
    message = queue.receive_one()
    api.PurgeQueue(QueueUrl=queue.url)
    assert queue.delete(message) == {}


def test_a_fifo_message_cannot_be_deleted_after_its_timeout(new_queue):
    queue = new_queue(fifo=True)
    queue.send_fifo("m")
    message = queue.receive_one(VisibilityTimeout=1)
    clock.wait(1)
    with refused(
        "InvalidParameterValue",
        f"Value {message['ReceiptHandle']} for parameter ReceiptHandle is invalid. "
        "Reason: The receipt handle has expired.",
    ):
        queue.delete(message)
    assert queue.bodies() == ["m"]


def test_extending_keeps_a_fifo_handle_valid(new_queue):
    queue = new_queue(fifo=True)
    queue.send_fifo("m")
    message = queue.receive_one(VisibilityTimeout=1)
    queue.change_visibility(message, 60)
    clock.wait(1)
    queue.delete(message)
    assert queue.counts() == (0, 0, 0)


def test_an_expired_fifo_delete_fails_alone_in_a_batch(api, new_queue):
    queue = new_queue(fifo=True)
    queue.send_fifo("a", group="1")
    queue.send_fifo("b", group="2")
    expired, held = queue.receive(VisibilityTimeout=1)
    queue.change_visibility(held, 60)
    clock.wait(1)
    answer = api.DeleteMessageBatch(
        QueueUrl=queue.url,
        Entries=[
            {"Id": "expired", "ReceiptHandle": expired["ReceiptHandle"]},
            {"Id": "held", "ReceiptHandle": held["ReceiptHandle"]},
        ],
    )
    assert answer["Successful"] == [{"Id": "held"}]
    (failure,) = answer["Failed"]
    assert (failure["Id"], failure["Code"]) == ("expired", "InvalidParameterValue")


def test_deleting_a_deleted_fifo_message_answers_success(new_queue):
    queue = new_queue(fifo=True)
    queue.send_fifo("m")
    message = queue.receive_one()
    queue.delete(message)
    assert queue.delete(message) == {}
