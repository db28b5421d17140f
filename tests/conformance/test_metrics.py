"""/metrics for Prometheus, the history for charts, and what CloudWatch tells of queues."""

import datetime
import http.client
import json
import os
import re
import shutil
import subprocess
import urllib.parse

import boto3
import botocore.exceptions
import pytest

from harness import clock
from harness.clients import JsonRaw
from harness.management import Management, Refused
from harness.queue import Queue
from harness.server import REPOSITORY

pytestmark = pytest.mark.skipif("REDRIVE_ENDPOINT" in os.environ, reason="needs its own server process")

TOKEN = "a-token-for-scrapers"


def get(endpoint, path, headers=None):
    parts = urllib.parse.urlsplit(endpoint)
    connection = http.client.HTTPConnection(parts.hostname, parts.port, timeout=20)
    connection.request("GET", path, headers=headers or {})
    response = connection.getresponse()
    return response.status, response.headers, response.read().decode()


def samples(text):
    """{(name, frozenset of labels): value}"""
    found = {}
    for line in text.splitlines():
        if line.startswith("#"):
            continue
        name, labels, value = re.fullmatch(r"([a-z_]+)(?:\{(.*)\})? (\S+)", line).groups()
        pairs = frozenset(re.findall(r'(\w+)="([^"]*)"', labels or ""))
        assert (name, pairs) not in found, f"{line} comes twice"
        found[name, pairs] = float(value)
    return found


def of_queue(found, name, queue):
    return next(v for (n, labels), v in found.items() if n == name and ("queue", queue) in labels)


def cloudwatch(endpoint):
    return boto3.client(
        "cloudwatch",
        endpoint_url=endpoint,
        region_name="us-east-1",
        aws_access_key_id="000000000000",
        aws_secret_access_key="x",
    )


@pytest.fixture
def server(launch, tmp_path):
    server = launch("--data", str(tmp_path / "data"), "--virtual-clock")
    clock.follow(server.endpoint)
    yield server
    clock.follow(None)


@pytest.fixture
def sqs(server):
    return JsonRaw(server.endpoint)


def broken_order(sqs):
    """A queue whose only message dies at its second receive."""
    dlq = Queue.create(sqs, "orders-dlq")
    queue = Queue.create(sqs, "orders", attributes={"VisibilityTimeout": "0"})
    queue.redrive_to(dlq, 1)
    queue.send('{"order":1}')
    queue.receive_one()
    assert queue.receive() == []
    return queue, dlq


# --- /metrics -----------------------------------------------------------------------------------


def test_every_step_of_a_message_is_counted(server, sqs):
    queue, dlq = broken_order(sqs)
    queue.send("kept")
    clock.wait(7)
    status, headers, text = get(server.endpoint, "/metrics")
    assert status == 200
    assert headers["Content-Type"] == "text/plain; version=0.0.4; charset=utf-8"
    found = samples(text)
    expected = {
        "sent_total": 2,
        "sent_bytes_total": 15,
        "received_total": 1,
        "empty_receives_total": 1,
        "dead_lettered_away_total": 1,
        "messages_visible": 1,
        "oldest_message_age_seconds": 7,
    }
    for name, value in expected.items():
        assert of_queue(found, f"redrive_queue_{name}", queue.name) == value, name
    # A dead letter is not a send, and its age counts from when it came.
    assert of_queue(found, "redrive_queue_sent_total", dlq.name) == 0
    assert of_queue(found, "redrive_queue_dead_lettered_total", dlq.name) == 1
    assert of_queue(found, "redrive_queue_oldest_message_age_seconds", dlq.name) == 7
    count = ("redrive_request_duration_seconds_count", frozenset({("service", "sqs"), ("action", "SendMessage")}))
    assert found[count] == 2
    turns = found[("redrive_turn_seconds_count", frozenset())]
    assert turns >= 5 and found[("redrive_turn_seconds_sum", frozenset())] > 0
    assert found[("redrive_turn_seconds_bucket", frozenset({("le", "+Inf")}))] == turns


def test_errors_are_counted_by_name(server, sqs):
    with pytest.raises(Exception):
        sqs.GetQueueUrl(QueueName="nobody-made-it")
    found = samples(get(server.endpoint, "/metrics")[2])
    labels = frozenset({("service", "sqs"), ("action", "GetQueueUrl"), ("error", "QueueDoesNotExist")})
    assert found["redrive_request_errors_total", labels] == 1


