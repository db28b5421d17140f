"""Tells Redrive why a message failed. Wrap the function that handles one message with @reporting."""

import functools
import json
import os
import traceback
import urllib.request

import boto3
from botocore.auth import SigV4Auth
from botocore.awsrequest import AWSRequest


class Permanent(Exception):
    """No retry will help: the message becomes a dead letter at once."""


def reporting(handle):
    @functools.wraps(handle)
    def wrapped(message):
        try:
            return handle(message)
        except Exception as error:
            report(message["ReceiptHandle"], error)
            raise

    return wrapped


def report(receipt_handle, error):
    failure = {
        "receiptHandle": receipt_handle,
        "errorType": type(error).__name__,
        "errorMessage": str(error),
        "stackTrace": "".join(traceback.format_exception(error)),
    }
    if isinstance(error, Permanent):
        failure["disposition"] = "dead-letter"
    url = os.environ["AWS_ENDPOINT_URL"] + "/_redrive/v1/failures"
    request = AWSRequest("POST", url, data=json.dumps(failure))
    session = boto3.Session()
    if credentials := session.get_credentials():
        SigV4Auth(credentials, "sqs", session.region_name or "us-east-1").add_auth(request)
    body = request.data.encode() if isinstance(request.data, str) else request.data
    urllib.request.urlopen(urllib.request.Request(url, body, dict(request.headers))).read()
