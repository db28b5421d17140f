"""Whatever text clients send, in whatever field of whatever API: every answer is valid UTF-8 and valid JSON or XML.

Requests are made from the service models of botocore (every action, a hostile text in every string member in turn) and
from a list of requests that are known to succeed, so that hostile texts do get stored. Afterwards everything that can be
read is read back in every protocol. Seeded, so that a failure repeats.
"""

import base64
import http.client
import io
import json
import os
import random
import re
import urllib.parse
import xml.etree.ElementTree as ElementTree
import zipfile

import boto3
import botocore.config
import botocore.session
import pytest

from harness.server import Server

pytestmark = [
    pytest.mark.own_server,
    pytest.mark.skipif("REDRIVE_ENDPOINT" in os.environ, reason="needs its own server process"),
]

SEED = 18
MODEL_ROUNDS = 2  # Of all actions of all models.
STORED_ROUNDS = 3  # Of all string members of the requests that succeed.
ROLE = "arn:aws:iam::000000000000:role/r"

# Bytes that are no UTF-8 are written as Python's surrogateescape has them (U+DC80..U+DCFF).
PIECES = [
    "plain", '"', "\\", "<&>'", "]]>", "<!--", "\r\n", "\t", "\x00", "\x01\x1f", "\x1b[2J", "\x7f", "\u0085", "\u009b2J",
    "\u2028", "\u202e", "\u2066", "\ufeff", "Grüße", "日本語", "🦊", "\ufffd", "\ufffe", "\uffff", "\U0001ffff",
    "\ud800", "\udfff", "\udbff\ud800", "\udc80", "\udcff", "\udcc3", "\udcc0\udcaf", "\udced\udca0\udc80",
    "%ff", "%00", "%", "+", "é" * 20, "x" * 70, "${jndi:x}", "{{7*7}}", "\\ud800", "&#x0;", "&#xffff;",
]  # fmt: skip


def hostile(source):
    return "".join(source.choice(PIECES) for _ in range(source.randint(1, 4)))


def raw(text):
    """The bytes that a text stands for, also where they are no UTF-8."""
    out = bytearray()
    for character in text:
        code = ord(character)
        if 0xDC80 <= code <= 0xDCFF:
            out.append(code - 0xDC00)
        else:
            out += character.encode("utf-8", "surrogatepass")
    return bytes(out)


def json_bytes(document, source):
    """JSON with escapes (of lone surrogates, too) or with the bytes as they are."""
    if source.random() < 0.5:
        return json.dumps(document).encode()
    return raw(json.dumps(document, ensure_ascii=False))


def quote(text):
    return urllib.parse.quote_from_bytes(raw(text), safe="")


class Invalid(AssertionError):
    pass


def check_json(body):
    document = json.loads(body.decode("utf-8"))
    json.dumps(document, ensure_ascii=False).encode("utf-8")  # No half of a surrogate pair.
    return document


def check_answer(status, headers, body):
    kind = headers.get("content-type", "")
    if body and ("json" in kind or "xml" in kind):
        (check_json if "json" in kind else ElementTree.fromstring)(body)
    elif kind.startswith("text/"):
        body.decode("utf-8")
    assert status != 500, body[:300]


class Api:
    """Sends bytes; every answer is checked."""

    def __init__(self, endpoint, source):
        self.address = urllib.parse.urlsplit(endpoint)
        self.source = source
        self.connection = None
        self.sent = 0
        self.accepted = 0

    def send(self, service, method, path, body=b"", headers=(), hostile_header=None):
        scope = "AKIDEXAMPLE/20260101/us-east-1"
        if hostile_header == "authorization":
            scope = f"AK{hostile(self.source)}/20260101/us-{hostile(self.source)}"
        credential = f"AWS4-HMAC-SHA256 Credential={scope}/{service}/aws4_request, SignedHeaders=host, Signature=00"
        fields = {"Host": f"{self.address.hostname}:{self.address.port}", "Authorization": credential, **dict(headers)}
        if hostile_header == "trace":
            fields["X-Amzn-Trace-Id"] = "Root=" + hostile(self.source)
        head = [f"{method} {path} HTTP/1.1".encode()]
        for name, value in fields.items():
            head.append(name.encode() + b": " + re.sub(rb"[\x00-\x08\x0a-\x1f\x7f]", b"", raw(value)))
        head.append(b"Content-Length: %d" % len(body))
        return self.exchange(b"\r\n".join(head) + b"\r\n\r\n" + body, method)

    def exchange(self, message, method):
        if self.connection is None:
            self.connection = http.client.HTTPConnection(self.address.hostname, self.address.port, timeout=30)
            self.connection.connect()
        try:
            self.connection.sock.sendall(message)
            response = http.client.HTTPResponse(self.connection.sock, method=method)
            response.begin()
            body = response.read()
        except (OSError, http.client.HTTPException):
            self.connection = None
            raise
        if response.getheader("connection") == "close":
            self.connection.close()
            self.connection = None
        self.sent += 1
        self.accepted += response.status < 300
        try:
            check_answer(response.status, {k.lower(): v for k, v in response.getheaders()}, body)
        except (UnicodeError, ValueError, ElementTree.ParseError, AssertionError) as error:
            raise Invalid(f"{message[:600]!r}\n-> {response.status} {body[:600]!r}: {error!r}") from error
        return response.status, body


