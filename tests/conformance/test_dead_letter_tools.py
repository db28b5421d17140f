"""Searching, exporting and examining queues: the management API and the commands that use it."""

import base64
import json
import os
import signal
import subprocess
import urllib.parse

import pytest

from harness import clock
from harness.clients import JsonRaw
from harness.management import Management, Refused
from harness.queue import string, unique_name
from harness.server import binary_path


@pytest.fixture
def sqs(endpoint):
    return JsonRaw(endpoint)


@pytest.fixture
def search(endpoint):
    management = Management(endpoint)

    def page(url, filter, **query):
        query["filter"] = filter
        name = url.rsplit("/", 1)[1]
        return management.call("GET", f"queues/{name}/messages?{urllib.parse.urlencode(query)}")

    return page


@pytest.fixture
def redrive(endpoint):
    def run(*arguments, code=0, input=None):
        done = subprocess.run(
            [binary_path(), *arguments, "--endpoint-url", endpoint],
            input=input,
            capture_output=True,
            text=True,
            timeout=60,
        )
        assert done.returncode == code, done.stderr
        return done

    return run


def arn(url):
    return f"arn:aws:sqs:us-east-1:000000000000:{url.rsplit('/', 1)[1]}"


def name(url):
    return url.rsplit("/", 1)[1]


def make(sqs, prefix="q", **attributes):
    queue = unique_name(prefix) + (".fifo" if "FifoQueue" in attributes else "")
    return sqs.CreateQueue(QueueName=queue, Attributes=attributes)["QueueUrl"]


def with_dlq(sqs, receives=1, **attributes):
    dlq = make(sqs, "dlq", MessageRetentionPeriod="1209600")
    policy = json.dumps({"deadLetterTargetArn": arn(dlq), "maxReceiveCount": receives})
    return make(sqs, RedrivePolicy=policy, VisibilityTimeout="30", **attributes), dlq


def bodies(page):
    return [message["body"] for message in page["messages"]] if "messages" in page else []


@pytest.mark.parametrize(
    "filter,found",
    [
        ("$.total > 10", ["b", "c"]),
        ('$.name contains "a"', ["a"]),
        ("attribute.region == 'eu' and not $.total > 20", ["b", "d"]),
        ('body like "*nothing like it*"', []),
        ("size > 1", ["a", "b", "c", "d"]),
        ("received > 0", []),
        ('message_id == "{id}"', ["b"]),
        ('lineage == "{id}"', ["b"]),
    ],
)
def test_a_search_finds_what_fits(sqs, search, filter, found):
    url = make(sqs)
    texts = {
        "a": '{"name":"a","total":10}',
        "b": '{"name":"b","total":11}',
        "c": '{"name":"c","total":30}',
        "d": "not json",
    }
    ids = {}
    for letter, body in texts.items():
        attributes = {"region": string("us" if letter == "a" else "eu")}
        sent = sqs.SendMessage(QueueUrl=url, MessageBody=body, MessageAttributes=attributes)
        ids[letter] = sent["MessageId"]
    page = search(url, filter.replace("{id}", ids["b"]))
    assert bodies(page) == [texts[letter] for letter in found]
    assert page["scanned"] == 4 and "next" not in page


def test_a_search_goes_on_where_it_stopped(sqs, search):
    url = make(sqs)
    for batch in range(520):
        entries = [{"Id": str(n), "MessageBody": f"{batch * 10 + n}"} for n in range(10)]
        sqs.SendMessageBatch(QueueUrl=url, Entries=entries)
    page = search(url, 'body == "5150"')
    assert (bodies(page), page["scanned"]) == ([], 5000)
    rest = search(url, 'body == "5150"', after=page["next"])
    assert (bodies(rest), rest["scanned"], "next" in rest) == (["5150"], 200, False)
    few = search(url, 'body like "1*"', limit=2)
    assert bodies(few) == ["1", "10"]
    assert bodies(search(url, 'body like "1*"', limit=2, after=few["next"])) == ["11", "12"]


def test_a_filter_that_cannot_be_read_is_refused_with_its_position(sqs, search):
    with pytest.raises(Refused) as refused:
        search(make(sqs), "$.a ==")
    assert refused.value.status == 400
    assert "position" in refused.value.message


