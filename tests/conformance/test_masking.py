"""Secrets in answers of the management API: masked by the server, shown to those who may see them and ask."""

import io
import json
import os
import subprocess
import zipfile

import pytest
from botocore.awsrequest import AWSRequest

from harness.server import Server, binary_path
from harness.signed import Signed

pytestmark = [
    pytest.mark.own_server,
    pytest.mark.skipif("REDRIVE_ENDPOINT" in os.environ, reason="needs its own server process"),
]

ROLES = {"ADMIN": "admin", "OPERATOR": "operator", "READER": "reader"}
MASKING = "[masking]\njson-paths = ['$.customer.name']\nattributes = ['tenant']\n"
BODY = json.dumps({
    "password": "hunter2", "iban": "DE89370400440532013000", "customer": {"name": "Ana"}, "item": "book",
})  # fmt: skip
SECRETS = ["hunter2", "DE89370400440532013000", "Ana", "t0ken-value", "acme-inc", "4111 1111 1111 1111", "s3cret!"]
PLAIN = ["book"]
ATTRIBUTES = {
    "x-token": {"DataType": "String", "StringValue": "t0ken-value"},
    "Tenant": {"DataType": "String", "StringValue": "acme-inc"},
}


def secret_of(key):
    return "secret-of-" + key


def signed(server, key, service="sqs"):
    return Signed(server.endpoint, key, secret_of(key), service=service)


def ask(server, key, method, path, document=None, service="sqs"):
    caller = signed(server, key, service)
    body = None if document is None else json.dumps(document)
    request = AWSRequest(method, server.endpoint + path, {"Content-Type": "application/json"}, body)
    status, _, content = caller.send(caller.sign(request))
    return status, json.loads(content)


def show(server, key, path, **more):
    status, answer = ask(server, key, "GET", "/_redrive/v1/" + path, **more)
    assert status == 200, answer
    return answer


def code():
    packed = io.BytesIO()
    with zipfile.ZipFile(packed, "w") as archive:
        archive.writestr("app.py", "def handler(event, context):\n    print('password=s3cret!')\n    return event\n")
    return packed.getvalue()


@pytest.fixture(scope="module")
def place(tmp_path_factory):
    return tmp_path_factory.mktemp("masking")


@pytest.fixture(scope="module")
def server(place):
    keys = "".join(
        f"[[key]]\nid = '{key}'\nsecret = '{secret_of(key)}'\nname = '{key.lower()}'\nrole = '{role}'\n"
        for key, role in ROLES.items()
    )
    (place / "redrive.toml").write_text(MASKING + keys)
    running = Server(
        "--data", str(place / "data"), "--config", str(place / "redrive.toml"), log_path=place / "server.log"
    )
    yield running
    assert running.stop() == 0


@pytest.fixture(scope="module")
def dead_letter(server):
    """A dead letter with secrets in its body, its attributes and its error."""
    admin = signed(server, "ADMIN")
    admin.call("CreateQueue", QueueName="dlq")
    policy = {"deadLetterTargetArn": "arn:aws:sqs:us-east-1:000000000000:dlq", "maxReceiveCount": "1"}
    attributes = {"RedrivePolicy": json.dumps(policy), "VisibilityTimeout": "0"}
    url = admin.call("CreateQueue", QueueName="orders", Attributes=attributes)["QueueUrl"]
    admin.call("SendMessage", QueueUrl=url, MessageBody=BODY, MessageAttributes=ATTRIBUTES)
    received = admin.call("ReceiveMessage", QueueUrl=url, MessageAttributeNames=["All"])["Messages"][0]
    assert received["Body"] == BODY  # SQS's own answers are what was sent.
    assert received["MessageAttributes"]["x-token"]["StringValue"] == "t0ken-value"
    report = {
        "receiptHandle": received["ReceiptHandle"], "errorType": "Declined",
        "errorMessage": "card 4111 1111 1111 1111 declined", "stackTrace": "at pay(password=s3cret!)",
    }  # fmt: skip
    status, answer = ask(server, "ADMIN", "POST", "/_redrive/v1/failures", report)
    assert status == 200, answer
    admin.call("ReceiveMessage", QueueUrl=url)
    return show(server, "ADMIN", "queues/dlq/messages")["messages"][0]


