"""Plays five stores that send orders for some seconds; every fourth order forgets its store_id."""

import datetime
import json
import os
import random
import time

import boto3

SECONDS = float(os.environ.get("RUN_SECONDS", "5"))
ORDERS_MIN = 40  # However short the run is: enough to tell what sets bad ones apart.
NAMES = ["Shifter", "Breaker", "Harbinger", "Sparrow", "Tidecaller"]


def text(value):
    return {"DataType": "String", "StringValue": value}


def number(value):
    return {"DataType": "Number", "StringValue": str(value)}


def order_of(n):
    body = {
        "name": random.choice(NAMES),
        "order": n,
        "data_share_consent": random.random() < 0.5,
        "evnt_time": datetime.datetime.now().isoformat(),
    }
    attributes = {
        "project": text("Reliable Queues with Dead-Letter-Queue"),
        "ts": number(int(time.time())),
    }
    bad = n % 4 == 3
    if not bad:
        attributes["store_id"] = number(random.randint(1, 5))
    return body, attributes, bad


def handler(event, context):
    sqs = boto3.client("sqs", endpoint_url=os.environ.get("AWS_ENDPOINT_URL"))
    count = bad_count = 0
    end = time.monotonic() + SECONDS
    while time.monotonic() < end or count < ORDERS_MIN:
        body, attributes, bad = order_of(count)
        sqs.send_message(
            QueueUrl=os.environ["QUEUE_URL"],
            MessageBody=json.dumps(body),
            MessageAttributes=attributes,
        )
        count += 1
        bad_count += bad
        time.sleep(SECONDS / 100)
    message = {"status": True, "msg_cnt": count, "bad_msg": bad_count}
    return {"statusCode": 200, "body": json.dumps({"message": message})}
