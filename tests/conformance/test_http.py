"""HTTP at its edges, through a raw socket: what is refused and how, and what must work."""

import socket
import time
import urllib.parse

import pytest

from harness.server import Server

HOST = "Host: 127.0.0.1\r\n"


def ask(endpoint, request, patience=10):
    """Sends the bytes and reads until the server closes, or has nothing more to say."""
    parts = urllib.parse.urlsplit(endpoint)
    if isinstance(request, str):
        request = request.encode("latin-1")
    with socket.create_connection((parts.hostname, parts.port), timeout=patience) as connection:
        connection.sendall(request)
        connection.shutdown(socket.SHUT_WR)
        answer = b""
        while chunk := connection.recv(65536):
            answer += chunk
    return answer


def status(answer):
    return int(answer[9:12]) if answer.startswith(b"HTTP/1.1 ") else None


def get(headers="", target="/health"):
    return f"GET {target} HTTP/1.1\r\n{HOST}{headers}\r\n"


def chunked(body):
    return f"POST / HTTP/1.1\r\n{HOST}Transfer-Encoding: chunked\r\n\r\n{body}"


# Each shape makes two servers in a row disagree about where a request ends, or whom it is for.
SMUGGLING = {
    "length and chunked": get("Content-Length: 4\r\nTransfer-Encoding: chunked\r\n") + "0\r\n\r\n",
    "chunked and length": get("Transfer-Encoding: chunked\r\nContent-Length: 4\r\n") + "0\r\n\r\n",
    "two lengths": get("Content-Length: 1\r\nContent-Length: 2\r\n") + "ab",
    "equal lengths": get("Content-Length: 1\r\nContent-Length: 1\r\n") + "a",
    "list of lengths": get("Content-Length: 1, 1\r\n") + "a",
    "signed length": get("Content-Length: +1\r\n") + "a",
    "negative length": get("Content-Length: -1\r\n"),
    "hexadecimal length": get("Content-Length: 0x1\r\n") + "a",
    "spaced length": get("Content-Length: 1 0\r\n") + "a",
    "empty length": get("Content-Length:\r\n"),
    "two codings": get("Transfer-Encoding: chunked\r\nTransfer-Encoding: chunked\r\n"),
    "coding over chunked": get("Transfer-Encoding: gzip, chunked\r\n") + "0\r\n\r\n",
    "coding under chunked": get("Transfer-Encoding: chunked, gzip\r\n") + "0\r\n\r\n",
    "identity": get("Transfer-Encoding: identity\r\n"),
    "chunked, nearly": get("Transfer-Encoding: xchunked\r\n") + "0\r\n\r\n",
    "chunked in 1.0": "POST / HTTP/1.0\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n",
    "space before the colon": get("Content-Length : 1\r\n") + "a",
    "folded header": get("X: a\r\n b\r\n"),
    "bare LF": get("X: a\nContent-Length: 1\r\n"),
    "only LF": "GET /health HTTP/1.1\nHost: 127.0.0.1\n\n",
    "bare CR": get("X: a\rb\r\n"),
    "NUL": get("X: a\0b\r\n"),
    "no host": "GET /health HTTP/1.1\r\n\r\n",
    "two hosts": get("Host: 127.0.0.1\r\n"),
    "list of hosts": "GET /health HTTP/1.1\r\nHost: 127.0.0.1, evil.example\r\n\r\n",
    "no colon": get("nonsense\r\n"),
    "tab in the request line": f"GET\t/health HTTP/1.1\r\n{HOST}\r\n",
    "HTTP/0.9": "GET /health\r\n\r\n",
    "chunk without size": chunked("\r\n"),
    "chunk size with a sign": chunked("+1\r\na\r\n0\r\n\r\n"),
    "chunk size with a prefix": chunked("0x1\r\na\r\n0\r\n\r\n"),
    "chunk size with a space": chunked("1 \r\na\r\n0\r\n\r\n"),
    "chunk size beyond numbers": chunked("fffffffffffffffff\r\n"),
    "chunk with bare LF": chunked("1\na\r\n0\r\n\r\n"),
    "chunk longer than its size": chunked("1\r\nab\r\n0\r\n\r\n"),
    "endless chunk extension": chunked("1;" + "x" * 2000 + "\r\na\r\n0\r\n\r\n"),
    "malformed trailer": chunked("0\r\nno colon\r\n\r\n"),
}


@pytest.mark.parametrize("shape", SMUGGLING)
def test_smuggling_shapes_are_refused_and_nothing_behind_them_is_served(endpoint, shape):
    answer = ask(endpoint, SMUGGLING[shape] + get())
    assert status(answer) == 400
    assert b"Connection: close" in answer
    assert answer.count(b"HTTP/1.1 ") == 1


LIMITS = {
    "head": (get("X: " + "x" * 40_000 + "\r\n"), 431),
    "headers": (get("".join(f"X{i}: 1\r\n" for i in range(200))), 431),
    "target": (get(target="/" + "a" * 20_000), 414),
    "body": (f"POST / HTTP/1.1\r\n{HOST}Content-Length: 9000000\r\n\r\n", 413),
    "chunks": (chunked("900000\r\n"), 413),
    "trailers": (chunked("0\r\nX: " + "x" * 40_000 + "\r\n\r\n"), 431),
    "version": (f"GET / HTTP/2.0\r\n{HOST}\r\n", 505),
    "expectation": (get("Expect: miracles\r\n"), 417),
}


@pytest.mark.parametrize("limit", LIMITS)
def test_each_limit_has_its_answer(endpoint, limit):
    request, expected = LIMITS[limit]
    assert status(ask(endpoint, request)) == expected


