"""redrive function, mapping and dlq try: what people do with functions at a terminal."""

import json
import os
import signal
import subprocess
import urllib.request

import pytest
from botocore.exceptions import ClientError

from harness import clock
from harness.functions import client, python_runtime, redrive
from harness.queue import unique_name
from harness.server import binary_path

BROKEN = """
def handler(event, context):
    body = event["Records"][0]["body"]
    print("working on", body)
    raise ValueError("cannot read " + body)
"""
MENDED = "def handler(event, context): return {'batchItemFailures': []}\n"
# As people write it who delete for themselves. What it returns is of no interest to anybody.
DELETES = """
import os, boto3

def process(event, context):
    for record in event["Records"]:
        if MENDED:
            boto3.client("sqs").delete_message(
                QueueUrl=os.environ["QUEUE_URL"], ReceiptHandle=record["receiptHandle"])
        else:
            raise ValueError("cannot do " + record["body"])
    return "done"
"""
OTHERWISE = "def handler(event, context): return {}['sku']\n"


@pytest.fixture
def code(tmp_path):
    directory = tmp_path / unique_name("fn")
    directory.mkdir()

    def write(text, name="index.py"):
        (directory / name).write_text(text)
        return str(directory)

    return write


def deploy(endpoint, directory, *more):
    return redrive(endpoint, "function", "deploy", directory, "--runtime", python_runtime(), *more)


def test_a_directory_becomes_a_function(endpoint, code):
    directory = code("def handler(event, context):\n    print('hi')\n    return [event, 1]\n")
    name = os.path.basename(directory)
    said = deploy(endpoint, directory, "--env", "A=1", "--timeout", "7").stdout
    assert said.startswith(f"deployed {name} (")
    assert name in redrive(endpoint, "function", "ls").stdout
    shown = redrive(endpoint, "function", "show", name).stdout
    assert "7 s" in shown and "index.handler" in shown
    run = redrive(endpoint, "function", "invoke", name, '{"x":2}')
    assert json.loads(run.stdout) == [{"x": 2}, 1] and "hi" in run.stderr
    assert json.loads(redrive(endpoint, "function", "invoke", name, "-", stdin="3").stdout) == [3, 1]
    lines = redrive(endpoint, "function", "logs", name, "--json").stdout.splitlines()
    assert any(json.loads(line)["text"] == "hi" for line in lines)
    code("def handler(event, context): raise KeyError('gone')\n")
    deploy(endpoint, directory)
    assert "7 s" in redrive(endpoint, "function", "show", name).stdout, "settings stay"
    failed = redrive(endpoint, "function", "invoke", name, "{}", check=False)
    assert failed.returncode == 1 and json.loads(failed.stdout)["errorType"] == "KeyError"
    redrive(endpoint, "function", "rm", "-y", name)
    missing = redrive(endpoint, "function", "show", name, check=False)
    assert missing.returncode == 1 and "ResourceNotFoundException" in missing.stderr


def test_a_watched_directory_is_deployed_again(endpoint, code):
    directory = code("def handler(event, context): return 'old'\n")
    name = os.path.basename(directory)
    watching = subprocess.Popen(
        [binary_path(), "function", "deploy", directory, "--runtime", python_runtime(), "--watch",
         "--endpoint-url", endpoint], stdout=subprocess.PIPE, text=True)
    try:
        assert "deployed" in watching.stdout.readline()
        code("def handler(event, context): return 'new'\n")
        assert "deployed" in watching.stdout.readline()
        assert json.loads(redrive(endpoint, "function", "invoke", name).stdout) == "new"
    finally:
        watching.send_signal(signal.SIGINT)
        assert watching.wait(10) == 0
    redrive(endpoint, "function", "rm", "-y", name)


def test_a_function_runs_in_place(endpoint, code):
    directory = code("def handler(event, context): return 'here'\n")
    name = os.path.basename(directory)
    deploy(endpoint, directory, "--in-place")
    told = client("lambda", endpoint).get_function_configuration(FunctionName=name)
    assert told["CodeSize"] == 0
    assert json.loads(redrive(endpoint, "function", "invoke", name).stdout) == "here"
    redrive(endpoint, "function", "rm", "-y", name)


