"""FIFO queues: sending rules, deduplication, order within and rotation between groups."""

import concurrent.futures
import hashlib
import string as alphabet

import pytest

from harness import clock
from harness.errors import refused

PUNCTUATION = "!\"#$%&'()*+,-./:;<=>?@[\\]^_`{|}~"


@pytest.fixture
def fifo(new_queue):
    return new_queue(fifo=True)


def send_all(queue, *names):
    """Sends messages named like g1m2: the first two characters are the group."""
    for name in names:
        queue.send_fifo(name, group=name[:2])


# --- Sending ----------------------------------------------------------------------------------


def test_a_group_is_mandatory(fifo):
    with refused("MissingParameter", "The request must contain the parameter MessageGroupId."):
        fifo.send("m", MessageDeduplicationId="d")


def test_a_deduplication_id_is_mandatory_without_content_deduplication(fifo):
    with refused(
        "InvalidParameterValue",
        "The queue should either have ContentBasedDeduplication enabled or "
        "MessageDeduplicationId provided explicitly",
    ):
        fifo.send("m", MessageGroupId="g")


@pytest.mark.parametrize("name", ["MessageGroupId", "MessageDeduplicationId"])
def test_ids_accept_letters_digits_and_punctuation(fifo, name):
    ids = {"MessageGroupId": "g", "MessageDeduplicationId": "d"}
    for value in (alphabet.ascii_letters + alphabet.digits, PUNCTUATION, "x" * 128):
        fifo.send("m", **{**ids, name: value})
        message = fifo.receive_one(AttributeNames=["All"])
        assert message["Attributes"][name] == value
        fifo.delete(message)
        ids["MessageDeduplicationId"] += "+"


@pytest.mark.parametrize("name", ["MessageGroupId", "MessageDeduplicationId"])
@pytest.mark.parametrize("value", ["x" * 129, "a b", "é", "tab\t"])
def test_ids_refuse_other_characters_and_lengths(fifo, name, value):
    with refused(
        "InvalidParameterValue",
        f"Value {value} for parameter {name} is invalid. Reason: {name} can only include "
        "alphanumeric and punctuation characters. 1 to 128 in length.",
    ):
        fifo.send("m", **{"MessageGroupId": "g", "MessageDeduplicationId": "d", name: value})


@pytest.mark.parametrize("name", ["MessageGroupId", "MessageDeduplicationId"])
def test_an_empty_id_is_refused(fifo, name):
    with refused("InvalidParameterValue", matching=f"{name} can only include"):
        fifo.send("m", **{"MessageGroupId": "g", "MessageDeduplicationId": "d", name: ""})


def test_a_message_cannot_have_its_own_delay(fifo):
    fifo.send_fifo("m", DelaySeconds=0)
    with refused(
        "InvalidParameterValue",
        "Value 2 for parameter DelaySeconds is invalid. "
        "Reason: The request include parameter that is not valid for this queue type.",
    ):
        fifo.send_fifo("m", DelaySeconds=2)


@pytest.mark.virtual_clock
def test_the_queues_delay_applies_even_when_the_message_says_zero(new_queue):
    queue = new_queue(fifo=True, attributes={"DelaySeconds": "1"})
    queue.send_fifo("a")
    queue.send_fifo("b", DelaySeconds=0)
    assert queue.bodies() == []
    assert queue.counts() == (0, 0, 2)
    clock.wait(1)
    assert queue.bodies() == ["a", "b"]


def test_sequence_numbers_grow(fifo):
    numbers = [fifo.send_fifo("m", group=f"g{n % 2}")["SequenceNumber"] for n in range(6)]
    assert all(number.isdigit() for number in numbers)
    assert [int(number) for number in numbers] == sorted({int(number) for number in numbers})


# --- Deduplication ----------------------------------------------------------------------------


def test_a_duplicate_is_answered_like_the_original_and_not_stored(fifo):
    first = fifo.send_fifo("first", dedup="d")
    second = fifo.send_fifo("second", dedup="d")
    assert second["MessageId"] == first["MessageId"]
    assert second["SequenceNumber"] == first["SequenceNumber"]
    assert fifo.counts() == (1, 0, 0)
    assert fifo.bodies() == ["first"]


def test_an_id_stays_taken_after_receive_and_delete(fifo):
    fifo.send_fifo("m", dedup="d")
    fifo.delete(fifo.receive_one())
    fifo.send_fifo("m", dedup="d")
    assert fifo.counts() == (0, 0, 0)


