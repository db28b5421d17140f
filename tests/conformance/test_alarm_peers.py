"""Alarms told to peers that are not ours: a mail server, and webhooks that are particular about what they take."""

import email
import email.policy
import email.utils
import http.server
import io
import json
import os
import re
import socket
import ssl
import subprocess
import threading
import zipfile

import boto3
import pytest
from aiosmtpd.controller import Controller
from aiosmtpd.smtp import AuthResult, SMTP

from harness import clock
from harness.clients import JsonRaw
from harness.management import Management
from harness.queue import Queue
from harness.server import binary_path

pytestmark = pytest.mark.skipif("REDRIVE_ENDPOINT" in os.environ, reason="needs its own server process")


@pytest.fixture
def start(launch, tmp_path):
    def started(*targets, more=""):
        config = tmp_path / "redrive.toml"
        config.write_text(f"[alarms]\nnotify = {json.dumps(list(targets))}\n{more}\n")
        return launch("--data", str(tmp_path / "data"), "--virtual-clock", "--config", str(config))

    yield started
    clock.follow(None)


@pytest.fixture
def certificate(tmp_path):
    """Signed by nobody but itself, for the address that the tests connect to."""
    key, cert = tmp_path / "key.pem", tmp_path / "cert.pem"
    curve = ["-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:P-256", "-nodes", "-days", "2"]
    names = ["-subj", "/CN=mail", "-addext", "subjectAltName=IP:127.0.0.1"]
    command = ["openssl", "req", "-x509", *curve, *names, "-keyout", str(key), "-out", str(cert)]
    subprocess.run(command, check=True, capture_output=True)
    return key, cert


class Mailbox:
    """Keeps what a mail server takes."""

    def __init__(self):
        self.letters = []
        self.users = []
        self.encrypted = []

    async def handle_DATA(self, server, session, envelope):
        self.encrypted.append(session.ssl is not None)
        self.letters.append(envelope)
        return "250 OK"

    def authenticate(self, server, session, envelope, mechanism, login):
        self.users.append(login.login)
        good = (login.login, login.password) == (b"redrive", b"s3cret/word")
        return AuthResult(success=good, handled=True)

    def next(self):
        clock.until("a mail arrives", lambda: self.letters, timeout=15)
        return self.letters.pop(0)


class PlainController(Controller):
    """As Debian's aiosmtpd, on any port that is free."""

    def __init__(self, handler, **options):
        with socket.socket() as probe:
            probe.bind(("127.0.0.1", 0))
            port = probe.getsockname()[1]
        super().__init__(handler, hostname="127.0.0.1", port=port)
        self.options = options

    def factory(self):
        return SMTP(self.handler, enable_SMTPUTF8=False, decode_data=False, **self.options)


@pytest.fixture
def mail():
    running = []

    def serve(**options):
        box = Mailbox()
        if options.get("auth_required"):
            options["authenticator"] = box.authenticate
        controller = PlainController(box, **options)
        controller.start()
        running.append(controller)
        box.at = f"127.0.0.1:{controller.port}"
        return box

    yield serve
    for controller in running:
        controller.stop()


def encrypting(certificate):
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.load_cert_chain(certificate[1], certificate[0])
    return context


def client(service, endpoint):
    keys = {"aws_access_key_id": "000000000000", "aws_secret_access_key": "x"}
    return boto3.client(service, endpoint_url=endpoint, region_name="us-east-1", **keys)


def cli(server, *arguments):
    environment = {**os.environ, "AWS_ENDPOINT_URL": server.endpoint}
    command = [binary_path(), "alarm", *arguments]
    return subprocess.run(command, env=environment, capture_output=True, text=True, timeout=60)


def targets(server):
    return Management(server.endpoint).call("GET", "alarms/targets")["targets"]


def failed_target(server):
    """The first target that said no."""
    return clock.until("a target fails", lambda: [t for t in targets(server) if t.get("error")], timeout=15)[0]


def dead_letter(server, body, error):
    """One of it in the dead-letter queue."""
    clock.follow(server.endpoint)
    sqs = JsonRaw(server.endpoint)
    dlq = Queue.create(sqs, "orders-dlq")
    queue = Queue.create(sqs, "orders")
    queue.redrive_to(dlq, 1)
    queue.send(body)
    report = {
        "receiptHandle": queue.receive_one()["ReceiptHandle"],
        "errorType": error,
        "errorMessage": "no such store",
        "disposition": "dead-letter",
    }
    Management(server.endpoint).call("POST", "failures", report)
    clock.wait(10)
    return queue, dlq


# --- Mail ---------------------------------------------------------------------------------------


