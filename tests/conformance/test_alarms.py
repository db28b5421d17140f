"""Alarms: the one that every dead-letter queue has, and CloudWatch's."""

import contextlib
import http.server
import json
import os
import subprocess
import threading
import urllib.request

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
        clock.until("a target fails", lambda: delivery_states(server, failing.url) == ["failing"], timeout=20)
        clock.wait(2)
        assert failing.next()["NewStateValue"] == "ALARM"  # The second attempt.
        assert redirecting.told == []
        targets = Management(server.endpoint).call("GET", "alarms/targets")["targets"]
        errors = " ".join(target.get("error", "") for target in targets)
        assert "answered 302" in errors


def test_the_test_command(start, hook):
    server = start(hook.url)
    done = cli(server, "test")
    assert done.returncode == 0, done
    assert "notified, HTTP 200" in done.stdout
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
    with pytest.raises(client.exceptions.ClientError, match="private network"):
        client.put_metric_alarm(**common, AlarmActions=[hook.url])
    assert hook.told == []


# --- Delivery -----------------------------------------------------------------------------------


def targets_of(server, alarm):
    listed = Management(server.endpoint).call("GET", "alarms")["alarms"]
    return {target["target"]: target for a in listed if a["name"] == alarm for target in a["targets"]}


def delivery_states(server, url):
    """What became of the last notice for a webhook."""
    shown = url.rsplit("/", 1)[0] + "/..."
    targets = Management(server.endpoint).call("GET", "alarms/targets")["targets"]
    return [target["state"] for target in targets if target["target"] == shown]


def metric_alarm(client, name="full", **more):
    client.put_metric_alarm(
        AlarmName=name,
        ComparisonOperator="GreaterThanThreshold",
        EvaluationPeriods=1,
        MetricName="NumberOfMessagesSent",
        Namespace="AWS/SQS",
        Period=60,
        Statistic="Sum",
        Threshold=0,
        TreatMissingData="ignore",
        Dimensions=[{"Name": "QueueName", "Value": "orders"}],
        **more,
    )


def page(server):
    with urllib.request.urlopen(server.endpoint + "/metrics") as answer:
        return answer.read().decode()


def doctor(server):
    environment = {**os.environ, "AWS_ENDPOINT_URL": server.endpoint}
    command = [binary_path(), "doctor", "--json"]
    done = subprocess.run(command, env=environment, capture_output=True, text=True, timeout=40)
    return [json.loads(line)["rule"] for line in done.stdout.splitlines() if line.startswith("{")]


def test_a_notice_fails_is_shown_as_failing_and_is_given_up(start):
    failing = Hook(answers=[503] * 6)
    with contextlib.closing(failing):
        server = start(failing.url)
        queue, dlq = queues(server)
        fail(server, queue, "1")
        clock.wait(10)
        clock.until("it fails", lambda: delivery_states(server, failing.url) == ["failing"], timeout=20)
        alarm = f"dead letters in {dlq.name}"
        (target,) = targets_of(server, alarm).values()
        assert target["attempts"] == 1 and "answered 503" in target["error"]
        assert target["waiting"] is True and "nextTry" in target
        listed = cli(server, "ls")
        assert "1 failing" in listed.stdout and "answered 503" in listed.stderr
        assert "next attempt at" in cli(server, "history", alarm).stdout
        assert "alarm-notice-failing" in doctor(server)
        assert 'redrive_alarm_notices_waiting{state="failing"} 1' in page(server)

        for attempt, pause in enumerate((1, 5, 30, 120, 600), start=2):
            clock.wait(pause + 1)
            clock.until(
                f"attempt {attempt}",
                lambda: next(iter(targets_of(server, alarm).values()))["attempts"] == attempt,
                timeout=20,
            )
        (target,) = targets_of(server, alarm).values()
        assert target["state"] == "given-up" and target["waiting"] is False
        assert "Gave up notifying" in cli(server, "history", alarm).stdout
        assert "alarm-notice-undelivered" in doctor(server)
        metrics = page(server)
        assert "redrive_alarm_notices_given_up_total 1" in metrics
        assert "redrive_alarm_notice_attempts_failed_total 6" in metrics


