"""The three batch actions: whole-request refusals, per-entry failures, order."""

import pytest

from harness import clock
from harness.digests import md5_of_body
from harness.errors import PREFIX, refused
from harness.queue import string

BATCH_ACTIONS = {
    "SendMessageBatch": lambda n: {"Id": n, "MessageBody": "b"},
    "DeleteMessageBatch": lambda n: {"Id": n, "ReceiptHandle": "garbage"},
    "ChangeMessageVisibilityBatch": lambda n: {
        "Id": n,
        "ReceiptHandle": "garbage",
        "VisibilityTimeout": 1,
    },
}


def by_id(entries):
    return {entry["Id"]: entry for entry in entries}


@pytest.fixture(params=BATCH_ACTIONS)
def batch(request, api, new_queue):
    """Calls one of the three batch actions with entries made from a list of ids."""
    queue = new_queue()
    make = BATCH_ACTIONS[request.param]

    def call(ids):
        entries = [make(each) for each in ids]
        return api.call(request.param, {"QueueUrl": queue.url, "Entries": entries})

    call.action = request.param
    call.queue = queue
    return call


def test_ten_entries_are_the_most(batch):
    batch([str(n) for n in range(10)])
    with refused(
        PREFIX + "TooManyEntriesInBatchRequest",
        "Maximum number of entries per request are 10. You have sent 20.",
    ):
        batch([str(n) for n in range(20)])


def test_no_entries_are_refused(batch):
    with refused(
        PREFIX + "EmptyBatchRequest",
        f"There should be at least one {batch.action}RequestEntry in the request.",
    ):
        batch([])


def test_ids_are_distinct(batch):
    with refused(PREFIX + "BatchEntryIdsNotDistinct", "Id same repeated."):
        batch(["same", "other", "same"])
    assert batch.queue.counts() == (0, 0, 0)


@pytest.mark.parametrize("bad", ["a b", "a.b", "é", "x" * 81, "a/b"])
def test_ids_have_an_alphabet_and_a_length(batch, bad):
    with refused(
        PREFIX + "InvalidBatchEntryId",
        "A batch entry id can only contain alphanumeric characters, hyphens and underscores. "
        "It can be at most 80 letters long.",
    ):
        batch(["good", bad])
    assert batch.queue.counts() == (0, 0, 0)


def test_the_longest_id(batch):
    answer = batch(["aZ0_-" * 16])
    assert (answer.get("Successful") or answer.get("Failed"))[0]["Id"] == "aZ0_-" * 16


def test_send_batch_answers_every_entry(new_queue):
    queue = new_queue()
    answer = queue.send_batch(
        [
            {"Id": "a", "MessageBody": "one"},
            {"Id": "b", "MessageBody": "two", "MessageAttributes": {"k": string("x")}},
        ]
    )
    assert "Failed" not in answer
    entries = by_id(answer["Successful"])
    assert entries["a"]["MD5OfMessageBody"] == "f97c5d29941bfb1b2fdab0874906ab82"
    assert entries["b"]["MD5OfMessageBody"] == "b8a9f715dbb64fd5c56e7783c6820a61"
    assert entries["b"]["MD5OfMessageAttributes"] == "a45daa70926828a2f0a1db3418e6feb4"
    assert "MD5OfMessageAttributes" not in entries["a"]
    received = {message["MessageId"]: message["Body"] for message in queue.receive()}
    assert received == {entries["a"]["MessageId"]: "one", entries["b"]["MessageId"]: "two"}


def test_entries_of_a_send_batch_fail_alone(new_queue):
    queue = new_queue(attributes={"MaximumMessageSize": "1024"})
    answer = queue.send_batch(
        [
            {"Id": "fine", "MessageBody": "ok"},
            {"Id": "large", "MessageBody": "x" * 1025},
            {"Id": "characters", "MessageBody": "a\x01b"},
            {"Id": "delay", "MessageBody": "b", "DelaySeconds": 901},
            {"Id": "attribute", "MessageBody": "b", "MessageAttributes": {"e": string("")}},
        ]
    )
    assert [entry["Id"] for entry in answer["Successful"]] == ["fine"]
    failed = by_id(answer["Failed"])
    assert set(failed) == {"large", "characters", "delay", "attribute"}
    assert all(entry["SenderFault"] is True for entry in failed.values())
    assert failed["large"]["Code"] == "InvalidParameterValue"
    assert failed["large"]["Message"] == (
        "One or more parameters cannot be validated. "
        "Reason: Message must be shorter than 1024 bytes."
    )
    assert failed["characters"]["Code"] == "InvalidMessageContents"
    assert failed["delay"]["Code"] == "InvalidParameterValue"
    assert failed["attribute"]["Code"] == "InvalidParameterValue"
    assert queue.bodies() == ["ok"]


def test_a_batch_may_hold_one_mebibyte_in_total(new_queue):
    queue = new_queue()
    half = "x" * 524288
    answer = queue.send_batch([{"Id": n, "MessageBody": half} for n in "ab"])
    assert len(answer["Successful"]) == 2
    with refused(
        PREFIX + "BatchRequestTooLong",
        "Batch requests cannot be longer than 1048576 bytes. You have sent 1048577 bytes.",
    ):
        queue.send_batch([{"Id": "a", "MessageBody": half}, {"Id": "b", "MessageBody": half + "x"}])
    assert queue.counts() == (2, 0, 0), "nothing of a refused batch is stored"


def test_the_batch_total_counts_attributes(new_queue):
    queue = new_queue()
    half = "x" * 524288
    with refused(PREFIX + "BatchRequestTooLong", matching="You have sent 1048584 bytes"):
        queue.send_batch(
            [
                {"Id": "a", "MessageBody": half, "MessageAttributes": {"k": string("v")}},
                {"Id": "b", "MessageBody": half},
            ]
        )


