"""Hours and days of an SQS consumer's life, each test in milliseconds."""

import json

import pytest
from worker import work

DAY = 86_400


class Handler:
    """Fails as often as it is told to, and remembers what it was given."""

    def __init__(self, failures=0):
        self.failures = failures
        self.seen = []

    def __call__(self, body):
        self.seen.append(body)
        if len(self.seen) <= self.failures:
            raise RuntimeError("no luck")


@pytest.fixture
def queue(sqs):
    def create(name="orders", **attributes):
        return sqs.create_queue(QueueName=name, Attributes=attributes)["QueueUrl"]

    return create


def waiting(sqs, url):
    name = "ApproximateNumberOfMessages"
    return int(sqs.get_queue_attributes(QueueUrl=url, AttributeNames=[name])["Attributes"][name])


def test_a_worker_that_dies_loses_nothing(redrive, sqs, queue):
    url = queue(VisibilityTimeout="300")
    sqs.send_message(QueueUrl=url, MessageBody="order 17")
    sqs.receive_message(QueueUrl=url)  # A consumer receives it and crashes.

    handler = Handler()
    redrive.advance(299)
    assert work(sqs, url, handler) == 0
    redrive.advance(1)
    assert work(sqs, url, handler) == 1
    assert handler.seen == ["order 17"]


def test_a_delayed_order_waits_its_quarter_of_an_hour(redrive, sqs, queue):
    url = queue(DelaySeconds="900")
    sqs.send_message(QueueUrl=url, MessageBody="remind me")
    redrive.advance(899)
    assert work(sqs, url, Handler()) == 0
    redrive.advance(1)
    assert work(sqs, url, Handler()) == 1


def test_an_order_nobody_takes_is_gone_after_four_days(redrive, sqs, queue):
    url = queue(MessageRetentionPeriod=str(4 * DAY))
    sqs.send_message(QueueUrl=url, MessageBody="too late")
    redrive.advance(4 * DAY - 1)
    assert waiting(sqs, url) == 1
    redrive.advance(1)
    assert waiting(sqs, url) == 0


def test_each_failure_doubles_the_pause(redrive, sqs, queue):
    url = queue()
    sqs.send_message(QueueUrl=url, MessageBody="order 17")
    handler = Handler(failures=4)
    work(sqs, url, handler)
    for pause in (10, 20, 40, 80):
        seen = len(handler.seen)
        redrive.advance(pause - 1)
        work(sqs, url, handler)
        assert len(handler.seen) == seen
        redrive.advance(1)
        work(sqs, url, handler)
        assert len(handler.seen) == seen + 1
    assert waiting(sqs, url) == 0


def test_what_always_fails_ends_in_the_dead_letter_queue(redrive, sqs, queue):
    dead = queue("orders-dlq")
    arn = sqs.get_queue_attributes(QueueUrl=dead, AttributeNames=["QueueArn"])["Attributes"]
    policy = {"deadLetterTargetArn": arn["QueueArn"], "maxReceiveCount": 3}
    url = queue(RedrivePolicy=json.dumps(policy))
    sqs.send_message(QueueUrl=url, MessageBody="poison")

    handler = Handler(failures=100)
    for _ in range(10):
        work(sqs, url, handler)
        redrive.advance(3600)
    assert handler.seen == ["poison"] * 3
    assert sqs.receive_message(QueueUrl=dead)["Messages"][0]["Body"] == "poison"