def test_a_notice_that_arrived_is_shown_as_delivered(start, hook):
    server = start(hook.url)
    queue, dlq = queues(server)
    fail(server, queue, "1")
    clock.wait(10)
    hook.next()
    clock.until("it is recorded", lambda: delivery_states(server, hook.url) == ["delivered"], timeout=20)
    shown = cli(server, "history", f"dead letters in {dlq.name}").stdout
    assert "Notified http://127.0.0.1" in shown and "HTTP 200 (1 attempt)" in shown
    assert "1 delivered" in cli(server, "ls").stdout
    assert "redrive_alarm_notices_delivered_total 1" in page(server)
    assert not [rule for rule in doctor(server) if rule.startswith("alarm-")]


def test_the_history_of_cloudwatch_says_whether_an_action_succeeded(start):
    server = start()
    queues(server)
    alerts = Queue.create(JsonRaw(server.endpoint), "alerts")
    client = cloudwatch(server.endpoint)
    metric_alarm(client, AlarmActions=[alerts.arn])
    client.set_alarm_state(AlarmName="full", StateValue="ALARM", StateReason="a drill")

    def action():
        items = client.describe_alarm_history(AlarmName="full", HistoryItemType="Action")["AlarmHistoryItems"]
        return [item for item in items if "Successfully" in item["HistorySummary"]]

    (item,) = clock.until("the action succeeds", action, timeout=20)
    data = json.loads(item["HistoryData"])
    assert item["HistorySummary"] == f"Successfully executed action {alerts.arn}"
    assert data["actionState"] == "Succeeded" and data["notificationResource"] == alerts.arn
    (state,) = client.describe_alarm_history(AlarmName="full", HistoryItemType="StateUpdate")["AlarmHistoryItems"]
    assert json.loads(state["HistoryData"])["newState"]["stateReason"] == "a drill"


def test_targets_that_can_never_be_reached_are_refused(start):
    server = start()
    queues(server)
    client = cloudwatch(server.endpoint)
    for action in (
        "arn:aws:sns:us-east-1:000000000000:oncall",
        "arn:aws:sqs:us-east-1:000000000000:nowhere",
        "arn:aws:lambda:us-east-1:000000000000:function:nobody",
        "https://10.1.2.3/hook",
    ):
        for actions in ("AlarmActions", "OKActions", "InsufficientDataActions"):
            with pytest.raises(client.exceptions.ClientError, match="cannot be notified"):
                metric_alarm(client, **{actions: [action]})
        done = cli(server, "add", "a", "--queue", "orders", "--notify", action)
        assert done.returncode != 0 and "cannot be notified" in done.stderr
    assert client.describe_alarms()["MetricAlarms"] == []


def test_unreachable_targets_may_be_accepted_and_are_shown(start):
    server = start(more='unreachable-targets = "accept"')
    queues(server)
    client = cloudwatch(server.endpoint)
    topic = "arn:aws:sns:us-east-1:000000000000:oncall"
    metric_alarm(client, AlarmActions=[topic])
    assert targets_of(server, "full")[topic]["state"] == "unreachable"
    assert "cannot be notified" in cli(server, "ls").stderr
    assert "alarm-target-unreachable" in doctor(server)
    client.set_alarm_state(AlarmName="full", StateValue="ALARM", StateReason="a drill")
    clock.until("it is given up", lambda: "Gave up notifying" in cli(server, "history", "full").stdout, timeout=20)


def test_notices_link_to_the_console(start, hook):
    server = start(hook.url, more='[console]\nurl = "https://redrive.example/console/"')
    queue, dlq = queues(server)
    fail(server, queue, "1")
    clock.wait(10)
    link = hook.next()["Link"]
    assert link.startswith(f"https://redrive.example/console/queues/{dlq.name}/groups/")


def test_a_notice_survives_kill_9_and_what_arrived_is_not_repeated(start, hook):
    late = Hook(answers=[503])
    with contextlib.closing(late):
        server = start(hook.url, late.url)
        queue, _ = queues(server)
        fail(server, queue, "1")
        clock.wait(10)
        hook.next()
        clock.until("one arrived", lambda: delivery_states(server, hook.url) == ["delivered"], timeout=20)
        clock.until("one failed", lambda: delivery_states(server, late.url) == ["failing"], timeout=20)
        server.kill()
        server = start(hook.url, late.url)
        clock.until("it is known", lambda: delivery_states(server, hook.url) == ["delivered"], timeout=20)
        clock.wait(5)
        assert late.next()["NewStateValue"] == "ALARM"
        clock.until("it is recorded", lambda: delivery_states(server, late.url) == ["delivered"], timeout=20)
        clock.wait(60)
        assert hook.told == [] and late.told == []