# ---- Every action of the models


class Maker:
    """Input for a shape of a model, with a hostile text in the string members that `spoils` chooses."""

    def __init__(self, source, known):
        self.source = source
        self.known = known

    def value(self, shape, name="", depth=0):
        kind = shape.type_name
        if kind == "structure":
            members = shape.members.items() if depth < 4 else ()
            wanted = set(shape.required_members)
            return {
                key: self.value(member, key, depth + 1)
                for key, member in members
                if key in wanted or self.source.random() < 0.5
            }
        if kind == "list":
            return [self.value(shape.member, name, depth + 1)]
        if kind == "map":
            key = hostile(self.source) if self.source.random() < 0.3 else "key"
            return {key: self.value(shape.value, name, depth + 1)}
        if kind in ("integer", "long"):
            return self.source.choice([0, 1, 10])
        if kind in ("float", "double"):
            return 1.5
        if kind == "boolean":
            return self.source.random() < 0.5
        if kind == "timestamp":
            return 1767225600
        if kind == "blob":
            return base64.b64encode(raw(hostile(self.source))).decode()
        if self.source.random() < 0.4 and name in self.known:
            return self.known[name]
        if self.source.random() < 0.2 and getattr(shape, "enum", None):
            return self.source.choice(shape.enum)
        return hostile(self.source)


def flat(prefix, value, style):
    """Query parameters of a document. SQS flattens its lists, the others have `.member.`"""
    if isinstance(value, dict):
        for number, (key, item) in enumerate(value.items(), 1):
            if style == "map":
                yield f"{prefix}.{number}.Name", key
                yield from flat(f"{prefix}.{number}.Value", item, "")
            else:
                yield from flat(f"{prefix}.{key}" if prefix else key, item, style)
    elif isinstance(value, list):
        for number, item in enumerate(value, 1):
            yield from flat(f"{prefix}.member.{number}" if style == "member" else f"{prefix}.{number}", item, style)
    else:
        yield prefix, str(value)


def form(pairs):
    return "&".join(f"{quote(key)}={quote(value)}" for key, value in pairs).encode()


def send_rest(api, service, operation, arguments):
    shape = operation.input_shape
    path = operation.http["requestUri"].split("?")[0]
    query = [part for part in operation.http["requestUri"].partition("?")[2].split("&") if part]
    headers, body = {}, {}
    for name, value in arguments.items():
        member = shape.members[name]
        place = member.serialization.get("location")
        label = member.serialization.get("name", name)
        if place == "uri":
            path = path.replace("{%s}" % label, quote(str(value))).replace("{%s+}" % label, quote(str(value)))
        elif place == "querystring":
            query += [f"{quote(label)}={quote(str(item))}" for item in (value if isinstance(value, list) else [value])]
        elif place == "header":
            headers[label] = str(value)
        elif place == "headers":
            headers.update({label + re.sub("[^a-z]", "", key): str(item) for key, item in value.items()})
        else:
            body[name] = value
    payload = shape.serialization.get("payload") if shape is not None else None
    if payload in body and isinstance(body[payload], str):
        content = raw(body[payload])
    elif service == "s3":
        content = xml_of("Body", body) if body else b""
    else:
        content = json_bytes(body, api.source) if body else b""
    path = re.sub(r"\{[^}]*\}", "x", path)
    return api.send(service, operation.http["method"], path + ("?" + "&".join(query) if query else ""), content, headers)


