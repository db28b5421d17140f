"""Handlers that fail in more than one way at once."""
import logging

from aws_lambda_powertools.utilities.batch.base import BatchProcessor


class OrderError(Exception):
    pass


def load(text):
    return int(text)


def nested(level):
    if level == 9:
        raise OrderError("level 9")
    try:
        nested(level + 1)
    except OrderError as error:
        raise OrderError("level %d" % level) from error


def chained(event, context):
    if event["deep"]:
        nested(0)
    try:
        load("x17")
    except ValueError as error:
        raise OrderError("cannot load") from error


def logs(event, context):
    try:
        load("x17")
    except ValueError:
        logging.exception("not loaded")


def fail(record):
    if record["messageId"] != "b":
        raise KeyError("of " + record["messageId"])


def fail_always(record):
    raise ValueError("of " + record["messageId"])


def some_records(event, context):
    return BatchProcessor().process(event["Records"], fail)


def all_records(event, context):
    return BatchProcessor().process(event["Records"], fail_always)


def group(event, context):
    errors = []
    for record in event["Records"]:
        try:
            fail_always(record)
        except ValueError as error:
            errors.append(error)
    raise ExceptionGroup("all failed", errors)
