"""Parameter Store as boto3 uses it."""

import os

import boto3
import pytest
from botocore.exceptions import ClientError

from harness.queue import unique_name

KEYS = {"aws_access_key_id": "test", "aws_secret_access_key": "test"}


def client(endpoint, **keys):
    return boto3.client("ssm", endpoint_url=endpoint, region_name="us-east-1", **(keys or KEYS))


@pytest.fixture
def ssm(endpoint):
    return client(endpoint)


def code(failure):
    return failure.value.response["Error"]["Code"]


def test_a_parameter_comes_and_goes(ssm):
    name = "/" + unique_name("app") + "/db"
    made = ssm.put_parameter(Name=name, Value="host=1", Type="String", Description="where")
    assert made["Version"] == 1 and made["Tier"] == "Standard"
    found = ssm.get_parameter(Name=name)["Parameter"]
    assert (found["Name"], found["Type"], found["Value"]) == (name, "String", "host=1")
    assert found["ARN"] == f"arn:aws:ssm:us-east-1:000000000000:parameter{name}"
    assert found["DataType"] == "text" and found["LastModifiedDate"].year >= 2024
    assert ssm.get_parameter(Name=found["ARN"])["Parameter"]["Value"] == "host=1"
    ssm.delete_parameter(Name=name)
    with pytest.raises(ssm.exceptions.ParameterNotFound):
        ssm.get_parameter(Name=name)
    with pytest.raises(ssm.exceptions.ParameterNotFound):
        ssm.delete_parameter(Name=name)


def test_overwriting_makes_a_version(ssm):
    name = unique_name("p")
    ssm.put_parameter(Name=name, Value="1", Type="String")
    with pytest.raises(ssm.exceptions.ParameterAlreadyExists):
        ssm.put_parameter(Name=name, Value="2", Type="String")
    assert ssm.put_parameter(Name=name, Value="2", Overwrite=True)["Version"] == 2
    assert ssm.get_parameter(Name=f"{name}:2")["Parameter"]["Value"] == "2"
    with pytest.raises(ssm.exceptions.ParameterVersionNotFound):
        ssm.get_parameter(Name=f"{name}:1")


def test_a_secure_string_is_shown_to_those_who_decrypt(ssm):
    name = unique_name("secret")
    ssm.put_parameter(Name=name, Value="hunter2", Type="SecureString")
    assert "hunter2" not in ssm.get_parameter(Name=name)["Parameter"]["Value"]
    opened = ssm.get_parameter(Name=name, WithDecryption=True)["Parameter"]
    assert (opened["Type"], opened["Value"]) == ("SecureString", "hunter2")


def test_several_and_by_path(ssm):
    root = "/" + unique_name("tree")
    for leaf in ["a", "b", "deep/c"]:
        ssm.put_parameter(Name=f"{root}/{leaf}", Value=leaf, Type="String")
    got = ssm.get_parameters(Names=[f"{root}/a", f"{root}/none"])
    assert [p["Value"] for p in got["Parameters"]] == ["a"]
    assert got["InvalidParameters"] == [f"{root}/none"]
    flat = ssm.get_parameters_by_path(Path=root)["Parameters"]
    assert [p["Name"] for p in flat] == [f"{root}/a", f"{root}/b"]
    pages = ssm.get_paginator("get_parameters_by_path").paginate(
        Path=root, Recursive=True, PaginationConfig={"PageSize": 1}
    )
    assert [p["Value"] for page in pages for p in page["Parameters"]] == ["a", "b", "deep/c"]
    gone = ssm.delete_parameters(Names=[f"{root}/a", f"{root}/none"])
    assert gone["DeletedParameters"] == [f"{root}/a"]
    assert gone["InvalidParameters"] == [f"{root}/none"]


def test_what_is_not_supported_is_refused(ssm):
    with pytest.raises(ClientError) as failure:
        ssm.put_parameter(Name="p", Value="x", Type="String", AllowedPattern="[0-9]+")
    assert code(failure) == "ValidationException"
    with pytest.raises(ClientError) as failure:
        ssm.describe_parameters()
    assert code(failure) == "UnknownOperationException"


# Also the key: without it the values would be lost.
def test_parameters_survive_a_kill(launch, tmp_path):
    data = str(tmp_path / "data")
    server = launch("--data", data)
    ssm = client(server.endpoint)
    ssm.put_parameter(Name="plain", Value="1", Type="String")
    ssm.put_parameter(Name="sealed", Value="hunter2", Type="SecureString")
    server.kill()
    assert os.stat(os.path.join(data, "parameters.key")).st_mode & 0o777 == 0o600
    for folder, _, files in os.walk(data):
        for file in files:
            with open(os.path.join(folder, file), "rb") as content:
                assert b"hunter2" not in content.read(), file
    ssm = client(launch("--data", data).endpoint)
    assert ssm.get_parameter(Name="plain")["Parameter"]["Value"] == "1"
    opened = ssm.get_parameter(Name="sealed", WithDecryption=True)["Parameter"]
    assert opened["Value"] == "hunter2"
