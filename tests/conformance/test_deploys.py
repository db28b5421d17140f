"""Which deploy did it: code versions of attempts and groups, old code that can still be tried, the
qualifiers of permissions and events, and what is said of interpreters."""

import json
import urllib.request

import boto3
import pytest
from botocore.config import Config
from botocore.exceptions import ClientError

from harness import clock
from harness.functions import KEYS, client, python_runtime, redrive, settings, zip_of
from harness.queue import unique_name

GOOD = "def handler(event, context):\n    return 'good %d'\n"
BAD = """
def handler(event, context):
    for record in event["Records"]:
        if record["body"].startswith("bad"):
            raise ValueError("cannot read it, build %d")
"""
NEVER_AGAIN = '[{"ErrorEquals":["States.ALL"],"MaxAttempts":0}]'


def digits(sha256):
    import base64
    return base64.b64decode(sha256).hex()[:8]


def manage(endpoint, path):
    with urllib.request.urlopen(f"{endpoint}/_redrive/v1/{path}", timeout=30) as answer:
        return json.load(answer)


def left(sqs, url):
    told = sqs.get_queue_attributes(QueueUrl=url, AttributeNames=["All"])["Attributes"]
    return int(told["ApproximateNumberOfMessages"]) + int(told["ApproximateNumberOfMessagesNotVisible"])


def send_and_wait(sqs, url, bodies):
    for body in bodies:
        sqs.send_message(QueueUrl=url, MessageBody=body)
    clock.until("all are handled", lambda: left(sqs, url) == 0, timeout=60)


@pytest.mark.own_server
def test_a_group_names_the_deploy_that_it_began_with(launch, tmp_path):
    data = ("--data", str(tmp_path / "data"))
    server = launch(*data)
    functions, sqs = client("lambda", server.endpoint), client("sqs", server.endpoint)
    made = functions.create_function(**settings(GOOD % 1))
    name, codes = made["FunctionName"], [digits(made["CodeSha256"])]
    redrive(server.endpoint, "queue", "create", "orders", "--dlq", "orders-dlq", "--max-receives", "1",
            "--attribute", "VisibilityTimeout=5")
    redrive(server.endpoint, "mapping", "add", "orders", name, "--batch-size", "1", "--retry-policy", NEVER_AGAIN)
    url = sqs.get_queue_url(QueueName="orders")["QueueUrl"]
    send_and_wait(sqs, url, [f"good {i}" for i in range(20)])

    def deploy(text):
        told = functions.update_function_code(FunctionName=name, ZipFile=zip_of(index__py=text))
        codes.append(digits(told["CodeSha256"]))

    deploy(BAD % 1)
    send_and_wait(sqs, url, [f"{kind} {i}" for i in range(10) for kind in ("bad", "fine")])

    def group():
        listed = manage(server.endpoint, "queues/orders-dlq/groups")["groups"]
        return listed and listed[0]["count"] == 10 and listed[0]

    def check(told):
        deploy_ = told["deploy"]
        assert deploy_["verdict"] == "began-with", deploy_
        assert (deploy_["code"], deploy_["before"]) == (codes[1], codes[0])
        assert (deploy_["failed"], deploy_["handled"], deploy_["handledBefore"]) == (10, 20, 20)
        assert f"after {codes[1]} was deployed; 0 of 20 failed like this under {codes[0]}" in deploy_["sentence"]
        assert [mark["code"] for mark in told["deploys"]] == codes[:2]

    check(clock.until("all are grouped", group, timeout=20))
    server.kill()
    server = launch(*data)
    check(clock.until("all are grouped", group, timeout=20))
    assert f"{codes[1]} was deployed" in redrive(server.endpoint, "dlq", "groups", "orders-dlq").stdout

    functions = client("lambda", server.endpoint)
    deploy(BAD % 2)
    message = manage(server.endpoint, "queues/orders-dlq/messages")["messages"][0]
    attempt = message["attempts"][-1]
    assert attempt["by"] == f"function:{name}" and attempt["code"] == codes[1]
    assert attempt["interpreter"].startswith(python_runtime() + ".")
    assert attempt["deployedAt"] <= attempt["receivedAt"]

    identity = message["messageId"]
    tried = redrive(server.endpoint, "dlq", "try", identity, "--version", codes[0][:5])
    assert "succeeds now" in tried.stdout and "side effects of the handler" in tried.stderr
    found = redrive(server.endpoint, "dlq", "try", "orders-dlq", identity[:8], "--bisect", "--json")
    told = json.loads(found.stdout)
    assert (told["firstBad"], told["lastGood"]) == (codes[1], codes[0]), told
    shown = redrive(server.endpoint, "dlq", "show", identity).stdout
    assert f"tried: " in shown and f"{name} @{codes[1]}: fails as recorded" in shown, shown
    assert codes[1] in shown and "deployed" in shown
    assert manage(server.endpoint, "queues/orders-dlq/messages")["messages"][0]["receiveCount"] == message["receiveCount"]

    for build in range(3, 8):
        deploy(BAD % build)
    kept = json.loads(redrive(server.endpoint, "function", "show", name, "--json").stdout)["Configuration"]["KeptCode"]
    assert [code["Version"] for code in kept] == codes[-5:]
    with pytest.raises(ClientError) as gone:
        functions.invoke(FunctionName=name, Qualifier="@" + codes[0])
    assert gone.value.response["Error"]["Code"] == "ResourceNotFoundException"
    zips = {path.stem[:8] for path in (tmp_path / "data" / "functions").glob("*.zip")}
    assert zips == set(codes[-5:])
    functions.delete_function(FunctionName=name)
    assert not list((tmp_path / "data" / "functions").glob("*.zip"))