def xml_of(name, value):
    tag = re.sub("[^A-Za-z]", "", name) or "x"
    if isinstance(value, dict):
        inner = b"".join(xml_of(key, item) for key, item in value.items())
    elif isinstance(value, list):
        inner = b"".join(xml_of("Item", item) for item in value)
    else:
        inner = raw(str(value)).replace(b"&", b"&amp;").replace(b"<", b"&lt;")
    return b"<%s>%s</%s>" % (tag.encode(), inner, tag.encode())


def send_modelled(api, service, signed_as, operation, known):
    arguments = Maker(api.source, known).value(operation.input_shape) if operation.input_shape else {}
    spoiled = api.source.choice([None, None, None, "trace", "authorization"])
    protocol = operation.service_model.metadata["protocol"]
    if protocol.startswith("rest"):
        return send_rest(api, signed_as, operation, arguments)
    if protocol == "json" and api.source.random() < 0.6:
        target = operation.service_model.metadata["targetPrefix"] + "." + operation.name
        headers = {"X-Amz-Target": target, "Content-Type": "application/x-amz-json-1.0"}
        return api.send(signed_as, "POST", "/", json_bytes(arguments, api.source), headers, spoiled)
    pairs = [("Action", operation.name), ("Version", operation.service_model.api_version)]
    pairs += flat("", arguments, "map" if service == "sqs" else "member")
    headers = {"Content-Type": "application/x-www-form-urlencoded"}
    if api.source.random() < 0.3:
        headers["Accept"] = "application/json"
    return api.send(signed_as, "POST", "/", form(pairs), headers, spoiled)


# ---- Requests that succeed


def code():
    packed = io.BytesIO()
    with zipfile.ZipFile(packed, "w") as archive:
        archive.writestr("app.py", "def handler(event, context):\n    return event\n")
    return base64.b64encode(packed.getvalue()).decode()


