"""Versions and aliases, as boto3 uses them and Terraform's `publish` and aws_lambda_alias."""

import json

import pytest
from botocore.exceptions import ClientError

from harness import clock
from harness.functions import client, settings, zip_of

NUMBERED = "import os\ndef handler(event, context):\n    return [%d, os.environ['AWS_LAMBDA_FUNCTION_VERSION'], context.invoked_function_arn]\n"


@pytest.fixture
def functions(endpoint):
    return client("lambda", endpoint)


@pytest.fixture
def function(functions):
    made = functions.create_function(**settings(NUMBERED % 1, Publish=True))
    yield made
    functions.delete_function(FunctionName=made["FunctionName"])


def change(functions, name, number, **more):
    return functions.update_function_code(
        FunctionName=name, ZipFile=zip_of(index__py=NUMBERED % number), **more
    )


def run(functions, name, **more):
    answer = functions.invoke(FunctionName=name, **more)
    result = json.loads(answer["Payload"].read())
    assert answer["ExecutedVersion"] == result[1]
    return result


def code_of(call, **arguments):
    with pytest.raises(ClientError) as failure:
        call(**arguments)
    return failure.value.response["Error"]["Code"]


def test_what_is_published_stays(functions, function):
    name, arn = function["FunctionName"], function["FunctionArn"].rpartition(":")[0]
    assert function["Version"] == "1" and function["FunctionArn"].endswith(f":{name}:1")
    assert change(functions, name, 2)["Version"] == "$LATEST"
    assert run(functions, name) == [2, "$LATEST", arn]
    assert run(functions, name, Qualifier="1") == [1, "1", arn + ":1"]
    assert run(functions, arn + ":1") == [1, "1", arn + ":1"]
    assert change(functions, name, 3, Publish=True)["Version"] == "2"
    assert run(functions, name, Qualifier="2")[0] == 3
    versions = functions.list_versions_by_function(FunctionName=name)["Versions"]
    assert [version["Version"] for version in versions] == ["$LATEST", "1", "2"]
    told = functions.get_function(FunctionName=name, Qualifier="1")["Configuration"]
    assert told["FunctionArn"] == arn + ":1" and told["CodeSha256"] == function["CodeSha256"]


def test_nothing_new_is_nothing_published(functions, function):
    name = function["FunctionName"]
    assert functions.publish_version(FunctionName=name)["Version"] == "1"
    functions.update_function_configuration(FunctionName=name, Timeout=7)
    published = functions.publish_version(FunctionName=name, Description="slower")
    assert (published["Version"], published["Description"], published["Timeout"]) == ("2", "slower", 7)
    assert code_of(functions.publish_version, FunctionName=name, CodeSha256="x") == "InvalidParameterValueException"


def test_aliases(functions, function):
    name, arn = function["FunctionName"], function["FunctionArn"].rpartition(":")[0]
    made = functions.create_alias(FunctionName=name, Name="live", FunctionVersion="1", Description="d")
    assert made["AliasArn"] == arn + ":live" and made["FunctionVersion"] == "1"
    change(functions, name, 2, Publish=True)
    assert run(functions, name, Qualifier="live") == [1, "1", arn + ":live"]
    functions.update_alias(FunctionName=name, Name="live", FunctionVersion="2")
    assert run(functions, arn + ":live") == [2, "2", arn + ":live"]
    told = functions.get_alias(FunctionName=name, Name="live")
    assert (told["FunctionVersion"], told["Description"]) == ("2", "d")
    functions.create_alias(FunctionName=name, Name="edge", FunctionVersion="$LATEST")
    listed = functions.list_aliases(FunctionName=name)["Aliases"]
    assert [alias["Name"] for alias in listed] == ["edge", "live"]
    listed = functions.list_aliases(FunctionName=name, FunctionVersion="2")["Aliases"]
    assert [alias["Name"] for alias in listed] == ["live"]
    assert code_of(functions.delete_function, FunctionName=name, Qualifier="2") == "ResourceConflictException"
    functions.delete_alias(FunctionName=name, Name="live")
    functions.delete_function(FunctionName=name, Qualifier="2")
    assert code_of(functions.invoke, FunctionName=name, Qualifier="live") == "ResourceNotFoundException"
    assert code_of(functions.invoke, FunctionName=name, Qualifier="2") == "ResourceNotFoundException"
    assert code_of(functions.get_alias, FunctionName=name, Name="live") == "ResourceNotFoundException"


def test_what_aliases_refuse(functions, function):
    name = function["FunctionName"]

    def create(**more):
        return code_of(functions.create_alias, FunctionName=name, **more)

    assert create(Name="live", FunctionVersion="9") == "ResourceNotFoundException"
    assert create(Name="12", FunctionVersion="1") == "ValidationException"
    assert create(Name="live", FunctionVersion="1", RoutingConfig={"AdditionalVersionWeights": {"1": 0.5}}) == (
        "InvalidParameterValueException")
    functions.create_alias(FunctionName=name, Name="live", FunctionVersion="1")
    assert create(Name="live", FunctionVersion="1") == "ResourceConflictException"


@pytest.mark.own_server
def test_a_mapping_follows_its_alias_and_all_of_it_survives(launch, tmp_path):
    data = ("--data", str(tmp_path / "data"))
    server = launch(*data)
    functions, sqs = client("lambda", server.endpoint), client("sqs", server.endpoint)
    name = functions.create_function(**settings(
        "def handler(event, context):\n    raise ValueError('one')\n", Publish=True))["FunctionName"]
    functions.create_alias(FunctionName=name, Name="live", FunctionVersion="1")
    functions.update_function_code(FunctionName=name, Publish=True, ZipFile=zip_of(
        index__py="def handler(event, context):\n    print('two', event['Records'][0]['body'])\n"))
    url = sqs.create_queue(QueueName="work", Attributes={"VisibilityTimeout": "5"})["QueueUrl"]
    arn = sqs.get_queue_attributes(QueueUrl=url, AttributeNames=["QueueArn"])["Attributes"]["QueueArn"]
    functions.create_event_source_mapping(EventSourceArn=arn, FunctionName=f"{name}:live")
    server.kill()
    server = launch(*data)
    functions, sqs = client("lambda", server.endpoint), client("sqs", server.endpoint)
    sqs.send_message(QueueUrl=url, MessageBody="m")

    def left():
        told = sqs.get_queue_attributes(QueueUrl=url, AttributeNames=["All"])["Attributes"]
        return int(told["ApproximateNumberOfMessages"]) + int(told["ApproximateNumberOfMessagesNotVisible"])

    functions.update_alias(FunctionName=name, Name="live", FunctionVersion="2")
    clock.until("the second version takes it", lambda: left() == 0, timeout=30)
    assert functions.get_alias(FunctionName=name, Name="live")["FunctionVersion"] == "2"
