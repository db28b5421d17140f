"""A queue as a test sees it: short names for the calls every test makes."""

import json
import uuid


def unique_name(prefix="q", fifo=False):
    return f"{prefix}-{uuid.uuid4().hex[:12]}" + (".fifo" if fifo else "")


class Queue:
    """A queue created for one test, bound to one client."""

    def __init__(self, api, name, url):
        self.api = api
        self.name = name
        self.url = url

    @classmethod
    def create(cls, api, prefix="q", fifo=False, attributes=None, tags=None):
        name = unique_name(prefix, fifo)
        attributes = {**({"FifoQueue": "true"} if fifo else {}), **(attributes or {})}
        parameters = {"QueueName": name}
        if attributes:
            parameters["Attributes"] = attributes
        if tags:
            parameters["tags"] = tags
        return cls(api, name, api.CreateQueue(**parameters)["QueueUrl"])

    @property
    def arn(self):
        return self.attribute("QueueArn")

    def attributes(self, *names):
        names = list(names) or ["All"]
        return self.api.GetQueueAttributes(QueueUrl=self.url, AttributeNames=names).get(
            "Attributes", {}
        )

    def attribute(self, name):
        return self.attributes(name).get(name)

    def set(self, **attributes):
        return self.api.SetQueueAttributes(QueueUrl=self.url, Attributes=attributes)

    def counts(self):
        """(visible, in flight, delayed)"""
        prefix = "ApproximateNumberOfMessages"
        found = self.attributes(prefix, prefix + "NotVisible", prefix + "Delayed")
        return tuple(int(found[prefix + suffix]) for suffix in ("", "NotVisible", "Delayed"))

    def send(self, body, **parameters):
        return self.api.SendMessage(QueueUrl=self.url, MessageBody=body, **parameters)

    def send_fifo(self, body, group="g", dedup=None, **parameters):
        return self.send(
            body,
            MessageGroupId=group,
            MessageDeduplicationId=dedup or uuid.uuid4().hex,
            **parameters,
        )

    def send_batch(self, entries):
        return self.api.SendMessageBatch(QueueUrl=self.url, Entries=entries)

    def receive(self, max=10, wait=0, **parameters):
        """Short polls unless told otherwise."""
        answer = self.api.ReceiveMessage(
            QueueUrl=self.url, MaxNumberOfMessages=max, WaitTimeSeconds=wait, **parameters
        )
        return answer.get("Messages", [])

    def receive_one(self, **parameters):
        messages = self.receive(max=1, **parameters)
        assert len(messages) == 1, f"expected one message in {self.name}, got {messages}"
        return messages[0]

    def bodies(self, **parameters):
        return [message["Body"] for message in self.receive(**parameters)]

    def delete(self, message):
        return self.delete_handle(message["ReceiptHandle"])

    def delete_handle(self, handle):
        return self.api.DeleteMessage(QueueUrl=self.url, ReceiptHandle=handle)

    def change_visibility(self, message, seconds):
        return self.api.ChangeMessageVisibility(
            QueueUrl=self.url, ReceiptHandle=message["ReceiptHandle"], VisibilityTimeout=seconds
        )

    def redrive_to(self, target, max_receives):
        policy = {"deadLetterTargetArn": target.arn, "maxReceiveCount": max_receives}
        return self.set(RedrivePolicy=json.dumps(policy))


def string(value):
    """A String message attribute."""
    return {"DataType": "String", "StringValue": value}


def number(value):
    return {"DataType": "Number", "StringValue": value}


def binary(value):
    return {"DataType": "Binary", "BinaryValue": value}
