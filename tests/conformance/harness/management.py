"""The management API: what SQS has no action for. JSON both ways, under /_redrive/v1/."""

import http.client
import json
import urllib.parse


class Refused(Exception):
    """An error answer, with its status, code and message."""

    def __init__(self, status, error):
        super().__init__(f"{status} {error['code']}: {error['message']}")
        self.status = status
        self.code = error["code"]
        self.message = error["message"]


class Management:
    def __init__(self, endpoint):
        parts = urllib.parse.urlsplit(endpoint)
        self._address = (parts.hostname, parts.port)

    def request(self, method, path, body=None):
        """Returns (status, headers, body bytes)."""
        connection = http.client.HTTPConnection(*self._address, timeout=40)
        try:
            connection.request(method, "/_redrive/v1/" + path, body=body)
            response = connection.getresponse()
            return response.status, response.headers, response.read()
        finally:
            connection.close()

    def call(self, method, path, document=None):
        body = None if document is None else json.dumps(document)
        status, _, content = self.request(method, path, body)
        answer = json.loads(content)
        if status != 200:
            raise Refused(status, answer["error"])
        return answer

    def clock(self):
        return self.call("GET", "clock")

    def advance(self, seconds):
        return self.call("POST", "clock/advance", {"seconds": seconds})

    def reset(self):
        return self.call("POST", "reset")
