"""Roles, their policies, and who asks: IAM and STS as boto3 and bare forms use them."""

import http.client
import json
import urllib.parse

import boto3
import pytest
from botocore.exceptions import ClientError

from harness.queue import unique_name

KEYS = {"aws_access_key_id": "test", "aws_secret_access_key": "test"}
TRUST = {
    "Version": "2012-10-17",
    "Statement": [
        {
            "Effect": "Allow",
            "Action": "sts:AssumeRole",
            "Principal": {"Service": "lambda.amazonaws.com"},
        }
    ],
}
ALLOW = {
    "Version": "2012-10-17",
    "Statement": [{"Effect": "Allow", "Action": "sqs:*", "Resource": "*"}],
}
BASIC = "arn:aws:iam::aws:policy/service-role/AWSLambdaBasicExecutionRole"


def client(name, endpoint, **keys):
    return boto3.client(name, endpoint_url=endpoint, region_name="us-east-1", **(keys or KEYS))


@pytest.fixture
def iam(endpoint):
    return client("iam", endpoint)


def new_role(iam, **more):
    name = unique_name("role")
    return iam.create_role(
        RoleName=name, AssumeRolePolicyDocument=json.dumps(TRUST), **more
    )["Role"]


def code(failure):
    return failure.value.response["Error"]["Code"]


def status(failure):
    return failure.value.response["ResponseMetadata"]["HTTPStatusCode"]


def post(endpoint, form, **headers):
    address = urllib.parse.urlsplit(endpoint)
    connection = http.client.HTTPConnection(address.hostname, address.port, timeout=20)
    headers["Content-Type"] = "application/x-www-form-urlencoded; charset=utf-8"
    connection.request("POST", "/", urllib.parse.urlencode(form), headers)
    answer = connection.getresponse()
    answer.text = answer.read().decode()
    connection.close()
    return answer


def test_a_role_comes_and_goes(iam):
    role = new_role(iam, Description="runs things", Tags=[{"Key": "team", "Value": "a"}])
    name = role["RoleName"]
    assert role["Arn"] == f"arn:aws:iam::000000000000:role/{name}"
    assert role["RoleId"].startswith("AROA") and len(role["RoleId"]) == 21
    read = iam.get_role(RoleName=name)["Role"]
    assert read["AssumeRolePolicyDocument"] == TRUST
    assert read["Description"] == "runs things"
    assert read["MaxSessionDuration"] == 3600
    assert read["Tags"] == [{"Key": "team", "Value": "a"}]
    assert read["CreateDate"] == role["CreateDate"]
    with pytest.raises(ClientError) as failure:
        iam.create_role(RoleName=name, AssumeRolePolicyDocument="{}")
    assert (code(failure), status(failure)) == ("EntityAlreadyExists", 409)
    iam.delete_role(RoleName=name)
    with pytest.raises(ClientError) as failure:
        iam.get_role(RoleName=name)
    assert (code(failure), status(failure)) == ("NoSuchEntity", 404)


def test_roles_are_changed_in_place(iam):
    name = new_role(iam)["RoleName"]
    other = {**TRUST, "Statement": []}
    iam.update_assume_role_policy(RoleName=name, PolicyDocument=json.dumps(other))
    iam.update_role(RoleName=name, Description="another", MaxSessionDuration=7200)
    iam.tag_role(RoleName=name, Tags=[{"Key": "a", "Value": "1"}, {"Key": "b", "Value": "2"}])
    iam.untag_role(RoleName=name, TagKeys=["a"])
    role = iam.get_role(RoleName=name)["Role"]
    assert role["AssumeRolePolicyDocument"] == other
    assert (role["Description"], role["MaxSessionDuration"]) == ("another", 7200)
    assert iam.list_role_tags(RoleName=name)["Tags"] == [{"Key": "b", "Value": "2"}]
    assert iam.list_instance_profiles_for_role(RoleName=name)["InstanceProfiles"] == []
    iam.delete_role(RoleName=name)