def assert_masked(answer):
    text = json.dumps(answer)
    assert [secret for secret in SECRETS if secret in text] == []
    assert answer["masked"] is True


PATHS = ["queues/dlq/messages", "queues/dlq/messages?filter=%24.item%20%3D%3D%20%22book%22",
         "queues/dlq/messages/{key}", "lineage/{lineageId}", "queues/dlq/groups"]  # fmt: skip


@pytest.mark.parametrize("path", PATHS)
def test_a_reader_never_sees_secrets(server, dead_letter, path):
    path = path.format(**dead_letter)
    asking = path + ("&" if "?" in path else "?") + "unmasked=true"
    for each in (path, asking):
        assert_masked(show(server, "READER", each))


@pytest.mark.parametrize("path", PATHS)
def test_others_see_them_only_if_they_ask(server, dead_letter, path):
    path = path.format(**dead_letter)
    assert_masked(show(server, "OPERATOR", path))
    answer = show(server, "OPERATOR", path + ("&" if "?" in path else "?") + "unmasked=true")
    assert answer["masked"] is False
    if path.startswith("queues/dlq/messages"):
        message = answer["messages"][0] if "messages" in answer else answer
        assert message["body"] == BODY
        assert message["attributes"]["Tenant"]["StringValue"] == "acme-inc"
        assert "4111 1111 1111 1111" in message["attempts"][0]["errorMessage"]


def test_what_is_no_secret_stays(server, dead_letter):
    message = show(server, "READER", "queues/dlq/messages")["messages"][0]
    body = json.loads(message["body"])
    assert body == {"password": "***", "iban": "***", "customer": {"name": "***"}, "item": "book"}
    assert message["attributes"]["x-token"] == {"DataType": "String", "StringValue": "***"}


def test_asking_for_secrets_is_written_down(server, place, dead_letter):
    show(server, "OPERATOR", "queues/dlq/messages?unmasked=true&limit=7")
    show(server, "OPERATOR", "queues/dlq/messages?limit=8")
    lines = [json.loads(line) for line in (place / "data/audit.ndjson").read_text().splitlines()]
    asked = [line for line in lines if line["action"] == "peekMessages" and "limit=7" in line["resource"]]
    assert len(asked) == 1 and asked[0]["who"] == "operator" and "unmasked=true" in asked[0]["resource"]
    assert not [line for line in lines if "limit=8" in line["resource"]]


def test_an_edit_and_a_redrive_keep_the_bytes(server, dead_letter):
    admin = signed(server, "ADMIN")
    edit = {"setAttributes": {"fixed": {"DataType": "String", "StringValue": "yes"}}}
    status, answer = ask(server, "OPERATOR", "POST", f"/_redrive/v1/queues/dlq/messages/{dead_letter['key']}/edit", edit)
    assert status == 200, answer
    assert_masked(answer)
    admin.call("CreateQueue", QueueName="copy")
    job = {"destination": "copy", "reason": "because password=s3cret!"}
    status, answer = ask(server, "OPERATOR", "POST", "/_redrive/v1/queues/dlq/jobs", job)
    assert status == 200, answer
    assert_masked(answer)
    url = admin.call("GetQueueUrl", QueueName="copy")["QueueUrl"]
    received = admin.call(
        "ReceiveMessage", QueueUrl=url, MessageAttributeNames=["All"], WaitTimeSeconds=20, VisibilityTimeout=0
    )["Messages"][0]
    assert received["Body"] == BODY
    assert received["MessageAttributes"]["Tenant"]["StringValue"] == "acme-inc"
    assert received["MessageAttributes"]["fixed"]["StringValue"] == "yes"


