"""An incident: three queues, two functions, a consumer that never says why, 5,000 orders with four causes.

Three commands name all four causes; the filters that they print choose exactly the messages of each
cause; and after each repair a redrive is followed to its outcome.
"""

import json
import os
import random
import re
import threading

import pytest

from harness import clients, clock
from harness.functions import python_runtime, redrive

pytestmark = [
    pytest.mark.own_server,
    pytest.mark.skipif("REDRIVE_ENDPOINT" in os.environ, reason="needs its own server process"),
]

ORDERS, PAYMENTS, SHIPMENTS = 2_700, 800, 1_500
NO_STORE, TEXT_QUANTITY, SLOW, SWISS = 40, 30, 8, 25
PATIENCE = 120  # Seconds, for machines with a lot else to do.

PRICE = """
import json

def price(record):
    store = int(record["messageAttributes"]["store_id"]["stringValue"])
    order = json.loads(record["body"])
    return store, order["price"] * (order["qty"] + 1)

def handler(event, context):
    failures = []
    for record in event["Records"]:
        try:
            price(record)
        except Exception as error:
            print(type(error).__name__, error)
            failures.append({"itemIdentifier": record["messageId"]})
    return {"batchItemFailures": failures}
"""
PRICE_MENDED = (
    PRICE.replace('record["messageAttributes"]["store_id"]["stringValue"]',
                  'record["messageAttributes"].get("store_id", {}).get("stringValue", "1")')
    .replace('order["qty"]', 'int(order["qty"])')
)
CHARGE = """
import json, os, time

def handler(event, context):
    for record in event["Records"]:
        if json.loads(record["body"])["provider"] == "slowpay":
            time.sleep(float(os.environ["SLOWPAY_SECONDS"]))
"""


class SilentConsumer(threading.Thread):
    """Deletes what it could ship; of what it could not it says nothing, and lets the time run out."""

    def __init__(self, endpoint, queue, ships_to):
        super().__init__(daemon=True)
        self._sqs = clients.JsonRaw(endpoint)
        self._queue = queue
        self.ships_to = ships_to
        self._end = threading.Event()

    def run(self):
        while not self._end.is_set():
            received = self._sqs.ReceiveMessage(
                QueueUrl=self._queue, MaxNumberOfMessages=10, WaitTimeSeconds=1
            ).get("Messages", [])
            shipped = [m for m in received if json.loads(m["Body"])["address"]["country"] in self.ships_to]
            if shipped:
                self._sqs.DeleteMessageBatch(QueueUrl=self._queue, Entries=[
                    {"Id": str(i), "ReceiptHandle": m["ReceiptHandle"]} for i, m in enumerate(shipped)
                ])

    def stop(self):
        self._end.set()
        self.join(PATIENCE)


class Shop:
    def __init__(self, endpoint, directory):
        self.endpoint = endpoint
        self.directory = directory
        self.sqs = clients.JsonRaw(endpoint)
        self.urls = {}
        for name in ("orders", "payments", "shipments"):
            self.run("queue", "create", name, "--dlq", f"{name}-dlq", "--max-receives", "2",
                     "--attribute", "VisibilityTimeout=5")
            for queue in (name, f"{name}-dlq"):
                self.urls[queue] = self.sqs.GetQueueUrl(QueueName=queue)["QueueUrl"]

    def run(self, *arguments):
        return redrive(self.endpoint, *arguments).stdout

    def deploy(self, name, code, *more):
        directory = self.directory / name
        directory.mkdir(exist_ok=True)
        (directory / "index.py").write_text(code)
        self.run("function", "deploy", str(directory), "--runtime", python_runtime(), *more)

    def count(self, queue):
        """How many messages a queue has, visible or not."""
        names = ["ApproximateNumberOfMessages", "ApproximateNumberOfMessagesNotVisible"]
        found = self.sqs.GetQueueAttributes(QueueUrl=self.urls[queue], AttributeNames=names)["Attributes"]
        return sum(int(value) for value in found.values())

    def send(self, queue, messages):
        for at in range(0, len(messages), 10):
            self.sqs.SendMessageBatch(QueueUrl=self.urls[queue], Entries=[
                {"Id": str(i), **message} for i, message in enumerate(messages[at : at + 10])
            ])


def text(value):
    return {"DataType": "String", "StringValue": value}


def orders(dice):
    made = []
    causes = ["no store"] * NO_STORE + ["text"] * TEXT_QUANTITY + [None] * (ORDERS - NO_STORE - TEXT_QUANTITY)
    dice.shuffle(causes)
    for number, cause in enumerate(causes):
        quantity = dice.randint(1, 9)
        body = {"order": number, "price": dice.randint(1, 900), "qty": str(quantity) if cause == "text" else quantity,
                "sku": f"sku-{dice.randint(1, 100_000)}", "gift": dice.random() < 0.2}
        attributes = {"kind": text(dice.choice(["web", "app"])), "trace": text(f"{dice.getrandbits(64):x}")}
        if cause != "no store":
            attributes["store_id"] = {"DataType": "Number", "StringValue": str(dice.randint(1, 50))}
        made.append({"MessageBody": json.dumps(body), "MessageAttributes": attributes})
    return made


