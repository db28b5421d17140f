"""Shows what it receives. Plain boto3, for AWS or any server that speaks SQS.

    python3 consumer.py QUEUE_URL              forgets to delete: every message comes back
    python3 consumer.py QUEUE_URL --delete     deletes what it has shown
    python3 consumer.py QUEUE_URL --once       looks once

It ends when nothing has come for a while.
"""

import json
import os
import sys

import boto3

VISIBILITY_TIMEOUT = int(os.environ.get("VISIBILITY_TIMEOUT", "5"))
WAIT_SECONDS = VISIBILITY_TIMEOUT + 1

sqs = boto3.client("sqs", endpoint_url=os.environ.get("AWS_ENDPOINT_URL"))


def show(message):
    attributes = message["Attributes"]
    print("=" * 72)
    print("MessageId:", message["MessageId"])
    print("ApproximateReceiveCount:", attributes["ApproximateReceiveCount"])
    if "DeadLetterQueueSourceArn" in attributes:
        print("DeadLetterQueueSourceArn:", attributes["DeadLetterQueueSourceArn"])
    try:
        print("Body (json):", json.dumps(json.loads(message["Body"]), indent=2))
    except ValueError:
        print("Body (text):", message["Body"])


def consume(url, delete, once):
    while True:
        answer = sqs.receive_message(
            QueueUrl=url,
            MaxNumberOfMessages=10,
            WaitTimeSeconds=WAIT_SECONDS,
            VisibilityTimeout=VISIBILITY_TIMEOUT,
            MessageAttributeNames=["All"],
            AttributeNames=["All"],
        )
        if "Messages" not in answer:
            return
        for message in answer["Messages"]:
            show(message)
            if delete:
                sqs.delete_message(QueueUrl=url, ReceiptHandle=message["ReceiptHandle"])
                print("deleted")
        if once:
            return


if __name__ == "__main__":
    consume(sys.argv[1], "--delete" in sys.argv, "--once" in sys.argv)