def stored_requests(url, dlq_url):
    """(service, how, what, document); `how` is a target, an action, or a method with a path."""
    name = {"StringValue": "v", "DataType": "String"}
    policy = json.dumps({"Version": "2012-10-17", "Statement": []})
    yield "sqs", "json", "SendMessage", {"QueueUrl": url, "MessageBody": "b", "MessageAttributes": {"a": name}}
    yield "sqs", "query", "SendMessage", {"QueueUrl": url, "MessageBody": "b", "MessageGroupId": "g"}
    yield "sqs", "query", "SendMessage", {
        "QueueUrl": url, "MessageBody": "b", "MessageAttribute.1.Name": "a",
        "MessageAttribute.1.Value.StringValue": "v", "MessageAttribute.1.Value.DataType": "String",
        "MessageSystemAttribute.1.Name": "AWSTraceHeader", "MessageSystemAttribute.1.Value.StringValue": "Root=1",
        "MessageSystemAttribute.1.Value.DataType": "String",
    }  # fmt: skip
    yield "sqs", "json", "SendMessageBatch", {"QueueUrl": url, "Entries": [{"Id": "1", "MessageBody": "b"}]}
    yield "sqs", "json", "TagQueue", {"QueueUrl": url, "Tags": {"k": "v"}}
    yield "sqs", "query", "TagQueue", {"QueueUrl": url, "Tag.1.Key": "k", "Tag.1.Value": "v"}
    yield "sqs", "json", "CreateQueue", {"QueueName": "other", "tags": {"k": "v"}}
    yield "sqs", "json", "AddPermission", {"QueueUrl": url, "Label": "l", "AWSAccountIds": ["111111111111"], "Actions": ["SendMessage"]}
    yield "sqs", "json", "SetQueueAttributes", {"QueueUrl": url, "Attributes": {"Policy": policy}}
    yield "lambda", "POST", "/2015-03-31/functions", {
        "FunctionName": "f", "Runtime": "python3.11", "Role": ROLE, "Handler": "app.handler", "Description": "d",
        "Code": {"ZipFile": code()}, "Environment": {"Variables": {"K": "v"}}, "Tags": {"k": "v"},
    }  # fmt: skip
    yield "lambda", "PUT", "/2015-03-31/functions/f/configuration", {
        "Description": "d", "Role": ROLE, "Environment": {"Variables": {"K": "v"}}, "KMSKeyArn": "", "Handler": "app.handler",
    }  # fmt: skip
    yield "lambda", "POST", "/2015-03-31/functions/f/aliases", {"Name": "live", "FunctionVersion": "$LATEST", "Description": "d"}
    yield "lambda", "POST", "/2015-03-31/functions/f/versions", {"Description": "d"}
    yield "lambda", "POST", "/2015-03-31/functions/f/policy", {
        "StatementId": "s", "Action": "lambda:InvokeFunction", "Principal": "sqs.amazonaws.com", "SourceArn": "arn:aws:x",
    }  # fmt: skip
    yield "lambda", "POST", "/2017-03-31/tags/arn%3Aaws%3Alambda%3Aus-east-1%3A000000000000%3Afunction%3Af", {"Tags": {"k": "v"}}
    yield "lambda", "POST", "/2015-03-31/event-source-mappings", {
        "FunctionName": "f", "EventSourceArn": "arn:aws:sqs:us-east-1:000000000000:mapped", "Enabled": False,
        "FilterCriteria": {"Filters": [{"Pattern": '{"body":{"a":["x"]}}'}]}, "Tags": {"k": "v"},
    }  # fmt: skip
    yield "iam", "query", "CreateRole", {
        "RoleName": "r", "AssumeRolePolicyDocument": policy, "Description": "d", "Path": "/",
        "Tags.member.1.Key": "k", "Tags.member.1.Value": "v",
    }  # fmt: skip
    yield "iam", "query", "PutRolePolicy", {"RoleName": "r", "PolicyName": "p", "PolicyDocument": policy}
    yield "iam", "query", "CreatePolicy", {"PolicyName": "p", "PolicyDocument": policy, "Description": "d"}
    yield "monitoring", "query", "PutMetricAlarm", {
        "AlarmName": "a", "AlarmDescription": "d", "MetricName": "NumberOfMessagesSent", "Namespace": "AWS/SQS",
        "Dimensions.member.1.Name": "QueueName", "Dimensions.member.1.Value": "q", "Statistic": "Sum", "Period": "60",
        "EvaluationPeriods": "1", "Threshold": "1", "ComparisonOperator": "GreaterThanThreshold",
    }  # fmt: skip
    yield "monitoring", "query", "SetAlarmState", {"AlarmName": "a", "StateValue": "ALARM", "StateReason": "because"}
    queue = "/_redrive/v1/queues/" + dlq_url.rsplit("/", 1)[1]
    yield "sqs", "POST", queue + "/jobs", {"name": "n", "reason": "r", "filter": 'body like "zzz"', "destination": "target"}
    yield "sqs", "POST", queue + "/discard", {"filter": 'body like "zzz"', "reason": "r"}
    yield "sqs", "POST", queue + "/messages/KEY/edit", {
        "body": "b", "setAttributes": {"a": name}, "reason": "r", "traceHeader": "Root=1",
    }  # fmt: skip
    yield "sqs", "POST", queue + "/groups/GROUP", {"status": "known", "note": "n"}
    yield "sqs", "POST", "/_redrive/v1/failures", {
        "receiptHandle": "HANDLE", "errorType": "t", "errorMessage": "m", "stackTrace": "s", "fingerprint": "f",
    }  # fmt: skip
    yield "sqs", "POST", "/_redrive/v1/alarms", {"name": "n", "queue": "q", "metric": "NumberOfMessagesSent", "threshold": 1}


def leaves(value, path=()):
    """The places of all strings, keys of maps among them."""
    if isinstance(value, dict):
        for key, item in value.items():
            yield (*path, key, True)
            yield from leaves(item, (*path, key))
    elif isinstance(value, list):
        for number, item in enumerate(value):
            yield from leaves(item, (*path, number))
    elif isinstance(value, str):
        yield (*path, False)


def spoil(document, place, text):
    *path, is_key = place
    copied = json.loads(json.dumps(document))
    inner = copied
    for step in path[:-1]:
        inner = inner[step]
    if is_key:
        inner[text] = inner.pop(path[-1])
    else:
        inner[path[-1]] += text
    return copied


