"""Orders of five stores, a quarter of them without store_id: from the failure to its cause, its repair
and back to work."""

import json
import os
import random

import boto3
import pytest

from harness import clock
from harness.management import Management, Refused

pytestmark = [
    pytest.mark.virtual_clock,
    pytest.mark.skipif("REDRIVE_ENDPOINT" in os.environ, reason="needs its own server process"),
]

ORDERS = 100


@pytest.fixture
def management(endpoint):
    management = Management(endpoint)
    management.reset()
    return management


@pytest.fixture
def sqs(endpoint, management):
    return boto3.client(
        "sqs",
        endpoint_url=endpoint,
        region_name="us-east-1",
        aws_access_key_id="test",
        aws_secret_access_key="test",
    )


def make_queues(sqs):
    dlq = sqs.create_queue(QueueName="dlq_for_reliable_q")["QueueUrl"]
    arn = sqs.get_queue_attributes(QueueUrl=dlq, AttributeNames=["QueueArn"])["Attributes"]["QueueArn"]
    policy = json.dumps({"deadLetterTargetArn": arn, "maxReceiveCount": "2"})
    source = sqs.create_queue(
        QueueName="reliable_q", Attributes={"RedrivePolicy": policy, "VisibilityTimeout": "5"}
    )["QueueUrl"]
    return source, dlq


def send_orders(sqs, source):
    dice = random.Random(7)
    bad = 0
    for number in range(ORDERS):
        attributes = {"kind": {"DataType": "String", "StringValue": dice.choice(["order", "return"])}}
        if number % 4 == 0:
            bad += 1
        else:
            attributes["store_id"] = {"DataType": "Number", "StringValue": str(dice.randint(1, 5))}
        body = json.dumps({"order": number, "amount": dice.randint(1, 500)})
        sqs.send_message(QueueUrl=source, MessageBody=body, MessageAttributes=attributes)
    return bad


def work(sqs, source, report=None):
    """Receives everything there is, once; returns how many were processed and how many failed."""
    processed = failed = 0
    while messages := sqs.receive_message(
        QueueUrl=source, MaxNumberOfMessages=10, MessageAttributeNames=["All"]
    ).get("Messages"):
        for message in messages:
            try:
                int(message.get("MessageAttributes", {})["store_id"]["StringValue"])
            except KeyError as error:
                failed += 1
                if report:
                    report(message, error)
                continue
            sqs.delete_message(QueueUrl=source, ReceiptHandle=message["ReceiptHandle"])
            processed += 1
    return processed, failed


def count(sqs, queue):
    attributes = sqs.get_queue_attributes(
        QueueUrl=queue, AttributeNames=["ApproximateNumberOfMessages"]
    )["Attributes"]
    return int(attributes["ApproximateNumberOfMessages"])


def fail_all(sqs, management, source, bad, report=None):
    assert work(sqs, source, report) == (ORDERS - bad, bad)
    management.advance(6)
    assert work(sqs, source, report) == (0, bad)
    management.advance(6)
    assert work(sqs, source, report) == (0, 0)


