"""clients/boto3 and clients/celery, from the wheels that would be published."""

import http.server
import json
import os
import pathlib
import shutil
import subprocess
import sys
import threading
import zipfile

import boto3
import pytest

from harness.clock import until
from harness.functions import client
from harness.management import Management
from harness.queue import unique_name

HERE = pathlib.Path(__file__).parent
CLIENTS = HERE.parents[1] / "clients"
PATIENCE = 60


@pytest.fixture(scope="module")
def packages(tmp_path_factory):
    """A directory with both packages, installed from their wheels."""
    folder = tmp_path_factory.mktemp("packages")
    for name in ("boto3", "celery"):
        source = folder / f"{name}-source"
        shutil.copytree(CLIENTS / name, source)
        build = "from setuptools import build_meta; print(build_meta.build_wheel('.'))"
        done = subprocess.run([sys.executable, "-c", build], cwd=source, capture_output=True, text=True, check=True)
        with zipfile.ZipFile(source / done.stdout.split()[-1]) as wheel:
            wheel.extractall(folder / "site")
    return folder / "site"


@pytest.fixture
def helpers(packages, monkeypatch):
    monkeypatch.syspath_prepend(str(packages))
    import redrive_boto3

    return redrive_boto3


class Pair:
    def __init__(self, endpoint, name=None, receives=2):
        self.sqs = client("sqs", endpoint)
        self.management = Management(endpoint)
        self.dead = unique_name("dead")
        dead = self.sqs.create_queue(QueueName=self.dead)["QueueUrl"]
        told = self.sqs.get_queue_attributes(QueueUrl=dead, AttributeNames=["QueueArn"])
        policy = {"deadLetterTargetArn": told["Attributes"]["QueueArn"], "maxReceiveCount": receives}
        self.url = self.sqs.create_queue(QueueName=name or unique_name("work"))["QueueUrl"]
        attributes = {"RedrivePolicy": json.dumps(policy), "VisibilityTimeout": "1"}
        self.sqs.set_queue_attributes(QueueUrl=self.url, Attributes=attributes)

    def dead_letters(self):
        return self.management.call("GET", f"queues/{self.dead}/messages?limit=100").get("messages", [])


def load(text):
    return int(text)


def process(permanent, body):
    if body == "never":
        raise permanent("no store")
    if body == "retry":
        try:
            load("x17")
        except ValueError as error:
            raise KeyError("quantity") from error


def test_boto3_loop(helpers, endpoint):
    pair = Pair(endpoint)
    for body in ("good", "never", "retry"):
        pair.sqs.send_message(QueueUrl=pair.url, MessageBody=body)

    def poll():
        found = pair.sqs.receive_message(QueueUrl=pair.url, MaxNumberOfMessages=10, VisibilityTimeout=1)
        for message in found.get("Messages", []):
            try:
                with helpers.reporting(pair.sqs, message):
                    process(helpers.Permanent, message["Body"])
                    pair.sqs.delete_message(QueueUrl=pair.url, ReceiptHandle=message["ReceiptHandle"])
            except Exception as error:
                assert isinstance(error, (KeyError, helpers.Permanent))
        return len(pair.dead_letters()) == 2

    until("both are dead", poll, PATIENCE)
    found = {message["body"]: message["attempts"] for message in pair.dead_letters()}
    assert [(each["end"], each["errorType"]) for each in found["never"]] == [("failed", "Permanent")]
    assert [each["errorType"] for each in found["retry"]] == ["KeyError", "KeyError"]
    assert found["retry"][0]["errorMessage"] == "'quantity'"
    assert "in load" in found["retry"][0]["stackTrace"]
    groups = pair.management.call("GET", f"queues/{pair.dead}/groups")["groups"]
    assert sorted(group["title"] for group in groups) == ["KeyError: 'quantity'", "Permanent: no store"]


def test_decorator_resource_and_queue_without_dead_letters(helpers, endpoint):
    keys = {"aws_access_key_id": "test", "aws_secret_access_key": "test", "region_name": "us-east-1"}
    resource = boto3.resource("sqs", endpoint_url=endpoint, **keys)
    queue = resource.create_queue(QueueName=unique_name("alone"))
    queue.send_message(MessageBody="never")

    @helpers.reporting(resource, permanent=LookupError)
    def handle(message):
        raise KeyError(message.body)

    (message,) = queue.receive_messages()
    with pytest.raises(KeyError):
        handle(message)
    name = queue.url.rpartition("/")[2]
    (shown,) = Management(endpoint).call("GET", f"queues/{name}/messages")["messages"]
    assert shown["attempts"][0]["errorType"] == "KeyError"