class Story:
    """A queue with a dead letter, a function and whatever hostile requests add to them."""

    def __init__(self, api):
        self.api = api
        self.url = self.sqs("CreateQueue", {"QueueName": "q"})["QueueUrl"]
        self.dlq_url = self.sqs("CreateQueue", {"QueueName": "dlq"})["QueueUrl"]
        self.sqs("CreateQueue", {"QueueName": "target"})
        self.sqs("CreateQueue", {"QueueName": "mapped"})
        redrive = {"deadLetterTargetArn": "arn:aws:sqs:us-east-1:000000000000:dlq", "maxReceiveCount": "1"}
        source = self.sqs("CreateQueue", {
            "QueueName": "source", "Attributes": {"RedrivePolicy": json.dumps(redrive), "VisibilityTimeout": "0"},
        })["QueueUrl"]  # fmt: skip
        self.source_url = source

    def sqs(self, action, document):
        status, body = self.api.send(
            "sqs", "POST", "/", json.dumps(document).encode(),
            {"X-Amz-Target": "AmazonSQS." + action, "Content-Type": "application/x-amz-json-1.0"},
        )  # fmt: skip
        assert status == 200, body
        return json.loads(body)

    def manage(self, path):
        status, body = self.api.send("sqs", "GET", "/_redrive/v1/" + path)
        return json.loads(body) if status == 200 else {}

    def dead_letter(self):
        """A fresh one, with an error that may be anything."""
        self.sqs("SendMessage", {"QueueUrl": self.source_url, "MessageBody": "dead"})
        received = self.sqs("ReceiveMessage", {"QueueUrl": self.source_url})["Messages"][0]
        report = {"receiptHandle": received["ReceiptHandle"]}
        for member in ("errorType", "errorMessage", "stackTrace"):
            report[member] = hostile(self.api.source)
        self.api.send("sqs", "POST", "/_redrive/v1/failures", json_bytes(report, self.api.source))
        self.sqs("ReceiveMessage", {"QueueUrl": self.source_url})

    def known(self):
        page = self.manage("queues/dlq/messages?limit=1").get("messages", [])
        groups = self.manage("queues/dlq/groups").get("groups", [])
        return {"KEY": str(page[0]["key"]) if page else "0", "GROUP": groups[0]["id"] if groups else "0"}

    def send_stored(self, service, how, what, document, known):
        headers, method = {}, "POST"
        if how == "json":
            headers = {"X-Amz-Target": "AmazonSQS." + what, "Content-Type": "application/x-amz-json-1.0"}
            path, body = "/", json_bytes(document, self.api.source)
        elif how == "query":
            headers = {"Content-Type": "application/x-www-form-urlencoded"}
            path, body = "/", form([("Action", what), *document.items()])
        else:
            method, path, body = how, what, json_bytes(document, self.api.source)
            for name, value in known.items():
                path = path.replace(name, value)
        return self.api.send(service, method, path, body, headers)


def send_all_stored(story):
    api = story.api
    requests = list(stored_requests(story.url, story.dlq_url))
    story.dead_letter()
    refused = []
    for service, how, what, document in requests:
        if "HANDLE" not in str(document):
            status, body = story.send_stored(service, how, what, document, story.known())
            if status >= 300:
                refused.append((what, status, body))
    assert refused == []
    for _ in range(STORED_ROUNDS):
        story.dead_letter()
        known = story.known()
        for service, how, what, document in requests:
            for place in leaves(document):
                story.send_stored(service, how, what, spoil(document, place, hostile(api.source)), known)
    for header in ("trace", "authorization") * 10:
        body = json.dumps({"QueueUrl": story.url, "MessageBody": "b"}).encode()
        target = {"X-Amz-Target": "AmazonSQS.SendMessage", "Content-Type": "application/x-amz-json-1.0"}
        api.send("sqs", "POST", "/", body, target, header)


def send_objects(api):
    api.send("s3", "PUT", "/bucket")
    for number in range(30):
        key = quote(hostile(api.source))
        headers = {"x-amz-meta-note": hostile(api.source), "Content-Type": hostile(api.source)}
        headers["x-amz-tagging"] = f"k={quote(hostile(api.source))}"
        api.send("s3", "PUT", f"/bucket/plain-{number}", b"x", {"x-amz-meta-note": hostile(api.source)})
        api.send("s3", "PUT", "/bucket/" + key, b"x", headers)
        api.send("s3", "GET", "/bucket/" + key)
        api.send("s3", "POST", "/bucket?delete", xml_of("Delete", {"Object": {"Key": hostile(api.source)}}))
        tags = {"TagSet": {"Tag": {"Key": hostile(api.source), "Value": hostile(api.source)}}}
        api.send("s3", "PUT", "/bucket?tagging", xml_of("Tagging", tags))
        api.send("s3", "GET", f"/bucket?prefix={key}&delimiter={quote(hostile(api.source))}&marker={key}")


