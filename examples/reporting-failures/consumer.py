"""A consumer of two orders, one of which cannot be processed. Run by run.sh."""

import json
import os

import boto3
from report import Permanent, reporting

sqs = boto3.client("sqs", endpoint_url=os.environ["AWS_ENDPOINT_URL"])
queue = sqs.get_queue_url(QueueName="orders")["QueueUrl"]


@reporting
def handle(message):
    order = json.loads(message["Body"])
    if "store_id" not in order:
        raise Permanent("an order without store_id")
    print("python: shipped to store", order["store_id"])


for message in sqs.receive_message(QueueUrl=queue, MaxNumberOfMessages=10).get("Messages", []):
    try:
        handle(message)
        sqs.delete_message(QueueUrl=queue, ReceiptHandle=message["ReceiptHandle"])
    except Permanent as error:
        print("python: given up:", error)
