"""The JSON protocol itself: routing, headers, leniency, what is left out of answers."""

import json
import re
import socket
import urllib.parse

import pytest

from harness.digests import md5_of_body
from harness.queue import Queue, unique_name

UNSIGNED = {"Content-Type": "application/x-amz-json-1.0"}
UUID = re.compile(r"[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}", re.IGNORECASE)


@pytest.fixture
def queue(json_api):
    return Queue.create(json_api)


def decoded(content):
    return json.loads(content) if content else {}


def test_headers_of_a_success(json_api):
    status, headers, _ = json_api.post("ListQueues", b"{}")
    assert status == 200
    assert headers["Content-Type"] == "application/x-amz-json-1.0"
    assert UUID.fullmatch(headers["x-amzn-RequestId"])


def test_the_exact_form_of_an_error(json_api):
    body = json.dumps({"QueueName": unique_name("missing")}).encode()
    status, headers, content = json_api.post("GetQueueUrl", body)
    assert status == 400
    assert headers["Content-Type"] == "application/x-amz-json-1.0"
    assert headers["x-amzn-query-error"] == "AWS.SimpleQueueService.NonExistentQueue;Sender"
    assert UUID.fullmatch(headers["x-amzn-RequestId"])
    assert json.loads(content) == {
        "__type": "com.amazonaws.sqs#QueueDoesNotExist",
        "message": "The specified queue does not exist.",
    }


def test_the_query_error_header_does_not_depend_on_query_mode(json_api):
    headers = {**UNSIGNED, "X-Amz-Target": "AmazonSQS.GetQueueUrl"}
    body = json.dumps({"QueueName": unique_name("missing")}).encode()
    _, answer, _ = json_api.wire.request("POST", "/", body, headers)
    assert answer["x-amzn-query-error"] == "AWS.SimpleQueueService.NonExistentQueue;Sender"


def test_request_ids_differ(json_api):
    ids = {json_api.post("ListQueues", b"{}")[1]["x-amzn-RequestId"] for _ in range(3)}
    assert len(ids) == 3


def test_an_unknown_action(json_api):
    status, headers, content = json_api.post("NoSuchAction", b"{}")
    assert status == 400, "a 5xx would be retried by every SDK"
    assert json.loads(content)["__type"] == "com.amazon.coral.service#UnknownOperationException"
    assert headers["x-amzn-RequestId"]


ROUTES = {
    "target only": {"X-Amz-Target": "AmazonSQS.ListQueues", "Content-Type": "text/plain"},
    "json 1.1": {
        "X-Amz-Target": "AmazonSQS.ListQueues",
        "Content-Type": "application/x-amz-json-1.1",
    },
    "lower case": {
        "x-amz-target": "AmazonSQS.ListQueues",
        "content-type": "application/x-amz-json-1.0",
    },
    "with charset": {
        "X-Amz-Target": "AmazonSQS.ListQueues",
        "Content-Type": "application/x-amz-json-1.0; charset=utf-8",
    },
}


@pytest.mark.parametrize("headers", ROUTES.values(), ids=ROUTES)
def test_headers_choose_the_protocol(json_api, headers):
    status, _, content = json_api.wire.request("POST", "/", b"{}", headers)
    assert status == 200
    assert isinstance(json.loads(content), dict)


def test_json_posted_to_a_queue_url_is_answered_in_json(json_api, queue):
    path = urllib.parse.urlsplit(queue.url).path
    body = json.dumps({"QueueUrl": queue.url, "MessageBody": "m"}).encode()
    status, _, content = json_api.post("SendMessage", body, path=path)
    assert status == 200
    assert json.loads(content)["MD5OfMessageBody"] == md5_of_body("m")


@pytest.mark.parametrize("body", [b"", b"{}"], ids=["empty", "object"])
def test_an_empty_body_means_no_parameters(json_api, body):
    assert json_api.post("ListQueues", body)[0] == 200


def test_unknown_members_are_ignored_and_null_is_absent(json_api, queue):
    answer = json_api.SendMessage(
        QueueUrl=queue.url, MessageBody="m", DelaySeconds=None, Novelty={"a": [1]}
    )
    assert answer["MessageId"]


def test_numeric_strings_are_accepted_for_integers(json_api, queue):
    queue.send("m")
    answer = json_api.ReceiveMessage(
        QueueUrl=queue.url, MaxNumberOfMessages="10", VisibilityTimeout="0", WaitTimeSeconds="0"
    )
    assert len(answer["Messages"]) == 1


def test_escaped_and_plain_characters_are_the_same(json_api, queue):
    body = "h€llo wörld 🚀"
    for ascii_only in (True, False):
        parameters = {"QueueUrl": queue.url, "MessageBody": body}
        document = json.dumps(parameters, ensure_ascii=ascii_only).encode()
        assert decoded(json_api.post("SendMessage", document)[2])["MD5OfMessageBody"] == (
            md5_of_body(body)
        )
    assert queue.bodies() == [body, body]


def test_a_lone_surrogate_is_not_a_body(json_api, queue):
    document = f'{{"QueueUrl":"{queue.url}","MessageBody":"a\\ud800b"}}'.encode()
    status, headers, _ = json_api.post("SendMessage", document)
    assert status == 400
    assert headers["x-amzn-query-error"] == "InvalidMessageContents;Sender"


