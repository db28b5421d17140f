"""A Redrive server for the whole run; an empty one, with time under control, for every test."""

import json
import os
import re
import subprocess
import urllib.request

import boto3
import pytest


class Redrive:
    """A server of our own, in memory, whose time stands still until a test moves it."""

    def __init__(self):
        binary = os.environ.get("REDRIVE_BINARY", "redrive")
        command = [binary, "serve", "--memory", "--virtual-clock", "--listen", "127.0.0.1:0"]
        self._process = subprocess.Popen(command, stdout=subprocess.PIPE, text=True)
        for line in self._process.stdout:
            found = re.search(r"redrive: listening on (http://\S+)", line)
            if found:
                self.endpoint = found[1]
                return
        raise RuntimeError(f"{binary} did not start")

    def advance(self, seconds):
        """Everything due within these seconds has happened when this returns."""
        self._post("clock/advance", {"seconds": seconds})

    def reset(self):
        self._post("reset", {})

    def stop(self):
        self._process.terminate()
        self._process.wait()
        self._process.stdout.close()

    def _post(self, path, document):
        url = f"{self.endpoint}/_redrive/v1/{path}"
        urllib.request.urlopen(url, json.dumps(document).encode()).close()


@pytest.fixture(scope="session")
def server():
    server = Redrive()
    yield server
    server.stop()


@pytest.fixture
def redrive(server):
    server.reset()
    return server


@pytest.fixture(scope="session")
def client(server):
    return boto3.client(
        "sqs",
        endpoint_url=server.endpoint,
        region_name="us-east-1",
        aws_access_key_id="test",
        aws_secret_access_key="test",
    )


@pytest.fixture
def sqs(redrive, client):
    return client
