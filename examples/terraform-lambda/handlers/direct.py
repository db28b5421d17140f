"""Is invoked with one message itself, asynchronously, without a queue."""

from process import process_message


def handler(event, context):
    process_message(event["message"])
    return {"processed": event["message"]}
