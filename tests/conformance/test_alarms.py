"""Alarms: the one that every dead-letter queue has, and CloudWatch's."""

import contextlib
import http.server
import json
import os
import subprocess
import threading

import boto3
import pytest

from harness import clock
from harness.clients import JsonRaw
from harness.management import Management
from harness.queue import Queue
from harness.server import binary_path

pytestmark = pytest.mark.skipif("REDRIVE_ENDPOINT" in os.environ, reason="needs its own server process")


class Hook:
    """A webhook that remembers what it was told. `answers`: statuses for the first requests."""

    def __init__(self, answers=(), hang=None):
        self.told = []
        self.answers = list(answers)
        hook = self

        class Handler(http.server.BaseHTTPRequestHandler):
            def do_POST(self):
                body = self.rfile.read(int(self.headers["Content-Length"]))
                if hang:
                    hang.wait(20)
                status = hook.answers.pop(0) if hook.answers else 200
                if status == 200:
                    hook.told.append(json.loads(body))
                self.send_response(status)
                self.send_header("Location", "http://127.0.0.1:1/elsewhere")
                self.send_header("Content-Length", "0")
                self.end_headers()

            def log_message(self, *arguments):
                pass

        self.server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self.url = f"http://127.0.0.1:{self.server.server_port}/hook"
        threading.Thread(target=self.server.serve_forever, daemon=True).start()

    def next(self):
        clock.until("the webhook is told", lambda: self.told, timeout=15)
        return self.told.pop(0)

    def close(self):
        self.server.shutdown()
        self.server.server_close()


@pytest.fixture
def hook():
    hook = Hook()
    yield hook
    hook.close()


@pytest.fixture
def start(launch, tmp_path):
    def started(*targets, more=""):
        config = tmp_path / "redrive.toml"
        config.write_text(f"[alarms]\nnotify = {json.dumps(list(targets))}\n{more}\n")
        server = launch("--data", str(tmp_path / "data"), "--virtual-clock", "--config", str(config))
        clock.follow(server.endpoint)
        return server

    yield started
    clock.follow(None)


def cloudwatch(endpoint):
    return boto3.client(
        "cloudwatch",
        endpoint_url=endpoint,
        region_name="us-east-1",
        aws_access_key_id="000000000000",
        aws_secret_access_key="x",
    )


def cli(server, *arguments):
    environment = {**os.environ, "AWS_ENDPOINT_URL": server.endpoint}
    command = [binary_path(), "alarm", *arguments]
    return subprocess.run(command, env=environment, capture_output=True, text=True, timeout=40)


def queues(server):
    sqs = JsonRaw(server.endpoint)
    dlq = Queue.create(sqs, "orders-dlq")
    queue = Queue.create(sqs, "orders", attributes={"VisibilityTimeout": "0"})
    queue.redrive_to(dlq, 1)
    return queue, dlq


def fail(server, queue, body, error="KeyError"):
    queue.send(body)
    message = queue.receive_one(VisibilityTimeout=60)
    Management(server.endpoint).call(
        "POST",
        "failures",
        {
            "receiptHandle": message["ReceiptHandle"],
            "errorType": error,
            "errorMessage": "'store_id' password=hunter2",
            "disposition": "dead-letter",
        },
    )


# --- The story ----------------------------------------------------------------------------------


def test_a_dead_letter_queue_fills_tells_why_drains_and_says_so(start, hook):
    server = start(hook.url)
    queue, dlq = queues(server)
    clock.wait(60)
    assert hook.told == []  # Idle is quiet.

    for i in range(3):
        fail(server, queue, json.dumps({"order": i, "password": "hunter2"}))
    clock.wait(10)  # One evaluation period.
    notice = hook.next()
    assert (notice["NewStateValue"], notice["OldStateValue"]) == ("ALARM", "OK")
    assert notice["AlarmName"] == f"dead letters in {dlq.name}"
    assert notice["Trigger"]["Dimensions"] == [{"name": "QueueName", "value": dlq.name}]
    reason = notice["DeadLetters"]
    assert reason["messages"] == 3
    assert [(group["count"], group["new"]) for group in reason["groups"]] == [(3, True)]
    assert "KeyError" in reason["groups"][0]["title"]
    assert "order" in reason["sample"] and "hunter2" not in json.dumps(notice)
    assert f"redrive dlq groups {dlq.name}" in reason["commands"]

    clock.wait(300)
    fail(server, queue, json.dumps({"order": 9}))
    clock.wait(60)
    assert hook.told == []  # More of the same is no news.

    fail(server, queue, json.dumps({"order": 10}), error="TimeoutError")
    clock.wait(10)
    notice = hook.next()
    fresh = {group["title"]: group["new"] for group in notice["DeadLetters"]["groups"]}
    assert sorted(fresh.values()) == [False, True]
    assert any("TimeoutError" in title and new for title, new in fresh.items())

    for message in dlq.receive(max=10):
        dlq.delete(message)
    clock.wait(10)
    notice = hook.next()
    assert (notice["NewStateValue"], notice["OldStateValue"]) == ("OK", "ALARM")
    clock.wait(600)
    assert hook.told == []

    shown = cli(server, "history", f"dead letters in {dlq.name}")
    assert shown.returncode == 0 and "from OK to ALARM" in shown.stdout and "from ALARM to OK" in shown.stdout