def test_from_failure_to_cause_to_repair(sqs, management):
    source, dlq = make_queues(sqs)
    bad = send_orders(sqs, source)

    def report(message, error):
        management.call(
            "POST",
            "failures",
            {
                "receiptHandle": message["ReceiptHandle"],
                "errorType": "KeyError",
                "errorMessage": f"{error} in order {message['MessageId']}",
                "stackTrace": 'File "consumer.py", line 12, in handle\n    store = attributes["store_id"]',
            },
        )

    fail_all(sqs, management, source, bad, report)
    assert count(sqs, dlq) == bad

    listed = management.call("GET", "queues/dlq_for_reliable_q/groups")
    assert [group["count"] for group in listed["groups"]] == [bad]
    group = listed["groups"][0]
    assert group["status"] == "new"
    assert "KeyError" in group["title"]
    assert group["sources"] == ["reliable_q"]
    assert sum(group["hourly"]) == bad

    shown = management.call("GET", f"queues/dlq_for_reliable_q/groups/{group['id']}")
    first = shown["setsApart"][0]
    assert (first["kind"], first["feature"]) == ("attribute-missing", "store_id")
    assert (first["deadWith"], first["deadTotal"]) == (bad, bad)
    assert (first["processedWith"], first["processedTotal"]) == (0, ORDERS - bad)

    page = management.call("GET", "queues/dlq_for_reliable_q/messages")
    message = page["messages"][0]
    assert [attempt["end"] for attempt in message["attempts"]] == ["failed", "failed"]
    assert message["attempts"][0]["errorType"] == "KeyError"
    assert message["failureGroup"] == group["id"]
    assert [event["what"] for event in message["events"]] == ["dead-lettered"]
    assert message["events"][0]["why"] == "receive-count"

    # One is corrected by hand and goes back in the same step; the rest after it.
    for dead in page["messages"]:
        edited = management.call(
            "POST",
            f"queues/dlq_for_reliable_q/messages/{dead['key']}/edit",
            {
                "setAttributes": {"store_id": {"DataType": "Number", "StringValue": "3"}},
                "reason": "the shop left it out",
            },
        )
        assert edited["attributes"]["store_id"]["StringValue"] == "3"
        assert edited["body"] == dead["body"]

    dry = management.call("POST", "queues/dlq_for_reliable_q/jobs", {"dryRun": True})
    assert dry["dryRun"]["matched"] == bad
    job = management.call(
        "POST",
        "queues/dlq_for_reliable_q/jobs",
        {"name": "store_id repaired", "reason": "INC-7", "canary": [1, 5]},
    )["job"]
    for expected in (1, 4, bad - 5):
        management.advance(1)
        assert work(sqs, source) == (expected, 0)
        management.advance(1)
    job = management.call("GET", f"jobs/{job['id']}")
    assert job["status"] == "completed"
    assert (job["moved"], job["succeeded"], job["failedAgain"], job["open"]) == (bad, bad, 0, 0)
    assert count(sqs, dlq) == count(sqs, source) == 0


def test_a_canary_halts_when_the_fix_does_not_work(sqs, management):
    source, dlq = make_queues(sqs)
    bad = send_orders(sqs, source)
    fail_all(sqs, management, source, bad)
    job = management.call("POST", "queues/dlq_for_reliable_q/jobs", {"canary": [2]})["job"]
    management.advance(1)
    for failed in (2, 2, 0):
        assert work(sqs, source) == (0, failed)
        management.advance(6)
    job = management.call("GET", f"jobs/{job['id']}")
    assert job["status"] == "halted"
    assert (job["moved"], job["failedAgain"]) == (2, 2)
    assert "2 of 2" in job["note"]
    assert count(sqs, dlq) == bad
    groups = management.call("GET", "queues/dlq_for_reliable_q/groups")["groups"]
    assert [group["failedAgain"] for group in groups] == [2]
    management.call("POST", f"jobs/{job['id']}/cancel")
    assert management.call("GET", "jobs")["jobs"][0]["status"] == "cancelled"


def test_a_permanent_error_is_a_dead_letter_at_once(sqs, management):
    source, dlq = make_queues(sqs)
    sqs.send_message(QueueUrl=source, MessageBody="broken")
    received = sqs.receive_message(QueueUrl=source)["Messages"][0]
    report = {"receiptHandle": received["ReceiptHandle"], "errorType": "ValueError", "errorMessage": "no"}
    management.call("POST", "failures", {**report, "disposition": "dead-letter"})
    assert count(sqs, dlq) == 1
    message = management.call("GET", "queues/dlq_for_reliable_q/messages")["messages"][0]
    assert message["events"][0]["why"] == "reported"
    assert message["messageId"] == received["MessageId"]


def test_retry_after_a_while(sqs, management):
    source, _ = make_queues(sqs)
    sqs.send_message(QueueUrl=source, MessageBody="later")
    received = sqs.receive_message(QueueUrl=source)["Messages"][0]
    management.call(
        "POST",
        "failures",
        {"receiptHandle": received["ReceiptHandle"], "disposition": "retry", "retryAfterSeconds": 60},
    )
    management.advance(59)
    assert "Messages" not in sqs.receive_message(QueueUrl=source)
    management.advance(2)
    assert sqs.receive_message(QueueUrl=source)["Messages"][0]["MessageId"] == received["MessageId"]


