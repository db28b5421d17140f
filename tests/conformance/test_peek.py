"""Looking at messages through the management API: everything is told, nothing is touched."""

import urllib.parse

import pytest

from harness import clock
from harness.clients import JsonRaw
from harness.management import Management, Refused
from harness.queue import string, unique_name


@pytest.fixture
def sqs(endpoint):
    return JsonRaw(endpoint)


@pytest.fixture
def management(endpoint):
    return Management(endpoint)


@pytest.fixture
def peek(management):
    def page(url, **query):
        name = url.rsplit("/", 1)[1]
        return management.call("GET", f"queues/{name}/messages?{urllib.parse.urlencode(query)}")

    return page


def arn(url):
    return f"arn:aws:sqs:us-east-1:000000000000:{url.rsplit('/', 1)[1]}"


def test_looking_changes_nothing(sqs, peek):
    url = sqs.CreateQueue(QueueName=unique_name())["QueueUrl"]
    sent = sqs.SendMessage(
        QueueUrl=url, MessageBody="hello", MessageAttributes={"store_id": string("s1")}
    )
    for _ in range(3):
        (message,) = peek(url)["messages"]
        assert message["messageId"] == message["lineageId"] == sent["MessageId"]
        assert message["body"] == "hello"
        assert message["attributes"]["store_id"] == {"StringValue": "s1", "DataType": "String"}
        assert (message["state"], message["receiveCount"]) == ("visible", 0)
        assert "attempts" not in message
    received = sqs.ReceiveMessage(QueueUrl=url, AttributeNames=["All"])["Messages"][0]
    assert received["Attributes"]["ApproximateReceiveCount"] == "1"


def test_hidden_messages_are_seen_too(sqs, peek):
    url = sqs.CreateQueue(QueueName=unique_name())["QueueUrl"]
    sqs.SendMessage(QueueUrl=url, MessageBody="taken")
    sqs.ReceiveMessage(QueueUrl=url, VisibilityTimeout=60)
    sqs.SendMessage(QueueUrl=url, MessageBody="later", DelaySeconds=60)
    sqs.SendMessage(QueueUrl=url, MessageBody="now")
    messages = peek(url)["messages"]
    assert [(m["body"], m["state"], "visibleAt" in m) for m in messages] == [
        ("taken", "in-flight", True),
        ("later", "delayed", True),
        ("now", "visible", False),
    ]
    assert messages[0]["attempts"][0]["end"] == "open"


@pytest.fixture
def twenty_five(sqs):
    url = sqs.CreateQueue(QueueName=unique_name())["QueueUrl"]
    for n in range(25):
        sqs.SendMessage(QueueUrl=url, MessageBody=f"message {n}")
    return url


def bodies_of(page, member="body"):
    return [message[member] for message in page.get("messages", [])]


def test_newest_first(twenty_five, peek):
    seen, page = [], peek(twenty_five, limit=10, order="newest")
    while True:
        assert page["total"] == 25
        seen += bodies_of(page)
        if "next" not in page:
            break
        page = peek(twenty_five, limit=10, order="newest", after=page["next"])
    assert seen == [f"message {n}" for n in reversed(range(25))]


@pytest.mark.parametrize("order", ["oldest", "newest"])
def test_a_page_starts_at_a_position(twenty_five, peek, order):
    expected = [f"message {n}" for n in range(25)]
    if order == "newest":
        expected.reverse()
    for at in [0, 1, 11, 12, 13, 23, 24, 25, 26, 1000]:
        page = peek(twenty_five, limit=5, order=order, at=at)
        assert bodies_of(page) == expected[at : at + 5], at


def test_a_state_is_chosen(sqs, peek):
    url = sqs.CreateQueue(QueueName=unique_name())["QueueUrl"]
    sqs.SendMessage(QueueUrl=url, MessageBody="taken")
    sqs.ReceiveMessage(QueueUrl=url, VisibilityTimeout=60)
    sqs.SendMessage(QueueUrl=url, MessageBody="later", DelaySeconds=60)
    for n in range(3):
        sqs.SendMessage(QueueUrl=url, MessageBody=f"now {n}")
    assert bodies_of(peek(url, state="in-flight")) == ["taken"]
    assert bodies_of(peek(url, state="delayed")) == ["later"]
    page = peek(url, state="visible", limit=2, at=1)
    assert (bodies_of(page), page["total"]) == (["now 1", "now 2"], 3)


def test_a_summary_has_no_body(sqs, peek):
    url = sqs.CreateQueue(QueueName=unique_name())["QueueUrl"]
    body = '{"password": "hunter2", "text": "' + "ä" * 500 + '"}'
    sqs.SendMessage(QueueUrl=url, MessageBody=body, MessageAttributes={"a": string("b")})
    page = peek(url, view="summary")
    (message,) = page["messages"]
    assert page["total"] == 1 and page["masked"] is True
    assert not {"body", "attributes", "attempts"} & message.keys()
    assert "hunter2" not in message["preview"] and len(message["preview"].encode()) <= 200
    assert peek(url, view="summary", unmasked="true")["messages"][0]["preview"] == body[:116]
    assert peek(url, view="summary", unmasked="true")["messages"][0]["size"] == len(body.encode())


