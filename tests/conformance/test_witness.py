"""What the server tells of requests: the same of every API that it serves."""

import http.client
import io
import json
import os
import shutil
import subprocess
import urllib.parse
import zipfile

import boto3
import botocore.config
import botocore.exceptions
import pytest

from harness import clock
from harness.clients import JsonRaw
from harness.queue import Queue
from test_metrics import get, of_queue, samples

pytestmark = pytest.mark.skipif("REDRIVE_ENDPOINT" in os.environ, reason="needs its own server process")

AUDITED = {"time", "who", "account", "from", "service", "action", "resource", "outcome", "requestId"}
ADMIN = ("ADMIN", "admin-secret")
KEYS = "".join(
    f"[[key]]\nid = '{name}'\nsecret = '{secret}'\nname = '{name.lower()}'\nrole = '{role}'\n"
    for name, secret, role in [(*ADMIN, "admin"), ("READER", "reader-secret", "reader")]
)


def client(service, endpoint, key="000000000000", secret="x"):
    return boto3.client(
        service,
        endpoint_url=endpoint,
        region_name="us-east-1",
        aws_access_key_id=key,
        aws_secret_access_key=secret,
        config=botocore.config.Config(retries={"max_attempts": 0}, s3={"addressing_style": "path"}),
    )


def code():
    packed = io.BytesIO()
    with zipfile.ZipFile(packed, "w") as archive:
        archive.writestr("app.py", "def handler(event, context):\n    return event\n")
    return packed.getvalue()


def ask(endpoint, method, path, body=None):
    parts = urllib.parse.urlsplit(endpoint)
    connection = http.client.HTTPConnection(parts.hostname, parts.port, timeout=20)
    connection.request(method, path, body=body)
    response = connection.getresponse()
    return response.status, response.headers, response.read().decode()


ALARM = {
    "AlarmName": "busy",
    "MetricName": "NumberOfMessagesSent",
    "Namespace": "AWS/SQS",
    "Dimensions": [{"Name": "QueueName", "Value": "orders"}],
    "Period": 60,
    "EvaluationPeriods": 1,
    "Statistic": "Sum",
    "Threshold": 1.0,
    "ComparisonOperator": "GreaterThanThreshold",
}
FUNCTION = {
    "FunctionName": "f",
    "Runtime": "python3.11",
    "Handler": "app.handler",
    "Role": "arn:aws:iam::000000000000:role/r",
}

# One change of each API: what makes it, and what the audit log calls it.
CHANGES = {
    "sqs": (lambda c: c.create_queue(QueueName="orders"), "CreateQueue", "orders"),
    "s3": (lambda c: c.create_bucket(Bucket="archive"), "CreateBucket", "archive"),
    "lambda": (lambda c: c.create_function(**FUNCTION, Code={"ZipFile": code()}), "CreateFunction", "functions"),
    "iam": (lambda c: c.create_role(RoleName="r", AssumeRolePolicyDocument="{}"), "CreateRole", "r"),
    "cloudwatch": (lambda c: c.put_metric_alarm(**ALARM), "PutMetricAlarm", "busy"),
}


def lines_of(folder):
    return [json.loads(line) for line in (folder / "data/audit.ndjson").read_text().splitlines()]


def id_of(reply):
    return reply["ResponseMetadata"]["RequestId"]


@pytest.fixture
def server(launch, tmp_path):
    return launch("--data", str(tmp_path / "data"))


def test_every_api_writes_the_same_line_with_the_id_that_its_client_saw(server, tmp_path):
    for service, (change, action, resource) in CHANGES.items():
        seen = id_of(change(client(service, server.endpoint)))
        line = lines_of(tmp_path)[-1]
        assert set(line) - {"request"} == AUDITED, service
        assert (line["service"], line["action"], line["outcome"]) == (service, action, "done")
        assert line["requestId"] == seen and line["from"] == "127.0.0.1"
        assert line["resource"].endswith(resource), line

    status, headers, _ = ask(server.endpoint, "POST", "/_redrive/v1/queues/orders/purge", '{"confirm":"orders"}')
    assert status == 200
    line = lines_of(tmp_path)[-1]
    assert set(line) == AUDITED | {"request"}
    assert (line["service"], line["action"]) == ("management", "purgeQueue")
    assert line["requestId"] == headers["x-amzn-RequestId"]
    assert line["resource"] == "/_redrive/v1/queues/orders/purge"