def test_a_mail_server_takes_a_whole_letter(start, mail):
    box = mail()
    server = start(f"smtp://{box.at}?from=redrive@example.com&to=ops@example.com,boss@example.com")
    _, dlq = dead_letter(server, json.dumps({"text": "ä" * 2000, "order": 1}, ensure_ascii=False), "KeyError")
    envelope = box.next()
    assert envelope.mail_from == "redrive@example.com"
    assert envelope.rcpt_tos == ["ops@example.com", "boss@example.com"]
    # What every mail server may insist on.
    assert all(len(line) <= 998 for line in envelope.content.split(b"\r\n"))
    assert envelope.content.isascii() and not re.search(rb"(?<!\r)\n", envelope.content)
    letter = email.message_from_bytes(envelope.content, policy=email.policy.default)
    assert letter["Subject"] == f"ALARM: dead letters in {dlq.name}"
    assert letter["From"] == "redrive@example.com" and "boss@example.com" in letter["To"]
    assert letter["Message-ID"].startswith("<") and email.utils.parsedate_to_datetime(letter["Date"])
    assert not letter.defects
    text = letter.get_content()
    assert f"1 dead letter in {dlq.name}" in text, text
    assert "KeyError" in text and f"redrive dlq groups {dlq.name}" in text
    assert "ä" in text


def test_starttls_and_a_password(start, mail, certificate):
    box = mail(tls_context=encrypting(certificate), require_starttls=True, auth_required=True)
    url = f"smtp://redrive:s3cret%2Fword@{box.at}?from=redrive@example.com&to=ops@example.com&tls=required"
    server = start(url, more=f'ca-file = "{certificate[1]}"')
    done = cli(server, "test")
    assert done.returncode == 0, done
    box.next()
    assert box.encrypted == [True] and box.users == [b"redrive"]
    assert "s3cret" not in done.stdout + done.stderr


def test_a_certificate_that_nobody_vouches_for_is_refused(start, mail, certificate):
    box = mail(tls_context=encrypting(certificate), require_starttls=True)
    server = start(f"smtp://{box.at}?from=redrive@example.com&to=ops@example.com&tls=required")
    done = cli(server, "test")
    assert done.returncode != 0
    assert "certificate" in failed_target(server)["error"].lower()
    assert box.letters == []


def test_nothing_is_sent_in_the_open_when_tls_is_required(start, mail):
    box = mail()
    server = start(f"smtp://{box.at}?from=redrive@example.com&to=ops@example.com&tls=required")
    assert cli(server, "test").returncode != 0
    assert failed_target(server)["error"] and box.letters == []


def test_a_wrong_password_is_told_without_the_password(start, mail, certificate, tmp_path):
    box = mail(tls_context=encrypting(certificate), require_starttls=True, auth_required=True)
    url = f"smtp://redrive:wr0ngword@{box.at}?from=redrive@example.com&to=ops@example.com"
    server = start(url, more=f'ca-file = "{certificate[1]}"')
    done = cli(server, "test")
    assert done.returncode != 0 and "wr0ngword" not in done.stdout + done.stderr
    target = failed_target(server)
    assert "wr0ngword" not in json.dumps(target) and box.letters == []
    assert "wr0ngword" not in (tmp_path / "server.log").read_text()


def test_a_mail_server_that_never_says_anything_holds_up_nobody(start, mail):
    with socket.create_server(("127.0.0.1", 0)) as silent:
        box = mail()
        server = start(
            f"smtp://127.0.0.1:{silent.getsockname()[1]}?from=a@example.com&to=b@example.com",
            f"smtp://{box.at}?from=a@example.com&to=b@example.com",
        )
        watch = clock.Stopwatch()
        queue, _ = dead_letter(server, "1", "KeyError")
        box.next()
        queue.send("still served")
        assert watch.seconds < 8


# --- Webhooks -----------------------------------------------------------------------------------


class Webhook:
    """Answers what `judge` says of a path and a body: a status, and headers."""

    def __init__(self, judge):
        self.asked = []
        hook = self

        class Handler(http.server.BaseHTTPRequestHandler):
            def answer(self):
                body = self.rfile.read(int(self.headers["Content-Length"] or 0))
                hook.asked.append((self.command, self.path))
                status, headers = judge(self.path, self.headers, body)
                self.send_response(status)
                for name, value in {"Content-Length": "0", **headers}.items():
                    self.send_header(name, value)
                self.end_headers()

            do_GET = do_POST = answer

            def log_message(self, *arguments):
                pass

        self.server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self.url = f"http://127.0.0.1:{self.server.server_port}"
        threading.Thread(target=self.server.serve_forever, daemon=True).start()

    def close(self):
        self.server.shutdown()
        self.server.server_close()


@pytest.fixture
def webhook():
    running = []

    def serve(judge):
        running.append(Webhook(judge))
        return running[-1]

    yield serve
    for one in running:
        one.close()


def slack_like(told):
    """Takes what Slack's incoming webhooks take, and answers what they answer to anything else."""

    def judge(path, headers, body):
        if headers["Content-Type"].split(";")[0] != "application/json":
            return 400, {"X-Why": "invalid_payload"}
        try:
            payload = json.loads(body.decode("utf-8", "strict"))
        except ValueError:
            return 400, {"X-Why": "invalid_payload"}
        allowed = {"text", "blocks", "attachments", "username", "icon_emoji", "channel"}
        if not isinstance(payload, dict) or set(payload) - allowed:
            return 400, {"X-Why": "invalid_payload"}
        text = payload.get("text")
        if not isinstance(text, str) or not text.strip() or len(text) > 40_000:
            return 400, {"X-Why": "no_text"}
        # What is not escaped is a link, or a call to everybody.
        if re.search(r"[<>]", text) or re.search(r"&(?!(amp|lt|gt);)", text):
            return 400, {"X-Why": "unescaped"}
        told.append(text)
        return 200, {}

    return judge