def read_everything(story):
    api = story.api
    for url in story.sqs("ListQueues", {}).get("QueueUrls", []):
        for action, document in {
            "GetQueueAttributes": {"AttributeNames": ["All"]},
            "ListQueueTags": {},
            "ListDeadLetterSourceQueues": {},
            "ReceiveMessage": {
                "AttributeNames": ["All"], "MessageAttributeNames": ["All"], "MaxNumberOfMessages": 10, "VisibilityTimeout": 0,
            },
        }.items():  # fmt: skip
            story.sqs(action, {"QueueUrl": url, **document})
            numbered = {"AttributeName.1": "All", "MessageAttributeName.1": "All", "MaxNumberOfMessages": "10"}
            pairs = [("Action", action), ("QueueUrl", url), ("VisibilityTimeout", "0"), *numbered.items()]
            for accept in ("*/*", "application/json"):
                kind = {"Content-Type": "application/x-www-form-urlencoded", "Accept": accept}
                api.send("sqs", "POST", "/", form(pairs), kind)
        name = url.rsplit("/", 1)[1]
        for page in ("messages?limit=100", "messages?limit=100&unmasked=true", "bin", "groups", "policy"):
            story.manage(f"queues/{name}/{page}")
        for group in story.manage(f"queues/{name}/groups").get("groups", []):
            story.manage(f"queues/{name}/groups/{group['id']}")
    for page in ("overview", "jobs", "alarms", "logs", "alarms/targets", "metrics/history", "clock"):
        story.manage(page)
    for alarm in story.manage("alarms").get("alarms", []):
        story.manage(f"alarms/{quote(alarm['name'])}/history")
    api.send("sqs", "GET", "/metrics")
    for path in ("/2015-03-31/functions", "/2015-03-31/event-source-mappings"):
        api.send("lambda", "GET", path)
    for function in ("f",):
        for path in ("", "/configuration", "/versions", "/aliases", "/policy", "/concurrency", "/event-invoke-config"):
            api.send("lambda", "GET", f"/2015-03-31/functions/{function}{path}")
        story.manage(f"functions/{function}/logs")
    arn = "arn%3Aaws%3Alambda%3Aus-east-1%3A000000000000%3Afunction%3Af"
    api.send("lambda", "GET", "/2017-03-31/tags/" + arn)
    for path in ("/", "/bucket", "/bucket?list-type=2", "/bucket?uploads", "/bucket?tagging", "/bucket?location"):
        api.send("s3", "GET", path)
    for action in ("ListRoles", "ListPolicies", "GetAccountAuthorizationDetails"):
        api.send("iam", "POST", "/", form([("Action", action)]), {"Content-Type": "application/x-www-form-urlencoded"})
    for action, more in (
        ("GetRole", {"RoleName": "r"}),
        ("ListRolePolicies", {"RoleName": "r"}),
        ("ListRoleTags", {"RoleName": "r"}),
        ("GetRolePolicy", {"RoleName": "r", "PolicyName": "p"}),
    ):
        pairs = [("Action", action), *more.items()]
        api.send("iam", "POST", "/", form(pairs), {"Content-Type": "application/x-www-form-urlencoded"})
    for action in ("DescribeAlarms", "DescribeAlarmHistory", "ListMetrics"):
        kind = {"Content-Type": "application/x-www-form-urlencoded"}
        api.send("monitoring", "POST", "/", form([("Action", action)]), kind)
        kind = {"X-Amz-Target": "GraniteServiceVersion20100801." + action, "Content-Type": "application/x-amz-json-1.0"}
        api.send("monitoring", "POST", "/", b"{}", kind)


def receive_with_boto3(server):
    """One undecodable text would fail the whole batch."""
    sqs = boto3.client(
        "sqs", endpoint_url=server.endpoint, region_name="us-east-1", aws_access_key_id="a", aws_secret_access_key="b",
        config=botocore.config.Config(retries={"max_attempts": 0}),
    )  # fmt: skip
    url = sqs.get_queue_url(QueueName="q")["QueueUrl"]
    for _ in range(20):
        sqs.receive_message(
            QueueUrl=url, MaxNumberOfMessages=10, AttributeNames=["All"], MessageAttributeNames=["All"], VisibilityTimeout=0
        )