def test_mappings_at_a_terminal(endpoint, code):
    directory = code(MENDED)
    name, queue = os.path.basename(directory), unique_name("mq")
    deploy(endpoint, directory)
    redrive(endpoint, "queue", "create", queue)
    added = redrive(endpoint, "mapping", "add", queue, name, "--batch-size", "5", "--paused",
                    "--item-failures", "on", "--filter", '{"body":["a"]}', "--retry-policy",
                    '[{"ErrorEquals":["A"],"MaxAttempts":0}]', "--json")
    told = json.loads(added.stdout)
    assert told["BatchSize"] == 5 and told["RetryPolicy"][0]["MaxAttempts"] == 0
    assert queue in redrive(endpoint, "mapping", "ls").stdout
    redrive(endpoint, "mapping", "resume", queue)
    assert "Enabled" in redrive(endpoint, "mapping", "show", told["UUID"]).stdout
    changed = redrive(endpoint, "mapping", "set", name, "--filter", "off", "--batch-size", "2",
                      "--max-retries", "3", "--isolate-retries", "off", "--json")
    told = json.loads(changed.stdout)
    assert "FilterCriteria" not in told and told["MaximumRetryAttempts"] == 3
    assert told["IsolateRetries"] is False
    assert "not isolated" in redrive(endpoint, "mapping", "show", name).stdout
    redrive(endpoint, "mapping", "pause", queue)
    clock.until(
        "the poller has let go",
        lambda: "Disabled" in redrive(endpoint, "mapping", "show", queue).stdout,
        timeout=20,
    )
    redrive(endpoint, "mapping", "rm", queue)
    assert redrive(endpoint, "mapping", "show", queue, check=False).returncode == 1
    redrive(endpoint, "function", "rm", "-y", name)
    redrive(endpoint, "queue", "rm", "-y", queue)


def test_a_dead_letter_is_tried_without_being_touched(endpoint, code):
    directory = code(BROKEN)
    name, queue = os.path.basename(directory), unique_name("tq")
    deploy(endpoint, directory)
    redrive(endpoint, "queue", "create", queue, "--dlq", queue + "-dlq", "--max-receives", "1",
            "--attribute", "VisibilityTimeout=5")
    redrive(endpoint, "mapping", "add", queue, name, "--retry-policy",
            '[{"ErrorEquals":["States.ALL"],"MaxAttempts":0}]')
    redrive(endpoint, "send", queue, "order 17")

    def dead():
        listed = redrive(endpoint, "dlq", "peek", queue + "-dlq", "--json").stdout.splitlines()
        return [json.loads(line) for line in listed]

    message = clock.until("the message died", dead, timeout=20)[0]
    assert message["attempts"][-1]["errorType"] == "ValueError"

    def attempt(*more):
        tried = redrive(endpoint, "dlq", "try", message["messageId"], *more, "--json", check=False)
        return tried.returncode, json.loads(tried.stdout)

    code_, told = attempt()
    assert code_ == 1 and told["verdict"] == "fails as recorded", told
    assert "working on order 17" in told["log"]
    assert attempt("--function", name)[1]["errorType"] == "ValueError"

    mended = os.path.join(os.path.dirname(directory), "mended")
    os.mkdir(mended)
    for text, verdict in [(MENDED, "succeeds now"), (OTHERWISE, "fails otherwise than recorded")]:
        with open(os.path.join(mended, "index.py"), "w") as file:
            file.write(text)
        _, told = attempt("--dir", mended, "--runtime", python_runtime())
        assert told["verdict"] == verdict, told
    said = redrive(endpoint, "dlq", "try", queue + "-dlq", message["messageId"], check=False).stdout
    assert "recorded  ValueError: cannot read order 17" in said

    after = dead()
    assert len(after) == 1 and after[0]["receiveCount"] == message["receiveCount"]
    # That of another test beside this one may be there for a moment.
    clock.until("a function for one run is gone afterwards", lambda: not [
        line for line in redrive(endpoint, "function", "ls").stdout.splitlines() if line.startswith("try-")])
    redrive(endpoint, "mapping", "rm", queue)
    redrive(endpoint, "function", "rm", "-y", name)
    redrive(endpoint, "queue", "rm", "-y", queue, queue + "-dlq")


