"""Watching a server: top, request ids in the log, traces, and what the doctor says of handlers."""

import http.server
import json
import os
import subprocess
import threading

import pytest

from harness import clock
from harness.functions import client, redrive, settings
from harness.management import Management
from harness.server import Server, binary_path
from harness.signed import Signed

pytestmark = [
    pytest.mark.own_server,
    pytest.mark.skipif("REDRIVE_ENDPOINT" in os.environ, reason="needs its own server process"),
]

FAILS = "def handler(event, context):\n    raise ValueError('no')\n"
TRACE = "4bf92f3577b34da6a3ce929d0e0e4736"
XRAY = "Root=1-5759e988-bd862e3fe1be46a994272793;Parent=53995c3f42cd8ad8;Sampled=1"


class Collector:
    """Takes spans as an OpenTelemetry collector does."""

    def __init__(self):
        spans = self.spans = []

        class Handler(http.server.BaseHTTPRequestHandler):
            def do_POST(self):
                document = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
                for resource in document["resourceSpans"]:
                    for scope in resource["scopeSpans"]:
                        spans.extend(scope["spans"])
                self.send_response(200)
                self.send_header("Content-Length", "0")
                self.end_headers()

            def log_message(self, *_):
                pass

        self._server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self.endpoint = f"http://127.0.0.1:{self._server.server_port}"
        threading.Thread(target=self._server.serve_forever, daemon=True).start()

    def named(self, name):
        return [span for span in self.spans if span["name"] == name]

    def close(self):
        self._server.shutdown()
        self._server.server_close()


@pytest.fixture
def collector():
    running = Collector()
    yield running
    running.close()


@pytest.fixture
def start(tmp_path):
    servers = []

    def run(config=""):
        path = tmp_path / "redrive.toml"
        path.write_text(config)
        servers.append(
            Server("--memory", "--config", str(path), log_path=tmp_path / "server.log")
        )
        return servers[-1]

    yield run
    for server in servers:
        assert server.stop() == 0


def arn(name):
    return f"arn:aws:sqs:us-east-1:000000000000:{name}"


def make_queues(sqs, receives=1):
    dead = sqs.create_queue(QueueName="orders-dlq")["QueueUrl"]
    policy = {"deadLetterTargetArn": arn("orders-dlq"), "maxReceiveCount": receives}
    orders = sqs.create_queue(
        QueueName="orders", Attributes={"RedrivePolicy": json.dumps(policy)}
    )["QueueUrl"]
    return orders, dead


def test_top_shows_queues_dead_letters_and_handlers(start):
    server = start()
    sqs = client("sqs", server.endpoint)
    orders, _ = make_queues(sqs, receives=1)
    functions = client("lambda", server.endpoint)
    wanted = settings(FAILS)
    functions.create_function(**wanted)
    functions.create_event_source_mapping(
        EventSourceArn=arn("orders"), FunctionName=wanted["FunctionName"], Enabled=False
    )
    for _ in range(3):
        sqs.send_message(QueueUrl=orders, MessageBody="{}")
    view = json.loads(redrive(server.endpoint, "top", "--once", "--json").stdout)
    assert view["queueCount"] == 2 and view["visible"] == 3
    first = view["queues"][0]
    assert first["queue"]["name"] == "orders" and first["queue"]["sent"] == 3
    assert first["inPerSecond"] == 0
    assert view["queues"][1]["queue"]["sources"] == ["orders"]
    handler = view["handlers"][0]["handler"]
    assert handler["function"] == wanted["FunctionName"] and not handler["enabled"]
    text = redrive(server.endpoint, "top", "--once").stdout
    assert "2 queues, 3 visible" in text and "disabled" in text


def test_a_refused_signature_is_in_the_log_with_the_id_that_its_client_saw(start):
    server = start("[[key]]\nid = 'ADMIN'\nsecret = 'right'\nrole = 'admin'\n")
    wrong = Signed(server.endpoint, "ADMIN", "wrong")
    status, headers, _ = wrong.send(wrong.sign(wrong.request("ListQueues", {})))
    assert status == 403
    request_id = dict(headers)["x-amzn-RequestId"]
    right = Signed(server.endpoint, "ADMIN", "right")
    done = redrive_logs(server.endpoint)
    line = next(line for line in done if request_id in line)
    assert "signature refused" in line and "peer=127.0.0.1" in line
    assert right.send(right.sign(right.request("ListQueues", {})))[0] == 200


def redrive_logs(endpoint):
    done = subprocess.run(
        [binary_path(), "logs", "--endpoint-url", endpoint],
        capture_output=True, text=True, timeout=60,
        env={"PATH": "/usr/bin:/bin", "AWS_ACCESS_KEY_ID": "ADMIN",
             "AWS_SECRET_ACCESS_KEY": "right"},
    )
    assert done.returncode == 0, done.stderr
    return done.stdout.splitlines()


