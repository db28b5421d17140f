"""The Query protocol itself: GET and POST, queue URLs as endpoints, the XML."""

import json
import re
import urllib.parse
import xml.etree.ElementTree as ElementTree

import pytest

from harness.clients import xml_error
from harness.errors import check_error
from harness.queue import Queue, unique_name
from harness.shapes import NAMESPACE

UUID = re.compile(r"[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}", re.IGNORECASE)
VERSION = ("Version", "2012-11-05")


@pytest.fixture
def queue(query_api):
    return Queue.create(query_api)


@pytest.fixture
def path(queue):
    return urllib.parse.urlsplit(queue.url).path


def tags(element):
    return [child.tag.removeprefix(NAMESPACE) for child in element]


# --- The XML ----------------------------------------------------------------------------------


def test_the_form_of_a_success(query_api, queue):
    fields = [("Action", "SendMessage"), ("QueueUrl", queue.url), ("MessageBody", "m")]
    status, headers, content = query_api.post(fields)
    root = ElementTree.fromstring(content)
    assert status == 200
    assert headers["Content-Type"].startswith("text/xml")
    assert UUID.fullmatch(headers["x-amzn-RequestId"])
    assert root.tag == f"{NAMESPACE}SendMessageResponse"
    assert tags(root) == ["SendMessageResult", "ResponseMetadata"]
    request_id = root.findtext(f"{NAMESPACE}ResponseMetadata/{NAMESPACE}RequestId")
    assert request_id == headers["x-amzn-RequestId"]


def test_an_action_without_output_has_no_result_element(query_api, queue):
    fields = [("Action", "PurgeQueue"), ("QueueUrl", queue.url)]
    root = ElementTree.fromstring(query_api.post(fields)[2])
    assert tags(root) == ["ResponseMetadata"]


def test_an_empty_receive_has_an_empty_result_element(query_api, queue):
    fields = [("Action", "ReceiveMessage"), ("QueueUrl", queue.url)]
    content = query_api.post(fields)[2]
    root = ElementTree.fromstring(content)
    assert tags(root) == ["ReceiveMessageResult", "ResponseMetadata"]
    assert len(root[0]) == 0 and not root[0].text


def test_the_form_of_an_error(query_api):
    fields = [("Action", "GetQueueUrl"), ("QueueName", unique_name("missing"))]
    status, headers, content = query_api.post(fields)
    root = ElementTree.fromstring(content)
    assert status == 400
    assert headers["Content-Type"].startswith("text/xml")
    assert root.tag == f"{NAMESPACE}ErrorResponse"
    assert tags(root) == ["Error", "RequestId"], "RequestId sits directly under the root"
    assert sorted(tags(root[0])) == ["Code", "Detail", "Message", "Type"]
    assert root.findtext(f"{NAMESPACE}RequestId") == headers["x-amzn-RequestId"]


def test_quotes_and_carriage_returns_are_escaped(query_api, queue):
    queue.send('say "hi"\r\n<&>')
    fields = [("Action", "ReceiveMessage"), ("QueueUrl", queue.url)]
    content = query_api.post(fields)[2]
    assert b"<Body>say &quot;hi&quot;&#xD;\n&lt;&amp;&gt;</Body>" in content


def test_message_attributes_in_xml(query_api, queue):
    queue.send("m", MessageAttributes={"k": {"DataType": "Binary", "BinaryValue": b"\x00\xff"}})
    fields = [
        ("Action", "ReceiveMessage"),
        ("QueueUrl", queue.url),
        ("MessageAttributeName.1", "All"),
        ("AttributeName.1", "ApproximateReceiveCount"),
    ]
    message = ElementTree.fromstring(query_api.post(fields)[2])[0][0]
    assert message.tag == f"{NAMESPACE}Message"
    value = message.find(f"{NAMESPACE}MessageAttribute/{NAMESPACE}Value")
    assert value.findtext(f"{NAMESPACE}BinaryValue") == "AP8="
    assert value.findtext(f"{NAMESPACE}DataType") == "Binary"
    attribute = message.find(f"{NAMESPACE}Attribute")
    assert [child.text for child in attribute] == ["ApproximateReceiveCount", "1"]


# --- Requests ---------------------------------------------------------------------------------


def test_get_and_post_are_equivalent(query_api, queue):
    fields = [("Action", "SendMessage"), ("QueueUrl", queue.url), ("MessageBody", "a b+c"), VERSION]
    assert query_api.get("/", fields)[0] == 200
    assert query_api.post(fields)[0] == 200
    assert queue.bodies() == ["a b+c", "a b+c"]


def test_fields_of_url_and_body_are_merged(query_api, queue):
    target = "/?" + urllib.parse.urlencode({"Action": "SendMessage", "QueueUrl": queue.url})
    assert query_api.post([("MessageBody", "merged")], path=target)[0] == 200
    assert queue.bodies() == ["merged"]


def test_bare_attribute_name_and_value(query_api, queue):
    fields = [
        ("Action", "SetQueueAttributes"),
        ("QueueUrl", queue.url),
        ("Attribute.Name", "VisibilityTimeout"),
        ("Attribute.Value", "77"),
    ]
    assert query_api.post(fields)[0] == 200
    assert queue.attribute("VisibilityTimeout") == "77"


def test_system_attributes_under_their_newer_name(query_api, queue):
    queue.send("m")
    fields = [
        ("Action", "ReceiveMessage"),
        ("QueueUrl", queue.url),
        ("MessageSystemAttributeName.1", "SenderId"),
    ]
    assert b"<Name>SenderId</Name>" in query_api.post(fields)[2]


