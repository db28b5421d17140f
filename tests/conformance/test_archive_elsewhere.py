"""Queues of ours, an archive at an S3 server that is not: npm's s3rver."""

import json

import pytest

from harness.elsewhere import S3rver
from test_worker import Stage


@pytest.fixture(scope="module")
def s3rver(tmp_path_factory):
    server = S3rver(tmp_path_factory.mktemp("s3rver"), "graveyard")
    yield server.endpoint
    server.kill()


class ArchiveStage(Stage):
    def __init__(self, endpoint, directory, s3):
        super().__init__(endpoint, directory)
        self.archive = f"s3://graveyard/{directory.name}"
        self.elsewhere = ["--archive-endpoint-url", s3]

    def archived(self, verb, *more, code=0):
        return self.run("archive", verb, self.archive, *more, *self.elsewhere, code=code)


@pytest.fixture
def stage(endpoint, tmp_path, s3rver, monkeypatch):
    for name in ("AWS_ACCESS_KEY_ID", "AWS_SECRET_ACCESS_KEY"):
        monkeypatch.setenv(name, "S3RVER")
    made = ArchiveStage(endpoint, tmp_path, s3rver)
    yield made
    made.close()


def spent(stage, *bodies):
    for body in bodies:
        counter = {"StringValue": "3", "DataType": "Number"}
        stage.send(body, MessageAttributes={"retryCount": counter})


def test_letters_are_archived_found_and_restored(stage):
    spent(stage, "apple", "pear, with \u00fcml\u00e4uts & <marks>", "plum")
    assert stage.worker(*stage.elsewhere)["Archived"] == 3
    listed = [json.loads(line) for line in stage.archived("ls", "--json").splitlines()]
    assert len(listed) == 3
    document = json.loads(stage.archived("show", listed[0]["MessageId"], "--json"))
    assert document["Attribute"]["retryCount"]["StringValue"] == "4"
    assert stage.archived("restore", "--text", "pear") == "1 restored\n"
    (back,) = stage.receive()
    assert back["Body"] == "pear, with \u00fcml\u00e4uts & <marks>"
    stage.archived("rm", "--text", "p", "--yes")
    assert stage.archived("ls") == ""


def test_an_archive_that_refuses_leaves_letters_where_they_are(stage, monkeypatch):
    spent(stage, "kept")
    monkeypatch.setenv("AWS_ACCESS_KEY_ID", "STRANGER")
    summary = stage.worker(*stage.elsewhere, code=1)
    assert (summary["Archived"], summary["Failed"]) == (0, 1)
