"""Three clients with one interface: `client.SendMessage(QueueUrl=..., MessageBody=...)`.

Parameters and results use the JSON protocol's member names; errors are ApiError. A client can be
derived from another with different credentials, endpoint or extra headers.
"""

import datetime
import http.client
import json
import threading
import time
import urllib.parse
import xml.etree.ElementTree as ElementTree

from . import shapes
from .errors import ApiError

# A server may close a connection nobody used for a while; do not race with it.
_IDLE_SECONDS_MAX = 3.0


class Wire(threading.local):
    """One keep-alive HTTP connection per thread. Never repeats a request by itself."""

    def __init__(self, endpoint, timeout=40):
        super().__init__()
        parts = urllib.parse.urlsplit(endpoint)
        self._address = (parts.hostname, parts.port)
        self.timeout = timeout
        self._connection = None
        self._used_at = 0.0

    def request(self, method, path, body=None, headers=()):
        """Returns (status, headers as HTTPMessage, body bytes)."""
        if time.monotonic() - self._used_at > _IDLE_SECONDS_MAX:
            self.close()
        if self._connection is None:
            self._connection = http.client.HTTPConnection(*self._address, timeout=self.timeout)
        try:
            self._connection.request(method, path, body=body, headers=dict(headers))
            response = self._connection.getresponse()
            content = response.read()
        except BaseException:
            self.close()
            raise
        self._used_at = time.monotonic()
        return response.status, response.headers, content

    def local_address(self):
        """Our end of the open connection: a new port would mean a new connection."""
        return self._connection.sock.getsockname()

    def close(self):
        if self._connection is not None:
            self._connection.close()
            self._connection = None


class Client:
    """Base of the three. Attribute access with an action's name gives a callable for it."""

    name = ""
    protocol = ""

    def __init__(self, endpoint, access_key="test", region="us-east-1", headers=None):
        self.endpoint = endpoint
        self.access_key = access_key
        self.region = region
        self.headers = headers or {}

    def derive(self, **changes):
        """The same kind of client with other credentials, endpoint or headers."""
        settings = {
            "endpoint": self.endpoint,
            "access_key": self.access_key,
            "region": self.region,
            "headers": self.headers,
        }
        return type(self)(**{**settings, **changes})

    def __getattr__(self, action):
        if not action[0].isupper():
            raise AttributeError(action)
        return lambda **parameters: self.call(action, parameters)

    def call(self, action, parameters):
        raise NotImplementedError


def authorization(access_key, region, service="sqs"):
    """Headers of a signed request whose signature is well formed but not computed."""
    now = datetime.datetime.now(datetime.timezone.utc)
    scope = f"{now:%Y%m%d}/{region}/{service}/aws4_request"
    return {
        "X-Amz-Date": f"{now:%Y%m%dT%H%M%SZ}",
        "Authorization": f"AWS4-HMAC-SHA256 Credential={access_key}/{scope}, "
        f"SignedHeaders=content-type;host;x-amz-date, Signature={'0' * 64}",
    }


class JsonRaw(Client):
    """AWS JSON 1.0, as current SDKs speak it."""

    name = "json-raw"
    protocol = "json"

    def __init__(self, *arguments, **settings):
        super().__init__(*arguments, **settings)
        self.wire = Wire(self.endpoint)

    def call(self, action, parameters):
        body = json.dumps(shapes.blobs_to_base64(parameters)).encode()
        status, headers, content = self.post(action, body)
        answer = json.loads(content) if content else {}
        if status != 200:
            raise json_error(action, status, headers, answer)
        return shapes.blobs_from_base64(answer)

    def post(self, action, body, path="/", **extra_headers):
        headers = {
            "Content-Type": "application/x-amz-json-1.0",
            "X-Amz-Target": f"AmazonSQS.{action}",
            "x-amzn-query-mode": "true",
            **authorization(self.access_key, self.region),
            **self.headers,
            **extra_headers,
        }
        return self.wire.request("POST", path, body, headers)