EMPTY_ANSWERS = {
    "ReceiveMessage": {},
    "ListQueueTags": {},
    "GetQueueAttributes": {},
    "ListDeadLetterSourceQueues": {"queueUrls": []},
}


@pytest.mark.parametrize("action,expected", EMPTY_ANSWERS.items())
def test_empty_collections_are_left_out(json_api, queue, action, expected):
    body = json.dumps({"QueueUrl": queue.url}).encode()
    assert decoded(json_api.post(action, body)[2]) == expected


def test_list_queues_without_a_match_is_an_empty_object(json_api):
    body = json.dumps({"QueueNamePrefix": unique_name("none")}).encode()
    assert decoded(json_api.post("ListQueues", body)[2]) == {}


def test_a_batch_that_succeeded_has_no_failed_member(json_api, queue):
    answer = queue.send_batch([{"Id": "a", "MessageBody": "m"}])
    assert set(answer) == {"Successful"}


def test_attribute_values_are_strings_and_sender_fault_is_a_boolean(json_api, queue):
    assert all(isinstance(value, str) for value in queue.attributes().values())
    answer = json_api.DeleteMessageBatch(
        QueueUrl=queue.url, Entries=[{"Id": "a", "ReceiptHandle": "garbage"}]
    )
    assert answer["Failed"][0]["SenderFault"] is True


BROKEN = {
    "not json": b"{",
    "not an object": b"[]",
    "a string for a map": b'{"QueueName":"x","Attributes":"y"}',
    "an object for a string": b'{"QueueName":{"a":1}}',
    "bad utf-8": b'{"QueueName":"\xff\xfe"}',
    "deep nesting": b'{"a":' + b"[" * 2000 + b"]" * 2000 + b"}",
}


@pytest.mark.parametrize("body", BROKEN.values(), ids=BROKEN)
def test_broken_documents_are_the_senders_fault(json_api, body):
    status, headers, content = json_api.post("CreateQueue", body)
    assert status == 400
    assert json.loads(content)["__type"]
    assert headers["x-amzn-RequestId"]


def test_a_required_parameter_is_named(json_api):
    status, headers, content = json_api.post("SendMessage", b"{}")
    assert status == 400
    assert headers["x-amzn-query-error"] == "MissingParameter;Sender"
    assert json.loads(content)["message"] == "The request must contain the parameter QueueUrl."


def test_unsigned_requests_are_accepted(json_api):
    headers = {**UNSIGNED, "X-Amz-Target": "AmazonSQS.ListQueues"}
    assert json_api.wire.request("POST", "/", b"{}", headers)[0] == 200


# --- HTTP underneath --------------------------------------------------------------------------


def raw_exchange(endpoint, request, until):
    """Sends bytes and reads until `until` was seen."""
    parts = urllib.parse.urlsplit(endpoint)
    with socket.create_connection((parts.hostname, parts.port), timeout=5) as connection:
        connection.sendall(request)
        received = b""
        while until not in received:
            chunk = connection.recv(65536)
            if not chunk:
                break
            received += chunk
        return received


HEAD = (
    b"POST / HTTP/1.1\r\nHost: queue.localhost:1234\r\n"
    b"Content-Type: application/x-amz-json-1.0\r\nX-Amz-Target: AmazonSQS.CreateQueue\r\n"
)


def test_chunked_request_bodies(endpoint):
    body = json.dumps({"QueueName": unique_name("chunked")}).encode()
    chunks = b"%x\r\n%s\r\n%x\r\n%s\r\n0\r\n\r\n" % (5, body[:5], len(body) - 5, body[5:])
    answer = raw_exchange(endpoint, HEAD + b"Transfer-Encoding: chunked\r\n\r\n" + chunks, b"}")
    assert answer.startswith(b"HTTP/1.1 200")
    assert b"http://queue.localhost:1234/000000000000/chunked-" in answer, "the Host header's name"


def test_expect_100_continue_is_answered_before_the_body(endpoint):
    head = HEAD + b"Content-Length: 20\r\nExpect: 100-continue\r\n\r\n"
    assert raw_exchange(endpoint, head, b"\r\n\r\n").startswith(b"HTTP/1.1 100")


def test_pipelined_requests_are_answered_in_order(endpoint):
    def request(action):
        return (
            b"POST / HTTP/1.1\r\nHost: localhost\r\nContent-Length: 2\r\n"
            b"X-Amz-Target: AmazonSQS." + action + b"\r\n\r\n{}"
        )

    stream = request(b"NoSuchAction") + request(b"ListQueues") + request(b"SendMessage")
    answer = raw_exchange(endpoint, stream, b"MissingRequiredParameterException")
    statuses = re.findall(rb"HTTP/1\.1 (\d+)", answer)
    assert statuses == [b"400", b"200", b"400"]


def test_connections_stay_open(json_api):
    wire = json_api.derive().wire
    headers = {"X-Amz-Target": "AmazonSQS.ListQueues"}
    wire.request("POST", "/", b"{}", headers)
    address = wire.local_address()
    for _ in range(5):
        wire.request("POST", "/", b"{}", headers)
    assert wire.local_address() == address
