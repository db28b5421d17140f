"""The worker and the archive against an SQS and S3 server that is not ours: npm's fauxqs."""

import json

import boto3
import pytest

from harness.elsewhere import Fauxqs
from harness.queue import unique_name
from test_worker import KEYS, Stage

pytestmark = pytest.mark.own_server


@pytest.fixture(scope="module")
def elsewhere():
    server = Fauxqs()
    yield server.endpoint
    server.kill()


class ElsewhereStage(Stage):
    """Debian's boto3 speaks the older protocol, which fauxqs does not: our own commands do."""

    def __init__(self, endpoint, directory):
        self.endpoint = endpoint
        self.source, self.dlq = unique_name("source"), unique_name("dlq")
        for name in (self.source, self.dlq):
            self.run("queue", "create", name)
        boto3.client("s3", endpoint_url=endpoint, **KEYS).create_bucket(Bucket="elsewhere")
        self.archive = f"s3://elsewhere/{directory.name}"

    def send(self, body, **attributes):
        pairs = [f"{name}={value}" for name, value in attributes.items()]
        options = [word for pair in pairs for word in ("--attribute", pair)]
        self.run("send", self.dlq, body, *options)

    def receive(self):
        printed = self.run("receive", self.source, "--json", "--max", "10", "--delete")
        return [json.loads(line) for line in printed.splitlines()]


@pytest.fixture
def stage(elsewhere, tmp_path):
    return ElsewhereStage(elsewhere, tmp_path)


def test_messages_come_back_there_too(stage):
    stage.send("one", colour="blue")
    stage.send("two", **{"retryCount:Number": "1"})
    assert stage.worker()["Returned"] == 2
    counts = {
        message["Body"]: message["MessageAttributes"]["retryCount"]["StringValue"]
        for message in stage.receive()
    }
    assert counts == {"one": "1", "two": "2"}


@pytest.mark.parametrize("addressing", ["path", "virtual-host"])
def test_archives_in_a_bucket_of_another(stage, addressing):
    style = ["--archive-addressing", addressing]
    for word in ("apple", "pear"):
        stage.send(word, **{"retryCount:Number": "3", "fruit": word})
    assert stage.worker(*style)["Archived"] == 2
    assert len(stage.run("archive", "ls", stage.archive, *style).splitlines()) == 2
    restored = stage.run("archive", "restore", stage.archive, "--text", "pear", *style)
    assert restored == "1 restored\n"
    assert [message["Body"] for message in stage.receive()] == ["pear"]
    stage.run("archive", "rm", stage.archive, "--text", "apple", "--yes", *style)
    assert stage.run("archive", "ls", stage.archive, *style) == ""