def json_error(action, status, headers, answer):
    code, _, fault = headers.get("x-amzn-query-error", ";").partition(";")
    return ApiError(
        action=action,
        code=code,
        status=status,
        message=answer.get("message", ""),
        fault=fault,
        json_type=answer.get("__type", ""),
    )


class QueryRaw(Client):
    """Form in, XML out, with every field under the test's control."""

    name = "query-raw"
    protocol = "query"

    def __init__(self, *arguments, **settings):
        super().__init__(*arguments, **settings)
        self.wire = Wire(self.endpoint)

    def call(self, action, parameters):
        status, _, content = self.post(shapes.query_fields(action, parameters))
        if status != 200:
            raise xml_error(action, status, content)
        return shapes.parse_xml_result(action, content)

    def post(self, fields, path="/"):
        headers = {
            "Content-Type": "application/x-www-form-urlencoded; charset=utf-8",
            **authorization(self.access_key, self.region),
            **self.headers,
        }
        return self.wire.request("POST", path, urllib.parse.urlencode(fields).encode(), headers)

    def get(self, path, fields=(), **headers):
        """An unsigned GET, as a browser or curl would send it."""
        query = urllib.parse.urlencode(fields)
        return self.wire.request("GET", f"{path}?{query}" if query else path, headers=headers)


def xml_error(action, status, content):
    error = ElementTree.fromstring(content).find(f"{shapes.NAMESPACE}Error")
    assert error is not None, f"{action}: an error answer without <Error>: {content!r}"
    text = {child.tag.removeprefix(shapes.NAMESPACE): child.text or "" for child in error}
    assert text.get("Detail") == "", f"{action}: <Detail/> is present and empty in errors"
    return ApiError(action, text["Code"], status, text["Message"], fault=text["Type"])


class QueryBoto3(Client):
    """Debian's boto3, a real client of the Query protocol.

    It is older than message move tasks and MessageSystemAttributeNames: the former go through
    the raw client, the latter through the older AttributeNames, which means the same.
    """

    name = "query-boto3"
    protocol = "query"

    def __init__(self, *arguments, **settings):
        super().__init__(*arguments, **settings)
        self._client = _boto3_client(self.endpoint, self.access_key, self.region, self.headers)
        self._raw = QueryRaw(self.endpoint, self.access_key, self.region, self.headers)

    def call(self, action, parameters):
        import botocore.exceptions

        if action.endswith("MessageMoveTask") or action == "ListMessageMoveTasks":
            return self._raw.call(action, parameters)
        operation = self._client.meta.method_to_api_mapping
        method = next(name for name, target in operation.items() if target == action)
        try:
            answer = getattr(self._client, method)(**_older_names(parameters))
        except botocore.exceptions.ClientError as error:
            raise _boto3_error(action, error.response) from None
        answer.pop("ResponseMetadata")
        return answer


def _older_names(parameters):
    parameters = dict(parameters)
    names = parameters.pop("MessageSystemAttributeNames", None)
    if names:
        parameters["AttributeNames"] = list(names) + list(parameters.get("AttributeNames", []))
    return parameters


def _boto3_error(action, response):
    error = response["Error"]
    return ApiError(
        action=action,
        code=error["Code"],
        status=response["ResponseMetadata"]["HTTPStatusCode"],
        message=error["Message"],
        fault=error.get("Type", ""),
    )


def _boto3_client(endpoint, access_key, region, headers):
    import boto3
    from botocore.config import Config

    config = Config(
        parameter_validation=False,  # The server's refusals are under test, not botocore's.
        retries={"total_max_attempts": 1},
        max_pool_connections=16,
        read_timeout=40,
    )
    client = boto3.client(
        "sqs",
        endpoint_url=endpoint,
        region_name=region,
        aws_access_key_id=access_key,
        aws_secret_access_key="test",
        config=config,
    )
    add = lambda params, **_: params["headers"].update(headers)
    client.meta.events.register("before-call.sqs", add)
    return client


ALL = {client.name: client for client in (QueryBoto3, JsonRaw, QueryRaw)}
