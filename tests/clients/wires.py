"""Two ways to carry a raw request, each with a signature made by somebody else's code.

The harness's raw clients write both protocols by hand but leave the signature out; with one of
these in place of their `wire` every request is signed as AWS wants it.
"""

import subprocess
import threading

from botocore.auth import SigV4Auth
from botocore.awsrequest import AWSRequest
from botocore.credentials import Credentials

from harness.clients import JsonRaw, QueryRaw, Wire

REGION = "us-east-1"
CURL_SECONDS_MAX = "60"
# What the harness puts in for a signature.
UNSIGNED = {"authorization", "x-amz-date"}


def _to_be_signed(headers):
    return {name: text for name, text in dict(headers).items() if name.lower() not in UNSIGNED}


class SigningWire(threading.local):
    """Signs with botocore, then sends over one connection per thread."""

    def __init__(self, endpoint):
        super().__init__()
        self._endpoint = endpoint
        self._wire = Wire(endpoint)

    def request(self, method, path, body=None, headers=()):
        request = AWSRequest(method, self._endpoint + path, _to_be_signed(headers), body)
        SigV4Auth(Credentials("test", "test"), "sqs", REGION).add_auth(request)
        return self._wire.request(method, path, body, request.headers.items())


class CurlWire:
    """A process of curl for every request, which signs it by itself (--aws-sigv4)."""

    def __init__(self, endpoint):
        self._endpoint = endpoint

    def request(self, method, path, body=None, headers=()):
        command = ["/usr/bin/curl", "--silent", "--show-error", "--request", method]
        command += ["--max-time", CURL_SECONDS_MAX, "--data-binary", "@-"]
        command += ["--aws-sigv4", f"aws:amz:{REGION}:sqs", "--user", "test:test"]
        for name, text in _to_be_signed(headers).items():
            command += ["--header", f"{name}: {text}"]
        command += ["--write-out", "\n%{http_code} %header{x-amzn-query-error}"]
        done = subprocess.run(command + [self._endpoint + path], input=body, capture_output=True)
        assert done.returncode == 0, f"curl failed: {done.stderr.decode()}"
        content, _, summary = done.stdout.rpartition(b"\n")
        status, _, error = summary.decode().partition(" ")
        return int(status), {"x-amzn-query-error": error} if error else {}, content


def _with_wire(raw, wire, endpoint):
    client = raw(endpoint, region=REGION)
    client.wire = wire(endpoint)
    return client


def signed_json(endpoint):
    return _with_wire(JsonRaw, SigningWire, endpoint)


def signed_query(endpoint):
    return _with_wire(QueryRaw, SigningWire, endpoint)


def curl_json(endpoint):
    return _with_wire(JsonRaw, CurlWire, endpoint)


def curl_query(endpoint):
    return _with_wire(QueryRaw, CurlWire, endpoint)
