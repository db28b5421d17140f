"""Tells Redrive why a message failed.

    for message in sqs.receive_message(QueueUrl=url)["Messages"]:
        with reporting(sqs, message):
            handle(message)
            sqs.delete_message(QueueUrl=url, ReceiptHandle=message["ReceiptHandle"])

At any other endpoint than Redrive nothing is sent.
"""

import functools
import json
import logging
import re
import time
import traceback
from urllib.parse import urlsplit

from botocore.awsrequest import AWSRequest
from botocore.httpsession import URLLib3Session

__all__ = ["Permanent", "is_redrive", "report", "report_text", "reporting"]

logger = logging.getLogger("redrive")

_TIMEOUT = (2, 5)  # Seconds to connect, and to be answered.
_PROBE_AGAIN_SECONDS = 30
_AWS = re.compile(r"(^|\.)(amazonaws\.com(\.cn)?|api\.aws|api\.amazonwebservices\.com\.cn)$")
_known = {}  # By endpoint: whether it is Redrive, and until when that is known.


class Permanent(Exception):
    """No retry will help: the message becomes a dead letter at once."""


class reporting:
    """Reports the error that a block, or a function of one message, raises; the error goes on.

    with reporting(sqs, message): ...
    @reporting(sqs), above a function that takes a message first
    """

    def __init__(self, client, message=None, permanent=()):
        self._client = client
        self._message = message
        self._permanent = permanent

    def __enter__(self):
        if self._message is None:
            raise TypeError("reporting() as a context manager needs the message: reporting(client, message)")
        return self._message

    def __exit__(self, kind, error, trace):
        if isinstance(error, Exception):
            report(self._client, self._message, error, self._permanent)
        return False

    def __call__(self, handle):
        @functools.wraps(handle)
        def wrapped(message, *args, **kwargs):
            with reporting(self._client, message, self._permanent):
                return handle(message, *args, **kwargs)

        return wrapped


def report(client, message, error, permanent=()):
    """Reports one failure of a message. Returns whether the message is a dead letter now. Never raises."""
    text = "".join(traceback.format_exception(type(error), error, error.__traceback__))
    is_permanent = isinstance(error, (Permanent, *_classes(permanent)))
    return report_text(client, receipt_handle_of(message), type(error).__name__, str(error), text, is_permanent)


def report_text(client, receipt_handle, error_type, error_message, stack_trace, permanent=False):
    """The same for an error that is known by its texts only."""
    try:
        client = _client_of(client)
        if not is_redrive(client):
            return False
        document = {
            "receiptHandle": receipt_handle,
            "errorType": error_type,
            "errorMessage": error_message,
            "stackTrace": stack_trace,
        }
        if permanent and _post(client, {**document, "disposition": "dead-letter"})[0] == 200:
            return True
        # A queue without a dead-letter queue keeps the message.
        status, answer = _post(client, document)
        if status != 200:
            logger.warning("redrive: a failure was not reported: %s", answer.decode("utf-8", "replace")[:500])
    except Exception as failure:
        logger.warning("redrive: a failure was not reported: %s", failure)
    return False


def is_redrive(client):
    """Whether a client talks to Redrive. Hosts of AWS are never asked, others once."""
    client = _client_of(client)
    endpoint = client.meta.endpoint_url.rstrip("/")
    if _AWS.search(urlsplit(endpoint).hostname or ""):
        return False
    found, until = _known.get(endpoint, (False, 0))
    if until < time.monotonic():
        found, until = _known[endpoint] = _probe(client, endpoint)
    return found


def receipt_handle_of(message):
    """Of a message as a client returns it (a dict) or as a resource does (an object)."""
    return message["ReceiptHandle"] if isinstance(message, dict) else message.receipt_handle


def _classes(permanent):
    return (permanent,) if isinstance(permanent, type) else tuple(permanent)


def _client_of(client):
    return client if hasattr(client.meta, "endpoint_url") else client.meta.client


def _send(client, request):
    verify = getattr(client._endpoint.http_session, "_verify", True)
    session = URLLib3Session(verify=verify, timeout=_TIMEOUT)
    try:
        response = session.send(request.prepare())
        return response.status_code, response.content
    finally:
        close = getattr(session, "close", None)
        if close:
            close()


def _probe(client, endpoint):
    try:
        status, body = _send(client, AWSRequest("GET", endpoint + "/"))
    except Exception:
        return False, time.monotonic() + _PROBE_AGAIN_SECONDS  # Not there, for now.
    return status == 200 and b'"service":"redrive"' in body, float("inf")


def _post(client, document):
    url = client.meta.endpoint_url.rstrip("/") + "/_redrive/v1/failures"
    request = AWSRequest("POST", url, data=json.dumps(document), headers={"Content-Type": "application/json"})
    auth = client._request_signer.get_auth_instance("sqs", client.meta.region_name, "v4")
    if auth.credentials is not None:
        auth.add_auth(request)
    return _send(client, request)
