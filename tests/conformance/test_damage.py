"""Flipped bits in the stored bytes of messages: everything else goes on, and the damaged ones are seen.

A message is found on the disk by its body, which is unique. The last bytes that were written are also in
the server's memory, so a running server is restarted before its files are changed.
"""

import json
import os
import subprocess
import time
import urllib.request

import pytest

from harness import clock
from harness.clients import JsonRaw
from harness.functions import client, redrive, settings
from harness.management import Management, Refused
from harness.server import Server, binary_path

pytestmark = [
    pytest.mark.own_server,
    pytest.mark.skipif("REDRIVE_ENDPOINT" in os.environ, reason="needs its own server process"),
]

FILL = "lorem ipsum dolor sit amet " * 8


class Place:
    """A data directory and the server on it."""

    def __init__(self, data):
        self.data = data
        self.start()

    options = ()

    def start(self):
        self.server = Server("--data", str(self.data), *self.options, log_path=str(self.data) + ".log")
        self.api = JsonRaw(self.server.endpoint)
        self.manage = Management(self.server.endpoint)

    def stop(self):
        assert self.server.stop() == 0

    def restart(self):
        self.stop()
        self.start()

    def log(self):
        with open(str(self.data) + ".log", encoding="utf-8") as file:
            return file.read()

    def flip(self, body):
        """Changes one bit of a body on the disk; a second time, changes it back."""
        for segment in self.data.glob("*.seg"):
            content = segment.read_bytes()
            for first in (body[0], chr(ord(body[0]) ^ 1)):
                at = content.find((first + body[1:]).encode())
                if at < 0:
                    continue
                with open(segment, "r+b") as file:
                    file.seek(at)
                    file.write(bytes([content[at] ^ 1]))
                return segment.name
        raise AssertionError(f"{body} is nowhere")

    def tool(self, *arguments):
        return subprocess.run([binary_path(), *arguments], capture_output=True, text=True, timeout=60)

    def cli(self, *arguments):
        return self.tool(*arguments, "--endpoint-url", self.server.endpoint)

    def create(self, name, **attributes):
        return self.api.CreateQueue(QueueName=name, Attributes=attributes)["QueueUrl"]

    def receive_all(self, url):
        """Receives and deletes until nothing comes; a receive may come back empty because all it took
        was damaged."""
        bodies = []
        empty = 0
        while empty < 3:
            messages = self.api.ReceiveMessage(
                QueueUrl=url, MaxNumberOfMessages=10, WaitTimeSeconds=0).get("Messages", [])
            empty = 0 if messages else empty + 1
            for message in messages:
                bodies.append(message["Body"].removesuffix(FILL))
                self.api.DeleteMessage(QueueUrl=url, ReceiptHandle=message["ReceiptHandle"])
        return bodies

    def damaged(self, queue):
        return self.manage.call("GET", f"queues/{queue}/damaged")

    def wait_for_damaged(self, queue, count):
        """The server looks for more damage in the background once it has found some."""
        deadline = time.monotonic() + 30
        while (page := self.damaged(queue))["total"] != count:
            assert time.monotonic() < deadline, page
            time.sleep(0.05)
        return page


@pytest.fixture
def place(tmp_path):
    place = Place(tmp_path / "data")
    yield place
    if place.server.running():
        place.stop()


def test_a_stopped_server_starts_with_a_damaged_message_and_its_group_goes_on(place):
    url = place.create("line.fifo", FifoQueue="true", ContentBasedDeduplication="true")
    for number in range(4):
        place.api.SendMessage(QueueUrl=url, MessageBody=f"letter {number} {FILL}", MessageGroupId="g")
    place.stop()
    segment = place.flip(f"letter 0 {FILL}")
    check = place.tool("journal", "check", "--data", str(place.data))
    assert check.returncode == 1, check.stdout
    assert f"{segment} at byte " in check.stdout and "of line.fifo" in check.stdout
    assert "4 messages, 1 damaged" in check.stdout
    repair = place.tool("journal", "repair", "--data", str(place.data))
    assert repair.returncode == 1 and "queue damaged drop" in repair.stdout

    place.start()
    assert place.receive_all(url) == ["letter 1 ", "letter 2 ", "letter 3 "]
    (message,) = place.damaged("line.fifo")["messages"]
    assert message["state"] == "damaged"
    assert f"{message['segment']:010}.seg" == segment
    assert message["groupId"] == "g"
    assert message["error"] == "its bytes do not match their checksum"
    assert message["messageId"]
    place.restart()
    (again,) = place.damaged("line.fifo")["messages"]
    assert {**again, "expiresAt": ""} == {**message, "expiresAt": ""}
    assert "message damaged and set aside" in place.log()
    assert place.manage.call("POST", "queues/line.fifo/damaged/drop", {"keys": [message["key"]]}) == {
        "messages": 1, "more": False}
    assert place.damaged("line.fifo")["total"] == 0
    place.restart()
    assert place.damaged("line.fifo")["total"] == 0


