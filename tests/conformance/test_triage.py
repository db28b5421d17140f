"""Where is order 4992? Searches, settled messages, groups of all queues, rules and prefixes."""

import json
import subprocess
import urllib.parse

import pytest

from harness import clock
from harness.clients import JsonRaw
from harness.management import Management, Refused
from harness.queue import unique_name
from harness.server import binary_path


@pytest.fixture
def sqs(endpoint):
    return JsonRaw(endpoint)


@pytest.fixture
def manage(endpoint):
    return Management(endpoint)


@pytest.fixture
def redrive(endpoint):
    def run(*arguments, code=0):
        done = subprocess.run(
            [binary_path(), *arguments, "--endpoint-url", endpoint],
            capture_output=True,
            text=True,
            timeout=60,
        )
        assert done.returncode == code, (done.returncode, done.stdout, done.stderr)
        return done

    return run


def arn(name):
    return f"arn:aws:sqs:us-east-1:000000000000:{name}"


class Story:
    """A queue with a dead-letter queue, and messages that die for the reason they are given."""

    def __init__(self, sqs, manage):
        self.sqs, self.manage = sqs, manage
        self.dlq, self.queue = unique_name("dlq"), unique_name("q")
        self.dlq_url = sqs.CreateQueue(QueueName=self.dlq)["QueueUrl"]
        policy = json.dumps({"deadLetterTargetArn": arn(self.dlq), "maxReceiveCount": 1})
        self.url = sqs.CreateQueue(QueueName=self.queue, Attributes={"RedrivePolicy": policy})[
            "QueueUrl"
        ]

    def receive(self):
        return self.sqs.ReceiveMessage(QueueUrl=self.url, MaxNumberOfMessages=10, WaitTimeSeconds=1)

    def die(self, body, error="Broken"):
        sent = self.sqs.SendMessage(QueueUrl=self.url, MessageBody=body)["MessageId"]
        assert self.receive_and_fail(error) == 1
        return sent

    def receive_and_fail(self, error="Broken"):
        messages = self.receive().get("Messages", [])
        for message in messages:
            report = {
                "receiptHandle": message["ReceiptHandle"],
                "errorType": error,
                "disposition": "dead-letter",
            }
            self.manage.call("POST", "failures", report)
        return len(messages)

    def redrive(self):
        return self.manage.call("POST", f"queues/{self.dlq}/jobs", {})["job"]["id"]

    def process(self, count=1):
        done = 0

        def some():
            nonlocal done
            for message in self.receive().get("Messages", []):
                self.sqs.DeleteMessage(
                    QueueUrl=self.url, ReceiptHandle=message["ReceiptHandle"]
                )
                done += 1
            return done >= count

        clock.until("the redriven messages come", some, timeout=20)

    def groups(self):
        return self.manage.call("GET", f"queues/{self.dlq}/groups")["groups"]


@pytest.fixture
def story(sqs, manage):
    return Story(sqs, manage)


def test_a_processed_message_stays_findable(story, redrive, manage):
    marker = unique_name("order")
    sent = story.die(json.dumps({"order": marker}))
    job = story.redrive()
    story.process()
    shown = redrive("dlq", "show", sent).stdout
    assert "processed at" in shown and f"by job {job}" in shown
    # By the beginning of its id, and by a text in its body.
    assert job in redrive("dlq", "show", sent[:18]).stdout
    found = redrive("find", marker).stdout
    assert f"processed in {story.queue}" in found and job in found
    place = manage.call("GET", f"lineage/{sent}")["places"][0]
    assert place["state"] == "processed" and place["job"] == job
    assert [event["what"] for event in place["events"]] == [
        "dead-lettered",
        "redriven",
        "processed",
    ]
    assert place["attempts"][-1]["end"] == "processed"


def find_all(manage, question):
    """The first page of a search, and the hits of all: other tests' messages may fill the first."""
    first, hits, after = None, [], ""
    while True:
        query = urllib.parse.urlencode({"q": question, "after": after} if after else {"q": question})
        page = manage.call("GET", f"find?{query}")
        first = first or page
        hits += page["hits"]
        after = page.get("next", "")
        if not after:
            return first, hits