def test_a_purge_frees_the_ids(api, fifo):
    fifo.send_fifo("m", dedup="d")
    api.PurgeQueue(QueueUrl=fifo.url)
    fifo.send_fifo("again", dedup="d")
    assert fifo.bodies() == ["again"]


def test_ids_are_unique_over_all_groups_by_default(fifo):
    fifo.send_fifo("a", group="g1", dedup="d")
    fifo.send_fifo("b", group="g2", dedup="d")
    assert fifo.bodies() == ["a"]


@pytest.mark.parametrize("limit", ["perQueue", "perMessageGroupId"])
def test_ids_are_unique_per_group_when_the_scope_says_so(new_queue, limit):
    attributes = {"DeduplicationScope": "messageGroup", "FifoThroughputLimit": limit}
    queue = new_queue(fifo=True, attributes=attributes)
    queue.send_fifo("a", group="g1", dedup="d")
    queue.send_fifo("b", group="g2", dedup="d")
    queue.send_fifo("c", group="g1", dedup="d")
    assert sorted(queue.bodies()) == ["a", "b"]


def test_changing_the_scope_is_reported_but_keeps_the_scope_of_creation(fifo):
    fifo.send_fifo("a", group="g1", dedup="d")
    fifo.set(DeduplicationScope="messageGroup")
    assert fifo.attribute("DeduplicationScope") == "messageGroup"
    fifo.send_fifo("b", group="g2", dedup="d")
    assert fifo.bodies() == ["a"]


def test_content_deduplication_uses_the_sha256_of_the_body(new_queue):
    queue = new_queue(fifo=True, attributes={"ContentBasedDeduplication": "true"})
    body = '{"order":1}'
    first = queue.send(body, MessageGroupId="g")
    other = {"k": {"DataType": "String", "StringValue": "attributes take no part"}}
    second = queue.send(body, MessageGroupId="g", MessageAttributes=other)
    assert first["MessageId"] == second["MessageId"]
    message = queue.receive_one(AttributeNames=["All"])
    digest = "a781679e01308cfef90983a4c1350319a7e3993c3a3f5a8c8439781a326d7c8d"
    assert hashlib.sha256(body.encode()).hexdigest() == digest
    assert message["Attributes"]["MessageDeduplicationId"] == digest


def test_an_explicit_id_wins_over_the_content(new_queue):
    queue = new_queue(fifo=True, attributes={"ContentBasedDeduplication": "true"})
    queue.send("same", MessageGroupId="g")
    queue.send("same", MessageGroupId="g", MessageDeduplicationId="other")
    assert queue.bodies() == ["same", "same"]


# --- Order and blocking -----------------------------------------------------------------------


def test_order_within_a_group(fifo):
    for n in range(5):
        fifo.send_fifo(f"m{n}")
    assert fifo.bodies() == ["m0", "m1", "m2", "m3", "m4"]


def test_a_group_with_its_head_in_flight_yields_nothing(fifo):
    send_all(fifo, "g1m1", "g1m2")
    assert fifo.bodies(max=1) == ["g1m1"]
    assert fifo.bodies() == []
    send_all(fifo, "g1m3")
    assert fifo.bodies() == [], "a new send does not unblock the group"
    send_all(fifo, "g2m1")
    assert fifo.bodies() == ["g2m1"], "other groups are free"


def test_deleting_all_in_flight_messages_unblocks_the_group(fifo):
    send_all(fifo, "g1m1", "g1m2", "g1m3")
    for message in fifo.receive(max=2):
        fifo.delete(message)
    assert fifo.bodies() == ["g1m3"]


def test_deleting_only_the_first_keeps_the_group_blocked(fifo):
    send_all(fifo, "g1m1", "g1m2", "g1m3")
    first, second = fifo.receive(max=2)
    fifo.delete(first)
    assert fifo.bodies() == []
    fifo.delete(second)
    assert fifo.bodies() == ["g1m3"]


def test_releasing_the_first_returns_only_the_first(fifo):
    send_all(fifo, "g1m1", "g1m2")
    first, _ = fifo.receive(VisibilityTimeout=30)
    fifo.change_visibility(first, 0)
    assert fifo.bodies() == ["g1m1"]