def test_a_running_server_works_around_damaged_dead_letters(place):
    dlq = place.create("orders-dlq")
    arn = place.api.GetQueueAttributes(QueueUrl=dlq, AttributeNames=["QueueArn"])["Attributes"]["QueueArn"]
    orders = place.create("orders", VisibilityTimeout="0", RedrivePolicy=json.dumps(
        {"deadLetterTargetArn": arn, "maxReceiveCount": 1}))
    for number in range(10):
        place.api.SendMessage(QueueUrl=orders, MessageBody=f"order {number} {FILL}")
    for _ in range(4):
        place.api.ReceiveMessage(QueueUrl=orders, MaxNumberOfMessages=10)
    place.restart()
    for number in (0, 4, 9):
        place.flip(f"order {number} {FILL}")

    page = place.manage.call("GET", "queues/orders-dlq/messages")
    whole = [f"order {number} {FILL}" for number in range(10) if number not in (0, 4, 9)]
    assert [message["body"] for message in page["messages"]] == whole
    found = place.manage.call("GET", "queues/orders-dlq/messages?filter=body%20like%20%22order*%22")
    assert len(found["messages"]) == 7
    place.wait_for_damaged("orders-dlq", 3)
    assert place.manage.call("GET", "damaged") == {
        "queues": [{"queue": "orders-dlq", "messages": 3}], "functions": []}
    groups = place.manage.call("GET", "queues/orders-dlq/groups")["groups"]
    assert sum(group["count"] for group in groups) == 7

    overview = place.manage.call("GET", "overview")["queues"]
    assert {queue["name"]: queue.get("damaged", 0) for queue in overview} == {"orders": 0, "orders-dlq": 3}
    metrics = urllib.request.urlopen(place.server.endpoint + "/metrics", timeout=30).read().decode()
    (line,) = [line for line in metrics.splitlines() if line.startswith("redrive_damaged_messages{")]
    assert 'queue="orders-dlq"' in line and line.endswith(" 3")
    doctor = place.cli("doctor", "--json")
    rules = [json.loads(line)["rule"] for line in doctor.stdout.splitlines()]
    assert "damaged-messages" in rules and doctor.returncode == 1
    listed = place.cli("queue", "damaged", "ls", "orders-dlq")
    assert listed.stdout.count("its bytes do not match their checksum") == 3

    key = page["messages"][0]["key"]
    assert place.manage.call("POST", "queues/orders-dlq/discard", {"keys": [key]})["messages"] == 1
    place.manage.call("POST", "queues/orders-dlq/jobs", {"filter": 'body like "order*"'})
    place.api.SetQueueAttributes(QueueUrl=orders, Attributes={"RedrivePolicy": "", "VisibilityTimeout": "30"})
    deadline = time.monotonic() + 30
    bodies = []
    while len(bodies) < 6 and time.monotonic() < deadline:
        bodies += place.receive_all(orders)
    assert sorted(bodies) == [f"order {number} " for number in (2, 3, 5, 6, 7, 8)]

    # One comes back when its bytes do.
    place.flip(f"order 4 {FILL}")
    retried = place.cli("queue", "damaged", "retry", "orders-dlq", "--all")
    assert retried.stdout == "1 restored, 2 still damaged\n", retried.stderr
    page = place.manage.call("GET", "queues/orders-dlq/messages")
    assert [message["body"] for message in page["messages"]] == [f"order 4 {FILL}"]
    assert [event["what"] for event in page["messages"][0]["events"]][-2:] == ["damaged", "restored"]
    dropped = place.cli("queue", "damaged", "drop", "orders-dlq", "--all", "--yes")
    assert dropped.stdout == "2 damaged messages dropped\n", dropped.stderr
    assert place.damaged("orders-dlq")["total"] == 0


def test_an_alarm_rings_while_there_are_damaged_messages(place):
    url = place.create("q")
    place.api.SendMessage(QueueUrl=url, MessageBody=f"letter {FILL}")
    place.restart()
    place.flip(f"letter {FILL}")
    assert place.receive_all(url) == []

    def state():
        alarms = place.manage.call("GET", "alarms")["alarms"]
        return [alarm["state"] for alarm in alarms if alarm["kind"] == "damage" and alarm["queue"] == "q"]

    deadline = time.monotonic() + 40
    while state() != ["ALARM"]:
        assert time.monotonic() < deadline, place.manage.call("GET", "alarms")
        time.sleep(0.2)
    place.api.DeleteQueue(QueueUrl=url)
    assert state() == []