def test_find_looks_everywhere(story, redrive, manage, sqs):
    marker = unique_name("thing")
    story.die(f"dead {marker}")
    sqs.SendMessage(QueueUrl=story.dlq_url, MessageBody="other")
    keys = [m["key"] for m in manage.call("GET", f"queues/{story.dlq}/messages")["messages"]]
    manage.call("POST", f"queues/{story.dlq}/discard", {"keys": keys[:1], "reason": "x"})
    sqs.SendMessage(
        QueueUrl=story.url,
        MessageBody="x",
        MessageAttributes={"who": {"DataType": "String", "StringValue": marker}},
    )
    page, hits = find_all(manage, marker)
    assert page["mode"] == "text" and page["total"] >= 3
    assert sorted((hit["state"], hit["matched"]) for hit in hits) == [
        ("in-bin", "body"),
        ("in-queue", "attribute"),
    ]
    page, hits = find_all(manage, f"attribute.who == '{marker}'")
    assert page["mode"] == "filter" and [hit["state"] for hit in hits] == ["in-queue"]
    with pytest.raises(Refused) as refused:
        manage.call("GET", "find?q=")
    assert refused.value.status == 400
    assert "nothing found" in redrive("find", unique_name("nowhere")).stderr


def test_find_looks_into_archives(story, manage, redrive):
    marker = unique_name("archived")
    policy = {"maxRedrives": 1, "then": "archive", "archive": "graveyard-of-find/letters"}
    manage.call("PUT", f"queues/{story.dlq}/policy", policy)
    first = story.die(f"once {marker}")
    story.redrive()
    clock.until("it is back", lambda: story.receive_and_fail() == 1, timeout=20)

    def hits():
        return find_all(manage, marker)[1]

    clock.until("it is archived", lambda: [h["state"] for h in hits()] == ["archived"], timeout=20)
    (hit,) = hits()
    assert hit["matched"] == "body" and hit["lineageId"] == first
    assert hit["archive"].startswith("s3://graveyard-of-find/letters/")
    assert f"archived from {story.dlq}" in redrive("find", marker).stdout


def test_find_goes_on_page_by_page(story, manage, sqs):
    marker = unique_name("page")
    for number in range(12):
        sqs.SendMessage(QueueUrl=story.url, MessageBody=f"{marker} {number}")
    seen, after, pages = [], "", 0
    while True:
        path = f"find?q={marker}&limit=5&after={urllib.parse.quote(after)}"
        page = manage.call("GET", path)
        seen += [hit["message"]["body"] for hit in page["hits"]]
        pages += 1
        after = page.get("next", "")
        if not after:
            break
    assert sorted(seen) == sorted(f"{marker} {number}" for number in range(12))
    assert pages >= 3


def test_groups_of_all_queues_newest_first(story, redrive, sqs, manage):
    story.die("a", "Older")
    assert len(story.groups()) == 1
    other = Story(sqs, manage)
    other.die("b", "Newer")
    ours = [
        line
        for line in manage.call("GET", "groups")["groups"]
        if line["queue"] in (story.dlq, other.dlq)
    ]
    assert [line["queue"] for line in ours] == [other.dlq, story.dlq]
    assert len(ours[0]["daily"]) == 14 and ours[0]["daily"][-1] == 1
    listed = redrive("dlq", "groups").stdout
    assert story.dlq in listed and other.dlq in listed


def test_escalating_groups_come_first(story):
    for number in range(5):
        story.die("many", "Calm")
    story.die("few", "Few")
    groups = story.groups()
    assert groups[0]["title"].startswith("Calm") and groups[0]["escalating"]
    assert not groups[1].get("escalating", False)