def test_a_message_can_be_followed_from_its_send_through_its_failures(start, collector):
    server = start(f"[traces]\nendpoint = '{collector.endpoint}/'\n")
    sqs = client("sqs", server.endpoint)
    orders, dead = make_queues(sqs, receives=1)
    parent = {"DataType": "String", "StringValue": f"00-{TRACE}-00f067aa0ba902b7-01"}
    sqs.send_message(
        QueueUrl=orders, MessageBody="x", MessageAttributes={"traceparent": parent}
    )
    got = sqs.receive_message(QueueUrl=orders, VisibilityTimeout=0)["Messages"]
    assert len(got) == 1
    assert "Messages" not in sqs.receive_message(QueueUrl=orders)
    clock.until("the dead letter is told of", lambda: collector.named("orders-dlq dead-letter"))
    Management(server.endpoint).call("POST", "queues/orders-dlq/jobs", {})
    again = sqs.receive_message(QueueUrl=orders, WaitTimeSeconds=20)["Messages"]
    assert again[0]["MessageId"] != got[0]["MessageId"]
    clock.until("the redrive is told of", lambda: collector.named("orders redrive"))
    assert len(collector.named("orders send")) == 1
    sent = collector.named("orders send")[0]
    assert sent["traceId"] == TRACE and sent["parentSpanId"] == "00f067aa0ba902b7"
    names = ["orders receive", "orders-dlq dead-letter", "orders redrive"]
    for span in (collector.named(name)[0] for name in names):
        assert span["traceId"] == TRACE
        assert span["parentSpanId"] == sent["spanId"]
        assert span["links"] == [{"traceId": TRACE, "spanId": sent["spanId"]}]


def test_a_handler_sees_the_trace_and_its_run_is_a_span_of_it(start, collector):
    server = start(f"[traces]\nendpoint = '{collector.endpoint}'\n")
    sqs = client("sqs", server.endpoint)
    orders, _ = make_queues(sqs, receives=10)
    code = (
        "import os\n"
        "def handler(event, context):\n"
        "    raise KeyError(os.environ.get('_X_AMZN_TRACE_ID', 'none'))\n"
    )
    functions = client("lambda", server.endpoint)
    wanted = settings(code)
    functions.create_function(**wanted)
    functions.create_event_source_mapping(
        EventSourceArn=arn("orders"), FunctionName=wanted["FunctionName"]
    )
    header = {"AWSTraceHeader": {"DataType": "String", "StringValue": XRAY}}
    sqs.send_message(QueueUrl=orders, MessageBody="x", MessageSystemAttributes=header)
    name = f"{wanted['FunctionName']} run"
    clock.until("the run is told of", lambda: collector.named(name), timeout=20)
    run = collector.named(name)[0]
    assert run["traceId"] == "5759e988bd862e3fe1be46a994272793"
    assert run["status"]["code"] == 2 and run["status"]["message"] == "KeyError"


def test_a_collector_that_is_away_holds_up_nobody(start):
    server = start("[traces]\nendpoint = 'http://127.0.0.1:1'\n")
    sqs = client("sqs", server.endpoint)
    orders, _ = make_queues(sqs)
    sqs.send_message(QueueUrl=orders, MessageBody="x")
    assert len(sqs.receive_message(QueueUrl=orders)["Messages"]) == 1
    told = "trace collector does not accept spans"
    clock.until("it is in the log", lambda: told in redrive(server.endpoint, "logs").stdout)


def test_the_doctor_knows_handlers(start):
    server = start()
    sqs = client("sqs", server.endpoint)
    make_queues(sqs, receives=3)
    functions = client("lambda", server.endpoint)
    wanted = settings(FAILS, Timeout=10)
    functions.create_function(**wanted)
    functions.create_event_source_mapping(
        EventSourceArn=arn("orders"), FunctionName=wanted["FunctionName"], Enabled=False
    )

    def rules():
        done = redrive(server.endpoint, "doctor", "--json", check=False)
        return {json.loads(line)["rule"] for line in done.stdout.splitlines()}

    found = rules()
    assert {"handler-visibility", "batch-visibility", "mapping-disabled"} <= found
    assert not {"handler-few-receives", "batch-fails-together"} & found
    redrive(server.endpoint, "mapping", "set", "orders", "--isolate-retries", "off", "--max-retries", "7")
    assert {"handler-few-receives", "batch-fails-together", "handler-retries"} <= rules()
    drawn = redrive(server.endpoint, "topology").stdout
    assert f"feeds {wanted['FunctionName']} (disabled)" in drawn
