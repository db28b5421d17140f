"""Where the server connects to on behalf of its clients: public addresses, and what the operator lists."""

import http.server
import json
import os
import subprocess
import threading

import pytest

from harness import clock
from harness.functions import client, settings
from harness.server import Server, binary_path

pytestmark = [
    pytest.mark.own_server,
    pytest.mark.skipif("REDRIVE_ENDPOINT" in os.environ, reason="needs its own server process"),
]

FAILS = "def handler(event, context):\n    raise ValueError('no')\n"
KEYED = "[[key]]\nid = 'test'\nsecret = 'test'\nrole = 'admin'\n"


@pytest.fixture
def hook():
    """A web server on this machine, and what it was asked."""
    asked = []

    class Handler(http.server.BaseHTTPRequestHandler):
        def do_POST(self):
            asked.append(json.loads(self.rfile.read(int(self.headers["Content-Length"]))))
            self.send_response(200)
            self.send_header("Content-Length", "2")
            self.end_headers()
            self.wfile.write(b"{}")

        def log_message(self, *arguments):
            pass

    server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    server.url = f"http://127.0.0.1:{server.server_port}/"
    server.asked = asked
    yield server
    server.shutdown()
    server.server_close()


@pytest.fixture
def start(tmp_path):
    started = []

    def make(text):
        (tmp_path / "redrive.toml").write_text(text)
        arguments = ("--memory", "--config", str(tmp_path / "redrive.toml"))
        started.append(Server(*arguments, log_path=tmp_path / "server.log"))
        started[-1].said = lambda: (tmp_path / "server.log").read_text()
        return started[-1]

    yield make
    for server in started:
        server.stop()


def fail_into(server, hook):
    """Lets a function fail whose failures are to be told to the hook."""
    functions = client("lambda", server.endpoint)
    name = functions.create_function(**settings(FAILS))["FunctionName"]
    functions.put_function_event_invoke_config(
        FunctionName=name, MaximumRetryAttempts=0,
        DestinationConfig={"OnFailure": {"Destination": hook.url}},
    )  # fmt: skip
    functions.invoke(FunctionName=name, InvocationType="Event", Payload=b'{"a":1}')


@pytest.mark.parametrize("keys", ["", KEYED], ids=["open", "keyed"])
def test_destinations_on_this_machine_are_refused(start, hook, keys):
    server = start(keys)
    fail_into(server, hook)
    clock.until("a refusal in the log", lambda: "[outgoing] allow" in server.said(), timeout=30)
    assert hook.asked == []


@pytest.mark.parametrize("allowed", ["loopback", "127.0.0.0/8", "127.0.0.1"])
def test_destinations_that_are_listed_are_reached(start, hook, allowed):
    server = start(KEYED.replace("[[key]]", f"[outgoing]\nallow = ['{allowed}']\n[[key]]"))
    fail_into(server, hook)
    clock.until("the hook is told", lambda: hook.asked, timeout=30)


def test_functions_of_runtime_http_follow_the_same_list(start, hook):
    def invoke(server):
        environment = {**os.environ, "AWS_ACCESS_KEY_ID": "test", "AWS_SECRET_ACCESS_KEY": "test"}
        for arguments in (["deploy", hook.url, "--name", "hook-fn"], ["invoke", "hook-fn", "{}"]):
            done = subprocess.run(
                [binary_path(), "function", *arguments, "--endpoint-url", server.endpoint],
                capture_output=True, text=True, env=environment,
            )  # fmt: skip
        return done.stdout + done.stderr

    assert "[outgoing] allow" in invoke(start(KEYED))
    assert hook.asked == []
    invoke(start("[outgoing]\nallow = ['loopback']\n" + KEYED))
    assert hook.asked == [{}]
    # Where anybody on this machine may deploy its directories, its addresses are no secret.
    invoke(start(""))
    assert hook.asked == [{}, {}]


def test_an_entry_that_means_nothing_stops_the_start(tmp_path):
    (tmp_path / "c.toml").write_text("[outgoing]\nallow = ['10.0.0.0/99']\n")
    ended = subprocess.run(
        [binary_path(), "serve", "--listen", "127.0.0.1:0", "--memory", "--config", str(tmp_path / "c.toml")],
        capture_output=True, text=True, timeout=20,
    )  # fmt: skip
    assert ended.returncode != 0
    assert "outgoing.allow" in ended.stderr