@pytest.fixture(scope="module")
def server(tmp_path_factory):
    place = tmp_path_factory.mktemp("hostile")
    server = Server("--data", str(place / "data"), log_path=str(place / "server.log"))
    yield server
    assert server.running()
    assert server.stop() == 0


def test_every_answer_is_valid_whatever_text_was_sent(server):
    source = random.Random(SEED)
    api = Api(server.endpoint, source)
    story = Story(api)
    send_all_stored(story)
    send_objects(api)
    session = botocore.session.get_session()
    known = {"QueueUrl": story.url, "QueueName": "q", "FunctionName": "f", "Bucket": "bucket", "RoleName": "r"}
    for _ in range(MODEL_ROUNDS):
        for service, signed_as in (("sqs", "sqs"), ("lambda", "lambda"), ("s3", "s3"), ("sts", "sts"),
                                   ("iam", "iam"), ("cloudwatch", "monitoring")):  # fmt: skip
            model = session.get_service_model(service)
            for name in model.operation_names:
                if name in ("PurgeQueue", "DeleteQueue", "DeleteFunction", "DeleteBucket", "DeleteRole"):
                    continue
                send_modelled(api, service, signed_as, model.operation_model(name), known)
    read_everything(story)
    receive_with_boto3(server)
    # The texts were not merely refused.
    assert api.accepted > api.sent / 5, (api.accepted, api.sent)


def test_a_function_with_a_broken_description_is_refused(server):
    api = Api(server.endpoint, random.Random(1))
    document = {
        "FunctionName": "broken", "Runtime": "python3.11", "Role": ROLE, "Handler": "app.handler",
        "Code": {"ZipFile": code()},
    }  # fmt: skip
    for spoiled in ({"Description": "\ud800"}, {"Environment": {"Variables": {"K": "\udfff"}}}):
        body = json.dumps({**document, **spoiled}).encode()
        status, answer = api.send("lambda", "POST", "/2015-03-31/functions", body)
        assert status == 400 and check_json(answer)["Type"] == "User", answer
    status, _ = api.send("lambda", "GET", "/2015-03-31/functions/broken")
    assert status == 404


@pytest.mark.parametrize(
    "request_line", ["header", "attribute type", "attribute name", "credential", "s3 key", "lambda name", "management path"]
)
def test_what_is_no_text_is_refused_in_the_form_of_its_api(server, request_line):
    api = Api(server.endpoint, random.Random(2))
    url = api_url(api)
    send = {"QueueUrl": url, "MessageBody": "b"}
    target = {"X-Amz-Target": "AmazonSQS.SendMessage", "Content-Type": "application/x-amz-json-1.0"}
    if request_line == "header":
        status, body = api.send("sqs", "POST", "/", json.dumps(send).encode(), {**target, "X-Amzn-Trace-Id": "Root=\udcff"})
        assert status == 400 and "__type" in check_json(body)
    elif request_line.startswith("attribute"):
        name, kind = ("é", "String") if request_line.endswith("name") else ("a", "String.\ud800")
        send["MessageAttributes"] = {name: {"DataType": kind, "StringValue": "v"}}
        status, body = api.send("sqs", "POST", "/", json.dumps(send).encode(), target)
        assert status == 400 and check_json(body)["__type"].split("#")[1].startswith("InvalidParameterValue"), body
    elif request_line == "credential":
        status, body = api.send("us\udcff", "POST", "/", json.dumps(send).encode(), target)
        assert status == 400 and "__type" in check_json(body)
    elif request_line == "s3 key":
        status, body = api.send("s3", "PUT", "/bucket/%ff", b"x")
        assert status == 400 and ElementTree.fromstring(body).tag == "Error"
    elif request_line == "lambda name":
        status, body = api.send("lambda", "GET", "/2015-03-31/functions/%ff")
        assert status == 400 and "Type" in check_json(body)
    else:
        status, body = api.send("sqs", "GET", "/_redrive/v1/queues/%ff/messages")
        assert status == 400 and "error" in check_json(body), body


def api_url(api):
    target = {"X-Amz-Target": "AmazonSQS.CreateQueue", "Content-Type": "application/x-amz-json-1.0"}
    _, body = api.send("sqs", "POST", "/", b'{"QueueName":"q"}', target)
    return json.loads(body)["QueueUrl"]