def test_a_restart_does_not_tell_again(start, hook):
    server = start(hook.url)
    queue, dlq = queues(server)
    fail(server, queue, "1")
    clock.wait(10)
    hook.next()
    assert server.stop() == 0
    server = start(hook.url)
    clock.wait(60)
    assert hook.told == []
    listed = Management(server.endpoint).call("GET", "alarms")["alarms"]
    assert [(alarm["queue"], alarm["state"]) for alarm in listed] == [(dlq.name, "ALARM")]


def test_switched_off_it_is_silent(start, hook):
    server = start(hook.url)
    queue, dlq = queues(server)
    assert cli(server, "off", dlq.name).returncode == 0
    fail(server, queue, "1")
    clock.wait(60)
    assert hook.told == []
    assert cli(server, "on", dlq.name).returncode == 0
    clock.wait(10)
    assert hook.next()["NewStateValue"] == "ALARM"


def test_endpoints_that_fail_hang_or_redirect_harm_nobody(start, hook):
    forever = threading.Event()
    hanging = Hook(hang=forever)
    failing = Hook(answers=[500])
    redirecting = Hook(answers=[302] * 10)
    with contextlib.ExitStack() as stack:
        for one in (hanging, failing, redirecting):
            stack.callback(one.close)
        stack.callback(forever.set)
        server = start(hanging.url, failing.url, redirecting.url, "http://127.0.0.1:1/", hook.url)
        queue, _ = queues(server)
        fail(server, queue, "1")
        clock.wait(10)
        watch = clock.Stopwatch()
        assert hook.next()["NewStateValue"] == "ALARM"
        queue.send("still served")
        assert watch.seconds < 8
        assert failing.next()["NewStateValue"] == "ALARM"  # The second attempt.
        assert redirecting.told == []
        targets = Management(server.endpoint).call("GET", "alarms/targets")["targets"]
        errors = " ".join(target.get("error", "") for target in targets)
        assert "answered 302" in errors


def test_the_test_command(start, hook):
    server = start(hook.url)
    done = cli(server, "test")
    assert done.returncode == 0, done
    assert "told" in done.stdout
    assert hook.next()["AlarmName"] == "test"


# --- CloudWatch's alarms ------------------------------------------------------------------------


def test_an_alarm_as_terraform_makes_it(start):
    server = start()
    queue, dlq = queues(server)
    client = cloudwatch(server.endpoint)
    name = "dlq-not-empty"
    client.put_metric_alarm(
        AlarmName=name,
        ComparisonOperator="GreaterThanThreshold",
        EvaluationPeriods=1,
        MetricName="ApproximateNumberOfMessagesVisible",
        Namespace="AWS/SQS",
        Period=60,
        Statistic="Maximum",
        Threshold=0,
        TreatMissingData="missing",
        Dimensions=[{"Name": "QueueName", "Value": dlq.name}],
        Tags=[{"Key": "team", "Value": "orders"}],
    )
    (alarm,) = client.describe_alarms(AlarmNames=[name], AlarmTypes=["MetricAlarm"])["MetricAlarms"]
    assert alarm["AlarmArn"] == f"arn:aws:cloudwatch:us-east-1:000000000000:alarm:{name}"
    assert alarm["Threshold"] == 0 and alarm["Period"] == 60 and alarm["TreatMissingData"] == "missing"
    assert alarm["Dimensions"] == [{"Name": "QueueName", "Value": dlq.name}]
    assert alarm["ActionsEnabled"] is True and alarm["AlarmActions"] == []
    tags = client.list_tags_for_resource(ResourceARN=alarm["AlarmArn"])["Tags"]
    assert tags == [{"Key": "team", "Value": "orders"}]
    client.tag_resource(ResourceARN=alarm["AlarmArn"], Tags=[{"Key": "stage", "Value": "x"}])
    client.untag_resource(ResourceARN=alarm["AlarmArn"], TagKeys=["team"])
    assert client.list_tags_for_resource(ResourceARN=alarm["AlarmArn"])["Tags"] == [{"Key": "stage", "Value": "x"}]
    client.delete_alarms(AlarmNames=[name])
    assert client.describe_alarms(AlarmNames=[name])["MetricAlarms"] == []


