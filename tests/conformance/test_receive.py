"""Receiving: what comes back, attribute filters, short and long polls."""

import concurrent.futures

import pytest

from harness import clock
from harness.digests import md5_of_attributes
from harness.errors import refused
from harness.queue import number, string

STANDARD_SYSTEM_ATTRIBUTES = {
    "SenderId",
    "SentTimestamp",
    "ApproximateReceiveCount",
    "ApproximateFirstReceiveTimestamp",
}
FIFO_SYSTEM_ATTRIBUTES = STANDARD_SYSTEM_ATTRIBUTES | {
    "MessageDeduplicationId",
    "MessageGroupId",
    "SequenceNumber",
}


@pytest.fixture
def background():
    """Runs a call in another thread while the test goes on."""
    with concurrent.futures.ThreadPoolExecutor(max_workers=8) as pool:
        yield pool.submit


def test_a_plain_receive_returns_no_attributes(new_queue):
    queue = new_queue()
    queue.send("b", MessageAttributes={"k": string("x")})
    message = queue.receive_one()
    assert set(message) == {"MessageId", "ReceiptHandle", "MD5OfBody", "Body"}


def test_one_message_is_the_default(api, new_queue):
    queue = new_queue()
    queue.send("a")
    queue.send("b")
    assert len(api.ReceiveMessage(QueueUrl=queue.url)["Messages"]) == 1


def test_an_empty_receive_has_no_messages_member(api, new_queue):
    assert api.ReceiveMessage(QueueUrl=new_queue().url) == {}


def test_up_to_ten_messages_in_send_order(new_queue):
    queue = new_queue()
    for n in range(12):
        queue.send(f"m{n}")
    assert queue.bodies(max=10) == [f"m{n}" for n in range(10)]
    assert queue.bodies(max=10) == ["m10", "m11"]


@pytest.mark.parametrize("value", [0, 11, -1])
def test_max_number_of_messages_range(new_queue, value):
    queue = new_queue()
    with refused(
        "InvalidParameterValue",
        f"Value {value} for parameter MaxNumberOfMessages is invalid. "
        "Reason: Must be between 1 and 10, if provided.",
    ):
        queue.receive(max=value)


@pytest.mark.parametrize("value", [-1, 21])
def test_wait_time_range(new_queue, value):
    queue = new_queue()
    with refused(
        "InvalidParameterValue",
        f"Value {value} for parameter WaitTimeSeconds is invalid. "
        "Reason: Must be >= 0 and <= 20, if provided.",
    ):
        queue.receive(wait=value)


@pytest.mark.parametrize("value", [-1, 43201])
def test_visibility_timeout_range_on_receive(new_queue, value):
    queue = new_queue()
    with refused("InvalidParameterValue", rule="VisibilityTimeout is 0..43200"):
        queue.receive(VisibilityTimeout=value)


# --- System attributes ------------------------------------------------------------------------


@pytest.mark.parametrize("list_name", ["AttributeNames", "MessageSystemAttributeNames"])
def test_all_system_attributes_of_a_standard_message(new_queue, list_name):
    queue = new_queue()
    before = clock.now_ms()
    queue.send("b")
    found = queue.receive_one(**{list_name: ["All"]})["Attributes"]
    assert set(found) == STANDARD_SYSTEM_ATTRIBUTES
    assert found["ApproximateReceiveCount"] == "1"
    assert found["SenderId"]
    for name in ("SentTimestamp", "ApproximateFirstReceiveTimestamp"):
        assert before - 1000 <= int(found[name]) <= clock.now_ms() + 1000, "milliseconds"


def test_all_system_attributes_of_a_fifo_message(new_queue):
    queue = new_queue(fifo=True)
    sent = queue.send_fifo("b", group="g1", dedup="d1")
    found = queue.receive_one(AttributeNames=["All"])["Attributes"]
    assert set(found) == FIFO_SYSTEM_ATTRIBUTES
    assert found["MessageGroupId"] == "g1"
    assert found["MessageDeduplicationId"] == "d1"
    assert found["SequenceNumber"] == sent["SequenceNumber"]