def test_promtool_finds_no_fault(server, sqs):
    broken_order(sqs)
    page = get(server.endpoint, "/metrics")[2]
    promtool = shutil.which("promtool")
    assert promtool, "Debian's package prometheus has it"
    subprocess.run([promtool, "check", "metrics"], input=page, text=True, check=True, capture_output=True)


def test_rules_and_dashboard_name_only_metrics_that_exist(server, sqs):
    broken_order(sqs)
    page = get(server.endpoint, "/metrics")[2]
    known = set(re.findall(r"^# TYPE (\S+)", page, re.MULTILINE))
    contrib = REPOSITORY / "contrib"
    subprocess.run(["promtool", "check", "rules", contrib / "prometheus/alerts.yml"], check=True, capture_output=True)
    subprocess.run(["promtool", "test", "rules", contrib / "prometheus/alerts_test.yml"], check=True, capture_output=True)
    dashboard = (contrib / "grafana/redrive.json").read_text()
    expressions = [target["expr"] for panel in json.loads(dashboard)["panels"] for target in panel.get("targets", [])]
    assert len(expressions) > 10
    rules = (contrib / "prometheus/alerts.yml").read_text()
    named = set(re.findall(r"\b(?:redrive|process)_[a-z_]+", rules + " ".join(expressions)))
    named = {re.sub(r"_(bucket|sum|count)$", "", name) if name not in known else name for name in named}
    assert named <= known, named - known


def test_beyond_the_bound_queues_are_summed_up(launch, tmp_path):
    config = tmp_path / "redrive.toml"
    config.write_text("[metrics]\nqueues = 2\n")
    server = launch("--memory", "--config", str(config))
    sqs = JsonRaw(server.endpoint)
    for name in ("a", "b", "c", "d"):
        Queue.create(sqs, name).send("1")
    found = samples(get(server.endpoint, "/metrics")[2])
    sent = {dict(labels)["queue"]: value for (name, labels), value in found.items() if name == "redrive_queue_sent_total"}
    assert sent.pop("other") == 2 and len(sent) == 2


def test_with_keys_the_page_takes_a_token_or_a_signature(launch, tmp_path):
    config = tmp_path / "redrive.toml"
    config.write_text(
        f"[[key]]\nid = 'ADMIN'\nsecret = 'secret'\nrole = 'admin'\n[metrics]\ntoken = '{TOKEN}'\n"
    )
    server = launch("--memory", "--config", str(config))
    assert get(server.endpoint, "/metrics")[0] == 403
    assert get(server.endpoint, "/metrics", {"Authorization": "Bearer wrong"})[0] == 403
    assert get(server.endpoint, "/metrics", {"Authorization": f"Bearer {TOKEN}"})[0] == 200


# --- History ------------------------------------------------------------------------------------


def history(server, **query):
    return Management(server.endpoint).call("GET", "metrics/history?" + urllib.parse.urlencode(query))


def test_history_by_the_minute(server, sqs):
    queue = Queue.create(sqs)
    clock.wait(60 - clock.now_ms() / 1000 % 60)
    queue.send("1")
    queue.send("2")
    clock.wait(60)
    queue.send("3")
    clock.wait(60)
    clock.wait(1)
    sent = history(server, queue=queue.name, metric="sent", **{"from": -180})
    assert [value for value in sent["values"] if value] == [2, 1]
    visible = history(server, queue=queue.name, metric="visible", **{"from": -180})
    assert visible["values"][-3:] == [2, 3, 3]


def test_history_survives_a_restart(launch, tmp_path):
    arguments = ("--data", str(tmp_path / "data"), "--virtual-clock")
    server = launch(*arguments)
    clock.follow(server.endpoint)
    queue = Queue.create(JsonRaw(server.endpoint))
    queue.send("1")
    clock.wait(180)
    before = history(server, queue=queue.name, metric="sent", **{"from": -600})
    assert 1 in before["values"]
    assert server.stop() == 0
    server = launch(*arguments)
    after = history(server, queue=queue.name, metric="sent", **{"from": before["from"]})
    clock.follow(None)
    assert 1 in after["values"]


def test_history_of_what_does_not_exist(server):
    with pytest.raises(Refused, match="metric"):
        history(server, metric="luck")
    assert set(history(server, queue="nobody", metric="sent")["values"]) == {None}


# --- CloudWatch ---------------------------------------------------------------------------------