def test_environments_and_logs_of_functions(server):
    import base64

    function = {
        "FunctionName": "f", "Runtime": "python3.11", "Handler": "app.handler", "Role": "arn:aws:iam::0:role/r",
        "Code": {"ZipFile": base64.b64encode(code()).decode()}, "Environment": {"Variables": {"MODE": "s3cret!"}},
    }  # fmt: skip
    status, answer = ask(server, "ADMIN", "POST", "/2015-03-31/functions", function, service="lambda")
    assert status == 201, answer
    for path in ("/2015-03-31/functions", "/2015-03-31/functions/f", "/2015-03-31/functions/f/configuration"):
        _, seen = ask(server, "ADMIN", "GET", path, service="lambda")
        assert "s3cret!" in json.dumps(seen)  # Terraform compares it.
        _, seen = ask(server, "READER", "GET", path, service="lambda")
        assert "s3cret!" not in json.dumps(seen) and '"MODE": "***"' in json.dumps(seen)
    status, answer = ask(server, "ADMIN", "POST", "/2015-03-31/functions/f/invocations", {}, service="lambda")
    assert status == 200, answer
    assert_masked(show(server, "READER", "functions/f/logs?unmasked=true"))
    assert_masked(show(server, "OPERATOR", "functions/f/logs"))
    assert "s3cret!" in json.dumps(show(server, "OPERATOR", "functions/f/logs?unmasked=true"))


def test_archived_messages_are_not_fetched_by_a_reader(server):
    def s3(key, method, path, body=None):
        caller = signed(server, key, "s3")
        status, _, content = caller.send(caller.sign(AWSRequest(method, server.endpoint + path, {}, body)))
        return status, content

    letter = "/archive/orders/Nov-16-2026/1763251200.000_11111111-2222-4333-8444-555555555555.json"
    assert s3("ADMIN", "PUT", "/archive")[0] == 200
    for path in (letter, "/archive/other.json"):
        assert s3("ADMIN", "PUT", path, BODY)[0] == 200
        assert s3("OPERATOR", "GET", path) == (200, BODY.encode())
    status, answer = s3("READER", "GET", letter)
    assert status == 403 and b"<Code>AccessDenied</Code>" in answer
    assert s3("READER", "HEAD", letter)[0] == 200
    assert s3("READER", "GET", "/archive/other.json")[0] == 200


def redrive(server, key, *arguments):
    environment = {
        "PATH": os.environ["PATH"], "AWS_ACCESS_KEY_ID": key, "AWS_SECRET_ACCESS_KEY": secret_of(key),
        "AWS_REGION": "us-east-1", 
    }  # fmt: skip
    return subprocess.run(
        [binary_path(), *arguments, "--endpoint-url", server.endpoint], capture_output=True, env=environment, timeout=60
    )


def test_the_cli_asks_for_exact_bytes_where_it_needs_them(server):
    admin = signed(server, "ADMIN")
    url = admin.call("CreateQueue", QueueName="cli")["QueueUrl"]
    admin.call("SendMessage", QueueUrl=url, MessageBody=BODY, MessageAttributes=ATTRIBUTES)
    exported = redrive(server, "OPERATOR", "dlq", "export", "cli")
    assert exported.returncode == 0, exported
    assert json.loads(exported.stdout)["Body"] == BODY
    peeked = redrive(server, "OPERATOR", "dlq", "peek", "cli", "--json")
    assert b"hunter2" not in peeked.stdout and b"***" in peeked.stdout
    peeked = redrive(server, "OPERATOR", "dlq", "peek", "cli", "--json", "--unmasked")
    assert json.loads(peeked.stdout)["body"] == BODY
    # A key that the server masked secrets does not export masked ones as if they were the message.
    refused = redrive(server, "READER", "dlq", "export", "cli")
    assert refused.returncode == 1 and refused.stdout == b"" and b"the server masked secrets" in refused.stderr