def test_discard_is_soft(sqs, management):
    source, dlq = make_queues(sqs)
    bad = send_orders(sqs, source)
    fail_all(sqs, management, source, bad)
    group = management.call("GET", "queues/dlq_for_reliable_q/groups")["groups"][0]
    assert management.call(
        "POST", "queues/dlq_for_reliable_q/discard", {"group": group["id"], "reason": "test data"}
    ) == {"messages": bad, "more": False}
    assert count(sqs, dlq) == 0
    assert sqs.list_queues()["QueueUrls"] == [dlq, source]
    rests = management.call("GET", "queues/dlq_for_reliable_q/bin")["messages"]
    assert len(rests) == bad
    management.call("POST", "queues/dlq_for_reliable_q/restore", {"keys": [rests[0]["key"]]})
    assert count(sqs, dlq) == 1
    restored = management.call("GET", "queues/dlq_for_reliable_q/messages")["messages"][0]
    assert [event["what"] for event in restored["events"]] == ["dead-lettered", "discarded", "restored"]
    management.advance(8 * 86400)
    assert management.call("GET", "queues/dlq_for_reliable_q/bin").get("messages", []) == []


def kill(sqs, management, source):
    """Two receives without a delete, and the third finds nothing: the message is a dead letter."""
    for _ in range(2):
        assert len(sqs.receive_message(QueueUrl=source)["Messages"]) == 1
        management.advance(6)
    assert "Messages" not in sqs.receive_message(QueueUrl=source)


@pytest.mark.parametrize("then", ["park", "discard"])
def test_a_queue_redrives_by_itself_with_growing_pauses(sqs, management, then):
    source, dlq = make_queues(sqs)
    policy = {"maxRedrives": 2, "redriveAfterSeconds": 60, "backoffRate": 3, "then": then}
    told = management.call("PUT", "queues/dlq_for_reliable_q/policy", policy)
    assert {name: told[name] for name in policy} == policy
    assert told["source"] == "queue"
    sqs.send_message(QueueUrl=source, MessageBody="poison")
    kill(sqs, management, source)
    for pause in (60, 180):
        management.advance(pause - 1)
        assert count(sqs, dlq) == 1
        management.advance(2)
        assert (count(sqs, dlq), count(sqs, source)) == (0, 1)
        kill(sqs, management, source)
    management.advance(86400)
    assert count(sqs, source) == 0
    if then == "discard":
        assert count(sqs, dlq) == 0
        (message,) = management.call("GET", "queues/dlq_for_reliable_q/bin")["messages"]
        assert message["events"][-1]["what"] == "discarded"
    else:
        (message,) = management.call("GET", "queues/dlq_for_reliable_q/messages")["messages"]
        assert message["parked"] is True
        dry = management.call("POST", "queues/dlq_for_reliable_q/jobs", {"dryRun": True})["dryRun"]
        assert dry["matched"] == 0
        dry = management.call(
            "POST", "queues/dlq_for_reliable_q/jobs", {"dryRun": True, "includeParked": True}
        )["dryRun"]
        assert dry["matched"] == 1
    assert message["redrives"] == 2
    assert [event["actor"] for event in message["events"] if event["what"] == "redriven"] == ["policy"] * 2


def test_policies_that_make_no_sense_are_refused(sqs, management):
    make_queues(sqs)
    for policy in (
        {"redriveAfterSeconds": 5},
        {"then": "explode"},
        {"then": "archive", "maxRedrives": 1},
        {"maxRedrives": -1},
    ):
        with pytest.raises(Refused) as refused:
            management.call("PUT", "queues/dlq_for_reliable_q/policy", policy)
        assert refused.value.status == 400
    assert management.call("GET", "queues/dlq_for_reliable_q/policy") == {"source": "none"}


