"""The server is killed while handlers work: whatever the moment, nothing is lost.

A handler does its work by sending what it got to another queue. Deleted messages are there, so a
message that is neither there nor in its source has been deleted without success.
"""

import json
import random
import time

import pytest

from harness import clock
from harness.functions import client, settings
from harness.management import Management

pytestmark = pytest.mark.own_server

KILLS = 4
ROUND = 12  # Messages for each life of the server.

FORWARDING = """
import http.client, json, os, urllib.parse

def handler(event, context):
    address = urllib.parse.urlsplit(os.environ["AWS_ENDPOINT_URL"])
    connection = http.client.HTTPConnection(address.hostname, address.port)
    for record in event["Records"]:
        body = json.dumps({"QueueUrl": os.environ["DONE"], "MessageBody": record["body"]})
        connection.request("POST", "/", body, {
            "X-Amz-Target": "AmazonSQS.SendMessage", "Content-Type": "application/x-amz-json-1.0"})
        answer = connection.getresponse()
        answer.read()
        if answer.status != 200:
            raise RuntimeError(str(answer.status))
"""


def received(sqs, url):
    bodies = []
    while messages := sqs.receive_message(QueueUrl=url, MaxNumberOfMessages=10).get("Messages"):
        bodies += [message["Body"] for message in messages]
    return bodies


def is_empty(sqs, url):
    names = ["ApproximateNumberOfMessages", "ApproximateNumberOfMessagesNotVisible"]
    told = sqs.get_queue_attributes(QueueUrl=url, AttributeNames=names)["Attributes"]
    return all(count == "0" for count in told.values())


def invoke_later(functions, name, body):
    functions.invoke(FunctionName=name, InvocationType="Event",
                     Payload=json.dumps({"Records": [{"body": body}]}))


def test_kills_lose_nothing(launch, tmp_path):
    arguments = ("--data", str(tmp_path / "data"), "--virtual-clock")
    server = launch(*arguments)
    sqs, functions = client("sqs", server.endpoint), client("lambda", server.endpoint)
    sqs.create_queue(QueueName="source")
    sqs.create_queue(QueueName="done")
    arn = sqs.get_queue_attributes(QueueUrl="source", AttributeNames=["QueueArn"])
    made = functions.create_function(**settings(
        FORWARDING, Timeout=10, Environment={"Variables": {"DONE": "done"}}))
    functions.create_event_source_mapping(
        EventSourceArn=arn["Attributes"]["QueueArn"], FunctionName=made["FunctionName"], BatchSize=3)
    chance = random.Random(6)
    sent = []
    for life in range(KILLS):
        for number in range(ROUND):
            sent.append(f"m{life}-{number}")
            sqs.send_message(QueueUrl="source", MessageBody=sent[-1])
        sent.append(f"event{life}")
        invoke_later(functions, made["FunctionName"], sent[-1])
        time.sleep(chance.uniform(0, 0.6))
        server.kill()
        server = launch(*arguments)
        sqs, functions = client("sqs", server.endpoint), client("lambda", server.endpoint)
        # What was in hand becomes visible again.
        Management(server.endpoint).advance(60)
    clock.until("the source is empty", lambda: is_empty(sqs, "source"), timeout=60)
    done = set()

    def all_done():
        done.update(received(sqs, "done"))
        return done >= set(sent)

    clock.until("everything was worked on", all_done, timeout=60)
    assert server.stop() == 0
