"""Functions that report failed items: every dead letter has the error of its own message.

Handlers as their users write them: with Powertools' batch processor, with middy, by hand.
"""

import io
import json
import pathlib
import zipfile

import pytest

from harness.clock import until
from harness.functions import ROLE, client, python_runtime
from harness.management import Management
from harness.queue import unique_name

MODULES = pathlib.Path(__file__).parent / "node/node_modules"
PACKAGES = ["@aws-lambda-powertools", "@aws/lambda-invoke-store", "@standard-schema", "@middy"]
PATIENCE = 60

NODE_WORK = """
class OrderError extends Error {
  constructor(message, options) {
    super(message, options);
    this.name = 'OrderError';
  }
}
function priceOf(order) {
  return order.item.price;
}
function reserve(order) {
  try {
    return JSON.parse(order.stock);
  } catch (error) {
    throw new OrderError('cannot reserve', { cause: error });
  }
}
async function work(record) {
  const order = JSON.parse(record.body);
  if (order.kind === 'price') priceOf(order);
  if (order.kind === 'stock') reserve(order);
}
"""
POWERTOOLS = """
import { BatchProcessor, EventType, processPartialResponse } from '@aws-lambda-powertools/batch';
const processor = new BatchProcessor(EventType.SQS);
export const handler = (event, context) => processPartialResponse(event, work, processor, { context });
"""
POWERTOOLS_CJS = """
const { BatchProcessorSync, EventType, processPartialResponseSync } = require('@aws-lambda-powertools/batch');
const processor = new BatchProcessorSync(EventType.SQS);
function workNow(record) {
  const order = JSON.parse(record.body);
  if (order.kind === 'price') priceOf(order);
  if (order.kind === 'stock') reserve(order);
}
exports.handler = async (event, context) => processPartialResponseSync(event, workNow, processor, { context });
"""
MIDDY = """
import middy from '@middy/core';
import sqsPartialBatchFailure from '@middy/sqs-partial-batch-failure';
export const handler = middy()
  .use(sqsPartialBatchFailure())
  .handler((event) => Promise.allSettled(event.Records.map(work)));
"""
NODE_CAUSES = {
    "price": ("TypeError", "Cannot read properties of undefined (reading 'price')", "priceOf"),
    "stock": ("OrderError", "cannot reserve", "Caused by: SyntaxError: "),
}

PYTHON_WORK = """
import json, logging
logger = logging.getLogger()

class OrderError(Exception):
    pass

def price_of(order):
    return order["item"]["price"]

def reserve(order):
    try:
        return json.loads(order["stock"])
    except ValueError as error:
        raise OrderError("cannot reserve") from error

def work(record):
    order = json.loads(record["body"])
    if order["kind"] == "price":
        price_of(order)
    if order["kind"] == "stock":
        reserve(order)

def fail(record, error):
    %s

def handler(event, context):
    failures = []
    for record in event["Records"]:
        logger.warning("begin %%s", record["messageId"])
        try:
            work(record)
        except Exception as error:
            failures.append(fail(record, error))
    return {"batchItemFailures": failures}
"""
LOGS_ID = """logger.exception("order %s failed", record["messageId"])
    return {"itemIdentifier": record["messageId"]}"""
LOGS_BETWEEN = """logger.exception("failed")
    return {"itemIdentifier": record["messageId"]}"""
SAYS_WHY = """import traceback
    return {"itemIdentifier": record["messageId"], "errorType": type(error).__name__, "errorMessage": str(error),
            "stackTrace": traceback.format_tb(error.__traceback__),
            "cause": error.__cause__ and {"errorType": type(error.__cause__).__name__, "errorMessage": str(error.__cause__)}}"""
PYTHON_CAUSES = {
    "price": ("KeyError", "'item'", "in price_of"),
    "stock": ("OrderError", "cannot reserve", "Caused by: JSONDecodeError: "),
}


def packages():
    """The files of the packages that handlers import."""
    for package in PACKAGES:
        for path in sorted((MODULES / package).rglob("*")):
            if path.suffix in {".js", ".cjs", ".mjs", ".json"}:
                yield f"node_modules/{path.relative_to(MODULES)}", path.read_bytes()


def zip_of(name, text, with_packages):
    out = io.BytesIO()
    with zipfile.ZipFile(out, "w") as archive:
        archive.writestr(name, text)
        for path, content in packages() if with_packages else ():
            archive.writestr(path, content)
    return out.getvalue()