@pytest.mark.virtual_clock
def test_the_story_of_a_dead_letter(sqs, redrive, search):
    url, dlq = with_dlq(sqs)
    body = '{"user":"ann","password":"hunter2"}'
    sent = sqs.SendMessage(QueueUrl=url, MessageBody=body)["MessageId"]
    sqs.ReceiveMessage(QueueUrl=url)
    clock.wait(7200)
    assert "Messages" not in sqs.ReceiveMessage(QueueUrl=url)

    filter = f"source == '{name(url)}' and received == 1"
    assert bodies(search(dlq, filter, unmasked="true")) == [body]
    assert bodies(search(dlq, filter)) == ['{"user":"ann","password":"***"}']
    (line,) = [
        line
        for line in redrive("dlq", "ls", "--json").stdout.splitlines()
        if json.loads(line)["name"] == name(dlq)
    ]
    listed = json.loads(line)
    assert (listed["messages"], listed["sources"]) == (1, [arn(url)])
    assert listed["oldestAgeSeconds"] == 7200
    assert listed["oldestExpiresInSeconds"] == 1209600 - 7200

    shown = redrive("dlq", "show", name(dlq), sent).stdout
    assert "hunter2" not in shown and '"password": "***"' in shown
    assert "attempt 1:" in shown and "visibility-expired after 30000 ms" in shown
    assert "hunter2" in redrive("dlq", "show", name(dlq), sent, "--unmasked").stdout
    assert "hunter2" not in redrive("dlq", "peek", name(dlq)).stdout
    assert "hunter2" not in redrive("dlq", "search", name(dlq), "$.user == 'ann'", "--json").stdout
    missing = redrive("dlq", "show", name(dlq), "00000000-0000-4000-8000-000000000000", code=1)
    assert "no message" in missing.stderr
    received = sqs.ReceiveMessage(QueueUrl=dlq, AttributeNames=["All"])["Messages"][0]
    assert received["Attributes"]["ApproximateReceiveCount"] == "2"


def test_an_export_is_exact_and_can_be_sent_again(sqs, redrive, tmp_path):
    url, copy = make(sqs), make(sqs)
    body = "line\n\ttab \u00e9\u4e2d\U0001f600 \"quoted\" \\ password=hunter2"
    attributes = {
        "bytes": {"DataType": "Binary", "BinaryValue": base64.b64encode(bytes(range(256))).decode()},
        "count": {"DataType": "Number.int", "StringValue": "007"},
        "token": string("s3cret"),
    }
    system = {"AWSTraceHeader": string("Root=1-5e3d83c1-e6a0db584850d61342823d4c")}
    sent = sqs.SendMessage(
        QueueUrl=url,
        MessageBody=body,
        MessageAttributes=attributes,
        MessageSystemAttributes=system,
        MessageGroupId="tenant",
    )
    sqs.SendMessage(QueueUrl=url, MessageBody="another")
    file = tmp_path / "out.ndjson"
    redrive("dlq", "export", name(url), str(file), "--filter", 'body contains "hunter2"')
    (line,) = file.read_text().splitlines()
    exported = json.loads(line)
    assert (exported["MessageId"], exported["Body"]) == (sent["MessageId"], body)
    assert exported["MessageAttributes"] == attributes
    assert exported["Redrive"]["lineageId"] == sent["MessageId"]
    assert list(tmp_path.iterdir()) == [file]

    redrive("dlq", "import", name(copy), str(file))
    (again,) = sqs.ReceiveMessage(
        QueueUrl=copy, MessageAttributeNames=["All"], AttributeNames=["All"]
    )["Messages"]
    attributes["bytes"]["BinaryValue"] = bytes(range(256))  # As the harness reads it.
    assert again["Body"] == body and again["MessageAttributes"] == attributes
    assert again["Attributes"]["AWSTraceHeader"] == system["AWSTraceHeader"]["StringValue"]
    assert again["Attributes"]["MessageGroupId"] == "tenant"


