"""Functions for tests: clients of the Lambda API, zips made in memory."""

import io
import subprocess
import urllib.parse
import zipfile

import boto3
from botocore.config import Config

from .queue import unique_name
from .server import binary_path

KEYS = {"aws_access_key_id": "test", "aws_secret_access_key": "test"}
ROLE = "arn:aws:iam::000000000000:role/r"

ECHO = "def handler(event, context):\n    print('seen', event)\n    return event\n"


def client(service, endpoint, **keys):
    config = Config(retries={"max_attempts": 0}, read_timeout=30)
    return boto3.client(
        service, endpoint_url=endpoint, region_name="us-east-1", config=config, **(keys or KEYS)
    )


def zip_of(**files):
    """A zip of `name=text`; `__` in a name stands for the dot before its ending."""
    out = io.BytesIO()
    with zipfile.ZipFile(out, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, text in files.items():
            archive.writestr(name.replace("__", "."), text)
    return out.getvalue()


def python_runtime():
    """What Debian's own interpreter is called in Lambda's words."""
    version = subprocess.run(
        ["/usr/bin/python3", "-c", "import sys; print('python3.%d' % sys.version_info[1])"],
        capture_output=True, text=True, check=True,
    )
    return version.stdout.strip()


def settings(code=ECHO, **more):
    """What create_function takes, for a Python handler with that source."""
    return {
        "FunctionName": unique_name("fn"),
        "Runtime": python_runtime(),
        "Role": ROLE,
        "Handler": "index.handler",
        "Code": {"ZipFile": zip_of(index__py=code)},
        **more,
    }


def redrive(endpoint, *arguments, stdin=None, check=True):
    """One command of ours against that server."""
    done = subprocess.run(
        [binary_path(), *arguments, "--endpoint-url", endpoint],
        input=stdin, capture_output=True, text=True, timeout=60,
        env={"PATH": "/usr/bin:/bin", "AWS_ACCESS_KEY_ID": "test", "AWS_SECRET_ACCESS_KEY": "test"},
    )
    assert not check or done.returncode == 0, done.stderr
    return done


def address_of(endpoint):
    return urllib.parse.urlsplit(endpoint)
