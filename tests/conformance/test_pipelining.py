"""Several requests in one write: answered in order, and none waits for anything but its sync."""

import json
import socket
import time
import urllib.parse

import pytest

from harness.queue import Queue

# A request that is found behind another while that one is answered once waited for the next event of
# the loop, up to a second each.
PATIENCE = 5


def request(action, **members):
    body = json.dumps(members)
    return (
        "POST / HTTP/1.1\r\nHost: 127.0.0.1\r\nContent-Type: application/x-amz-json-1.0\r\n"
        f"X-Amz-Target: AmazonSQS.{action}\r\nContent-Length: {len(body)}\r\n\r\n{body}"
    )


def management(target):
    return f"GET /_redrive/v1/{target} HTTP/1.1\r\nHost: 127.0.0.1\r\n\r\n"


def pipelined(endpoint, requests):
    """The bodies of the answers to requests that are sent in one write."""
    parts = urllib.parse.urlsplit(endpoint)
    with socket.create_connection((parts.hostname, parts.port), timeout=20) as connection:
        connection.sendall("".join(requests).encode())
        stream = connection.makefile("rb")
        return [read_answer(stream) for _ in requests]


def read_answer(stream):
    status = int(stream.readline().split()[1])
    length = 0
    while line := stream.readline().strip():
        name, _, value = line.partition(b":")
        if name.lower() == b"content-length":
            length = int(value)
    body = stream.read(length)
    assert status == 200, body
    return json.loads(body or b"{}")


@pytest.fixture
def queue(json_api):
    return Queue.create(json_api)


@pytest.mark.parametrize("count, rounds", [(2, 8), (6, 2), (50, 1)])
def test_pipelined_sends_do_not_wait_for_one_another(endpoint, queue, count, rounds):
    sends = [
        request("SendMessage", QueueUrl=queue.url, MessageBody=f"m{i}") for i in range(count)
    ]
    begun = time.monotonic()
    answers = [answer for _ in range(rounds) for answer in pipelined(endpoint, sends)]
    assert time.monotonic() - begun < PATIENCE
    assert len({answer["MessageId"] for answer in answers}) == count * rounds


def test_pipelined_sends_receives_and_deletes_keep_their_order(endpoint, queue):
    send = request("SendMessage", QueueUrl=queue.url, MessageBody="m")
    receive = request("ReceiveMessage", QueueUrl=queue.url)
    count = request("GetQueueAttributes", QueueUrl=queue.url, AttributeNames=["All"])
    begun = time.monotonic()
    answers = pipelined(endpoint, [send, receive, send, count, send, receive] * 5)
    assert time.monotonic() - begun < PATIENCE
    for i in range(0, len(answers), 6):
        sent, received, _, counted, _, again = answers[i : i + 6]
        assert received["Messages"][0]["MessageId"]
        assert "MessageId" in sent and len(again["Messages"]) == 1
        # Two were sent before it and one received, in each round before as well: two were received.
        attributes = counted["Attributes"]
        assert int(attributes["ApproximateNumberOfMessagesNotVisible"]) == i // 6 * 2 + 1
    handles = [message["ReceiptHandle"] for answer in answers for message in answer.get("Messages", [])]
    deletes = [
        request("DeleteMessage", QueueUrl=queue.url, ReceiptHandle=handle) for handle in handles
    ]
    mixed = [part for delete in deletes for part in (delete, send)]
    begun = time.monotonic()
    pipelined(endpoint, mixed)
    assert time.monotonic() - begun < PATIENCE


def test_what_runs_beside_the_io_thread_is_answered_in_its_place(endpoint, queue):
    """Management, metrics and listings run on a pool; their connection waits for them."""
    name = queue.name
    send = request("SendMessage", QueueUrl=queue.url, MessageBody="m")
    requests = [
        send,
        management(f"queues/{name}/messages?limit=10"),
        request("ListQueues", QueueNamePrefix=name),
        send,
        management(f"queues/{name}/messages?limit=10"),
        management("overview"),
        send,
    ]
    answers = pipelined(endpoint, requests)
    assert len(answers[1]["messages"]) == 1
    assert [url.rsplit("/", 1)[1] for url in answers[2]["QueueUrls"]] == [name]
    assert len(answers[4]["messages"]) == 2
    assert "queues" in answers[5] and "MessageId" in answers[6]
