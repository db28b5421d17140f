"""A consumer that sets aside what it cannot read.

Plain boto3: it works against AWS as it does against any server that speaks SQS. Messages are meant
to be JSON. One that is not goes to the dead-letter queue with its attributes, and out of this one.
"""

import json
import os

import boto3

SOURCE = os.environ["SOURCE_QUEUE_URL"]
DLQ = os.environ["DLQ_QUEUE_URL"]
WAIT_SECONDS = int(os.environ.get("WAIT_SECONDS", "20"))

sqs = boto3.client("sqs", endpoint_url=os.environ.get("AWS_ENDPOINT_URL"))


def handle(order):
    print("handled", order)


def consume():
    """One poll. Tells how many messages it found."""
    answer = sqs.receive_message(
        QueueUrl=SOURCE,
        MaxNumberOfMessages=10,
        WaitTimeSeconds=WAIT_SECONDS,
        MessageAttributeNames=["All"],
    )
    messages = answer.get("Messages", [])
    for message in messages:
        try:
            handle(json.loads(message["Body"]))
        except ValueError as error:
            print("set aside:", error)
            sqs.send_message(
                QueueUrl=DLQ,
                MessageBody=message["Body"],
                MessageAttributes=message.get("MessageAttributes", {}),
            )
        sqs.delete_message(QueueUrl=SOURCE, ReceiptHandle=message["ReceiptHandle"])
    return len(messages)


if __name__ == "__main__":
    while consume():
        pass