def test_a_slack_like_webhook_finds_nothing_wrong(start, webhook):
    told = []
    hook = webhook(slack_like(told))
    server = start(f"{hook.url}/services/T0/B0/secret?format=slack")
    _, dlq = dead_letter(server, 'see <http://evil.example|here> & <!channel> ``` and "quotes" \u2028 ä', "<!here> Error")
    text = clock.until("Slack is told", lambda: told, timeout=15)[0]
    assert text.startswith(f"*ALARM: dead letters in {dlq.name}*\n```")
    assert "&lt;!here&gt; Error" in text and text.count("```") == 2


def test_a_webhook_that_says_no_is_named_without_its_secret(start, webhook, tmp_path):
    hook = webhook(lambda path, headers, body: (403, {}))
    server = start(f"{hook.url}/services/T0/B0/hunter2")
    assert cli(server, "test").returncode != 0
    target = failed_target(server)
    assert "403" in target["error"] and "hunter2" not in json.dumps(target)
    assert "hunter2" not in (tmp_path / "server.log").read_text()


@pytest.mark.parametrize("status", [301, 302, 307, 308])
def test_redirects_into_the_private_network_are_not_followed(start, webhook, status):
    inner = webhook(lambda path, headers, body: (200, {}))
    outer = webhook(lambda path, headers, body: (status, {"Location": f"{inner.url}/metadata"}))
    server = start(f"{outer.url}/hook")
    assert cli(server, "test").returncode != 0
    assert str(status) in failed_target(server)["error"]
    assert outer.asked[0] == ("POST", "/hook") and inner.asked == []


def test_an_answer_that_never_ends_is_cut_off(start):
    listening = socket.create_server(("127.0.0.1", 0))
    ended = threading.Event()

    def flood():
        connection, _ = listening.accept()
        with connection:
            connection.recv(65536)
            try:
                connection.sendall(b"HTTP/1.1 200 OK\r\n\r\n")
                while True:
                    connection.sendall(b"x" * 65536)
            except OSError:
                ended.set()

    threading.Thread(target=flood, daemon=True).start()
    with listening:
        server = start(f"http://127.0.0.1:{listening.getsockname()[1]}/flood")
        assert cli(server, "test").returncode != 0
        assert ended.wait(10)


def test_a_webhook_behind_tls(start, certificate):
    told = []

    class Handler(http.server.BaseHTTPRequestHandler):
        def do_POST(self):
            told.append(json.loads(self.rfile.read(int(self.headers["Content-Length"]))))
            self.send_response(204)
            self.end_headers()

        def log_message(self, *arguments):
            pass

    listening = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    listening.socket = encrypting(certificate).wrap_socket(listening.socket, server_side=True)
    threading.Thread(target=listening.serve_forever, daemon=True).start()
    url = f"https://127.0.0.1:{listening.server_port}/hook"
    try:
        done = cli(start(url, more=f'ca-file = "{certificate[1]}"'), "test")
        assert done.returncode == 0, done
        assert told[0]["AlarmName"] == "test"
    finally:
        listening.shutdown()
        listening.server_close()


# --- Functions ----------------------------------------------------------------------------------


def test_a_function_is_told(start):
    server = start()
    functions = client("lambda", server.endpoint)
    packed = io.BytesIO()
    with zipfile.ZipFile(packed, "w") as archive:
        archive.writestr("app.py", "def handler(event, context):\n    print('told of', event['AlarmName'])\n")
    made = functions.create_function(
        FunctionName="pager",
        Runtime="python3.11",
        Handler="app.handler",
        Role="arn:aws:iam::000000000000:role/r",
        Code={"ZipFile": packed.getvalue()},
    )
    watch = client("cloudwatch", server.endpoint)
    watch.put_metric_alarm(
        AlarmName="backlog",
        Namespace="AWS/SQS",
        MetricName="ApproximateNumberOfMessagesVisible",
        Dimensions=[{"Name": "QueueName", "Value": "orders"}],
        Statistic="Maximum",
        Period=60,
        EvaluationPeriods=1,
        Threshold=0,
        ComparisonOperator="GreaterThanThreshold",
        AlarmActions=[made["FunctionArn"]],
    )
    watch.set_alarm_state(AlarmName="backlog", StateValue="ALARM", StateReason="to see who comes")

    def told():
        lines = Management(server.endpoint).call("GET", "functions/pager/logs")["lines"]
        return [line for line in lines if "told of backlog" in line["text"]]

    assert clock.until("the function is told", told, timeout=20)