def test_an_alarm_goes_through_its_states_and_tells_a_queue(start):
    server = start()
    queue, dlq = queues(server)
    alerts = Queue.create(JsonRaw(server.endpoint), "alerts")
    client = cloudwatch(server.endpoint)

    def told():
        """What the queue is told next."""
        message = clock.until("the queue is told", lambda: alerts.receive(max=1))[0]
        alerts.delete(message)
        return json.loads(message["Body"])

    def state():
        (alarm,) = client.describe_alarms(AlarmNames=["full"])["MetricAlarms"]
        return alarm["StateValue"]

    client.put_metric_alarm(
        AlarmName="full",
        AlarmDescription="too much",
        ComparisonOperator="GreaterThanOrEqualToThreshold",
        EvaluationPeriods=2,
        DatapointsToAlarm=2,
        MetricName="ApproximateNumberOfMessagesVisible",
        Namespace="AWS/SQS",
        Period=60,
        Statistic="Maximum",
        Threshold=1,
        TreatMissingData="notBreaching",
        Dimensions=[{"Name": "QueueName", "Value": dlq.name}],
        AlarmActions=[alerts.arn],
        OKActions=[alerts.arn],
    )
    assert state() == "OK"  # Judged at once; no data is no breach.
    assert told()["OldStateValue"] == "INSUFFICIENT_DATA"
    fail(server, queue, "1")
    clock.wait(60)
    clock.wait(120)
    assert state() == "ALARM"
    notice = told()
    assert notice["NewStateValue"] == "ALARM" and notice["OldStateValue"] == "OK"
    assert notice["AlarmDescription"] == "too much" and notice["Trigger"]["Period"] == 60
    for message in dlq.receive():
        dlq.delete(message)
    clock.wait(240)
    assert state() == "OK"
    items = client.describe_alarm_history(AlarmName="full")["AlarmHistoryItems"]
    kinds = [item["HistoryItemType"] for item in items]
    assert kinds.count("StateUpdate") == 3 and "ConfigurationUpdate" in kinds
    client.set_alarm_state(AlarmName="full", StateValue="ALARM", StateReason="a drill")
    assert state() == "ALARM"
    clock.wait(60)
    assert state() == "OK"  # Until the next evaluation.
    client.disable_alarm_actions(AlarmNames=["full"])
    (alarm,) = client.describe_alarms(AlarmNames=["full"])["MetricAlarms"]
    assert alarm["ActionsEnabled"] is False


def test_an_alarm_of_the_command_line(start):
    server = start()
    queue, _ = queues(server)
    added = cli(server, "add", "backlog", "--queue", queue.name, "--above", "2", "--period", "10")
    assert added.returncode == 0, added.stderr
    for i in range(3):
        queue.send(str(i))
    clock.wait(20)
    assert "ALARM" in cli(server, "ls").stdout
    assert cli(server, "rm", "backlog").returncode == 0
    assert "backlog" not in cli(server, "ls").stdout


def test_strangers_may_not_reach_private_networks_nor_run_commands(start, hook):
    server = start()
    queue, _ = queues(server)
    client = cloudwatch(server.endpoint)
    common = dict(
        AlarmName="a",
        ComparisonOperator="GreaterThanThreshold",
        EvaluationPeriods=1,
        MetricName="NumberOfMessagesSent",
        Namespace="AWS/SQS",
        Period=60,
        Statistic="Sum",
        Threshold=0,
        Dimensions=[{"Name": "QueueName", "Value": queue.name}],
    )
    for action in ("command:touch /tmp/never", "smtp://127.0.0.1?from=a&to=b", "file:///etc/passwd"):
        with pytest.raises(client.exceptions.ClientError):
            client.put_metric_alarm(**common, AlarmActions=[action])
    client.put_metric_alarm(**common, AlarmActions=[hook.url])
    client.set_alarm_state(AlarmName="a", StateValue="ALARM", StateReason="try")
    targets = clock.until(
        "the webhook is refused",
        lambda: [t for t in Management(server.endpoint).call("GET", "alarms/targets")["targets"] if t.get("error")],
    )
    assert "private" in targets[0]["error"]
    assert hook.told == []