def test_only_the_system_attributes_asked_for_return(new_queue):
    queue = new_queue()
    queue.send("b")
    names = ["ApproximateReceiveCount", "SequenceNumber", "DeadLetterQueueSourceArn"]
    message = queue.receive_one(AttributeNames=names)
    assert message["Attributes"] == {"ApproximateReceiveCount": "1"}, "the others do not apply"


def test_both_lists_of_system_attributes_are_joined(new_queue):
    queue = new_queue()
    queue.send("b")
    message = queue.receive_one(
        AttributeNames=["SenderId"], MessageSystemAttributeNames=["SentTimestamp"]
    )
    assert set(message["Attributes"]) == {"SenderId", "SentTimestamp"}


def test_all_in_one_list_and_a_name_in_the_other_gives_all(new_queue):
    queue = new_queue()
    queue.send("b")
    message = queue.receive_one(
        MessageSystemAttributeNames=["All"], AttributeNames=["SenderId"]
    )
    assert set(message["Attributes"]) == STANDARD_SYSTEM_ATTRIBUTES


def test_an_empty_list_counts_as_absent(new_queue):
    """Some consumers send an empty AttributeNames beside the newer list."""
    queue = new_queue()
    queue.send("b")
    message = queue.receive_one(AttributeNames=[], MessageSystemAttributeNames=["All"])
    assert set(message["Attributes"]) == STANDARD_SYSTEM_ATTRIBUTES


def test_two_empty_lists_return_nothing(new_queue):
    queue = new_queue()
    queue.send("b", MessageAttributes={"k": string("x")})
    message = queue.receive_one(AttributeNames=[], MessageAttributeNames=[])
    assert "Attributes" not in message and "MessageAttributes" not in message


def test_first_receive_time_stays_and_the_count_grows(new_queue):
    queue = new_queue()
    queue.send("b")
    first = queue.receive_one(AttributeNames=["All"], VisibilityTimeout=0)["Attributes"]
    second = queue.receive_one(AttributeNames=["All"], VisibilityTimeout=0)["Attributes"]
    assert (first["ApproximateReceiveCount"], second["ApproximateReceiveCount"]) == ("1", "2")
    for name in ("SentTimestamp", "ApproximateFirstReceiveTimestamp", "SenderId"):
        assert first[name] == second[name]


# --- User attributes --------------------------------------------------------------------------

USER_ATTRIBUTES = {
    "Hello": string("1"),
    "Help.Me": string("2"),
    "Other": number("3"),
    "hello": string("4"),
}
FILTERS = {
    "All": (["All"], set(USER_ATTRIBUTES)),
    ".*": ([".*"], set(USER_ATTRIBUTES)),
    "*": (["*"], set(USER_ATTRIBUTES)),
    "exact": (["Hello"], {"Hello"}),
    "case-sensitive": (["HELLO"], set()),
    "prefix": (["Hel.*"], {"Hello", "Help.Me"}),
    "prefix with dot": (["Help.*"], {"Help.Me"}),
    "several": (["Hello", "Other"], {"Hello", "Other"}),
    "name and prefix": (["Other", "Help.*"], {"Other", "Help.Me"}),
    "unknown": (["Nothing"], set()),
    "illegal names are ignored": (["a b!", "Hello"], {"Hello"}),
    "none": ([], set()),
}


@pytest.mark.parametrize("names,expected", FILTERS.values(), ids=FILTERS)
def test_user_attribute_filters_and_their_digest(new_queue, names, expected):
    queue = new_queue()
    queue.send("b", MessageAttributes=USER_ATTRIBUTES)
    message = queue.receive_one(MessageAttributeNames=names)
    assert set(message.get("MessageAttributes", {})) == expected
    if expected:
        returned = {name: USER_ATTRIBUTES[name] for name in expected}
        assert message["MD5OfMessageAttributes"] == md5_of_attributes(returned)
    else:
        assert "MD5OfMessageAttributes" not in message, "no returned attributes, no digest"


