"""What Terraform's aws provider sends, request by request, and reads back.

`make terraform` runs the provider itself where there is one. This replays its requests as bytes, so
that what it relies on is tested everywhere: each check names the mistake that would follow.
"""

import base64
import hashlib
import http.client
import io
import json
import re
import time
import urllib.parse
import zipfile

import pytest

from harness.queue import unique_name

ACCOUNT = "123456789012"
LONG_AGO = "20260101"


def handler_zip():
    packed = io.BytesIO()
    with zipfile.ZipFile(packed, "w") as archive:
        archive.writestr("index.py", "def handler(event, context):\n    return {}\n")
    return packed.getvalue()


class Provider:
    """Sends requests in the provider's form; who signs does not matter to a server without keys."""

    def __init__(self, endpoint):
        self.address = urllib.parse.urlsplit(endpoint)
        self.connection = http.client.HTTPConnection(
            self.address.hostname, self.address.port, timeout=30
        )

    def send(self, service, method, target, body=None, **headers):
        scope = f"{ACCOUNT}/{LONG_AGO}/us-east-1/{service}/aws4_request"
        sent = {
            "Authorization": f"AWS4-HMAC-SHA256 Credential={scope}, SignedHeaders=host, Signature=0",
            "User-Agent": "APN/1.0 HashiCorp/1.0 Terraform/1.11.4 terraform-provider-aws/5.100.0",
            **{name.replace("_", "-"): value for name, value in headers.items()},
        }
        self.connection.request(method, target, body, sent)
        answer = self.connection.getresponse()
        answer.text = answer.read().decode()
        return answer

    def sqs(self, action, **body):
        return self.send(
            "sqs",
            "POST",
            "/",
            json.dumps(body),
            X_Amz_Target=f"AmazonSQS.{action}",
            Content_Type="application/x-amz-json-1.0",
            x_amzn_query_mode="true",
        )

    def query(self, service, version, action, **members):
        form = urllib.parse.urlencode({"Action": action, "Version": version, **members})
        return self.send(
            service, "POST", "/", form, Content_Type="application/x-www-form-urlencoded"
        )

    def iam(self, action, **members):
        return self.query("iam", "2010-05-08", action, **members)

    def function(self, method, target, body=None):
        text = None if body is None else json.dumps(body)
        return self.send("lambda", method, target, text, Content_Type="application/json")


@pytest.fixture
def provider(endpoint):
    return Provider(endpoint)


def told(answer, status=200):
    assert answer.status == status, f"{answer.status} {answer.text}"
    return json.loads(answer.text or "{}")


def element(answer, name):
    assert answer.status == 200, f"{answer.status} {answer.text}"
    return re.search(f"<{name}>(.*?)</{name}>", answer.text, re.S)[1]


def test_it_finds_out_the_account(provider):
    answer = provider.query("sts", "2011-06-15", "GetCallerIdentity")
    assert element(answer, "Account") == ACCOUNT
    assert 'xmlns="https://sts.amazonaws.com/doc/2011-06-15/"' in answer.text


def test_queues(provider):
    dead, name = unique_name("dlq"), unique_name("orders")
    sizes = {
        "DelaySeconds": "0",
        "MaximumMessageSize": "262144",
        "MessageRetentionPeriod": "345600",
        "ReceiveMessageWaitTimeSeconds": "0",
        "VisibilityTimeout": "60",
    }
    dead_url = told(provider.sqs("CreateQueue", QueueName=dead, Attributes=sizes))["QueueUrl"]
    dead_arn = f"arn:aws:sqs:us-east-1:{ACCOUNT}:{dead}"
    redrive = json.dumps(
        {"deadLetterTargetArn": dead_arn, "maxReceiveCount": 3}, separators=(",", ":")
    )
    attributes = {**sizes, "RedrivePolicy": redrive}
    url = told(
        provider.sqs("CreateQueue", QueueName=name, Attributes=attributes, tags={"team": "a"})
    )["QueueUrl"]
    assert urllib.parse.urlsplit(url).path == f"/{ACCOUNT}/{name}"

    # Every attribute comes back as it was sent, or the apply waits until it gives up.
    read = told(provider.sqs("GetQueueAttributes", QueueUrl=url, AttributeNames=["All"]))["Attributes"]
    assert {key: read[key] for key in attributes} == attributes
    assert told(provider.sqs("ListQueueTags", QueueUrl=url)) == {"Tags": {"team": "a"}}

    allow = json.dumps(
        {"redrivePermission": "byQueue", "sourceQueueArns": [read["QueueArn"]]}, separators=(",", ":")
    )
    policy = '{"Version":"2012-10-17","Statement":[]}'
    for key, value in (("Policy", policy), ("RedriveAllowPolicy", allow)):
        told(provider.sqs("SetQueueAttributes", QueueUrl=dead_url, Attributes={key: value}))
    read = told(provider.sqs("GetQueueAttributes", QueueUrl=dead_url, AttributeNames=["All"]))
    assert json.loads(read["Attributes"]["RedriveAllowPolicy"]) == json.loads(allow)
    assert json.loads(read["Attributes"]["Policy"]) == json.loads(policy)
    for key in ("Policy", "RedriveAllowPolicy"):
        told(provider.sqs("SetQueueAttributes", QueueUrl=dead_url, Attributes={key: ""}))
    read = told(provider.sqs("GetQueueAttributes", QueueUrl=dead_url, AttributeNames=["All"]))
    assert not {"Policy", "RedriveAllowPolicy"} & set(read["Attributes"])

    for one in (url, dead_url):
        told(provider.sqs("DeleteQueue", QueueUrl=one))
        for _ in range(15):  # In a row, before it believes that the queue is gone.
            answer = provider.sqs("GetQueueAttributes", QueueUrl=one, AttributeNames=["All"])
            assert answer.status == 400
            code = answer.getheader("x-amzn-query-error")
            assert code == "AWS.SimpleQueueService.NonExistentQueue;Sender"


