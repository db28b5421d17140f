"""Sending: bodies and their characters, digests, message attributes, size, delay."""

import re

import pytest

from harness import clock
from harness.digests import md5_of_attributes, md5_of_body
from harness.errors import refused
from harness.queue import binary, number, string

TRACE = "Root=1-5759e988-bd862e3fe1be46a994272793;Parent=53995c3f42cd8ad8;Sampled=1"
ROUND_TRIPS = {
    "plain": "hello",
    "quotes and entities": 'a "quoted" &quot; &amp; <tag> \'x\' &#xD;',
    "carriage returns": "one\r\ntwo\rthree\n",
    "tab and newline": "\tindented\n\n",
    "leading and trailing spaces": "  padded  ",
    "two to four byte characters": "h€llo wörld 🚀 \U00010000\U0010ffff",
    "edges of the allowed ranges": "\x20\ud7ff\ue000\ufffd",
    "json": '{"a": [1, "two", null]}',
    "xml": "<?xml version='1.0'?><a><![CDATA[x]]></a>",
    "plus and percent": "a+b%20c%2B=&d",
}
FORBIDDEN = {
    "NUL": "\x00",
    "U+0001": "\x01",
    "vertical tab": "\x0b",
    "U+001F": "\x1f",
    "U+FFFE": "\ufffe",
    "U+FFFF": "\uffff",
}
ATTRIBUTE_VECTORS = {
    "one string": ({"k": string("x")}, "a45daa70926828a2f0a1db3418e6feb4"),
    "another string": ({"Foo": string("Bar")}, "ae7155c6026991b6d54b11589678bf9c"),
    "number": ({"timestamp": number("1493147359900")}, "235c5c510d26fb653d073faed50ae77c"),
    "binary, custom type, sorting": (
        {
            "price": {"DataType": "Number.float", "StringValue": "12.50"},
            "color": string("blue"),
            "Bin": binary(b"\x00\x01\x02\xff"),
        },
        "bc4d10d9f31639fa3fe39b4383ae73be",
    ),
}
UUID = re.compile(r"[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}")


def test_send_answers_id_and_digest_and_nothing_else(new_queue):
    answer = new_queue().send("hello")
    assert set(answer) == {"MessageId", "MD5OfMessageBody"}
    assert UUID.fullmatch(answer["MessageId"])
    assert answer["MD5OfMessageBody"] == "5d41402abc4b2a76b9719d911017c592"


@pytest.mark.parametrize("body", ROUND_TRIPS.values(), ids=ROUND_TRIPS)
def test_bodies_round_trip_unchanged(new_queue, body):
    queue = new_queue()
    sent = queue.send(body)
    message = queue.receive_one()
    assert message["Body"] == body
    assert message["MessageId"] == sent["MessageId"]
    assert message["MD5OfBody"] == sent["MD5OfMessageBody"] == md5_of_body(body)


def test_body_digest_covers_utf8_bytes(new_queue):
    answer = new_queue().send("h€llo wörld")
    assert answer["MD5OfMessageBody"] == "10aec6d5b3cc8bda7a649d464305d720"


def test_bodies_cross_between_protocols(json_api, query_api, new_queue):
    """A body written through one protocol reads the same through the other."""
    queue = new_queue()
    for body in ROUND_TRIPS.values():
        json_api.SendMessage(QueueUrl=queue.url, MessageBody=body)
        answer = query_api.ReceiveMessage(QueueUrl=queue.url)
        assert answer["Messages"][0]["Body"] == body


@pytest.mark.parametrize("character", FORBIDDEN.values(), ids=FORBIDDEN)
def test_forbidden_characters_are_refused(new_queue, character):
    queue = new_queue()
    with refused("InvalidMessageContents", rule=f"body with {character!r}"):
        queue.send(f"a{character}b")
    assert queue.counts() == (0, 0, 0)


def test_an_empty_body_counts_as_missing(new_queue):
    queue = new_queue()
    with refused("MissingParameter", "The request must contain the parameter MessageBody."):
        queue.send("")


# --- Message attributes -----------------------------------------------------------------------


@pytest.mark.parametrize("attributes,digest", ATTRIBUTE_VECTORS.values(), ids=ATTRIBUTE_VECTORS)
def test_attribute_digest_vectors(new_queue, attributes, digest):
    queue = new_queue()
    sent = queue.send("b", MessageAttributes=attributes)
    assert sent["MD5OfMessageAttributes"] == digest == md5_of_attributes(attributes)
    message = queue.receive_one(MessageAttributeNames=["All"])
    assert message["MD5OfMessageAttributes"] == digest
    assert message["MessageAttributes"] == attributes