def test_what_cannot_be_chosen_is_refused(place):
    place.create("q")
    for document in ({}, {"keys": [1], "all": True}, {"all": False}):
        with pytest.raises(Refused) as refused:
            place.manage.call("POST", "queues/q/damaged/drop", document)
        assert refused.value.status == 400
    with pytest.raises(Refused) as refused:
        place.damaged("missing")
    assert refused.value.status == 404


RAISES = "def handler(event, context):\n    print('ran for', event['n'])\n    raise ValueError('later')\n"


class EventPlace(Place):
    """Three events of a function that has failed once for each, so that they wait for their retry."""

    options = ("--virtual-clock",)

    def fail_once(self):
        functions = client("lambda", self.server.endpoint)
        functions.create_function(**settings(RAISES, FunctionName="resize"))
        for number in range(3):
            functions.invoke(FunctionName="resize", InvocationType="Event", Payload=self.event(number))
        self.wait_for_runs(*range(3))

    def event(self, number):
        return json.dumps({"n": f"event {number} {FILL}"})

    def wait_for_runs(self, *numbers):
        """The function ran for these since the server's start, and for no others."""
        def ran():
            log = redrive(self.server.endpoint, "function", "logs", "resize").stdout
            return {number for number in range(3) if log.count(f"ran for event {number} ") > self.before[number]}
        clock.until(f"the function ran for {numbers}", lambda: ran() == set(numbers), timeout=20)

    def restart_damaged(self, *numbers):
        log = redrive(self.server.endpoint, "function", "logs", "resize").stdout
        self.stop()
        for number in numbers:
            self.flip(self.event(number))
        self.before = [log.count(f"ran for event {number} ") for number in range(3)]

    before = [0, 0, 0]


@pytest.fixture
def events(tmp_path):
    place = EventPlace(tmp_path / "data")
    place.fail_once()
    yield place
    if place.server.running():
        place.stop()


def test_a_damaged_event_is_set_aside_and_the_function_runs_for_the_others(events):
    events.restart_damaged(1)
    events.start()
    events.manage.advance(61)
    events.wait_for_runs(0, 2)
    assert events.manage.call("GET", "damaged") == {
        "queues": [], "functions": [{"function": "resize", "messages": 1}]}
    page = events.manage.call("GET", "events/resize/damaged")
    (message,) = page["messages"]
    assert page["total"] == 1 and message["state"] == "damaged"
    assert message["error"] == "its bytes do not match their checksum"
    metrics = urllib.request.urlopen(events.server.endpoint + "/metrics", timeout=30).read().decode()
    (line,) = [line for line in metrics.splitlines() if line.startswith("redrive_damaged_events{")]
    assert 'function="resize"' in line and line.endswith(" 1")
    doctor = events.cli("doctor", "--json")
    (finding,) = [json.loads(line) for line in doctor.stdout.splitlines() if "damaged-events" in line]
    assert finding["fix"] == "redrive function damaged ls resize" and doctor.returncode == 1
    listed = events.cli("function", "damaged", "ls", "resize")
    assert listed.stdout.count("its bytes do not match their checksum") == 1
    events.manage.advance(11)

    def alarms():
        return [alarm for alarm in events.manage.call("GET", "alarms")["alarms"] if alarm["kind"] == "damage"]

    (alarm,) = clock.until("the alarm is there", alarms)
    assert alarm["name"] == "damaged events of resize" and alarm["function"] == "resize"

    dropped = events.cli("function", "damaged", "drop", "resize", str(message["key"]), "--yes")
    assert dropped.stdout == "1 damaged event dropped\n", dropped.stderr
    assert events.manage.call("GET", "events/resize/damaged")["total"] == 0
    with pytest.raises(Refused) as refused:
        events.manage.call("GET", "events/missing/damaged")
    assert refused.value.status == 404


def test_a_damaged_event_runs_once_its_bytes_are_restored(events):
    events.restart_damaged(1)
    events.start()
    events.manage.advance(61)
    events.wait_for_runs(0, 2)
    events.flip(events.event(1))
    retried = events.cli("function", "damaged", "retry", "resize", "--all")
    assert retried.stdout == "1 restored, 0 still damaged\n", retried.stderr
    events.wait_for_runs(0, 1, 2)


def test_a_damaged_event_is_dropped_while_the_server_is_stopped(events):
    events.restart_damaged(1)
    check = events.tool("journal", "check", "--data", str(events.data))
    assert "1 damaged" in check.stdout, check.stdout
    repaired = events.tool("journal", "repair", "--data", str(events.data), "--drop-all")
    assert "of resize!async dropped" in repaired.stdout, repaired.stdout
    events.start()
    events.manage.advance(61)
    events.wait_for_runs(0, 2)
    assert events.manage.call("GET", "damaged") == {"queues": [], "functions": []}