# --- Long polls -------------------------------------------------------------------------------


def test_a_long_poll_without_messages_waits_its_time(new_queue):
    queue = new_queue()
    watch = clock.Stopwatch()
    assert queue.receive(wait=1) == []
    assert 0.9 <= watch.seconds < 3


def test_the_queues_wait_time_is_the_default_and_zero_overrides_it(api, new_queue):
    queue = new_queue(attributes={"ReceiveMessageWaitTimeSeconds": "1"})
    watch = clock.Stopwatch()
    assert queue.receive(wait=0) == []
    assert watch.seconds < 0.8, "an explicit 0 is a short poll"
    watch = clock.Stopwatch()
    assert api.ReceiveMessage(QueueUrl=queue.url) == {}
    assert watch.seconds >= 0.9, "without WaitTimeSeconds the queue's own value counts"


def test_a_long_poll_ends_when_a_message_arrives(new_queue, background):
    queue = new_queue()
    watch = clock.Stopwatch()
    poll = background(queue.receive, wait=15)
    clock.wait(0.2)
    queue.send("wake up")
    assert [message["Body"] for message in poll.result()] == ["wake up"]
    assert watch.seconds < 5, "it does not wait to fill the batch"


def test_a_long_poll_returns_at_once_what_is_there(new_queue):
    queue = new_queue()
    queue.send("a")
    queue.send("b")
    watch = clock.Stopwatch()
    assert queue.bodies(wait=15) == ["a", "b"]
    assert watch.seconds < 5


def test_a_long_poll_sees_a_delay_end(new_queue):
    queue = new_queue()
    queue.send("delayed", DelaySeconds=1)
    watch = clock.Stopwatch()
    assert queue.bodies(wait=15) == ["delayed"]
    assert 0.8 <= watch.seconds < 5


def test_a_long_poll_sees_a_visibility_timeout_end(new_queue):
    queue = new_queue()
    queue.send("again")
    queue.receive_one(VisibilityTimeout=1)
    watch = clock.Stopwatch()
    assert queue.bodies(wait=15) == ["again"]
    assert 0.5 <= watch.seconds < 5


def test_a_long_poll_sees_a_visibility_changed_to_zero(new_queue, background):
    queue = new_queue()
    queue.send("released")
    message = queue.receive_one()
    poll = background(queue.receive, wait=15)
    clock.wait(0.2)
    watch = clock.Stopwatch()
    queue.change_visibility(message, 0)
    assert [each["Body"] for each in poll.result()] == ["released"]
    assert watch.seconds < 5


def test_waiting_polls_share_messages_without_duplicates(new_queue, background):
    queue = new_queue()
    polls = [background(queue.receive, max=1, wait=15) for _ in range(4)]
    clock.wait(0.2)
    for n in range(4):
        queue.send(f"m{n}")
    bodies = [message["Body"] for poll in polls for message in poll.result()]
    assert sorted(bodies) == ["m0", "m1", "m2", "m3"]


def test_a_long_poll_whose_client_left_gets_nothing(json_api, new_queue):
    """A message handed to a closed connection would be hidden from everybody."""
    queue = new_queue()
    impatient = json_api.derive()
    impatient.wire.timeout = 0.3
    with pytest.raises(TimeoutError):
        impatient.ReceiveMessage(QueueUrl=queue.url, WaitTimeSeconds=10)
    clock.wait(0.2)
    queue.send("for the living")
    assert queue.bodies() == ["for the living"]


def test_deleting_the_queue_ends_a_long_poll(api, new_queue, background):
    queue = new_queue()

    def poll_until_gone():
        try:
            return queue.receive(wait=15)
        except Exception as error:
            return error

    poll = background(poll_until_gone)
    clock.wait(0.2)
    watch = clock.Stopwatch()
    api.DeleteQueue(QueueUrl=queue.url)
    poll.result()
    assert watch.seconds < 5, "an empty answer or QueueDoesNotExist, but soon"