def test_attribute_values_round_trip_as_given(new_queue):
    attributes = {
        "text": string(' <a & "b">\r\n €🚀 '),
        "exact": number("0012.500"),
        "tiny": number("-1e-120"),
        "custom": {"DataType": "Binary.png", "BinaryValue": bytes(range(256))},
        "label": {"DataType": "String.with spaces", "StringValue": "x"},
    }
    queue = new_queue()
    sent = queue.send("b", MessageAttributes=attributes)
    message = queue.receive_one(MessageAttributeNames=["All"])
    assert message["MessageAttributes"] == attributes
    assert sent["MD5OfMessageAttributes"] == md5_of_attributes(attributes)


def test_system_attribute_digest_vector(new_queue):
    queue = new_queue()
    sent = queue.send("b", MessageSystemAttributes={"AWSTraceHeader": string(TRACE)})
    assert sent["MD5OfMessageSystemAttributes"] == "5ae4d5d7636402d80f4eb6d213245a88"
    assert "MD5OfMessageAttributes" not in sent
    message = queue.receive_one(AttributeNames=["AWSTraceHeader"], MessageAttributeNames=["All"])
    assert message["Attributes"] == {"AWSTraceHeader": TRACE}
    assert "MD5OfMessageAttributes" not in message, "system attributes never take part"


def test_the_trace_header_of_the_request_is_the_fallback(api, new_queue):
    traced = api.derive(headers={"X-Amzn-Trace-Id": "Root=1-from-header"})
    queue = new_queue(using=traced)
    queue.send("from the header")
    given = {"AWSTraceHeader": string("Root=1-given")}
    queue.send("given", MessageSystemAttributes=given)
    found = {
        message["Body"]: message["Attributes"]["AWSTraceHeader"]
        for message in queue.receive(AttributeNames=["AWSTraceHeader"])
    }
    assert found == {"from the header": "Root=1-from-header", "given": "Root=1-given"}


def test_only_the_trace_header_is_a_system_attribute(new_queue):
    queue = new_queue()
    with refused("InvalidParameterValue", rule="unknown message system attribute"):
        queue.send("b", MessageSystemAttributes={"Other": string("x")})
    with refused("InvalidParameterValue", rule="AWSTraceHeader is a String"):
        queue.send("b", MessageSystemAttributes={"AWSTraceHeader": number("1")})


VALID_ATTRIBUTE_NAMES = ["a", "n" * 256, "with.dot_and-dash", "AWSome", "Amazonian"]
INVALID_ATTRIBUTE_NAMES = [
    "n" * 257, "AWS.x", "aWs.x", "Amazon.x", "AMAZON.x", ".x", "x.", "x..y",
    "a!", 'a"', "a§", "a(", "a?", "a b", "attr.1øßä", "日本",
]  # fmt: skip
VALID_TYPES = ["String", "Number", "Number.int", "String." + "c" * 249]
INVALID_TYPES = ["Invalid", "string", "Strings", "String." + "c" * 256]


@pytest.mark.parametrize("name", VALID_ATTRIBUTE_NAMES)
def test_valid_attribute_names(new_queue, name):
    new_queue().send("b", MessageAttributes={name: string("x")})


@pytest.mark.parametrize("name", INVALID_ATTRIBUTE_NAMES)
def test_invalid_attribute_names(new_queue, name):
    queue = new_queue()
    with refused("InvalidParameterValue", rule=f"attribute name {name!r}"):
        queue.send("b", MessageAttributes={name: string("x")})


@pytest.mark.parametrize("data_type", VALID_TYPES)
def test_valid_attribute_types(new_queue, data_type):
    value = {"DataType": data_type, "StringValue": "1"}
    new_queue().send("b", MessageAttributes={"a": value})


@pytest.mark.parametrize("data_type", INVALID_TYPES)
def test_invalid_attribute_types(new_queue, data_type):
    queue = new_queue()
    with refused("InvalidParameterValue", rule=f"attribute type {data_type!r}"):
        queue.send("b", MessageAttributes={"a": {"DataType": data_type, "StringValue": "1"}})


