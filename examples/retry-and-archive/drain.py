"""Drains a dead-letter queue: back to the source a few times, in the end into S3.

Plain boto3, for AWS or any server that speaks SQS and S3. How often a message has been back travels
with it, in the attribute retryCount.
"""

import datetime
import json
import os

import boto3

SOURCE = os.environ["SOURCE_QUEUE_URL"]
DLQ = os.environ["DLQ_QUEUE_URL"]
BUCKET = os.environ["ARCHIVE_BUCKET"]
PREFIX = os.environ.get("ARCHIVE_PREFIX", "unprocessedmessages")
MAX_RETRIES = int(os.environ.get("MAX_RETRIES", "2"))
WAIT_SECONDS = int(os.environ.get("WAIT_SECONDS", "20"))

endpoint = os.environ.get("AWS_ENDPOINT_URL")
sqs = boto3.client("sqs", endpoint_url=endpoint)
s3 = boto3.client("s3", endpoint_url=endpoint)


def retry(message, attributes):
    sqs.send_message(
        QueueUrl=SOURCE, MessageBody=message["Body"], MessageAttributes=attributes
    )


def archive(message, attributes):
    now = datetime.datetime.now()
    key = f"{PREFIX}/{now:%b-%d-%Y}/{now.timestamp()}_{message['MessageId']}.json"
    document = json.dumps({"Body": message["Body"], "Attribute": attributes})
    s3.put_object(Bucket=BUCKET, Key=key, Body=document)


def drain():
    while True:
        answer = sqs.receive_message(
            QueueUrl=DLQ,
            MaxNumberOfMessages=10,
            WaitTimeSeconds=WAIT_SECONDS,
            MessageAttributeNames=["All"],
        )
        if "Messages" not in answer:
            return
        for message in answer["Messages"]:
            attributes = message.get("MessageAttributes", {})
            count = int(attributes.get("retryCount", {}).get("StringValue", 0))
            attributes["retryCount"] = {"StringValue": str(count + 1), "DataType": "Number"}
            (retry if count <= MAX_RETRIES else archive)(message, attributes)
            sqs.delete_message(QueueUrl=DLQ, ReceiptHandle=message["ReceiptHandle"])


if __name__ == "__main__":
    drain()
