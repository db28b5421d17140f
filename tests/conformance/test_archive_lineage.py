"""What a message has been through, told across edits, bins, archives and the way back."""

import json
import pathlib
import urllib.error
import urllib.request

import pytest

from harness import clock
from test_worker import Stage, text


def manage(endpoint, method, path, body=None):
    request = urllib.request.Request(
        f"{endpoint}/_redrive/v1/{path}", method=method,
        data=None if body is None else json.dumps(body).encode(),
        headers={"Content-Type": "application/json"},
    )  # fmt: skip
    try:
        with urllib.request.urlopen(request, timeout=30) as answer:
            return json.load(answer)
    except urllib.error.HTTPError as failure:
        return {"status": failure.code, **json.load(failure)}


class LineageStage(Stage):
    """A queue whose failures go to another."""

    def __init__(self, endpoint, directory):
        super().__init__(endpoint, directory)
        self.dlq_name = self.dlq.rpartition("/")[2]
        arn = self.sqs.get_queue_attributes(QueueUrl=self.dlq, AttributeNames=["QueueArn"])
        policy = {
            "deadLetterTargetArn": arn["Attributes"]["QueueArn"],
            "maxReceiveCount": 9,
        }
        self.sqs.set_queue_attributes(
            QueueUrl=self.source, Attributes={"RedrivePolicy": json.dumps(policy)}
        )

    def manage(self, method, path, body=None):
        return manage(self.endpoint, method, path, body)

    def lineage(self, message_id):
        return self.manage("GET", f"lineage/{message_id}")

    def fail(self):
        """Whatever is in the source queue becomes a dead letter, for a reason."""
        answer = self.sqs.receive_message(QueueUrl=self.source, MaxNumberOfMessages=10)
        for message in answer["Messages"]:
            report = {
                "receiptHandle": message["ReceiptHandle"], "errorType": "KeyError",
                "errorMessage": "'store_id'", "disposition": "dead-letter",
            }  # fmt: skip
            self.manage("POST", "failures", report)

    def send_dead(self, body, **more):
        sent = self.sqs.send_message(QueueUrl=self.source, MessageBody=body, **more)
        self.fail()
        return sent["MessageId"]

    def peek(self, what="messages"):
        return self.manage("GET", f"queues/{self.dlq_name}/{what}").get("messages", [])


@pytest.fixture
def stage(endpoint, tmp_path):
    made = LineageStage(endpoint, tmp_path)
    yield made
    made.close()


def words(place):
    return [event["what"] for event in place.get("events", [])]


def spent():
    return {"MessageAttributes": {"retryCount": text("3", "Number"), "fruit": text("pear")}}


def document_of(place):
    return pathlib.Path(place["archive"].removeprefix("file://"))


def test_a_lineage_leads_into_the_archive_and_back(stage):
    first = stage.send_dead("pear", **spent())
    (place,) = stage.lineage(first)["places"]
    assert (place["state"], words(place)) == ("in-queue", ["dead-lettered"])

    assert stage.worker()["Archived"] == 1
    view = stage.lineage(first)
    (place,) = view["places"]
    assert view["lineageId"] == first
    assert place["state"] == "archived"
    assert words(place) == ["dead-lettered", "archived"]
    assert [attempt["end"] for attempt in place["attempts"]] == ["failed", "released"]
    assert place["attempts"][0]["errorType"] == "KeyError"
    document = json.loads(document_of(place).read_text())
    assert document["Body"] == "pear"
    assert set(document["Attribute"]) == {"retryCount", "fruit"}
    assert document["Lineage"]["lineageId"] == first
    assert document["Lineage"]["attempts"][0]["errorMessage"] == "'store_id'"
    shown = stage.run("dlq", "show", first)
    assert "state" in shown and "archived" in shown and place["archive"] in shown

    kept = document_of(place).read_text()
    assert stage.run("archive", "restore", stage.archive, "--all") == "1 restored\n"
    (archived, live) = stage.lineage(first)["places"]
    assert (archived["state"], live["state"]) == ("restored", "in-queue")
    assert words(live) == ["dead-lettered", "archived", "unarchived"]
    assert live["attempts"][0]["errorType"] == "KeyError"
    assert live["messageId"] != first
    assert live["redrives"] == 0
    # Killed before it could take the document away: the message does not come back twice.
    document_of(place).write_text(kept)
    printed = stage.run("archive", "restore", stage.archive, "--all")
    assert printed == "0 restored, 1 already restored before\n"
    assert not document_of(place).exists()

    # It fails again, and the whole story is still there, by whatever id.
    stage.fail()
    (_, live) = stage.lineage(live["messageId"])["places"]
    assert words(live) == ["dead-lettered", "archived", "unarchived", "dead-lettered"]
    (message,) = stage.peek()
    assert (message["lineageId"], message["attemptsTotal"]) == (first, 3)
    (back,) = stage.receive(stage.dlq)
    assert back["MessageId"] == live["messageId"]
    assert back["MessageAttributes"] == {"fruit": text("pear")}
    (archived,) = stage.lineage(first)["places"]
    assert archived["state"] == "restored"


