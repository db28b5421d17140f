"""HTTPS with a certificate of our own making: boto3, the command line, reloading."""

import os
import signal
import socket
import ssl
import subprocess
import time
import urllib.parse

import boto3
import botocore.config
import botocore.exceptions
import pytest

from harness.server import Server, binary_path

pytestmark = [
    pytest.mark.own_server,
    pytest.mark.skipif("REDRIVE_ENDPOINT" in os.environ, reason="needs its own server process"),
]


def make_certificate(folder, name):
    subprocess.run(
        ["openssl", "req", "-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:P-256",
         "-nodes", "-days", "2", "-subj", f"/CN={name}",
         "-addext", "subjectAltName=DNS:localhost,IP:127.0.0.1",
         "-keyout", folder / "key.pem", "-out", folder / "certificate.pem"],
        check=True, capture_output=True,
    )  # fmt: skip


@pytest.fixture
def server(tmp_path):
    make_certificate(tmp_path, "first")
    started = Server(
        "--memory", "--tls-certificate", str(tmp_path / "certificate.pem"),
        "--tls-key", str(tmp_path / "key.pem"), log_path=tmp_path / "server.log",
    )  # fmt: skip
    yield started
    started.kill()


def sqs(server, verify):
    return boto3.client(
        "sqs", endpoint_url=server.endpoint, region_name="us-east-1", verify=verify,
        aws_access_key_id="test", aws_secret_access_key="test",
        config=botocore.config.Config(retries={"max_attempts": 0}),
    )  # fmt: skip


def test_boto3_sends_and_receives(server, tmp_path):
    assert server.endpoint.startswith("https://")
    client = sqs(server, str(tmp_path / "certificate.pem"))
    url = client.create_queue(QueueName="q")["QueueUrl"]
    assert url == f"{server.endpoint}/000000000000/q"
    body = "x" * 200_000
    client.send_message(QueueUrl=url, MessageBody=body)
    (message,) = client.receive_message(QueueUrl=url, WaitTimeSeconds=5)["Messages"]
    assert message["Body"] == body


def test_boto3_checks_the_certificate(server):
    with pytest.raises(botocore.exceptions.SSLError):
        sqs(server, True).list_queues()


def redrive(server, *arguments, **variables):
    kept = {name: value for name, value in os.environ.items() if not name.startswith("AWS_")}
    environment = {**kept, "AWS_ENDPOINT_URL": server.endpoint, **variables}
    command = [binary_path(), *arguments]
    return subprocess.run(command, env=environment, capture_output=True, text=True, timeout=30)


def test_the_command_line_trusts_whom_it_is_told_to(server, tmp_path):
    bundle = str(tmp_path / "certificate.pem")
    assert redrive(server, "queue", "create", "q", "--ca-bundle", bundle).returncode == 0
    assert redrive(server, "send", "q", "hello", AWS_CA_BUNDLE=bundle).returncode == 0
    received = redrive(server, "receive", "q", "--no-verify-ssl")
    assert received.returncode == 0 and "hello" in received.stdout
    refused = redrive(server, "queue", "ls")
    assert refused.returncode == 1 and "certificate" in refused.stderr


def served_name(server):
    parts = urllib.parse.urlsplit(server.endpoint)
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT)
    context.check_hostname = False
    context.verify_mode = ssl.CERT_NONE
    with socket.create_connection((parts.hostname, parts.port)) as plain:
        with context.wrap_socket(plain) as secure:
            return b"second" if b"second" in secure.getpeercert(True) else b"first"


def wait_for(condition):
    deadline = time.monotonic() + 10
    while not condition() and time.monotonic() < deadline:
        time.sleep(0.02)
    assert condition()


def test_sighup_brings_a_new_certificate(server, tmp_path):
    log = tmp_path / "server.log"
    assert served_name(server) == b"first"
    (tmp_path / "certificate.pem").write_text("not a certificate")
    os.kill(server.pid, signal.SIGHUP)
    wait_for(lambda: "failed to reload the certificate" in log.read_text())
    assert served_name(server) == b"first"
    make_certificate(tmp_path, "second")
    os.kill(server.pid, signal.SIGHUP)
    wait_for(lambda: "reloaded the certificate" in log.read_text())
    assert served_name(server) == b"second"


def test_plain_http_is_told_so(server):
    parts = urllib.parse.urlsplit(server.endpoint)
    with socket.create_connection((parts.hostname, parts.port), timeout=10) as connection:
        connection.sendall(b"GET / HTTP/1.1\r\nHost: 127.0.0.1\r\n\r\n")
        assert connection.recv(1000).startswith(b"HTTP/1.1 400 ")