def test_an_empty_string_attribute_is_refused(new_queue):
    queue = new_queue()
    with refused(
        "InvalidParameterValue",
        "Message (user) attribute 'empty' must contain a non-empty value of type 'String'.",
    ):
        queue.send("b", MessageAttributes={"empty": string("")})


@pytest.mark.parametrize(
    "value",
    [
        {"DataType": "String"},
        {"DataType": "Binary", "StringValue": "x"},
        {"DataType": "String", "BinaryValue": b"x"},
        {"DataType": "Number", "StringValue": "twelve"},
        {"DataType": "String", "StringValue": "a\x01b"},
    ],
    ids=["no value", "binary as text", "text as binary", "not a number", "bad character"],
)
def test_values_that_do_not_fit_their_type_are_refused(new_queue, value):
    queue = new_queue()
    with refused("InvalidParameterValue", rule=f"attribute value {value}"):
        queue.send("b", MessageAttributes={"a": value})


def test_ten_attributes_are_the_most(new_queue):
    queue = new_queue()
    queue.send("b", MessageAttributes={f"a{n}": string("x") for n in range(10)})
    with refused("InvalidParameterValue", rule="at most 10 message attributes"):
        queue.send("b", MessageAttributes={f"a{n}": string("x") for n in range(11)})


# --- Size -------------------------------------------------------------------------------------


def test_a_message_of_exactly_one_mebibyte_is_accepted(new_queue):
    queue = new_queue()
    body = "x" * 1048576
    assert queue.send(body)["MD5OfMessageBody"] == md5_of_body(body)
    assert queue.receive_one()["Body"] == body
    with refused(
        "InvalidParameterValue",
        "One or more parameters are invalid. "
        "Reason: Message must be shorter than 1048576 bytes.",
    ):
        queue.send(body + "x")


def test_the_queues_own_limit_counts_bytes_not_characters(new_queue):
    queue = new_queue(attributes={"MaximumMessageSize": "1024"})
    queue.send("é" * 512)
    with refused(
        "InvalidParameterValue",
        "One or more parameters are invalid. Reason: Message must be shorter than 1024 bytes.",
    ):
        queue.send("é" * 512 + "x")


def test_names_types_and_values_of_attributes_count(new_queue):
    queue = new_queue(attributes={"MaximumMessageSize": "1024"})
    attributes = {"name": string("value"), "b": binary(b"12345")}  # 4+6+5 and 1+6+5 bytes
    queue.send("x" * (1024 - 27), MessageAttributes=attributes)
    with refused("InvalidParameterValue", rule="attributes count towards the size"):
        queue.send("x" * (1024 - 26), MessageAttributes=attributes)


def test_system_attributes_do_not_count(new_queue):
    queue = new_queue(attributes={"MaximumMessageSize": "1024"})
    queue.send("x" * 1024, MessageSystemAttributes={"AWSTraceHeader": string(TRACE)})


# --- Delay ------------------------------------------------------------------------------------


@pytest.mark.virtual_clock
def test_a_delayed_message_appears_after_its_delay(new_queue):
    queue = new_queue()
    queue.send("later", DelaySeconds=1)
    assert queue.counts() == (0, 0, 1)
    assert queue.bodies() == []
    clock.wait(1)
    assert queue.counts() == (1, 0, 0)
    assert queue.bodies() == ["later"]


def test_the_queues_delay_is_the_default_and_zero_overrides_it(new_queue):
    queue = new_queue(attributes={"DelaySeconds": "900"})
    queue.send("delayed")
    queue.send("at once", DelaySeconds=0)
    assert queue.bodies() == ["at once"]
    assert queue.counts() == (0, 1, 1)


def test_changing_a_standard_queues_delay_is_not_retroactive(new_queue):
    queue = new_queue(attributes={"DelaySeconds": "900"})
    queue.send("old delay")
    queue.set(DelaySeconds="0")
    queue.send("new delay")
    assert queue.bodies() == ["new delay"]


@pytest.mark.parametrize("delay", [-1, 901])
def test_delay_range(new_queue, delay):
    queue = new_queue()
    with refused("InvalidParameterValue", rule="DelaySeconds is 0..900", matching=str(delay)):
        queue.send("b", DelaySeconds=delay)
    queue.send("b", DelaySeconds=900)


def test_a_deduplication_id_is_refused_on_a_standard_queue(new_queue):
    queue = new_queue()
    with refused("InvalidParameterValue", matching="not valid for this queue type"):
        queue.send("b", MessageDeduplicationId="d")
