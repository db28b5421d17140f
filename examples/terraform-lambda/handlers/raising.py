"""Deletes each message that it has processed, and raises at the first that fails."""

import json
import os

import boto3

from process import process_message

sqs = boto3.client("sqs", endpoint_url=os.environ.get("AWS_ENDPOINT_URL"))


def handler(event, context):
    for record in event["Records"]:
        process_message(record["body"])
        sqs.delete_message(
            QueueUrl=os.environ["QUEUE_URL"], ReceiptHandle=record["receiptHandle"]
        )
    return {"statusCode": 200, "body": json.dumps("Message processing complete.")}