def test_a_group_has_an_owner_and_can_be_ignored_for_a_while(story, redrive):
    story.die("a")
    group = story.groups()[0]["id"]
    redrive("dlq", "groups", story.dlq, group[:8], "--owner", "ada", "--note", "mine")
    redrive("dlq", "groups", story.dlq, group[:8], "--ignore-count", "1")
    now = story.groups()[0]
    assert (now["owner"], now["note"], now["status"], now["ignoredToTotal"]) == (
        "ada",
        "mine",
        "ignored",
        2,
    )
    story.die("b")
    assert story.groups()[0]["status"] == "regressed"
    with pytest.raises(Refused):
        story.manage.call(
            "POST", f"queues/{story.dlq}/groups/{group}", {"ignoreUntil": "yesterday"}
        )


def test_groups_are_merged_and_split_for_good(story, redrive):
    story.die("a", "First")
    story.die("b", "Second")
    ids = {group["title"].split()[0]: group["id"] for group in story.groups()}
    first, second = ids["First"], ids["Second"]
    redrive("dlq", "group", "merge", story.dlq, second, first)
    story.die("c", "Second")
    groups = story.groups()
    assert [(group["id"], group["count"], group["total"]) for group in groups] == [(first, 3, 3)]
    redrive("dlq", "group", "split", story.dlq, first, "--where", "body == 'c'", "--title", "cs")
    story.die("c", "First")
    counts = {group["title"]: group["count"] for group in story.groups()}
    assert counts["cs"] == 2 and sum(counts.values()) == 4
    rules = redrive("dlq", "group", "rules", story.dlq).stdout
    assert "merge" in rules and "split" in rules and "not yet" not in rules
    redrive("dlq", "group", "rules", story.dlq, "--remove", "1")
    story.die("d", "Second")
    assert any(group["id"] == second for group in story.groups())


def test_ambiguous_beginnings_list_the_candidates(story, redrive, manage):
    story.die("a", "First")
    story.die("b", "Second")
    groups = [group["id"] for group in story.groups()]
    with pytest.raises(Refused) as refused:
        manage.call("GET", f"queues/{story.dlq}/groups/zzzz")
    assert refused.value.status == 404
    job = story.redrive()
    shown = redrive("job", "show", job[:13]).stdout
    assert job in shown
    assert len(groups) == 2


def test_several_groups_are_redriven_together(story, redrive):
    for error in ("First", "Second", "Third"):
        story.die(error, error)
    ids = {group["title"].split()[0]: group["id"] for group in story.groups()}
    redrive(
        "dlq", "redrive", story.dlq, "--group", ids["First"], "--group", ids["Third"][:10]
    )
    left = story.manage.call("GET", f"queues/{story.dlq}/messages")["messages"]
    assert [message["body"] for message in left] == ["Second"]


def test_job_watch_exits_by_the_outcome(story, redrive):
    story.die("a")
    story.job = story.redrive()
    open_job = redrive("job", "watch", story.job[:13], "--until-settled", "--timeout", "1", code=3)
    assert story.dlq in open_job.stdout
    story.process()
    redrive("job", "watch", story.job, "--until-settled")
    story.die("b")
    second = story.redrive()
    clock.until("it is back", lambda: story.receive_and_fail() == 1, timeout=20)
    redrive("job", "watch", second, "--until-settled", code=1)


def test_marks_on_the_timeline(story, manage):
    story.die("a")
    group = story.groups()[0]["id"]
    job = story.redrive()
    story.process()

    def kinds():
        marks = manage.call("GET", f"queues/{story.dlq}/groups/{group}")["marks"]
        return [mark["kind"] for mark in marks if mark.get("id") == job]

    clock.until("the job is over", lambda: kinds() == ["job-started", "job-ended"], timeout=20)


def test_a_queue_that_is_no_dead_letter_queue_is_refused_at_once(story, redrive):
    done = redrive("dlq", "redrive", story.queue, code=1)
    assert "is not a dead-letter queue" in done.stderr


def test_queue_create_leaves_no_dead_letter_queue_behind(redrive, sqs):
    dlq = unique_name("dlq")
    queue = unique_name("q")
    bad = ("--attribute", "VisibilityTimeout=-1")
    done = redrive("queue", "create", queue, "--dlq", dlq, *bad, code=1)
    assert "created the dead-letter queue" not in done.stderr
    urls = sqs.ListQueues(QueueNamePrefix=dlq).get("QueueUrls", [])
    assert urls == []