def payments(dice):
    providers = ["slowpay"] * SLOW + dice.choices(["fastpay", "cardco", "bank"], k=PAYMENTS - SLOW)
    dice.shuffle(providers)
    return [{"MessageBody": json.dumps({"payment": n, "provider": p, "amount": dice.randint(1, 5_000)})}
            for n, p in enumerate(providers)]


def shipments(dice):
    countries = ["CH"] * SWISS + dice.choices(["DE", "FR", "IT", "AT"], k=SHIPMENTS - SWISS)
    dice.shuffle(countries)
    return [{"MessageBody": json.dumps({"parcel": n, "address": {"country": c, "zip": str(dice.randint(1000, 99999))},
                                        "lines": [{"sku": f"sku-{dice.randint(1, 100_000)}"}]})}
            for n, c in enumerate(countries)]


def findings(said):
    """The sentences that `redrive dlq groups` prints, each with its filter."""
    found = {}
    for line in said.partition("what sets them apart from processed messages\n")[2].splitlines():
        chosen = re.fullmatch(r" +--filter '(.*)'", line)
        if chosen:
            found[sentence] = chosen[1]
        else:
            sentence = line.strip()
            found[sentence] = None
    return found


def named(found, pattern):
    """The filter of the one finding that says this."""
    fitting = [(sentence, chosen) for sentence, chosen in found.items() if re.fullmatch(pattern, sentence)]
    assert len(fitting) == 1, f"{pattern} among {list(found)}"
    return fitting[0][1]


def redriven(shop, queue, chosen, expected):
    """Redrives what a filter chooses, and follows the job until each message's outcome is known."""
    before = shop.count(queue)
    job = json.loads(shop.run("dlq", "redrive", queue, "--filter", chosen, "--no-wait", "--json"))

    def settled():
        shown = json.loads(shop.run("job", "show", job["id"], "--json"))
        return shown if shown["status"] == "completed" and shown["open"] == 0 else None

    outcome = clock.until(f"the redrive of {chosen} is settled", settled, PATIENCE)
    assert (outcome["moved"], outcome["succeeded"], outcome["failedAgain"]) == (expected, expected, 0)
    assert shop.count(queue) == before - expected


def test_four_causes_are_named_and_mended(launch, tmp_path):
    shop = Shop(launch("--memory").endpoint, tmp_path)
    dice = random.Random(19)
    for queue, messages in (("orders", orders(dice)), ("payments", payments(dice)), ("shipments", shipments(dice))):
        shop.send(queue, messages)
    shop.deploy("price", PRICE, "--timeout", "5")
    shop.deploy("charge", CHARGE, "--timeout", "2", "--env", "SLOWPAY_SECONDS=30")
    shop.run("mapping", "add", "orders", "price", "--batch-size", "10", "--item-failures", "on")
    shop.run("mapping", "add", "payments", "charge", "--batch-size", "1")
    consumer = SilentConsumer(shop.endpoint, shop.urls["shipments"], {"DE", "FR", "IT", "AT"})
    consumer.start()
    dead = {"orders-dlq": NO_STORE + TEXT_QUANTITY, "payments-dlq": SLOW, "shipments-dlq": SWISS}
    for queue, expected in dead.items():
        clock.until(f"{queue} has what failed", lambda: shop.count(queue) == expected, PATIENCE)
        source = queue.removesuffix("-dlq")
        clock.until(f"{source} is empty", lambda: shop.count(source) == 0, PATIENCE)

    # Three commands name four causes. On a slow machine a time may set them apart as well.
    of_orders = findings(shop.run("dlq", "groups", "orders-dlq"))
    of_payments = findings(shop.run("dlq", "groups", "payments-dlq"))
    of_shipments = findings(shop.run("dlq", "groups", "shipments-dlq"))
    no_store = named(of_orders, r"40 of 70 lack attribute store_id; 0 of [\d,]+ processed do")
    text_quantity = named(of_orders, r"30 of 70 have qty as string; 0 of [\d,]+ processed do: number")
    slow = named(of_payments, r"8 of 8 have provider = slowpay; 0 of [\d,]+ processed do")
    swiss = named(of_shipments, r"25 of 25 have address.country = CH; 0 of [\d,]+ processed do")

    # The filters choose what the sentences say.
    for queue, chosen, expected in (
        ("orders-dlq", no_store, NO_STORE), ("orders-dlq", text_quantity, TEXT_QUANTITY),
        ("payments-dlq", slow, SLOW), ("shipments-dlq", swiss, SWISS),
    ):
        said = shop.run("dlq", "redrive", queue, "--filter", chosen, "--dry-run")
        assert said.startswith(f"{expected} of {dead[queue]} messages would be redriven")

    # Each cause is mended, and its messages come through.
    shop.deploy("price", PRICE_MENDED, "--timeout", "5")
    redriven(shop, "orders-dlq", no_store, NO_STORE)
    redriven(shop, "orders-dlq", text_quantity, TEXT_QUANTITY)
    shop.deploy("charge", CHARGE, "--timeout", "2", "--env", "SLOWPAY_SECONDS=0")
    redriven(shop, "payments-dlq", slow, SLOW)
    consumer.ships_to |= {"CH"}
    redriven(shop, "shipments-dlq", swiss, SWISS)
    consumer.stop()
    assert [shop.count(queue) for queue in shop.urls] == [0] * 6