def test_policies_of_aws_attach_without_existing_and_hold_the_role(iam):
    name = new_role(iam)["RoleName"]
    full = "arn:aws:iam::aws:policy/AmazonSQSFullAccess"
    for arn in (full, BASIC, BASIC):
        iam.attach_role_policy(RoleName=name, PolicyArn=arn)
    attached = iam.list_attached_role_policies(RoleName=name)["AttachedPolicies"]
    assert attached == [
        {"PolicyName": "AmazonSQSFullAccess", "PolicyArn": full},
        {"PolicyName": "AWSLambdaBasicExecutionRole", "PolicyArn": BASIC},
    ]
    assert iam.get_policy(PolicyArn=BASIC)["Policy"]["Path"] == "/service-role/"
    with pytest.raises(ClientError) as failure:
        iam.delete_role(RoleName=name)
    assert (code(failure), status(failure)) == ("DeleteConflict", 409)
    for arn in (full, BASIC):
        iam.detach_role_policy(RoleName=name, PolicyArn=arn)
    with pytest.raises(ClientError) as failure:
        iam.detach_role_policy(RoleName=name, PolicyArn=full)
    assert code(failure) == "NoSuchEntity"
    iam.delete_role(RoleName=name)


def test_inline_policies(iam):
    name = new_role(iam)["RoleName"]
    iam.put_role_policy(RoleName=name, PolicyName="use", PolicyDocument=json.dumps(ALLOW))
    assert iam.list_role_policies(RoleName=name)["PolicyNames"] == ["use"]
    assert iam.get_role_policy(RoleName=name, PolicyName="use")["PolicyDocument"] == ALLOW
    with pytest.raises(ClientError) as failure:
        iam.put_role_policy(RoleName=name, PolicyName="bad", PolicyDocument="no JSON")
    assert code(failure) == "MalformedPolicyDocument"
    with pytest.raises(ClientError) as failure:
        iam.delete_role(RoleName=name)
    assert code(failure) == "DeleteConflict"
    iam.delete_role_policy(RoleName=name, PolicyName="use")
    with pytest.raises(ClientError) as failure:
        iam.get_role_policy(RoleName=name, PolicyName="use")
    assert code(failure) == "NoSuchEntity"
    iam.delete_role(RoleName=name)


def test_policies_have_versions_and_entities(iam):
    name = unique_name("policy")
    made = iam.create_policy(PolicyName=name, PolicyDocument=json.dumps(ALLOW))["Policy"]
    arn = made["Arn"]
    assert arn == f"arn:aws:iam::000000000000:policy/{name}"
    with pytest.raises(ClientError) as failure:
        iam.create_policy(PolicyName=name, Path="/x/", PolicyDocument=json.dumps(ALLOW))
    assert code(failure) == "EntityAlreadyExists"
    role = new_role(iam)["RoleName"]
    with pytest.raises(ClientError) as failure:
        iam.attach_role_policy(RoleName=role, PolicyArn=arn + "-other")
    assert (code(failure), status(failure)) == ("NoSuchEntity", 404)
    iam.attach_role_policy(RoleName=role, PolicyArn=arn)
    assert iam.get_policy(PolicyArn=arn)["Policy"]["AttachmentCount"] == 1
    roles = iam.list_entities_for_policy(PolicyArn=arn)["PolicyRoles"]
    assert [one["RoleName"] for one in roles] == [role]
    with pytest.raises(ClientError) as failure:
        iam.delete_policy(PolicyArn=arn)
    assert code(failure) == "DeleteConflict"
    other = json.dumps({**ALLOW, "Statement": []})
    iam.create_policy_version(PolicyArn=arn, PolicyDocument=other, SetAsDefault=True)
    versions = iam.list_policy_versions(PolicyArn=arn)["Versions"]
    assert [(v["VersionId"], v["IsDefaultVersion"]) for v in versions] == [
        ("v2", True),
        ("v1", False),
    ]
    document = iam.get_policy_version(PolicyArn=arn, VersionId="v1")["PolicyVersion"]["Document"]
    assert document == ALLOW
    assert any(p["Arn"] == arn for p in iam.list_policies(Scope="Local")["Policies"])
    iam.delete_policy_version(PolicyArn=arn, VersionId="v1")
    iam.detach_role_policy(RoleName=role, PolicyArn=arn)
    iam.delete_policy(PolicyArn=arn)
    iam.delete_role(RoleName=role)


def test_roles_are_listed_in_pages(iam):
    path = f"/{unique_name('path')}/"
    names = sorted(new_role(iam, Path=path)["RoleName"] for _ in range(5))
    pages = iam.get_paginator("list_roles").paginate(
        PathPrefix=path, PaginationConfig={"PageSize": 2}
    )
    assert [[one["RoleName"] for one in page["Roles"]] for page in pages] == [
        names[0:2],
        names[2:4],
        names[4:],
    ]
    for name in names:
        iam.delete_role(RoleName=name)


