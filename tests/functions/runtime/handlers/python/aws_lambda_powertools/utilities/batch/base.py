"""Stands for the module of that name in Powertools for AWS Lambda (Python), with the same classes and calls."""
import sys


class BatchProcessingError(Exception):
    def __init__(self, msg="", child_exceptions=None):
        super().__init__(msg)
        self.msg = msg
        self.child_exceptions = child_exceptions or []


class BasePartialProcessor:
    def __init__(self):
        self.fail_messages = []
        self.exceptions = []

    def failure_handler(self, record, exception):
        self.exceptions.append(exception)
        self.fail_messages.append(record)
        return ("fail", "%s:%s" % (exception[0], exception[1]), record)


class BatchProcessor(BasePartialProcessor):
    def process(self, records, handler):
        for record in records:
            try:
                handler(record)
            except Exception:
                self.failure_handler(record=record, exception=sys.exc_info())
        if records and len(self.exceptions) == len(records):
            raise BatchProcessingError(
                msg="All records failed processing. %d individual errors logged separately below."
                % len(self.exceptions),
                child_exceptions=self.exceptions,
            )
        return {"batchItemFailures": [{"itemIdentifier": record["messageId"]} for record in self.fail_messages]}