CASES = {
    "powertools": ("index.mjs", NODE_WORK + POWERTOOLS, NODE_CAUSES),
    "powertools-cjs": ("index.js", NODE_WORK + POWERTOOLS_CJS, NODE_CAUSES),
    "middy": ("index.mjs", NODE_WORK + MIDDY, NODE_CAUSES),
    "python-logs-ids": ("index.py", PYTHON_WORK % LOGS_ID, PYTHON_CAUSES),
    "python-logs-between": ("index.py", PYTHON_WORK % LOGS_BETWEEN, PYTHON_CAUSES),
    "python-says-why": ("index.py", PYTHON_WORK % SAYS_WHY, PYTHON_CAUSES),
}


class Shop:
    """A queue, its dead-letter queue and the function that works on its orders."""

    def __init__(self, endpoint):
        self.sqs = client("sqs", endpoint)
        self.functions = client("lambda", endpoint)
        self.management = Management(endpoint)
        self.dead = unique_name("orders-dlq")
        dead = self.make_queue(self.dead)
        policy = {"deadLetterTargetArn": dead[1], "maxReceiveCount": 3}
        self.url, self.arn = self.make_queue(unique_name("orders"), RedrivePolicy=json.dumps(policy))

    def make_queue(self, name, **attributes):
        url = self.sqs.create_queue(QueueName=name, Attributes=attributes)["QueueUrl"]
        told = self.sqs.get_queue_attributes(QueueUrl=url, AttributeNames=["QueueArn"])
        return url, told["Attributes"]["QueueArn"]

    def send(self, *kinds):
        entries = [{"Id": str(n), "MessageBody": json.dumps({"kind": kind, "stock": "{"})} for n, kind in enumerate(kinds)]
        self.sqs.send_message_batch(QueueUrl=self.url, Entries=entries)

    def work(self, file, code):
        python = file.endswith(".py")
        name = unique_name("fn")
        self.functions.create_function(
            FunctionName=name, Role=ROLE, Handler="index.handler", Timeout=20, MemorySize=512,
            Runtime=python_runtime() if python else "nodejs20.x",
            Code={"ZipFile": zip_of(file, code, not python)},
        )  # fmt: skip
        # After the first failure to the dead-letter queue: no timeout is waited for.
        self.functions.create_event_source_mapping(
            FunctionName=name, EventSourceArn=self.arn, BatchSize=10, MaximumRetryAttempts=0,
            FunctionResponseTypes=["ReportBatchItemFailures"],
        )  # fmt: skip

    def dead_letters(self):
        page = self.management.call("GET", f"queues/{self.dead}/messages?limit=100")
        return page.get("messages", [])

    def is_empty(self):
        told = self.sqs.get_queue_attributes(QueueUrl=self.url, AttributeNames=["All"])["Attributes"]
        return told["ApproximateNumberOfMessages"] == told["ApproximateNumberOfMessagesNotVisible"] == "0"

    def check_causes(self, causes, count):
        until("failed orders are dead letters", lambda: len(self.dead_letters()) == count, PATIENCE)
        until("nothing is left", self.is_empty, PATIENCE)
        for message in self.dead_letters():
            attempt = message["attempts"][-1]
            kind = json.loads(message["body"])["kind"]
            type_, words, place = causes[kind]
            assert (attempt["errorType"], attempt["errorMessage"]) == (type_, words), attempt
            assert place in attempt["stackTrace"], attempt
            assert "/var/task/index." in attempt["stackTrace"], attempt
        groups = self.management.call("GET", f"queues/{self.dead}/groups")["groups"]
        assert len(groups) == len({json.loads(each["body"])["kind"] for each in self.dead_letters()}), groups


@pytest.fixture
def shop(endpoint):
    return Shop(endpoint)


@pytest.mark.parametrize("name", CASES)
def test_some_items_failed(shop, name):
    file, code, causes = CASES[name]
    shop.send("good", "price", "stock", "good", "price")
    shop.work(file, code)
    shop.check_causes(causes, 3)


# Powertools raises FullBatchFailureError, which carries the errors of all records.
@pytest.mark.parametrize("name", ["powertools", "powertools-cjs"])
def test_every_item_failed(shop, name):
    file, code, causes = CASES[name]
    shop.send("price", "stock", "price")
    shop.work(file, code)
    shop.check_causes(causes, 3)