def test_what_a_worker_copies_and_deletes_has_no_lineage_and_is_restored_plainly(stage):
    first = stage.send_dead("plum", **spent())
    assert stage.worker("--no-atomic")["Archived"] == 1
    assert stage.lineage(first)["status"] == 404
    (path,) = stage.directory.rglob("*.json")
    assert set(json.loads(path.read_text())) == {"Body", "Attribute", "Redrive"}
    stage.run("archive", "restore", stage.archive, "--all")
    (back,) = stage.receive()
    assert back["MessageAttributes"]["archivedMessageId"] == text(first)


def test_archived_messages_are_found_by_their_failure_group(stage):
    stage.send_dead("apple", **spent())
    group = stage.manage("GET", f"queues/{stage.dlq_name}/groups")["groups"][0]["id"]
    stage.worker()
    printed = stage.run("archive", "search", stage.archive, "--group", group, "--json")
    assert [json.loads(line)["Body"] for line in printed.splitlines()] == ["apple"]
    assert stage.run("archive", "search", stage.archive, "--group", "another") == ""


def test_a_lineage_is_remembered_across_restarts(launch, tmp_path):
    def start():
        return launch("--data", str(tmp_path / "data"))

    server = start()
    stage = LineageStage(server.endpoint, tmp_path)
    first = stage.send_dead("kept", **spent())
    other = stage.send_dead("live")
    stage.worker("--filter", 'attribute.fruit == "pear"')
    before = [stage.lineage(first), stage.lineage(other)]
    server.kill()
    stage.endpoint = start().endpoint
    after = [stage.lineage(first), stage.lineage(other)]
    for view in before + after:  # A server that was killed ends nobody's delivery.
        for place in view["places"]:
            place.pop("attempts")
    assert after == before
    assert (after[0]["places"][0]["state"], after[1]["places"][0]["state"]) == (
        "archived",
        "in-queue",
    )


def test_an_edit_leaves_the_original_in_the_bin(stage):
    first = stage.send_dead('{"amount": "7"}')
    discarded = stage.send_dead("spam")
    (message, spam) = stage.peek()
    path = f"queues/{stage.dlq_name}"
    edited = stage.manage(
        "POST", f"{path}/messages/{message['key']}/edit",
        {"body": '{"amount": 7}', "redrive": True, "reason": "a number"},
    )  # fmt: skip
    assert words(edited) == ["dead-lettered", "edited", "redriven"]
    stage.manage("POST", f"{path}/discard", {"keys": [spam["key"]]})
    # Both came into the bin now, perhaps in the same millisecond.
    (original,) = [one for one in stage.peek("bin") if one["body"] != "spam"]
    assert original["body"] == '{"amount": "7"}'
    assert original["lineageId"] == first
    assert words(original)[-1] == "replaced"
    states = {place["state"] for place in stage.lineage(first)["places"]}
    assert states == {"in-queue", "in-bin"}
    # Everything that was discarded comes back; an original only if somebody wants it.
    assert stage.run("dlq", "restore", stage.dlq_name, "--all").startswith("1 message")
    assert [one["lineageId"] for one in stage.peek()] == [discarded]
    stage.run("dlq", "restore", stage.dlq_name, str(original["key"]))
    assert {one["body"] for one in stage.peek()} == {"spam", '{"amount": "7"}'}


@pytest.mark.virtual_clock
def test_what_a_policy_archives_says_where_it_is_and_comes_back(endpoint, tmp_path):
    stage = LineageStage(endpoint, tmp_path)
    first = stage.send_dead("doomed")
    policy = {"maxRedrives": 1, "then": "archive", "archive": "graveyard/letters"}
    stage.manage("PUT", f"queues/{stage.dlq_name}/policy", policy)
    stage.manage("POST", f"queues/{stage.dlq_name}/jobs", {"all": True})
    clock.wait(2)
    stage.fail()
    clock.wait(31)
    clock.until("it is archived", lambda: stage.lineage(first)["places"][0]["state"] == "archived")
    (place,) = stage.lineage(first)["places"]
    assert place["archive"].startswith("s3://graveyard/letters/")
    assert place["events"][-1]["actor"] == "policy"
    assert place["redrives"] == 1
    stage.run("archive", "restore", "s3://graveyard/letters", "--all")
    (_, live) = stage.lineage(first)["places"]
    assert live["state"] == "in-queue"
    assert words(live) == [
        "dead-lettered", "redriven", "dead-lettered", "archived", "unarchived",
    ]  # fmt: skip
    stage.close()


def test_an_unknown_lineage_and_a_wrong_one(stage):
    assert stage.lineage("00000000-0000-4000-8000-000000000000")["status"] == 404
    assert stage.lineage("nonsense")["status"] == 400
    nobody = {"messages": [{"receiptHandle": "forged", "place": "s3://a/b"}]}
    path = f"queues/{stage.dlq_name}/archived"
    (result,) = stage.manage("POST", path, nobody)["results"]
    assert not result["archived"] and result["code"]
    strange = {
        "body": "x",
        "lineage": {
            "lineageId": "00000000-0000-4000-8000-000000000001",
            "redrives": 0, "attemptsTotal": 1,
            "attempts": [{"receivedAt": "yesterday", "end": "failed"}],
        },
    }  # fmt: skip
    answer = stage.manage("POST", f"queues/{stage.dlq_name}/unarchive", {"messages": [strange]})
    assert answer["results"][0]["code"] and stage.peek() == []