def test_the_batch_total_does_not_depend_on_the_queues_limit(new_queue):
    queue = new_queue(attributes={"MaximumMessageSize": "1024"})
    answer = queue.send_batch([{"Id": str(n), "MessageBody": "x" * 1000} for n in range(10)])
    assert len(answer["Successful"]) == 10


@pytest.mark.virtual_clock
def test_batch_entries_have_their_own_delay(new_queue):
    queue = new_queue()
    queue.send_batch(
        [
            {"Id": "now", "MessageBody": "now"},
            {"Id": "later", "MessageBody": "later", "DelaySeconds": 1},
        ]
    )
    assert queue.bodies() == ["now"]
    clock.wait(1)
    assert queue.bodies() == ["later"]


def test_fifo_batches_keep_their_order_and_number_each_entry(new_queue):
    queue = new_queue(fifo=True)
    entries = [
        {
            "Id": str(n),
            "MessageBody": f"m{n}",
            "MessageGroupId": "g",
            "MessageDeduplicationId": f"d{n}",
        }
        for n in range(10)
    ]
    answer = queue.send_batch(entries)
    numbers = [int(by_id(answer["Successful"])[str(n)]["SequenceNumber"]) for n in range(10)]
    assert numbers == sorted(set(numbers)), "sequence numbers grow in entry order"
    assert queue.bodies() == [f"m{n}" for n in range(10)]


def test_a_fifo_batch_without_a_group_fails_as_a_whole(new_queue):
    queue = new_queue(fifo=True)
    good = {"Id": "a", "MessageBody": "b", "MessageGroupId": "g", "MessageDeduplicationId": "1"}
    with refused(
        "InvalidParameterValue", "The request must contain the parameter MessageGroupId."
    ):
        queue.send_batch([good, {"Id": "b", "MessageBody": "b", "MessageDeduplicationId": "2"}])
    assert queue.counts() == (0, 0, 0)


def test_a_fifo_batch_without_a_deduplication_id_fails_as_a_whole(new_queue):
    queue = new_queue(fifo=True)
    good = {"Id": "a", "MessageBody": "b", "MessageGroupId": "g", "MessageDeduplicationId": "1"}
    with refused(
        "InvalidParameterValue",
        "The queue should either have ContentBasedDeduplication enabled or "
        "MessageDeduplicationId provided explicitly",
    ):
        queue.send_batch([good, {"Id": "b", "MessageBody": "b", "MessageGroupId": "g"}])
    assert queue.counts() == (0, 0, 0)


def test_duplicates_inside_one_fifo_batch_are_stored_once(new_queue):
    queue = new_queue(fifo=True)
    entry = {"MessageBody": "b", "MessageGroupId": "g", "MessageDeduplicationId": "d"}
    answer = queue.send_batch([{"Id": "a", **entry}, {"Id": "b", **entry}])
    first, second = answer["Successful"]
    assert first["MessageId"] == second["MessageId"]
    assert queue.counts() == (1, 0, 0)


def test_delete_batch_reports_each_entry(new_queue):
    queue = new_queue()
    queue.send_batch([{"Id": n, "MessageBody": n} for n in "abc"])
    first, second, third = queue.receive()
    answer = queue.api.DeleteMessageBatch(
        QueueUrl=queue.url,
        Entries=[
            {"Id": "0", "ReceiptHandle": first["ReceiptHandle"]},
            {"Id": "1", "ReceiptHandle": "garbage"},
            {"Id": "2", "ReceiptHandle": second["ReceiptHandle"]},
        ],
    )
    assert sorted(entry["Id"] for entry in answer["Successful"]) == ["0", "2"]
    assert answer["Failed"] == [
        {
            "Id": "1",
            "SenderFault": True,
            "Code": "ReceiptHandleIsInvalid",
            "Message": 'The input receipt handle "garbage" is not a valid receipt handle.',
        }
    ]
    assert queue.counts() == (0, 1, 0)
    assert third["Body"] == "c"


def test_change_visibility_batch_reports_each_entry(new_queue):
    queue = new_queue()
    queue.send_batch([{"Id": n, "MessageBody": n} for n in "ab"])
    first, second = queue.receive()
    answer = queue.api.ChangeMessageVisibilityBatch(
        QueueUrl=queue.url,
        Entries=[
            {"Id": "0", "ReceiptHandle": first["ReceiptHandle"], "VisibilityTimeout": 0},
            {"Id": "1", "ReceiptHandle": "garbage", "VisibilityTimeout": 0},
            {"Id": "2", "ReceiptHandle": second["ReceiptHandle"], "VisibilityTimeout": 43201},
        ],
    )
    assert answer["Successful"] == [{"Id": "0"}]
    failed = by_id(answer["Failed"])
    assert failed["1"]["Code"] == "ReceiptHandleIsInvalid"
    assert failed["2"]["Code"] == "InvalidParameterValue"
    assert [entry["SenderFault"] for entry in answer["Failed"]] == [True, True]
    assert queue.bodies() == [first["Body"]]


def test_md5_of_every_batch_body(new_queue):
    queue = new_queue()
    bodies = {"a": "é\r\n", "b": "🚀", "c": '<&">'}
    answer = queue.send_batch([{"Id": n, "MessageBody": body} for n, body in bodies.items()])
    for entry in answer["Successful"]:
        assert entry["MD5OfMessageBody"] == md5_of_body(bodies[entry["Id"]])
    assert sorted(queue.bodies()) == sorted(bodies.values())