@pytest.mark.parametrize(
    "query",
    [
        {"order": "random"},
        {"state": "dead"},
        {"view": "short"},
        {"at": "-1"},
        {"at": "1", "filter": "received > 1"},
        {"at": "1", "after": "1-1"},
        {"group": "0123456789abcdef0123456789abcdef"},
    ],
)
def test_bad_choices_are_refused(twenty_five, peek, query):
    with pytest.raises(Refused):
        peek(twenty_five, **query)


def test_changes_are_read_by_a_long_poll(sqs, management):
    url = sqs.CreateQueue(QueueName=unique_name())["QueueUrl"]
    name = url.rsplit("/", 1)[1]

    def changes(**query):
        return management.call("GET", f"changes?{urllib.parse.urlencode(query)}")

    def rows(answer):
        return {row["name"]: row for row in answer.get("queues", [])}

    def until(seen, cursor):
        """Other tests change queues of this server, too."""
        for _ in range(30):
            answer = changes(after=cursor, topics="queues", wait=20)
            assert "reset" not in answer and "jobs" not in answer
            if seen(answer):
                return answer["cursor"]
            cursor = answer["cursor"]
        raise AssertionError("the change was not reported")

    first = changes(topics="queues")
    assert first["reset"] is True and rows(first)[name]["visible"] == 0
    sqs.SendMessage(QueueUrl=url, MessageBody="x")
    cursor = until(lambda a: rows(a).get(name, {}).get("visible") == 1, first["cursor"])
    sqs.DeleteQueue(QueueUrl=url)
    until(lambda a: name in a.get("gone", {}).get("queues", []), cursor)
    assert changes(after="of-another-start-7")["reset"] is True
    for bad in [{"topics": "weather"}, {"wait": 21}, {"wait": "x"}]:
        with pytest.raises(Refused):
            changes(**bad)


def test_pages_hold_each_message_once(sqs, peek):
    url = sqs.CreateQueue(QueueName=unique_name())["QueueUrl"]
    bodies = [f"message {n}" for n in range(25)]
    for body in bodies:
        sqs.SendMessage(QueueUrl=url, MessageBody=body)
    seen, page = [], peek(url, limit=10)
    while True:
        seen += [message["body"] for message in page["messages"]]
        if "next" not in page:
            break
        page = peek(url, limit=10, after=page["next"])
    assert seen == bodies


def test_large_bodies_make_short_pages(sqs, peek):
    url = sqs.CreateQueue(QueueName=unique_name())["QueueUrl"]
    for _ in range(10):
        sqs.SendMessage(QueueUrl=url, MessageBody="x" * 1_000_000)
    page = peek(url, limit=100)
    assert 0 < len(page["messages"]) < 10
    rest = peek(url, limit=100, after=page["next"])
    assert len(page["messages"]) + len(rest["messages"]) == 10
    assert "next" not in rest


@pytest.mark.virtual_clock
def test_a_dead_letter_tells_its_story(sqs, peek):
    dlq = sqs.CreateQueue(QueueName=unique_name("dlq"))["QueueUrl"]
    policy = f'{{"deadLetterTargetArn":"{arn(dlq)}","maxReceiveCount":2}}'
    url = sqs.CreateQueue(
        QueueName=unique_name(), Attributes={"RedrivePolicy": policy, "VisibilityTimeout": "30"}
    )["QueueUrl"]
    first = sqs.SendMessage(QueueUrl=url, MessageBody="poison")["MessageId"]
    sqs.ReceiveMessage(QueueUrl=url)
    clock.wait(30)
    handle = sqs.ReceiveMessage(QueueUrl=url)["Messages"][0]["ReceiptHandle"]
    clock.wait(5)
    sqs.ChangeMessageVisibility(QueueUrl=url, ReceiptHandle=handle, VisibilityTimeout=0)
    assert "Messages" not in sqs.ReceiveMessage(QueueUrl=url)

    (dead,) = peek(dlq)["messages"]
    assert dead["messageId"] == first
    assert dead["deadLetterSource"] == dead["origin"] == arn(url)
    ends = [(attempt["end"], attempt["durationMs"]) for attempt in dead["attempts"]]
    assert ends[0] == ("visibility-expired", 30_000)
    assert ends[1][0] == "released" and ends[1][1] >= 5_000
    assert all(attempt["by"] for attempt in dead["attempts"])

    sqs.StartMessageMoveTask(SourceArn=arn(dlq))
    clock.wait(1)
    (again,) = peek(url)["messages"]
    assert again["messageId"] != first and again["lineageId"] == first
    assert (again["redrives"], again["attemptsTotal"]) == (1, 2)


@pytest.mark.parametrize(
    "query,status,words",
    [
        ({"limit": 0}, 400, "limit"),
        ({"limit": 1001}, 400, "limit"),
        ({"limit": "ten"}, 400, "limit"),
        ({"after": "nonsense"}, 400, "after"),
        ({"after": "1-2-3"}, 400, "after"),
    ],
)
def test_bad_questions(sqs, peek, query, status, words):
    url = sqs.CreateQueue(QueueName=unique_name())["QueueUrl"]
    with pytest.raises(Refused) as refused:
        peek(url, **query)
    assert refused.value.status == status
    assert words in refused.value.message


def test_a_queue_that_is_not_there(peek):
    with pytest.raises(Refused) as refused:
        peek("/000000000000/" + unique_name())
    assert refused.value.status == 404
    assert refused.value.code == "NonExistentQueue"