def test_the_handle_of_a_copy_is_good_for_nothing_but_to_be_deleted(endpoint):
    sqs = client("sqs", endpoint)
    queue, other = (sqs.create_queue(QueueName=unique_name("hq"))["QueueUrl"] for _ in range(2))
    name = queue.rpartition("/")[2]
    sqs.send_message(QueueUrl=queue, MessageBody="stays")
    with urllib.request.urlopen(f"{endpoint}/_redrive/v1/queues/{name}/spent-handle") as answer:
        handle = json.load(answer)["receiptHandle"]
    sqs.delete_message(QueueUrl=queue, ReceiptHandle=handle)
    for call, more in [(sqs.delete_message, {"QueueUrl": other}),
                       (sqs.change_message_visibility, {"QueueUrl": queue, "VisibilityTimeout": 0})]:
        with pytest.raises(ClientError):
            call(ReceiptHandle=handle, **more)
    assert len(sqs.receive_message(QueueUrl=queue)["Messages"]) == 1
    for url in queue, other:
        sqs.delete_queue(QueueUrl=url)


LONG = "def handler(event, context):\n    for n in range(2500): print('line', n)\n"


def test_a_long_log_is_shown_to_its_end(endpoint, code):
    directory = code(LONG)
    name = os.path.basename(directory)
    deploy(endpoint, directory)
    redrive(endpoint, "function", "invoke", name)
    lines = redrive(endpoint, "function", "logs", name).stdout.splitlines()
    assert len(lines) == 2503 and lines[1].endswith("line 0") and "REPORT" in lines[-1]
    redrive(endpoint, "function", "rm", "-y", name)


@pytest.mark.own_server
@pytest.mark.parametrize("how", ["stop", "kill"])
def test_logs_outlive_a_restart(launch, tmp_path, code, how):
    data = tmp_path / "data"
    server = launch("--data", str(data))
    directory = code("def handler(event, context): print('seen', event)\n")
    name = os.path.basename(directory)
    deploy(server.endpoint, directory)
    redrive(server.endpoint, "function", "invoke", name, '"before"')
    if how == "kill":
        logs = data / "function-logs"
        clock.until("the log is on disk", lambda: list(logs.glob("*.log")), timeout=20)
    getattr(server, how)()

    server = launch("--data", str(data))

    def numbers_and_texts():
        lines = redrive(server.endpoint, "function", "logs", name, "--json").stdout.splitlines()
        return [(json.loads(line)["number"], json.loads(line)["text"]) for line in lines]

    before = numbers_and_texts()
    assert [n for n, _ in before] == [1, 2, 3, 4] and before[1][1] == "seen before"
    redrive(server.endpoint, "function", "invoke", name, '"after"')
    both = numbers_and_texts()
    assert both[:4] == before and both[5] == (6, "seen after"), both

    redrive(server.endpoint, "function", "rm", "-y", name)
    deploy(server.endpoint, directory)
    clock.until("the log is gone", lambda: not numbers_and_texts(), timeout=10)
    server.stop()
    assert not list((data / "function-logs").iterdir())


def test_mended_code_is_tried_as_the_function_would_run(endpoint, code):
    """With its settings, judged by its mapping; and it may delete what it was given."""
    directory = code("MENDED = False\n" + DELETES, "work.py")
    name, queue = os.path.basename(directory), unique_name("tq")
    redrive(endpoint, "queue", "create", queue, "--dlq", queue + "-dlq")
    url = client("sqs", endpoint).get_queue_url(QueueName=queue)["QueueUrl"]
    deploy(endpoint, directory, "--handler", "work.process", "--env", "QUEUE_URL=" + url)
    redrive(endpoint, "mapping", "add", queue, name, "--retry-policy",
            '[{"ErrorEquals":["States.ALL"],"MaxAttempts":0}]')
    redrive(endpoint, "send", queue, "order 17")
    message = clock.until("the message died", lambda: redrive(
        endpoint, "dlq", "peek", queue + "-dlq", "--json").stdout, timeout=20)
    message = json.loads(message.splitlines()[0])["messageId"]

    code("MENDED = True\n" + DELETES, "work.py")
    tried = redrive(endpoint, "dlq", "try", message, "--dir", directory, check=False).stdout
    assert tried.startswith("succeeds now\n"), tried
    assert message in redrive(endpoint, "dlq", "peek", queue + "-dlq", "--json").stdout

    # Where the mapping heeds answers, this one cannot be understood.
    redrive(endpoint, "mapping", "set", queue, "--item-failures", "on")
    told = redrive(endpoint, "dlq", "try", message, "--dir", directory, "--json", check=False)
    assert json.loads(told.stdout)["errorType"] == "InvalidBatchResponse", told.stdout
    redrive(endpoint, "mapping", "rm", queue)
    redrive(endpoint, "function", "rm", "-y", name)
    redrive(endpoint, "queue", "rm", "-y", queue, queue + "-dlq")