@pytest.mark.virtual_clock
@pytest.mark.parametrize(
    "extended,receivable", [(0, []), (1, ["g1m1"]), (2, ["g1m1", "g1m2"])]
)
def test_only_messages_before_an_extended_one_come_back(fifo, extended, receivable):
    send_all(fifo, "g1m1", "g1m2", "g1m3")
    messages = fifo.receive(VisibilityTimeout=1)
    assert len(messages) == 3
    fifo.change_visibility(messages[extended], 60)
    clock.wait(1)
    assert fifo.bodies() == receivable


def test_a_deleted_in_flight_head_wakes_a_waiting_poll(fifo):
    send_all(fifo, "g1m1", "g1m2")
    first = fifo.receive_one()
    with concurrent.futures.ThreadPoolExecutor() as pool:
        poll = pool.submit(fifo.bodies, wait=15)
        clock.wait(0.2)
        watch = clock.Stopwatch()
        fifo.delete(first)
        assert poll.result() == ["g1m2"]
    assert watch.seconds < 5


def test_a_receive_takes_one_group_as_far_as_it_can(fifo):
    send_all(fifo, "g1m1", "g2m1", "g1m2", "g1m3")
    assert fifo.bodies(max=10) == ["g1m1", "g1m2", "g1m3", "g2m1"]


def test_a_served_group_goes_behind_the_others(fifo):
    send_all(fifo, "g1m1", "g2m1", "g2m2", "g3m1", "g1m2")
    assert fifo.bodies(max=3, VisibilityTimeout=0) == ["g1m1", "g1m2", "g2m1"]
    assert fifo.bodies(max=10) == ["g3m1", "g1m1", "g1m2", "g2m1", "g2m2"]


def test_blocked_messages_count_as_visible(fifo):
    send_all(fifo, "g1m1", "g1m2", "g1m3")
    fifo.receive_one()
    assert fifo.counts() == (2, 1, 0)


@pytest.mark.virtual_clock
def test_a_timed_out_group_is_delivered_again_in_order(fifo):
    send_all(fifo, "g1m1", "g1m2", "g1m3")
    fifo.receive(VisibilityTimeout=1)
    clock.wait(1)
    assert fifo.bodies() == ["g1m1", "g1m2", "g1m3"]


def test_changing_a_fifo_queues_delay_is_retroactive(new_queue):
    queue = new_queue(fifo=True, attributes={"DelaySeconds": "900"})
    queue.send_fifo("m")
    assert queue.bodies() == []
    queue.set(DelaySeconds="0")
    assert queue.bodies() == ["m"]


# --- Repeating a receive ----------------------------------------------------------------------


def test_a_repeated_receive_attempt_returns_the_same_messages(fifo):
    send_all(fifo, "g1m1", "g1m2", "g1m3")
    first = fifo.receive(max=2, ReceiveRequestAttemptId="attempt")
    second = fifo.receive(max=2, ReceiveRequestAttemptId="attempt")
    assert [m["Body"] for m in first] == ["g1m1", "g1m2"]
    assert [m["ReceiptHandle"] for m in second] == [m["ReceiptHandle"] for m in first]
    assert fifo.bodies(ReceiveRequestAttemptId="another") == []


@pytest.mark.virtual_clock
def test_a_repeated_receive_attempt_restarts_the_timeout(fifo):
    send_all(fifo, "g1m1")
    fifo.receive(ReceiveRequestAttemptId="attempt", VisibilityTimeout=2)
    clock.wait(1)
    again = fifo.receive(ReceiveRequestAttemptId="attempt", VisibilityTimeout=2)
    assert [m["Body"] for m in again] == ["g1m1"]
    clock.wait(1)
    assert fifo.bodies() == [], "hidden for two seconds from the repetition"


def test_a_receive_attempt_is_spent_once_a_message_was_deleted(fifo):
    send_all(fifo, "g1m1", "g1m2")
    first = fifo.receive(max=1, ReceiveRequestAttemptId="attempt")
    fifo.delete(first[0])
    assert fifo.bodies(ReceiveRequestAttemptId="attempt") == ["g1m2"]


def test_receive_attempts_are_ignored_on_standard_queues(new_queue):
    queue = new_queue()
    queue.send("a")
    assert queue.bodies(ReceiveRequestAttemptId="attempt") == ["a"]
    assert queue.bodies(ReceiveRequestAttemptId="attempt") == []
