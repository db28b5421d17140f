"""Tries every message, deletes those that succeeded, and lets the rest come back until they expire.

It has to raise in the end: a mapping deletes the whole batch of a handler that returns.
"""

import os

import boto3

from process import process_message

sqs = boto3.client("sqs", endpoint_url=os.environ.get("AWS_ENDPOINT_URL"))


def handler(event, context):
    done, failed = [], []
    for record in event["Records"]:
        try:
            process_message(record["body"])
            done.append({"Id": record["messageId"], "ReceiptHandle": record["receiptHandle"]})
        except Exception as error:
            failed.append(error)
    if done:
        sqs.delete_message_batch(QueueUrl=os.environ["QUEUE_URL"], Entries=done)
    if failed:
        raise failed[0]
    return {"deleted": len(done)}