def test_a_group_that_was_resolved_and_comes_again_has_regressed(sqs, management):
    source, _ = make_queues(sqs)
    path = "queues/dlq_for_reliable_q/groups"

    def fail_once():
        sqs.send_message(QueueUrl=source, MessageBody="{}")
        handle = sqs.receive_message(QueueUrl=source)["Messages"][0]["ReceiptHandle"]
        management.call(
            "POST",
            "failures",
            {"receiptHandle": handle, "errorType": "Timeout", "disposition": "dead-letter"},
        )

    fail_once()
    (group,) = management.call("GET", path)["groups"]
    marked = management.call("POST", f"{path}/{group['id']}", {"status": "resolved", "note": "v1.2"})
    assert (marked["status"], marked["note"]) == ("resolved", "v1.2")
    fail_once()
    (group,) = management.call("GET", path)["groups"]
    assert (group["status"], group["count"], group["note"]) == ("regressed", 2, "v1.2")


def test_what_a_consumer_holds_is_not_touched(sqs, management):
    source, dlq = make_queues(sqs)
    sqs.send_message(QueueUrl=source, MessageBody="poison")
    kill(sqs, management, source)
    held = sqs.receive_message(QueueUrl=dlq)["Messages"][0]
    key = management.call("GET", "queues/dlq_for_reliable_q/messages")["messages"][0]["key"]
    assert management.call("POST", "queues/dlq_for_reliable_q/discard", {"keys": [key]})["messages"] == 0
    with pytest.raises(Refused) as refused:
        management.call("POST", f"queues/dlq_for_reliable_q/messages/{key}/edit", {"body": "other"})
    assert refused.value.status == 404
    job = management.call("POST", "queues/dlq_for_reliable_q/jobs", {})["job"]
    management.advance(1)
    assert management.call("GET", f"jobs/{job['id']}")["moved"] == 0
    sqs.delete_message(QueueUrl=dlq, ReceiptHandle=held["ReceiptHandle"])
    with pytest.raises(Refused):
        management.call("POST", "queues/dlq_for_reliable_q/purge", {"confirm": "something else"})
    assert management.call(
        "POST", "queues/dlq_for_reliable_q/purge", {"confirm": "dlq_for_reliable_q"}
    ) == {"messages": 0, "more": False}


def test_spent_and_expiring_messages_go_to_the_archive(sqs, management, endpoint):
    source, dlq = make_queues(sqs)
    s3 = boto3.client(
        "s3",
        endpoint_url=endpoint,
        region_name="us-east-1",
        aws_access_key_id="test",
        aws_secret_access_key="test",
    )

    def archived():
        try:
            listed = s3.list_objects_v2(Bucket="graveyard").get("Contents", [])
        except s3.exceptions.NoSuchBucket:
            return []
        bodies = [s3.get_object(Bucket="graveyard", Key=item["Key"])["Body"].read() for item in listed]
        return [json.loads(body)["Body"] for body in bodies]

    policy = {"maxRedrives": 1, "redriveAfterSeconds": 5, "then": "archive", "archive": "graveyard/orders"}
    management.call("PUT", "queues/dlq_for_reliable_q/policy", policy)
    sqs.send_message(
        QueueUrl=source,
        MessageBody="spent",
        MessageAttributes={"retryCount": {"DataType": "Number", "StringValue": "1"}},
    )
    kill(sqs, management, source)
    management.advance(6)
    kill(sqs, management, source)
    clock.until("it is archived", lambda: archived() == ["spent"])
    assert count(sqs, dlq) == 0
    (item,) = s3.list_objects_v2(Bucket="graveyard")["Contents"]
    got = s3.get_object(Bucket="graveyard", Key=item["Key"])
    lineage = json.loads(got["Body"].read())["Lineage"]
    assert got["Metadata"]["lineage-id"] == lineage["lineageId"]
    assert [event["what"] for event in lineage["events"]] == ["dead-lettered", "redriven", "dead-lettered"]
    assert (lineage["redrives"], lineage["attemptsTotal"]) == (1, len(lineage["attempts"]))
    management.call(
        "PUT",
        "queues/dlq_for_reliable_q/policy",
        {"archiveExpiring": True, "archive": "graveyard/orders"},
    )
    sqs.send_message(QueueUrl=source, MessageBody="forgotten")
    kill(sqs, management, source)
    management.advance(4 * 86400 - 300)
    clock.until("it is archived, too", lambda: sorted(archived()) == ["forgotten", "spent"])
    assert count(sqs, dlq) == 0
