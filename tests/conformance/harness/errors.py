"""What an SQS error is, in both protocols, and the table of codes every error must obey."""

import contextlib
import dataclasses
import re

PREFIX = "AWS.SimpleQueueService."

# Query code -> (JSON __type suffix, HTTP status). Two codes share a suffix only if SQS does so.
CODES = {
    PREFIX + "NonExistentQueue": ("QueueDoesNotExist", 400),
    "QueueAlreadyExists": ("QueueNameExists", 400),
    PREFIX + "QueueDeletedRecently": ("QueueDeletedRecently", 400),
    "InvalidParameterValue": ("InvalidParameterValueException", 400),
    "MissingParameter": ("MissingRequiredParameterException", 400),
    "InvalidAttributeName": ("InvalidAttributeName", 400),
    "InvalidAttributeValue": ("InvalidAttributeValue", 400),
    "InvalidMessageContents": ("InvalidMessageContents", 400),
    "ReceiptHandleIsInvalid": ("ReceiptHandleIsInvalid", 404),
    PREFIX + "TooManyEntriesInBatchRequest": ("TooManyEntriesInBatchRequest", 400),
    PREFIX + "EmptyBatchRequest": ("EmptyBatchRequest", 400),
    PREFIX + "BatchEntryIdsNotDistinct": ("BatchEntryIdsNotDistinct", 400),
    PREFIX + "InvalidBatchEntryId": ("InvalidBatchEntryId", 400),
    PREFIX + "BatchRequestTooLong": ("BatchRequestTooLong", 400),
    PREFIX + "PurgeQueueInProgress": ("PurgeQueueInProgress", 403),
    PREFIX + "UnsupportedOperation": ("UnsupportedOperation", 400),
    "OverLimit": ("OverLimit", 403),
    "ResourceNotFoundException": ("ResourceNotFoundException", 404),
    "AccessDenied": ("AccessDeniedException", 403),
    "InvalidClientTokenId": ("UnrecognizedClientException", 403),
    "SignatureDoesNotMatch": ("InvalidSignatureException", 403),
    "RequestThrottled": ("RequestThrottled", 403),
}
_FRAMEWORK_TYPES = {
    "InvalidParameterValueException",
    "MissingRequiredParameterException",
    "AccessDeniedException",
    "UnrecognizedClientException",
    "InvalidSignatureException",
}


@dataclasses.dataclass
class ApiError(Exception):
    """An error answer. `json_type` is the whole __type and None in the Query protocol."""

    action: str
    code: str
    status: int
    message: str
    fault: str = "Sender"
    json_type: str | None = None

    def __str__(self):
        return f"{self.action}: {self.status} {self.code}: {self.message} (type {self.json_type})"


@contextlib.contextmanager
def refused(code, message=None, *, rule="", matching=None, status=None):
    """Expects the block to be answered with an error `code`.

    Status, JSON type and fault follow from the code. `message` is compared byte for byte,
    `matching` is a regular expression for texts AWS does not promise.
    """
    label = rule or message or code
    try:
        yield
    except ApiError as error:
        check_error(error, code, message, label, matching, status)
        return
    raise AssertionError(f"{label}: expected {code}, but the request was accepted")


def check_error(error, code, message=None, label="", matching=None, status=None):
    assert error.code == code, f"{label}: wrong code, got {error}"
    suffix, usual_status = CODES[code]
    assert error.status == (status or usual_status), f"{label}: wrong HTTP status, got {error}"
    assert error.fault == "Sender", f"{label}: a client's mistake is the sender's fault"
    if error.json_type is not None:
        space = "com.amazon.coral.service" if suffix in _FRAMEWORK_TYPES else "com.amazonaws.sqs"
        assert error.json_type == f"{space}#{suffix}", f"{label}: wrong __type, got {error}"
    if message is not None:
        assert error.message == message, f"{label}: wrong text"
    if matching is not None:
        assert re.search(matching, error.message), f"{label}: text {error.message!r}"


def missing_queue_text(api):
    """The one text that differs between the protocols."""
    suffix = "." if api.protocol == "json" else " for this wsdl version."
    return "The specified queue does not exist" + suffix
