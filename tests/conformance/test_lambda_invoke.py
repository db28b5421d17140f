"""Running functions: what they answer, how they fail, what they wrote."""

import base64
import json

import pytest
from botocore.exceptions import ClientError

from harness import clock
from harness.functions import client, redrive, settings

ERRORS = """
import json

class OutOfStock(Exception):
    pass

def handler(event, context):
    print("before", json.dumps(event))
    if event.get("fail"):
        raise OutOfStock("sku-" + str(event["fail"]))
    return {"context": context.client_context is not None, "event": event}
"""


@pytest.fixture
def functions(endpoint):
    return client("lambda", endpoint)


@pytest.fixture
def function(functions):
    wanted = settings(ERRORS)
    functions.create_function(**wanted)
    yield wanted["FunctionName"]
    functions.delete_function(FunctionName=wanted["FunctionName"])


def test_a_result_comes_back(functions, function):
    answer = functions.invoke(FunctionName=function, Payload=b'{"a": [1, "\\u00e4"]}')
    assert answer["StatusCode"] == 200 and "FunctionError" not in answer
    assert answer["ExecutedVersion"] == "$LATEST"
    assert json.load(answer["Payload"])["event"] == {"a": [1, "ä"]}


def test_no_payload_is_an_empty_object(functions, function):
    assert json.load(functions.invoke(FunctionName=function)["Payload"])["event"] == {}


def test_an_exception_is_a_function_error(functions, function):
    answer = functions.invoke(FunctionName=function, Payload=b'{"fail": 7}', LogType="Tail")
    assert answer["StatusCode"] == 200 and answer["FunctionError"] == "Unhandled"
    error = json.load(answer["Payload"])
    assert error["errorType"] == "OutOfStock" and error["errorMessage"] == "sku-7"
    assert any("handler" in frame for frame in error["stackTrace"])
    log = base64.b64decode(answer["LogResult"]).decode()
    assert "before" in log and "START RequestId" in log and "REPORT RequestId" in log


def test_dry_run_and_wrong_requests(functions, function):
    dry = functions.invoke(FunctionName=function, InvocationType="DryRun")
    assert dry["StatusCode"] == 204
    for arguments, status, code in [
        ({"Payload": b"{not json"}, 400, "InvalidRequestContentException"),
        ({"Payload": b'"' + b"x" * 6291456 + b'"'}, 413, "RequestTooLargeException"),
        ({"Payload": b'"' + b"x" * (1 << 20) + b'"', "InvocationType": "Event"}, 413,
         "RequestTooLargeException"),
        ({"Qualifier": "nobody"}, 404, "ResourceNotFoundException"),
    ]:
        with pytest.raises(ClientError) as failure:
            functions.invoke(FunctionName=function, **arguments)
        assert failure.value.response["Error"]["Code"] == code
        assert failure.value.response["ResponseMetadata"]["HTTPStatusCode"] == status


def test_a_client_context_arrives(functions, function):
    context = base64.b64encode(b'{"custom": {"a": "b"}}').decode()
    answer = functions.invoke(FunctionName=function, ClientContext=context)
    assert json.load(answer["Payload"])["context"] is True


def test_without_concurrency_nothing_runs(functions):
    wanted = settings(ERRORS)
    functions.create_function(**wanted)
    name = wanted["FunctionName"]
    functions.put_function_concurrency(FunctionName=name, ReservedConcurrentExecutions=0)
    with pytest.raises(ClientError) as failure:
        functions.invoke(FunctionName=name)
    assert failure.value.response["ResponseMetadata"]["HTTPStatusCode"] == 429
    assert failure.value.response["Error"]["Code"] == "TooManyRequestsException"
    functions.delete_function(FunctionName=name)


def test_an_event_is_worked_on_later(endpoint, functions, function):
    accepted = functions.invoke(FunctionName=function, InvocationType="Event", Payload=b'{"later": 1}')
    assert accepted["StatusCode"] == 202 and accepted["Payload"].read() == b""
    assert len(accepted["ResponseMetadata"]["RequestId"]) == 36

    def logged():
        return '"later": 1' in redrive(endpoint, "function", "logs", function).stdout

    clock.until("the event reached the function", logged, timeout=15)


def test_commands_and_endpoints_are_functions_too(endpoint, functions, tmp_path):
    import http.server
    import threading

    class Handler(http.server.BaseHTTPRequestHandler):
        def do_POST(self):
            body = self.rfile.read(int(self.headers["Content-Length"]))
            answer = b'{"got":' + body + b"}"
            self.send_response(200)
            self.send_header("Content-Length", str(len(answer)))
            self.end_headers()
            self.wfile.write(answer)

        def log_message(self, *arguments):
            pass

    server = http.server.HTTPServer(("127.0.0.1", 0), Handler)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    try:
        redrive(endpoint, "function", "deploy", f"http://127.0.0.1:{server.server_port}/", "--name",
                "hook-fn")
        said = redrive(endpoint, "function", "invoke", "hook-fn", '{"a":1}', "--json").stdout
        assert json.loads(said) == {"got": {"a": 1}}
    finally:
        server.shutdown()
    redrive(endpoint, "function", "deploy", "--name", "shell-fn", "--command", "tr a-z A-Z")
    said = redrive(endpoint, "function", "invoke", "shell-fn", '{"a":"b"}', "--json").stdout
    assert json.loads(said) == {"A": "B"}
    redrive(endpoint, "function", "rm", "-y", "hook-fn", "shell-fn")