def test_clients_say_their_version_in_the_user_agent(endpoint):
    def consumer(version):
        return boto3.client("sqs", endpoint_url=endpoint, region_name="us-east-1",
                            config=Config(user_agent_extra="app/" + version), **KEYS)

    queue = unique_name("uaq")
    redrive(endpoint, "queue", "create", queue, "--dlq", queue + "-dlq", "--max-receives", "1")
    good, bad = consumer("shop-1.4"), consumer("shop-1.5")
    url = good.get_queue_url(QueueName=queue)["QueueUrl"]
    for i in range(12):
        good.send_message(QueueUrl=url, MessageBody=f"good {i}")
        for message in good.receive_message(QueueUrl=url)["Messages"]:
            good.delete_message(QueueUrl=url, ReceiptHandle=message["ReceiptHandle"])
    bad.send_message(QueueUrl=url, MessageBody="bad")
    bad.receive_message(QueueUrl=url, VisibilityTimeout=0)
    assert "Messages" not in bad.receive_message(QueueUrl=url)
    attempt = manage(endpoint, f"queues/{queue}-dlq/messages")["messages"][0]["attempts"][0]
    assert attempt["code"] == "shop-1.5" and attempt["agent"].startswith("Boto3/")
    assert attempt["interpreter"].startswith("python3.") and attempt["by"] == "test 127.0.0.1"
    told = manage(endpoint, f"queues/{queue}-dlq/groups")["groups"][0]["deploy"]
    assert (told["code"], told["before"], told["handledBefore"]) == ("shop-1.5", "shop-1.4", 12)
    assert "shop-1.5 was first seen; 0 of 12 failed like this under shop-1.4" in told["sentence"]


def test_versions_and_aliases_have_policies_of_their_own(endpoint):
    functions = client("lambda", endpoint)
    made = functions.create_function(**settings(Publish=True))
    name, arn = made["FunctionName"], made["FunctionArn"].rpartition(":")[0]
    functions.create_alias(FunctionName=name, Name="live", FunctionVersion="1")
    grant = {"Action": "lambda:InvokeFunction", "Principal": "sns.amazonaws.com", "StatementId": "s"}
    for more in ({}, {"Qualifier": "live"}, {"Qualifier": "1"}):
        functions.add_permission(FunctionName=name, **grant, **more)
        policy = json.loads(functions.get_policy(FunctionName=name, **more)["Policy"])
        qualifier = more.get("Qualifier")
        assert [statement["Resource"] for statement in policy["Statement"]] == [
            arn + (":" + qualifier if qualifier else "")]
    with pytest.raises(ClientError, match="already exists"):
        functions.add_permission(FunctionName=name, Qualifier="live", **grant)
    with pytest.raises(ClientError, match="not support adding policies for .LATEST"):
        functions.add_permission(FunctionName=name, Qualifier="$LATEST", **grant)
    with pytest.raises(ClientError) as missing:
        functions.add_permission(FunctionName=name, Qualifier="none", **grant)
    assert missing.value.response["Error"]["Code"] == "ResourceNotFoundException"
    functions.remove_permission(FunctionName=name, StatementId="s", Qualifier="live")
    with pytest.raises(ClientError) as missing:
        functions.get_policy(FunctionName=name, Qualifier="live")
    assert missing.value.response["Error"]["Code"] == "ResourceNotFoundException"
    assert functions.get_policy(FunctionName=name)["Policy"]
    functions.delete_function(FunctionName=name)