def test_refused_changes_are_written_down_and_who_is_not_let_in_is_in_the_log(launch, tmp_path):
    config = tmp_path / "redrive.toml"
    config.write_text(KEYS)
    server = launch("--data", str(tmp_path / "data"), "--config", str(config), "--log-format", "json")
    for service, (change, action, _) in CHANGES.items():
        with pytest.raises(botocore.exceptions.ClientError) as caught:
            change(client(service, server.endpoint, "READER", "reader-secret"))
        line = lines_of(tmp_path)[-1]
        assert (line["who"], line["action"]) == ("reader", action), service
        assert line["outcome"].startswith("AccessDenied") and line["error"]
        assert line["requestId"] == id_of(caught.value.response), service

        with pytest.raises(botocore.exceptions.ClientError) as caught:
            change(client(service, server.endpoint, "READER", "wrong"))
        told = [json.loads(text) for text in (tmp_path / "server.log").read_text().splitlines() if text[:1] == "{"]
        (line,) = [one for one in told if one.get("request-id") == id_of(caught.value.response)]
        assert (line["event"], line["service"]) == ("signature refused", service)


def test_every_reply_has_an_id(server):
    answers = [
        ask(server.endpoint, "GET", "/_redrive/v1/overview"),
        ask(server.endpoint, "GET", "/_redrive/v1/nothing"),
        ask(server.endpoint, "GET", "/2015-03-31/functions"),
        ask(server.endpoint, "GET", "/2015-03-31/functions/none"),
        ask(server.endpoint, "POST", "/2015-03-31/nothing"),
    ]
    ids = [headers["x-amzn-RequestId"] for _, headers, _ in answers[:4]]
    _, headers, _ = ask(server.endpoint, "GET", "/no-such-bucket/key")
    ids.append(headers["x-amz-request-id"])
    assert all(len(one) == 36 for one in ids) and len(set(ids)) == len(ids)


def durations(endpoint):
    """{(service, action): count}"""
    found = samples(get(endpoint, "/metrics")[2])
    return {
        (dict(labels)["service"], dict(labels)["action"]): value
        for (name, labels), value in found.items()
        if name == "redrive_request_duration_seconds_count"
    }


def test_the_time_of_every_action_is_measured_under_known_names(server):
    for service, (change, _, _) in CHANGES.items():
        change(client(service, server.endpoint))
    client("sts", server.endpoint).get_caller_identity()
    s3 = client("s3", server.endpoint)
    s3.put_object(Bucket="archive", Key="a/b", Body=b"x" * 100_000)
    with pytest.raises(botocore.exceptions.ClientError):
        s3.get_object(Bucket="archive", Key="none")
    ask(server.endpoint, "GET", "/_redrive/v1/overview")
    for i in range(5):  # What strangers make up has one name.
        ask(server.endpoint, "GET", f"/_redrive/v1/made-up-{i}")
        ask(server.endpoint, "GET", f"/2015-03-31/functions/f/made-up-{i}")
        ask(server.endpoint, "POST", "/", f"Action=MadeUp{i}&Version=2010-05-08")
    counted = clock.until("all is counted", lambda: durations(server.endpoint))
    for service, (_, action, _) in CHANGES.items():
        assert counted[service, action] == 1, service
    assert counted["sts", "GetCallerIdentity"] == 1
    assert counted["s3", "PutObject"] == 1 and counted["s3", "GetObject"] == 1
    assert counted["management", "showOverview"] == 1
    assert counted["management", "unknown"] == 5 and counted["lambda", "unknown"] == 5
    assert not [name for _, name in counted if "made" in name.lower()]
    errors = samples(get(server.endpoint, "/metrics")[2])
    refused = {dict(labels)["error"]: v for (n, labels), v in errors.items() if n == "redrive_request_errors_total"}
    assert refused["NoSuchKey"] == 1 and refused["NotFound"] == 5 and refused["UnknownOperationException"] == 5


@pytest.mark.skipif(not shutil.which("promtool"), reason="needs Debian's prometheus")
def test_promtool_finds_no_fault_in_a_server_that_has_everything(server):
    for service, (change, _, _) in CHANGES.items():
        change(client(service, server.endpoint))
    functions = client("lambda", server.endpoint)
    functions.create_event_source_mapping(
        EventSourceArn="arn:aws:sqs:us-east-1:000000000000:orders", FunctionName="f"
    )
    sqs = client("sqs", server.endpoint)
    url = sqs.get_queue_url(QueueName="orders")["QueueUrl"]
    sqs.send_message(QueueUrl=url, MessageBody="{}", MessageGroupId="tenant")
    functions.invoke(FunctionName="f")
    functions.invoke(FunctionName="f", InvocationType="Event")

    def page():
        text = get(server.endpoint, "/metrics")[2]
        return text if "redrive_mapping_message_age_seconds_count{" in text else None

    text = clock.until("the mapping has run", page, timeout=20)
    done = subprocess.run(["promtool", "check", "metrics"], input=text, capture_output=True, text=True)
    assert done.returncode == 0, done.stdout + done.stderr


# --- What functions and tenants do --------------------------------------------------------------


FAILS = "def handler(event, context):\n    raise KeyError('store_id')\n"


def packed(text):
    out = io.BytesIO()
    with zipfile.ZipFile(out, "w") as archive:
        archive.writestr("app.py", text)
    return out.getvalue()


def of_function(found, name):
    return {n: v for (n, labels), v in found.items() if dict(labels).get("function") == name}


