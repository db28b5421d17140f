"""Tells Redrive why a task failed: report_failures(app).

At any other broker than Redrive nothing is sent.
"""

import logging

from celery.exceptions import Ignore, Reject, Retry, TimeLimitExceeded
from celery.worker.request import Request
from redrive_boto3 import Permanent, report_text

__all__ = ["Permanent", "ReportingRequest", "report_failures"]

logger = logging.getLogger("redrive")


def report_failures(app, permanent=()):
    """Reports the errors of all tasks of an application whose messages are acknowledged late.

    `permanent` names classes of errors besides Permanent that no retry can cure.
    """
    app.redrive_permanent = (Permanent, *((permanent,) if isinstance(permanent, type) else permanent))
    app.Task.Request = ReportingRequest
    return app


class ReportingRequest(Request):
    """A task in the worker's main process, where its message is known."""

    def on_failure(self, exc_info, send_failed_event=True, return_ok=False):
        error = getattr(exc_info.exception, "exc", exc_info.exception)
        if not isinstance(error, (Ignore, MemoryError, Reject, Retry)):
            self._report(error, str(exc_info.traceback or ""))
        return super().on_failure(exc_info, send_failed_event, return_ok)

    def on_timeout(self, soft, timeout):
        if not soft:
            self._report(TimeLimitExceeded(timeout), "")
        return super().on_timeout(soft, timeout)

    def _report(self, error, trace):
        # What is acknowledged early is deleted before the task begins.
        if not self.task.acks_late:
            return
        try:
            delivery = self.message.delivery_info
            handle = delivery.get("sqs_message", {}).get("ReceiptHandle")
            channel = self.message.channel
            if not handle or not hasattr(channel, "sqs"):
                return
            client = channel.sqs(queue=channel.canonical_queue_name(delivery.get("routing_key") or ""))
            classes = getattr(self.app, "redrive_permanent", (Permanent,))
            report_text(client, handle, type(error).__name__, str(error), trace, isinstance(error, classes))
        except Exception as failure:
            logger.warning("redrive: a failure was not reported: %s", failure)