def test_events_go_to_versions_and_aliases_with_settings_of_their_own(endpoint):
    functions, sqs = client("lambda", endpoint), client("sqs", endpoint)
    made = functions.create_function(**settings(
        "def handler(event, context):\n    return [1, context.invoked_function_arn]\n", Publish=True))
    name, arn = made["FunctionName"], made["FunctionArn"].rpartition(":")[0]
    functions.update_function_code(FunctionName=name, ZipFile=zip_of(
        index__py="def handler(event, context):\n    return [2, context.invoked_function_arn]\n"))
    functions.create_alias(FunctionName=name, Name="live", FunctionVersion="1")
    queue = unique_name("evq")
    url = sqs.create_queue(QueueName=queue)["QueueUrl"]
    target = sqs.get_queue_attributes(QueueUrl=url, AttributeNames=["QueueArn"])["Attributes"]["QueueArn"]
    set_ = functions.put_function_event_invoke_config(
        FunctionName=name, Qualifier="live", MaximumRetryAttempts=1,
        DestinationConfig={"OnSuccess": {"Destination": target}})
    assert set_["FunctionArn"] == arn + ":live"
    with pytest.raises(ClientError, match="EventInvokeConfig"):
        functions.get_function_event_invoke_config(FunctionName=name)
    listed = functions.list_function_event_invoke_configs(FunctionName=name)["FunctionEventInvokeConfigs"]
    assert [config["FunctionArn"] for config in listed] == [arn + ":live"]
    assert functions.invoke(FunctionName=name, Qualifier="live", InvocationType="Event",
                            Payload=b"{}")["StatusCode"] == 202

    def record():
        found = sqs.receive_message(QueueUrl=url, WaitTimeSeconds=2).get("Messages")
        return found and json.loads(found[0]["Body"])

    told = clock.until("the record of the alias's run arrives", record, timeout=30)
    assert told["responsePayload"] == [1, arn + ":live"]
    assert told["requestContext"]["functionArn"] == arn + ":live"
    functions.delete_function_event_invoke_config(FunctionName=name, Qualifier="live")
    functions.delete_function(FunctionName=name)


def test_a_function_sends_as_its_role_and_name(endpoint):
    functions, sqs = client("lambda", endpoint), client("sqs", endpoint)
    queue = unique_name("sq")
    url = sqs.create_queue(QueueName=queue)["QueueUrl"]
    name = functions.create_function(**settings(
        "import boto3\ndef handler(event, context):\n"
        "    boto3.client('sqs').send_message(QueueUrl=event['url'], MessageBody='m')\n",
        Timeout=20))["FunctionName"]
    answer = functions.invoke(FunctionName=name, Payload=json.dumps({"url": url}))
    assert "FunctionError" not in answer, answer["Payload"].read()
    message = sqs.receive_message(QueueUrl=url, AttributeNames=["SenderId"])["Messages"][0]
    assert message["Attributes"]["SenderId"] == f"r:{name}"
    functions.delete_function(FunctionName=name)


def test_another_interpreter_than_asked_for_is_told(endpoint):
    functions = client("lambda", endpoint)
    made = functions.create_function(**settings(Runtime="python3.1"))
    assert "python3.1 is not installed on this server: the function runs on Python 3." in made["StateReason"]
    assert made["State"] == "Active"
    functions.delete_function(FunctionName=made["FunctionName"])
    made = functions.create_function(**settings())
    assert "StateReason" not in made
    functions.delete_function(FunctionName=made["FunctionName"])