def test_asynchronous_events_are_counted_with_what_became_of_them(server):
    sqs = client("sqs", server.endpoint)
    gone = [sqs.create_queue(QueueName=name)["QueueUrl"] for name in ("gone", "gone-too")]
    functions = client("lambda", server.endpoint)
    functions.create_function(**FUNCTION, Code={"ZipFile": packed(FAILS)})
    functions.put_function_event_invoke_config(
        FunctionName="f",
        MaximumRetryAttempts=0,
        DestinationConfig={"OnFailure": {"Destination": "arn:aws:sqs:us-east-1:000000000000:gone"}},
    )
    functions.update_function_configuration(
        FunctionName="f", DeadLetterConfig={"TargetArn": "arn:aws:sqs:us-east-1:000000000000:gone-too"}
    )
    for url in gone:
        sqs.delete_queue(QueueUrl=url)
    for _ in range(3):
        functions.invoke(FunctionName="f", InvocationType="Event", Payload=b"{}")

    def dropped():
        found = of_function(samples(get(server.endpoint, "/metrics")[2]), "f")
        return found if found.get("redrive_function_async_dropped_total") == 3 else None

    found = clock.until("the events are dropped", dropped, timeout=20)
    assert found["redrive_function_async_received_total"] == 3
    assert found["redrive_function_async_age_seconds_count"] == 3
    assert found["redrive_function_invocations_total"] == 3
    assert found["redrive_function_destination_failures_total"] == 3
    assert found["redrive_function_dead_letter_failures_total"] == 3
    clock.until(
        "a process was started",
        lambda: of_function(samples(get(server.endpoint, "/metrics")[2]), "f")["redrive_function_cold_starts_total"]
        >= 1,
    )
    watch = client("cloudwatch", server.endpoint)
    names = {m["MetricName"] for m in watch.list_metrics(Namespace="AWS/Lambda")["Metrics"]}
    assert {"AsyncEventsReceived", "AsyncEventAge", "AsyncEventsDropped", "DeadLetterErrors",
            "DestinationDeliveryFailures"} <= names  # fmt: skip


def test_versions_count_for_their_function(server):
    functions = client("lambda", server.endpoint)
    functions.create_function(**FUNCTION, Code={"ZipFile": code()})
    version = functions.publish_version(FunctionName="f")["Version"]
    functions.invoke(FunctionName="f", Qualifier=version)
    functions.invoke(FunctionName="f")

    def started():
        found = samples(get(server.endpoint, "/metrics")[2])
        return found if of_function(found, "f").get("redrive_function_cold_starts_total") == 2 else None

    clock.until("both have a process", started)
    functions.delete_function(FunctionName="f", Qualifier=version)
    found = samples(get(server.endpoint, "/metrics")[2])
    assert of_function(found, "f")["redrive_function_invocations_total"] == 2
    assert {dict(labels).get("function") for _, labels in found} == {None, "f"}


def test_tenants_that_hold_too_much_are_counted(launch, tmp_path):
    server = launch("--memory", "--virtual-clock")
    clock.follow(server.endpoint)
    try:
        sqs = JsonRaw(server.endpoint)
        plain = Queue.create(sqs, "plain")
        plain.send("x")
        queue = Queue.create(sqs, "fair", attributes={"VisibilityTimeout": "600"})
        for _ in range(40):
            queue.send("loud", MessageGroupId="loud")
        held = sum(len(queue.receive()) for _ in range(4))
        assert held == 40
        for _ in range(7):
            queue.send("loud", MessageGroupId="loud")
        queue.send("later", MessageGroupId="loud", DelaySeconds=900)
        clock.wait(30)
        queue.send("soft", MessageGroupId="soft")
        queue.send("nobody's")
        queue.send("later", MessageGroupId="soft", DelaySeconds=900)
        clock.wait(5)
        found = samples(get(server.endpoint, "/metrics")[2])
        told = {
            name: of_queue(found, f"redrive_queue_{name}", queue.name)
            for name in (
                "noisy_groups",
                "messages_visible_quiet",
                "messages_not_visible_quiet",
                "messages_delayed_quiet",
                "oldest_message_age_quiet_seconds",
            )
        }
        assert list(told.values()) == [1, 2, 0, 1, 5], told
        assert of_queue(found, "redrive_queue_messages_visible", queue.name) == 9
        assert not [n for n, labels in found if n == "redrive_queue_noisy_groups" and ("queue", plain.name) in labels]

        watch = client("cloudwatch", server.endpoint)
        listed = {
            (m["Dimensions"][0]["Value"], m["MetricName"])
            for page in watch.get_paginator("list_metrics").paginate(Namespace="AWS/SQS")
            for m in page["Metrics"]
        }
        assert (queue.name, "ApproximateNumberOfNoisyGroups") in listed
        assert (plain.name, "ApproximateNumberOfNoisyGroups") not in listed
        assert (plain.name, "ApproximateNumberOfGroupsWithInflightMessages") not in listed
    finally:
        clock.follow(None)
