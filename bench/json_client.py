"""Speaks SQS and the management API as plain documents, and many requests at a time."""

import http.client
import json
import socket
import sys

CONNECTIONS = 200


class Client:
    def __init__(self, endpoint):
        host, port = endpoint.removeprefix("http://").split(":")
        self.address = (host, int(port))
        self.connection = http.client.HTTPConnection(*self.address, timeout=600)

    def ask(self, method, path, document=None, headers=None):
        body = None if document is None else json.dumps(document)
        self.connection.request(method, path, body=body, headers=headers or {})
        answer = self.connection.getresponse()
        content = answer.read()
        if answer.status != 200:
            sys.exit(f"{method} {path}: {answer.status} {content[:300]!r}")
        return json.loads(content or b"{}")

    def sqs(self, action, **document):
        headers = {"Content-Type": "application/x-amz-json-1.0", "X-Amz-Target": f"AmazonSQS.{action}"}
        return self.ask("POST", "/", document, headers)

    def manage(self, method, path, document=None):
        return self.ask(method, "/_redrive/v1/" + path, document)

    def many(self, action, count, make):
        """So many requests, on several connections at a time."""
        streams = [socket.create_connection(self.address) for _ in range(CONNECTIONS)]
        readers = [stream.makefile("rb", 1 << 16) for stream in streams]
        for begin in range(0, count, CONNECTIONS):
            portion = min(CONNECTIONS, count - begin)
            for stream, number in zip(streams, range(begin, begin + portion)):
                body = json.dumps(make(number)).encode()
                stream.sendall(
                    b"POST / HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/x-amz-json-1.0\r\n"
                    b"X-Amz-Target: AmazonSQS.%s\r\nContent-Length: %d\r\n\r\n%s" % (action.encode(), len(body), body)
                )
            for reader in readers[:portion]:
                length = 0
                while (line := reader.readline()) not in (b"\r\n", b""):
                    if line.lower().startswith(b"content-length:"):
                        length = int(line.split(b":")[1])
                reader.read(length)
        for stream in streams:
            stream.close()
        self.connection.close()  # It may have been idle for too long.