class Elsewhere(http.server.BaseHTTPRequestHandler):
    def do_GET(self):
        self.server.seen.append(f"{self.command} {self.path}")
        self.send_response(200)
        self.end_headers()
        self.wfile.write(b"<ErrorResponse/>")

    do_POST = do_GET

    def log_message(self, *_):
        pass


def test_nothing_is_sent_to_other_servers(helpers):
    server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Elsewhere)
    server.seen = []
    threading.Thread(target=server.serve_forever, daemon=True).start()
    sqs = client("sqs", f"http://127.0.0.1:{server.server_port}")
    for _ in range(3):
        with pytest.raises(helpers.Permanent), helpers.reporting(sqs, {"ReceiptHandle": "x"}):
            raise helpers.Permanent("x")
    server.shutdown()
    assert server.seen == ["GET /"]
    for endpoint in ("https://sqs.eu-west-1.amazonaws.com", "https://sqs.cn-north-1.amazonaws.com.cn"):
        assert not helpers.is_redrive(client("sqs", endpoint))
    # Nobody listens there: the consumer goes on.
    assert helpers.report(client("sqs", "http://127.0.0.1:1"), {"ReceiptHandle": "x"}, ValueError("x")) is False


CELERY = """
import os
from celery import Celery
from redrive_celery import Permanent, report_failures

app = report_failures(Celery("shop", broker=os.environ["BROKER"]))
app.conf.update(
    broker_transport_options={"region": "us-east-1", "queue_name_prefix": os.environ["PREFIX"],
                              "visibility_timeout": 1, "wait_time_seconds": 1, "polling_interval": 0.1},
    task_acks_late=True, task_acks_on_failure_or_timeout=False, task_ignore_result=True,
    worker_enable_remote_control=False)

def load(text):
    return int(text)

@app.task(name="work")
def work(order):
    if order == "never":
        raise Permanent("no store")
    if order == "retry":
        load("x17")

@app.task(name="deleted", acks_on_failure_or_timeout=True)
def deleted(order):
    raise Permanent("dead all the same")
"""


def test_celery(packages, endpoint, tmp_path):
    (tmp_path / "shop.py").write_text(CELERY)
    prefix = unique_name("helper") + "-"
    environment = {
        **os.environ, "BROKER": endpoint.replace("http://", "sqs://test:test@"), "PREFIX": prefix,
        "PYTHONPATH": f"{packages}:{tmp_path}", "AWS_ACCESS_KEY_ID": "test", "AWS_SECRET_ACCESS_KEY": "test",
    }  # fmt: skip
    pair = Pair(endpoint, prefix + "celery")
    send = "from shop import *\nfor o in ('good', 'never', 'retry'): work.delay(o)\ndeleted.delay('x')"
    subprocess.run([sys.executable, "-c", send], env=environment, check=True, cwd=tmp_path)
    command = [sys.executable, "-m", "celery", "-A", "shop", "worker", "--concurrency", "2", "--without-gossip",
               "--without-mingle"]  # fmt: skip
    with open(tmp_path / "log", "wb") as log:
        worker = subprocess.Popen(command, env=environment, cwd=tmp_path, stdout=log, stderr=log)
        try:
            until("all three are dead", lambda: len(pair.dead_letters()) == 3, PATIENCE)
        finally:
            worker.terminate()
            worker.wait(timeout=60)
    found = {}
    for message in pair.dead_letters():
        found[message["attempts"][0]["errorMessage"]] = message["attempts"]
    assert [each["errorType"] for each in found["no store"]] == ["Permanent"]
    assert [each["errorType"] for each in found["dead all the same"]] == ["Permanent"]
    literal = found["invalid literal for int() with base 10: 'x17'"]
    assert [each["errorType"] for each in literal] == ["ValueError", "ValueError"]
    assert "in load" in literal[0]["stackTrace"]