def now():
    return datetime.datetime.fromtimestamp(clock.now_ms() / 1000, datetime.timezone.utc)


def test_statistics_of_a_queue(server, sqs):
    queue, dlq = broken_order(sqs)
    clock.wait(60)
    client = cloudwatch(server.endpoint)

    def one(queue_name, metric, statistic, **more):
        answer = client.get_metric_statistics(
            Namespace="AWS/SQS",
            MetricName=metric,
            Dimensions=[{"Name": "QueueName", "Value": queue_name}],
            StartTime=now() - datetime.timedelta(minutes=10),
            EndTime=now() + datetime.timedelta(minutes=1),
            Period=900,
            Statistics=[statistic],
            **more,
        )
        assert answer["Label"] == metric
        return [point[statistic] for point in answer["Datapoints"]]

    assert sum(one(queue.name, "NumberOfMessagesSent", "Sum")) == 1
    assert max(one(dlq.name, "ApproximateNumberOfMessagesVisible", "Maximum")) == 1
    assert max(one(queue.name, "SentMessageSize", "Average")) == 11
    assert sum(one(dlq.name, "NumberOfMessagesSent", "Sum")) == 0
    assert one("nobody", "NumberOfMessagesSent", "Sum") == []
    assert one(dlq.name, "SentMessageSize", "Average") == []


def test_metric_data(server, sqs):
    queue, _ = broken_order(sqs)
    clock.wait(120)
    query = {
        "Id": "sent",
        "MetricStat": {
            "Metric": {
                "Namespace": "AWS/SQS",
                "MetricName": "NumberOfMessagesSent",
                "Dimensions": [{"Name": "QueueName", "Value": queue.name}],
            },
            "Period": 60,
            "Stat": "Sum",
        },
    }
    answer = cloudwatch(server.endpoint).get_metric_data(
        MetricDataQueries=[query],
        StartTime=now() - datetime.timedelta(minutes=5),
        EndTime=now(),
        ScanBy="TimestampAscending",
    )
    (result,) = answer["MetricDataResults"]
    assert (result["Id"], result["Label"], result["StatusCode"]) == ("sent", "NumberOfMessagesSent", "Complete")
    assert result["Values"][0] == 1 and set(result["Values"][1:]) == {0}
    assert result["Timestamps"] == sorted(result["Timestamps"])


def test_metrics_are_listed(server, sqs):
    queue = Queue.create(sqs)
    clock.wait(1)
    pages = cloudwatch(server.endpoint).get_paginator("list_metrics").paginate(
        Namespace="AWS/SQS", Dimensions=[{"Name": "QueueName", "Value": queue.name}]
    )
    names = {metric["MetricName"] for page in pages for metric in page["Metrics"]}
    assert {"NumberOfMessagesSent", "ApproximateAgeOfOldestMessage", "SentMessageSize"} <= names


def test_cloudwatch_says_what_is_wrong(server):
    client = cloudwatch(server.endpoint)
    with pytest.raises(botocore.exceptions.ClientError) as caught:
        client.get_metric_statistics(
            Namespace="AWS/SQS", MetricName="X", StartTime=now(), EndTime=now(), Period=60, Statistics=["Sum"]
        )
    assert caught.value.response["Error"]["Code"] == "InvalidParameterValue"
    assert caught.value.response["ResponseMetadata"]["HTTPStatusCode"] == 400


def test_cloudwatch_in_json_and_not_in_cbor(server, sqs):
    queue = Queue.create(sqs)
    clock.wait(1)
    parts = urllib.parse.urlsplit(server.endpoint)

    def post(path, headers, body):
        connection = http.client.HTTPConnection(parts.hostname, parts.port, timeout=20)
        connection.request("POST", path, body, headers)
        response = connection.getresponse()
        return response.status, response.read()

    status, body = post(
        "/",
        {"X-Amz-Target": "GraniteServiceVersion20100801.ListMetrics", "Content-Type": "application/x-amz-json-1.0"},
        json.dumps({"Dimensions": [{"Name": "QueueName", "Value": queue.name}]}),
    )
    assert status == 200
    assert json.loads(body)["Metrics"][0]["Dimensions"] == [{"Name": "QueueName", "Value": queue.name}]
    status, body = post(
        "/service/GraniteServiceVersion20100801/operation/ListMetrics",
        {"Smithy-Protocol": "rpc-v2-cbor", "Content-Type": "application/cbor"},
        b"\xa0",
    )
    assert status == 415 and b"JSON" in body