def test_fifo_messages_keep_groups_ids_and_order(sqs, redrive):
    url, copy, plain = make(sqs, FifoQueue="true"), make(sqs, FifoQueue="true"), make(sqs)
    for n in range(25):
        sqs.SendMessage(
            QueueUrl=url, MessageBody=str(n), MessageGroupId="g", MessageDeduplicationId=f"d{n}"
        )
    lines = redrive("dlq", "export", name(url)).stdout
    assert len(lines.splitlines()) == 25
    redrive("dlq", "import", name(copy), input=lines)
    redrive("dlq", "import", name(copy), input=lines)  # Refused as duplicates, silently.
    got = [json.loads(line) for line in redrive("dlq", "export", name(copy)).stdout.splitlines()]
    assert [message["Body"] for message in got] == [str(n) for n in range(25)]
    assert got[7]["Attributes"]["MessageDeduplicationId"] == "d7"
    redrive("dlq", "import", name(plain), input=lines)
    assert len(redrive("dlq", "export", name(plain)).stdout.splitlines()) == 25


def test_watch_tells_what_comes(sqs, redrive, endpoint):
    url = make(sqs)
    sqs.SendMessage(QueueUrl=url, MessageBody="old")
    watching = subprocess.Popen(
        [binary_path(), "dlq", "watch", name(url), "--every", "0.1", "--endpoint-url", endpoint],
        stdout=subprocess.PIPE,
        text=True,
    )
    try:
        assert watching.stdout.readline() == "1 visible, 0 in flight\n"
        sqs.SendMessage(QueueUrl=url, MessageBody="api_key=AKIAIOSFODNN7EXAMPLE new")
        lines = watching.stdout.readline() + watching.stdout.readline()
        assert "2 visible" in lines and "new" in lines
        assert "old" not in lines and "AKIAIOSFODNN7EXAMPLE" not in lines
        watching.send_signal(signal.SIGINT)
        assert watching.wait(10) == 0
    finally:
        watching.kill()
        watching.wait()


@pytest.mark.skipif("REDRIVE_ENDPOINT" in os.environ, reason="looks at every queue of its server")
@pytest.mark.own_server
def test_doctor_finds_traps_and_its_fixes_work(launch, tmp_path):
    server = launch("--memory")
    sqs = JsonRaw(server.endpoint)
    environment = {
        **os.environ,
        "AWS_ENDPOINT_URL": server.endpoint,
        "PATH": f"{os.path.dirname(binary_path())}:{os.environ['PATH']}",
    }

    def run(*arguments, code):
        done = subprocess.run(
            [binary_path(), *arguments], env=environment, capture_output=True, text=True, timeout=60
        )
        assert done.returncode == code, done.stderr
        return done.stdout

    assert run("doctor", code=0) == ""
    sqs.CreateQueue(QueueName="dlq")
    policy = json.dumps({"deadLetterTargetArn": arn("/dlq"), "maxReceiveCount": 1})
    sqs.CreateQueue(
        QueueName="orders", Attributes={"RedrivePolicy": policy, "VisibilityTimeout": "0"}
    )
    sqs.CreateQueue(QueueName="alone.fifo", Attributes={"FifoQueue": "true"})
    gone = sqs.CreateQueue(QueueName="gone")["QueueUrl"]
    lost = json.dumps({"deadLetterTargetArn": arn(gone), "maxReceiveCount": 5})
    sqs.CreateQueue(QueueName="lost", Attributes={"RedrivePolicy": lost})
    sqs.DeleteQueue(QueueUrl=gone)

    drawing = run("topology", code=0)
    assert "gone  does not exist\n└─ lost  empty; after 5 receives\n" in drawing
    assert "dlq  empty\n└─ orders  empty; after 1 receive\n" in drawing
    assert '"arn:aws:sqs:us-east-1:000000000000:orders" -> ' in run("topology", "--dot", code=0)
    assert run("topology", "--mermaid", code=0).startswith("flowchart LR\n")

    found = [json.loads(line) for line in run("doctor", "--json", code=1).splitlines()]
    assert {(each["rule"], each["queue"]) for each in found} == {
        ("dlq-retention", "orders"),
        ("few-receives", "orders"),
        ("short-visibility", "orders"),
        ("dlq-missing", "lost"),
        ("no-dlq", "alone.fifo"),
    }
    server_refuses = {"dlq-missing"}  # A name is free again a minute after its queue was deleted.
    for each in found:
        if each["rule"] not in server_refuses:
            subprocess.run(each["fix"], shell=True, check=True, env=environment, timeout=60)
    left = [json.loads(line) for line in run("doctor", "--json", code=1).splitlines()]
    assert [each["rule"] for each in left] == ["dlq-missing"]