def test_what_is_unusual_but_right_is_served(endpoint):
    assert status(ask(endpoint, "\r\n" + get())) == 200
    assert status(ask(endpoint, "GET /health HTTP/1.0\r\n\r\n")) == 200
    assert status(ask(endpoint, get(target="http://127.0.0.1:1/health"))) == 200
    assert ask(endpoint, f"HEAD /health HTTP/1.1\r\n{HOST}\r\n").endswith(b"\r\n\r\n")
    assert status(ask(endpoint, f"OPTIONS * HTTP/1.1\r\n{HOST}\r\n")) == 204
    assert ask(endpoint, get() * 5).count(b"HTTP/1.1 200") == 5
    action = "Action=ListQueues"
    body = f"5;a=b\r\n{action[:5]}\r\nC\r\n{action[5:]}\r\n0\r\nX-Trailer: 1\r\n\r\n"
    answer = ask(endpoint, chunked(body))
    assert status(answer) == 200 and b"ListQueuesResponse" in answer


def test_a_client_that_asks_before_it_sends_is_told_to_go_on(endpoint):
    parts = urllib.parse.urlsplit(endpoint)
    with socket.create_connection((parts.hostname, parts.port), timeout=10) as connection:
        body = b"Action=ListQueues"
        head = f"POST / HTTP/1.1\r\n{HOST}Expect: 100-continue\r\nContent-Length: {len(body)}\r\n\r\n"
        connection.sendall(head.encode())
        assert connection.recv(100) == b"HTTP/1.1 100 Continue\r\n\r\n"
        connection.sendall(body)
        assert connection.recv(1000).startswith(b"HTTP/1.1 200 ")


PAGES = {
    "foreign page": "Origin: https://evil.example\r\n",
    "page of another port": "Origin: http://127.0.0.1:3000\r\n",
    "sandboxed page": "Origin: null\r\n",
    "image from another site": "Sec-Fetch-Site: cross-site\r\n",
    "link in an older browser": "Referer: https://evil.example/page\r\n",
}


@pytest.mark.parametrize("page", PAGES)
@pytest.mark.parametrize("method", ["GET", "POST", "OPTIONS"])
def test_web_pages_have_no_business_here(endpoint, page, method):
    answer = ask(endpoint, f"{method} / HTTP/1.1\r\n{HOST}{PAGES[page]}\r\n")
    assert status(answer) == 403
    assert b"Access-Control-Allow" not in answer


def test_a_page_that_only_sends_a_referer_purges_nothing(endpoint, new_queue):
    queue = new_queue()
    queue.send("precious")
    target = f"{urllib.parse.urlsplit(queue.url).path}?Action=PurgeQueue&Version=2012-11-05"
    foreign = f"GET {target} HTTP/1.1\r\n{HOST}Referer: https://evil.example/\r\n\r\n"
    assert status(ask(endpoint, foreign)) == 403
    assert queue.receive(), "the message is gone"


def test_names_that_others_could_let_point_here_are_refused(endpoint):
    answer = ask(endpoint, "GET /health HTTP/1.1\r\nHost: evil.example:9324\r\n\r\n")
    assert status(answer) == 403
    assert b"allowed-hosts" in answer
    assert status(ask(endpoint, "GET /health HTTP/1.1\r\nHost: sqs.localhost:9\r\n\r\n")) == 200


@pytest.fixture
def configured(tmp_path):
    """Starts a server with the text of a configuration file."""
    started = []

    def start(text, *arguments):
        path = tmp_path / "redrive.toml"
        path.write_text(text)
        started.append(Server("--memory", "--config", str(path), *arguments))
        return started[-1].endpoint

    yield start
    for server in started:
        server.kill()


@pytest.mark.own_server
def test_limits_and_names_come_from_the_file(configured):
    endpoint = configured(
        'allowed-hosts = ["*.localstack.cloud"]\n'
        "[limits]\nconnections = 2\nhead-bytes = 1000\nheaders = 5\nbody-bytes = 2000\n"
        "request-time = 1\nidle-time = 2\n"
    )
    host = "Host: sqs.us-east-1.localhost.localstack.cloud:4566\r\n"
    assert status(ask(endpoint, f"GET /health HTTP/1.1\r\n{host}\r\n")) == 200
    assert status(ask(endpoint, get("X: " + "x" * 1000 + "\r\n"))) == 431
    assert status(ask(endpoint, get("A: 1\r\nB: 1\r\nC: 1\r\nD: 1\r\nE: 1\r\n"))) == 431
    request = f"POST / HTTP/1.1\r\n{HOST}Content-Length: 2001\r\n\r\n"
    assert status(ask(endpoint, request)) == 413

    parts = urllib.parse.urlsplit(endpoint)
    address = (parts.hostname, parts.port)
    with socket.create_connection(address) as first, socket.create_connection(address) as second:
        begun = time.monotonic()
        second.sendall(b"GET / HT")
        with socket.create_connection(address) as third:
            assert third.recv(100).startswith(b"HTTP/1.1 503 ")
        assert second.recv(100).startswith(b"HTTP/1.1 408 ")
        assert first.recv(100) == b""  # Idle for too long.
        assert time.monotonic() - begun < 8


@pytest.mark.own_server
@pytest.mark.parametrize(
    "text",
    [
        "[limits]\nconnections = 0\n",
        "[limits]\nconnection = 5\n",
        '[limits]\nrequest-time = "1s"\n',
        "limits = 5\n",
        "[limits]\nunfinished-bytes = 1000\n",
        'allowed-hosts = "x"\n',
        'allowed-hosts = ["http://x"]\n',
        'tls-certificate = "x"\n',
    ],
)
def test_a_bad_configuration_is_no_start(configured, text):
    with pytest.raises(Exception):
        configured(text)
