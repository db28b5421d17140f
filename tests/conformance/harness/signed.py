"""A client that really signs, in either protocol: for servers with keys."""

import datetime
import json
import urllib.parse
from unittest import mock

from botocore.auth import SigV4Auth, SigV4QueryAuth
from botocore.awsrequest import AWSRequest
from botocore.credentials import Credentials

from . import shapes
from .clients import Wire, json_error, xml_error

JSON = "json"
QUERY = "query"


class Signed:
    """`client.call("SendMessage", QueueUrl=..., MessageBody=...)`, as JSON or Query."""

    def __init__(self, endpoint, key, secret, protocol=JSON, region="us-east-1", service="sqs"):
        self._endpoint = endpoint
        self._wire = Wire(endpoint)
        self._credentials = Credentials(key, secret)
        self._protocol = protocol
        self._region = region
        self._service = service

    def request(self, action, parameters):
        """The request before it is signed."""
        if self._protocol == JSON:
            headers = {
                "Content-Type": "application/x-amz-json-1.0",
                "X-Amz-Target": f"AmazonSQS.{action}",
            }
            return AWSRequest("POST", self._endpoint + "/", headers, json.dumps(parameters))
        fields = dict(shapes.query_fields(action, parameters), Action=action, Version="2012-11-05")
        headers = {"Content-Type": "application/x-www-form-urlencoded"}
        return AWSRequest("POST", self._endpoint + "/", headers, urllib.parse.urlencode(fields))

    def sign(self, request, seconds_from_now=0):
        moment = datetime.datetime.utcnow() + datetime.timedelta(seconds=seconds_from_now)
        with mock.patch("botocore.auth.datetime") as module:
            module.datetime.utcnow.return_value = moment
            SigV4Auth(self._credentials, self._service, self._region).add_auth(request)
        return request

    def presign(self, request, seconds):
        SigV4QueryAuth(self._credentials, self._service, self._region, seconds).add_auth(request)
        return request

    def send(self, request):
        """The answer of a request as it stands: (status, headers, body)."""
        prepared = request.prepare()
        parts = urllib.parse.urlsplit(prepared.url)
        path = parts.path + ("?" + parts.query if parts.query else "")
        headers = dict(prepared.headers, Host=parts.netloc)
        return self._wire.request(prepared.method, path, prepared.body, headers)

    def call(self, action, **parameters):
        status, headers, body = self.send(self.sign(self.request(action, parameters)))
        if self._protocol == JSON:
            answer = json.loads(body or b"{}")
            if status != 200:
                raise json_error(action, status, headers, answer)
            return answer
        if status != 200:
            raise xml_error(action, status, body)
        return shapes.parse_xml_result(action, body)

    def __getattr__(self, action):
        return lambda **parameters: self.call(action, **parameters)