def test_eleven_batch_entries_are_counted_by_number_not_by_text(query_api, queue):
    """Entry 10 comes after entry 9, not after entry 1."""
    entries = [{"Id": f"i{n}", "MessageBody": f"m{n}"} for n in range(1, 11)]
    answer = queue.send_batch(entries)
    assert [entry["Id"] for entry in answer["Successful"]] == [f"i{n}" for n in range(1, 11)]


def test_a_required_parameter_is_named(query_api, queue):
    for fields, name in (
        ([("Action", "SendMessage"), ("QueueUrl", queue.url)], "MessageBody"),
        ([("Action", "CreateQueue")], "QueueName"),
        ([("Action", "DeleteMessage"), ("QueueUrl", queue.url)], "ReceiptHandle"),
        ([("Action", "ReceiveMessage")], "QueueUrl"),
    ):
        status, _, content = query_api.post(fields)
        error = xml_error(fields[0][1], status, content)
        check_error(error, "MissingParameter", f"The request must contain the parameter {name}.")


# --- Queue URLs as endpoints ------------------------------------------------------------------


def test_the_path_names_the_queue(query_api, queue, path):
    assert query_api.get(path, [("Action", "SendMessage"), ("MessageBody", "by path")])[0] == 200
    status, _, content = query_api.get(path, [("Action", "ReceiveMessage")])
    assert status == 200 and b"<Body>by path</Body>" in content


def test_a_queue_url_parameter_overrides_the_path(query_api, queue, path):
    other = Queue.create(query_api)
    fields = [("Action", "SendMessage"), ("MessageBody", "m"), ("QueueUrl", other.url)]
    assert query_api.get(path, fields)[0] == 200
    assert other.bodies() == ["m"]
    assert queue.bodies() == []


@pytest.mark.parametrize("accept", ["*/*", "application/json"])
def test_a_queue_url_without_action(query_api, path, accept):
    status, _, content = query_api.get(path, Accept=accept)
    assert status == 404
    assert b"<UnknownOperationException/>" in content


def test_a_query_on_a_queue_url_that_accepts_json(query_api, path):
    fields = [("Action", "GetQueueAttributes"), ("AttributeName.1", "DelaySeconds"), VERSION]
    status, headers, content = query_api.get(path, fields, Accept="application/json")
    assert status == 200 and headers["Content-Type"].startswith("application/json")
    result = json.loads(content)["GetQueueAttributesResponse"]["GetQueueAttributesResult"]
    assert result == {"Attributes": [{"Name": "DelaySeconds", "Value": "0"}]}


def test_errors_of_a_query_that_accepts_json(query_api, path):
    status, headers, content = query_api.get(
        path, [("Action", "ListQueues"), VERSION], Accept="application/json"
    )
    assert status == 400 and headers["Content-Type"].startswith("application/json")
    error = json.loads(content)["Error"]
    assert error["Code"] == "InvalidAction"
    assert error["Message"] == "The action ListQueues is not valid for this endpoint."


@pytest.mark.parametrize("action", ["NoSuchAction", "CreateQueue", "ListQueues"])
def test_actions_that_are_not_valid_on_a_queue_url(query_api, path, action):
    fields = [("Action", action), ("QueueName", "x")]
    status, _, content = query_api.get(path, fields)
    error = xml_error(action, status, content)
    assert (error.status, error.code) == (400, "InvalidAction")
    assert error.message == f"The action {action} is not valid for this endpoint."


def test_an_unknown_action_at_the_root(query_api):
    status, _, content = query_api.post([("Action", "NoSuchAction"), VERSION])
    error = xml_error("NoSuchAction", status, content)
    assert (error.status, error.code) == (400, "InvalidAction")
    assert error.message == "The action NoSuchAction is not valid for this endpoint."


def test_get_queue_url_works_on_another_queues_path(query_api, queue, path):
    other = Queue.create(query_api)
    fields = [("Action", "GetQueueUrl"), ("QueueName", other.name)]
    status, _, content = query_api.get(path, fields)
    assert status == 200 and f"<QueueUrl>{other.url}</QueueUrl>".encode() in content


def test_a_parameter_missing_on_a_queue_url(query_api, path):
    status, _, content = query_api.get(path, [("Action", "SendMessage")])
    error = xml_error("SendMessage", status, content)
    check_error(error, "MissingParameter", "The request must contain the parameter MessageBody.")


def test_delete_queue_by_get(query_api, queue, path):
    assert query_api.get(path, [("Action", "DeleteQueue")])[0] == 200
    status, _, content = query_api.get(path, [("Action", "GetQueueAttributes")])
    error = xml_error("GetQueueAttributes", status, content)
    assert error.code == "AWS.SimpleQueueService.NonExistentQueue"
    assert error.message == "The specified queue does not exist for this wsdl version."


def test_a_presigned_url_is_accepted(query_api, queue, path):
    fields = [
        ("Action", "SendMessage"),
        ("MessageBody", "presigned"),
        ("X-Amz-Algorithm", "AWS4-HMAC-SHA256"),
        ("X-Amz-Credential", "test/20260101/us-east-1/sqs/aws4_request"),
        ("X-Amz-Date", "20260101T120000Z"),
        ("X-Amz-Expires", "3600"),
        ("X-Amz-SignedHeaders", "host"),
        ("X-Amz-Signature", "0" * 64),
    ]
    assert query_api.get(path, fields)[0] == 200
    assert queue.bodies() == ["presigned"]