def test_who_asks(endpoint):
    assert client("sts", endpoint).get_caller_identity()["Account"] == "000000000000"
    mine = client(
        "sts", endpoint, aws_access_key_id="123456789012", aws_secret_access_key="x"
    ).get_caller_identity()
    assert mine["Account"] == "123456789012"
    assert mine["Arn"] == "arn:aws:iam::123456789012:root"
    with pytest.raises(ClientError) as failure:
        client("sts", endpoint).assume_role(
            RoleArn="arn:aws:iam::000000000000:role/r", RoleSessionName="session"
        )
    assert (code(failure), status(failure)) == ("AccessDenied", 403)


def test_unsigned_requests_are_told_apart_by_version(endpoint):
    sts = post(endpoint, {"Action": "GetCallerIdentity", "Version": "2011-06-15"})
    assert sts.status == 200 and "<Account>000000000000</Account>" in sts.text
    assert sts.getheader("Content-Type").startswith("text/xml")
    assert sts.getheader("x-amzn-RequestId") in sts.text
    iam = post(endpoint, {"Action": "ListRoles", "Version": "2010-05-08"})
    assert iam.status == 200 and "<ListRolesResult><Roles>" in iam.text
    unknown = post(endpoint, {"Action": "CreateUser", "Version": "2010-05-08"})
    assert unknown.status == 400 and "<Code>InvalidAction</Code>" in unknown.text
    sqs = post(endpoint, {"Action": "ListQueues", "Version": "2012-11-05", "X": "Version=2010-05-08"})
    assert "<ListQueuesResponse" in sqs.text


def test_accounts_do_not_see_each_others_roles(endpoint, iam):
    name = new_role(iam)["RoleName"]
    other = client("iam", endpoint, aws_access_key_id="123456789012", aws_secret_access_key="x")
    with pytest.raises(ClientError) as failure:
        other.get_role(RoleName=name)
    assert code(failure) == "NoSuchEntity"
    iam.delete_role(RoleName=name)


@pytest.mark.own_server
def test_roles_outlive_the_server(launch, tmp_path):
    server = launch("--data", str(tmp_path / "data"))
    iam = client("iam", server.endpoint)
    role = new_role(iam, Tags=[{"Key": "k", "Value": "v"}])
    iam.attach_role_policy(RoleName=role["RoleName"], PolicyArn=BASIC)
    server.kill()
    server = launch("--data", str(tmp_path / "data"))
    iam = client("iam", server.endpoint)
    assert iam.get_role(RoleName=role["RoleName"])["Role"] == {
        **role,
        "AssumeRolePolicyDocument": TRUST,
        "Tags": [{"Key": "k", "Value": "v"}],
    }
    attached = iam.list_attached_role_policies(RoleName=role["RoleName"])["AttachedPolicies"]
    assert [one["PolicyArn"] for one in attached] == [BASIC]
    lines = (tmp_path / "data" / "audit.ndjson").read_text().splitlines()
    told = [(line["service"], line["action"], line["resource"]) for line in map(json.loads, lines)]
    assert told == [
        ("iam", "CreateRole", role["RoleName"]),
        ("iam", "AttachRolePolicy", BASIC),
    ]


CONFIGURATION = """
[[key]]
id = "ADMIN"
secret = "admin-secret"
name = "boss"
role = "admin"
[[key]]
id = "READER"
secret = "reader-secret"
role = "reader"
"""


@pytest.mark.own_server
def test_keys_decide_who_may_change_roles(launch, tmp_path):
    (tmp_path / "redrive.toml").write_text(CONFIGURATION)
    server = launch("--memory", "--config", str(tmp_path / "redrive.toml"))
    admin = {"aws_access_key_id": "ADMIN", "aws_secret_access_key": "admin-secret"}
    reader = {"aws_access_key_id": "READER", "aws_secret_access_key": "reader-secret"}
    role = new_role(client("iam", server.endpoint, **admin))["RoleName"]
    assert client("iam", server.endpoint, **reader).get_role(RoleName=role)["Role"]
    with pytest.raises(ClientError) as failure:
        client("iam", server.endpoint, **reader).delete_role(RoleName=role)
    assert (code(failure), status(failure)) == ("AccessDenied", 403)
    with pytest.raises(ClientError) as failure:
        client("sts", server.endpoint).get_caller_identity()
    assert code(failure) == "InvalidClientTokenId"
    identity = client("sts", server.endpoint, **admin).get_caller_identity()
    assert identity["Arn"] == "arn:aws:iam::000000000000:user/boss"
    assert identity["UserId"] == "ADMIN"