def test_a_role_and_its_attachments(provider):
    name = unique_name("lambda_role")
    trust = '{"Statement":[{"Action":"sts:AssumeRole","Effect":"Allow","Principal":{"Service":"lambda.amazonaws.com"}}],"Version":"2012-10-17"}'
    made = provider.iam(
        "CreateRole",
        RoleName=name,
        Path="/",
        MaxSessionDuration="3600",
        AssumeRolePolicyDocument=trust,
    )
    assert element(made, "Arn") == f"arn:aws:iam::{ACCOUNT}:role/{name}"
    read = provider.iam("GetRole", RoleName=name)
    assert element(read, "RoleId").startswith("AROA")
    document = element(read, "AssumeRolePolicyDocument")
    assert document.startswith("%7B%22"), "the document must be percent-encoded"
    assert urllib.parse.unquote(document) == trust
    assert re.fullmatch(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ", element(read, "CreateDate"))
    assert element(provider.iam("ListRolePolicies", RoleName=name), "PolicyNames") == ""

    policies = [
        "arn:aws:iam::aws:policy/service-role/AWSLambdaBasicExecutionRole",
        "arn:aws:iam::aws:policy/service-role/AWSLambdaSQSQueueExecutionRole",
    ]
    for arn in policies:
        assert provider.iam("AttachRolePolicy", RoleName=name, PolicyArn=arn).status == 200
    listed = provider.iam("ListAttachedRolePolicies", RoleName=name)
    assert re.findall("<PolicyArn>(.*?)</PolicyArn>", listed.text) == policies
    assert element(listed, "IsTruncated") == "false"

    for arn in policies:
        assert provider.iam("DetachRolePolicy", RoleName=name, PolicyArn=arn).status == 200
    profiles = provider.iam("ListInstanceProfilesForRole", RoleName=name)
    assert element(profiles, "InstanceProfiles") == ""
    assert provider.iam("DeleteRole", RoleName=name).status == 200
    gone = provider.iam("GetRole", RoleName=name)
    assert gone.status == 404 and "<Code>NoSuchEntity</Code>" in gone.text


def test_a_bucket(provider):
    name = unique_name("bucket").lower().replace("_", "-")

    def s3(method, target, body=None, **headers):
        return provider.send("s3", method, target, body, **headers)

    assert s3("HEAD", f"/{name}").status == 404
    assert s3("PUT", f"/{name}", x_amz_acl="private").status == 200
    head = s3("HEAD", f"/{name}")
    assert head.status == 200 and head.getheader("x-amz-bucket-region") == "us-east-1"
    for part in (
        "policy acl cors website versioning accelerate requestPayment logging lifecycle"
        " replication encryption object-lock tagging"
    ).split():
        answer = s3("GET", f"/{name}?{part}=")
        assert answer.status in (200, 404, 501), (part, answer.text)
        assert answer.status == 200 or "<Code>" in answer.text, (part, answer.text)
    assert s3("DELETE", f"/{name}").status == 204
    assert s3("HEAD", f"/{name}").status == 404


def test_a_function_and_its_mapping(provider):
    name, queue = unique_name("fn-py"), unique_name("orders")
    told(provider.sqs("CreateQueue", QueueName=queue, Attributes={"VisibilityTimeout": "60"}))
    queue_arn = f"arn:aws:sqs:us-east-1:{ACCOUNT}:{queue}"
    arn = f"arn:aws:lambda:us-east-1:{ACCOUNT}:function:{name}"
    code = handler_zip()
    wanted = {
        "Description": "",
        "Environment": {"Variables": {"A": "1"}},
        "FunctionName": name,
        "Handler": "index.handler",
        "MemorySize": 128,
        "PackageType": "Zip",
        "Role": f"arn:aws:iam::{ACCOUNT}:role/lambda-role",
        "Runtime": "python3.12",
        "Timeout": 10,
    }
    body = {**wanted, "Code": {"ZipFile": base64.b64encode(code).decode()}}
    told(provider.function("POST", "/2015-03-31/functions", body), 201)
    read = told(provider.function("GET", f"/2015-03-31/functions/{name}"))
    configuration = read["Configuration"]
    assert {key: configuration[key] for key in wanted} == wanted
    digest = base64.b64encode(hashlib.sha256(code).digest()).decode()
    assert configuration["CodeSha256"] == digest, "source_code_hash would never match"
    assert (configuration["State"], configuration["LastUpdateStatus"]) == ("Active", "Successful")
    assert configuration["FunctionArn"] == arn and configuration["Version"] == "$LATEST"
    assert read["Tags"] == {} and "Location" in read["Code"]
    versions = told(provider.function("GET", f"/2015-03-31/functions/{name}/versions?MaxItems=10000"))
    assert versions["Versions"][0]["Version"] == "$LATEST"
    told(provider.function("GET", f"/2020-06-30/functions/{name}/code-signing-config"))
    path = f"/2015-03-31/functions/{name}/configuration"
    assert told(provider.function("PUT", path, {"Timeout": 12}))["Timeout"] == 12

    answer = provider.function(
        "POST",
        "/2015-03-31/event-source-mappings",
        {
            "BatchSize": 10,
            "Enabled": True,
            "EventSourceArn": queue_arn,
            "FunctionName": arn,
            "FunctionResponseTypes": ["ReportBatchItemFailures"],
        },
    )
    assert answer.status in (201, 202), answer.text
    made = json.loads(answer.text)
    assert isinstance(made["LastModified"], (int, float))
    target = f"/2015-03-31/event-source-mappings/{made['UUID']}"
    mapping = wait_for_state(provider, target, "Enabled")
    assert (mapping["FunctionArn"], mapping["EventSourceArn"]) == (arn, queue_arn)
    tags = "/2017-03-31/tags/" + urllib.parse.quote(mapping["EventSourceMappingArn"], safe="")
    assert told(provider.function("GET", tags)) == {"Tags": {}}
    told(provider.function("PUT", target, {"BatchSize": 5}), 202)
    assert wait_for_state(provider, target, "Enabled")["BatchSize"] == 5

    told(provider.function("DELETE", target), 202)
    gone = wait_until_gone(provider, target)
    assert gone.getheader("x-amzn-errortype").startswith("ResourceNotFoundException")
    assert provider.function("DELETE", f"/2015-03-31/functions/{name}").status == 204
    assert provider.function("GET", f"/2015-03-31/functions/{name}").status == 404


def wait_for_state(provider, target, state):
    for _ in range(100):
        mapping = told(provider.function("GET", target))
        if mapping["State"] == state:
            return mapping
        time.sleep(0.05)  # The state follows the pollers, which live by real time.
    raise AssertionError(f"never {state}: {mapping}")


def wait_until_gone(provider, target):
    for _ in range(100):
        answer = provider.function("GET", target)
        if answer.status == 404:
            return answer
        time.sleep(0.05)
    raise AssertionError("the mapping is still there")


def test_an_alarm(provider):
    def cloudwatch(action, **members):
        return provider.query("monitoring", "2010-08-01", action, **members)

    name = unique_name("dlq-not-empty")
    made = cloudwatch(
        "PutMetricAlarm",
        **{
            "ActionsEnabled": "true",
            "AlarmName": name,
            "ComparisonOperator": "GreaterThanThreshold",
            "Dimensions.member.1.Name": "QueueName",
            "Dimensions.member.1.Value": "orders-dlq",
            "EvaluationPeriods": "1",
            "MetricName": "ApproximateNumberOfMessagesVisible",
            "Namespace": "AWS/SQS",
            "Period": "60",
            "Statistic": "Maximum",
            "Threshold": "0",
            "TreatMissingData": "missing",
        },
    )
    assert made.status == 200, made.text
    one = {"AlarmNames.member.1": name, "AlarmTypes.member.1": "MetricAlarm"}
    read = cloudwatch("DescribeAlarms", **one)
    arn = element(read, "AlarmArn")
    assert arn == f"arn:aws:cloudwatch:us-east-1:{ACCOUNT}:alarm:{name}"
    assert float(element(read, "Threshold")) == 0 and element(read, "TreatMissingData") == "missing"
    tags = cloudwatch("ListTagsForResource", ResourceARN=arn)
    assert tags.status == 200 and "<ListTagsForResourceResult>" in tags.text
    assert cloudwatch("DeleteAlarms", **{"AlarmNames.member.1": name}).status == 200
    gone = cloudwatch("DescribeAlarms", **one)
    assert gone.status == 200 and "<AlarmName>" not in gone.text
