"""What a function may do with the key that it is lent on a server with keys, and for how long."""

import json
import os

import pytest
from botocore.auth import SigV4Auth
from botocore.awsrequest import AWSRequest
from botocore.credentials import Credentials
from botocore.exceptions import ClientError

from harness.functions import client, settings
from harness.server import Server
from harness.signed import Signed

pytestmark = [
    pytest.mark.own_server,
    pytest.mark.skipif("REDRIVE_ENDPOINT" in os.environ, reason="needs its own server process"),
]

ADMIN = {"aws_access_key_id": "ADMIN", "aws_secret_access_key": "a"}
ACCOUNT = "000000000000"
SHOWS_ITS_KEY = """
import os

def handler(event, context):
    return {'aws_access_key_id': os.environ['AWS_ACCESS_KEY_ID'],
            'aws_secret_access_key': os.environ['AWS_SECRET_ACCESS_KEY']}
"""


class World:
    """A server with an admin's key, two queues, and clients for everything."""

    def __init__(self, server):
        self.server = server
        self.sqs = self.client("sqs")
        self.functions = self.client("lambda")
        self.iam = self.client("iam")
        self.urls = {name: self.sqs.create_queue(QueueName=name)["QueueUrl"]
                     for name in ("source", "other", "out-1")}  # fmt: skip

    def client(self, service, keys=None):
        return client(service, self.server.endpoint, **(keys or ADMIN))

    def arn(self, queue):
        return f"arn:aws:sqs:us-east-1:{ACCOUNT}:{queue}"

    def function(self, role="nobody", **more):
        """A function, and the key that it was lent."""
        wanted = settings(SHOWS_ITS_KEY, Role=f"arn:aws:iam::{ACCOUNT}:role/{role}", **more)
        name = self.functions.create_function(**wanted)["FunctionName"]
        return name, json.load(self.functions.invoke(FunctionName=name)["Payload"])

    def map(self, function, queue="source"):
        return self.functions.create_event_source_mapping(
            FunctionName=function, EventSourceArn=self.arn(queue), Enabled=False
        )["UUID"]

    def role(self, name, **policies):
        self.iam.create_role(RoleName=name, AssumeRolePolicyDocument="{}")
        for policy, statements in policies.items():
            self.put(name, policy, statements)

    def put(self, role, policy, statements):
        document = json.dumps({"Version": "2012-10-17", "Statement": statements})
        self.iam.put_role_policy(RoleName=role, PolicyName=policy, PolicyDocument=document)

    def manage(self, keys, method, path, body=None):
        """The status of a request to the management API."""
        signed = Signed(self.server.endpoint, *keys.values())
        request = AWSRequest(method, self.server.endpoint + "/_redrive/v1/" + path, data=body)
        SigV4Auth(Credentials(*keys.values()), "sqs", "us-east-1").add_auth(request)
        status, _, answer = signed.send(request)
        return status, answer


@pytest.fixture
def start(tmp_path):
    started = []

    def make(more=""):
        config = tmp_path / "redrive.toml"
        config.write_text(more + "\n[[key]]\nid = 'ADMIN'\nsecret = 'a'\nrole = 'admin'\n")
        started.append(Server("--memory", "--config", str(config), log_path=tmp_path / "server.log"))
        return World(started[-1])

    yield make
    for server in started:
        server.stop()


def refused(call, **arguments):
    with pytest.raises(ClientError) as error:
        call(**arguments)
    code = error.value.response["Error"]["Code"]
    assert code in ("AccessDenied", "AccessDeniedException", "403"), error.value.response
    return error.value.response


def test_a_function_reaches_its_source_queues_and_nothing_else(start):
    world = start()
    name, key = world.function(Environment={"Variables": {"PASSWORD": "hunter2"}})
    stranger, _ = world.function(Environment={"Variables": {"PASSWORD": "hunter3"}})
    world.map(name)
    world.sqs.send_message(QueueUrl=world.urls["source"], MessageBody="m")
    sqs = world.client("sqs", key)
    source, other = world.urls["source"], world.urls["other"]
    assert sqs.get_queue_url(QueueName="source")["QueueUrl"] == source
    assert sqs.get_queue_attributes(QueueUrl=source, AttributeNames=["All"])["Attributes"]
    handle = sqs.receive_message(QueueUrl=source)["Messages"][0]["ReceiptHandle"]
    sqs.change_message_visibility(QueueUrl=source, ReceiptHandle=handle, VisibilityTimeout=9)
    entry = {"Id": "0", "ReceiptHandle": handle, "VisibilityTimeout": 9}
    assert sqs.change_message_visibility_batch(QueueUrl=source, Entries=[entry])["Successful"]
    sqs.delete_message(QueueUrl=source, ReceiptHandle=handle)

    refused(sqs.receive_message, QueueUrl=other)
    refused(sqs.get_queue_attributes, QueueUrl=other, AttributeNames=["All"])
    for queue in (source, other):
        refused(sqs.send_message, QueueUrl=queue, MessageBody="m")
        refused(sqs.purge_queue, QueueUrl=queue)
        refused(sqs.set_queue_attributes, QueueUrl=queue, Attributes={"DelaySeconds": "1"})
    refused(sqs.create_queue, QueueName="mine")
    refused(sqs.list_queues)
    functions = world.client("lambda", key)
    for function in (name, stranger):
        refused(functions.get_function, FunctionName=function)
        refused(functions.get_function_configuration, FunctionName=function)
        refused(functions.invoke, FunctionName=function)
    refused(functions.create_event_source_mapping, FunctionName=name, EventSourceArn=world.arn("other"))
    s3 = world.client("s3", key)
    world.client("s3").create_bucket(Bucket="archive")
    world.client("s3").put_object(Bucket="archive", Key="k", Body=b"secret")
    refused(s3.get_object, Bucket="archive", Key="k")
    refused(s3.put_object, Bucket="archive", Key="k", Body=b"mine")
    refused(s3.list_objects_v2, Bucket="archive")
    refused(world.client("iam", key).list_roles)
    refused(world.client("iam", key).create_role, RoleName="r", AssumeRolePolicyDocument="{}")
    refused(world.client("cloudwatch", key).set_alarm_state, AlarmName="a", StateValue="OK", StateReason="r")
    identity = world.client("sts", key).get_caller_identity()
    assert identity["Account"] == ACCOUNT and identity["Arn"].endswith(f"/{name}")

    status, _ = world.manage(key, "GET", "queues/other/messages")
    assert status == 403
    assert world.manage(key, "POST", "queues/source/purge", b"{}")[0] == 403
    status, overview = world.manage(key, "GET", "overview")
    assert status == 403 or b'"other"' not in overview
    assert world.manage(key, "GET", f"functions/{stranger}/logs")[0] == 403
    assert world.manage(key, "GET", f"functions/{stranger}/code")[0] == 403


def test_lists_show_a_function_nothing_that_is_not_its_own(start):
    world = start()
    name, key = world.function()
    world.map(name)
    world.function()
    functions = world.client("lambda", key)
    for call, member in ((functions.list_functions, "Functions"),
                         (functions.list_event_source_mappings, "EventSourceMappings")):  # fmt: skip
        try:
            assert call()[member] == []
        except ClientError as error:
            assert "AccessDenied" in error.response["Error"]["Code"]
    try:
        assert world.client("s3", key).list_buckets()["Buckets"] == []
    except ClientError as error:
        assert error.response["Error"]["Code"] == "AccessDenied"
    for metric in world.client("cloudwatch", key).list_metrics()["Metrics"]:
        assert metric["Dimensions"] == [{"Name": "QueueName", "Value": "source"}], metric
    assert world.client("cloudwatch", key).describe_alarms()["MetricAlarms"] == []


def test_the_scope_follows_the_mappings(start):
    world = start()
    name, key = world.function()
    sqs = world.client("sqs", key)
    refused(sqs.receive_message, QueueUrl=world.urls["source"])
    mapping = world.map(name)
    assert "Messages" not in sqs.receive_message(QueueUrl=world.urls["source"])
    world.functions.delete_event_source_mapping(UUID=mapping)
    refused(sqs.receive_message, QueueUrl=world.urls["source"])
    again = json.load(world.functions.invoke(FunctionName=name)["Payload"])
    assert again == key, "running processes keep their key: only what it opens changes"


def test_a_key_goes_with_its_function(start):
    world = start()
    name, key = world.function()
    world.map(name)
    sqs = world.client("sqs", key)
    sqs.receive_message(QueueUrl=world.urls["source"])
    world.functions.delete_function(FunctionName=name)
    with pytest.raises(ClientError) as error:
        sqs.receive_message(QueueUrl=world.urls["source"])
    assert error.value.response["Error"]["Code"] == "InvalidClientTokenId"
    _, fresh = world.function(FunctionName=name)
    assert fresh != key


def test_the_policies_of_the_role_are_the_declaration(start):
    world = start()
    world.role(
        "worker",
        send=[{"Effect": "Allow", "Action": ["sqs:Send*", "sqs:GetQueueUrl"], "Resource": world.arn("out-*")}],
        store={"Effect": "Allow", "Action": "s3:PutObject", "Resource": "arn:aws:s3:::archive/results/*"},
        call={"Effect": "Allow", "Action": "lambda:InvokeFunction", "Resource": "*"},
    )
    name, key = world.function("worker")
    sqs = world.client("sqs", key)
    url = sqs.get_queue_url(QueueName="out-1")["QueueUrl"]
    sqs.send_message(QueueUrl=url, MessageBody="m")
    assert sqs.send_message_batch(QueueUrl=url, Entries=[{"Id": "0", "MessageBody": "m"}])["Successful"]
    refused(sqs.send_message, QueueUrl=world.urls["other"], MessageBody="m")
    refused(sqs.receive_message, QueueUrl=url)
    world.client("s3").create_bucket(Bucket="archive")
    s3 = world.client("s3", key)
    s3.put_object(Bucket="archive", Key="results/1", Body=b"1")
    refused(s3.put_object, Bucket="archive", Key="elsewhere/1", Body=b"1")
    refused(s3.get_object, Bucket="archive", Key="results/1")
    functions = world.client("lambda", key)
    assert json.load(functions.invoke(FunctionName=name)["Payload"]) == key
    refused(functions.get_function, FunctionName=name)

    world.put("worker", "never", {"Effect": "Deny", "Action": "sqs:SendMessage", "Resource": world.arn("out-1")})
    refused(sqs.send_message, QueueUrl=url, MessageBody="m")
    world.iam.delete_role_policy(RoleName="worker", PolicyName="never")
    sqs.send_message(QueueUrl=url, MessageBody="m")
    world.iam.delete_role_policy(RoleName="worker", PolicyName="send")
    refused(sqs.send_message, QueueUrl=url, MessageBody="m")


def test_conditions_are_not_understood_and_deny(start):
    world = start()
    condition = {"StringEquals": {"aws:RequestedRegion": "us-east-1"}}
    allow = {"Effect": "Allow", "Action": "sqs:*", "Resource": "*"}
    world.role("worker", some={**allow, "Condition": condition})
    _, key = world.function("worker")
    sqs = world.client("sqs", key)
    refused(sqs.send_message, QueueUrl=world.urls["other"], MessageBody="m")
    world.put("worker", "some", allow)
    sqs.send_message(QueueUrl=world.urls["other"], MessageBody="m")
    world.put("worker", "some", [allow, {**allow, "Effect": "Deny", "Condition": condition}])
    refused(sqs.send_message, QueueUrl=world.urls["other"], MessageBody="m")


def test_managed_policies(start):
    world = start()
    world.role("worker")
    _, key = world.function("worker")
    sqs = world.client("sqs", key)
    other = world.urls["other"]
    managed = "arn:aws:iam::aws:policy/"
    for policy, may_send, may_receive in (
        ("service-role/AWSLambdaBasicExecutionRole", False, False),
        ("service-role/AWSLambdaSQSQueueExecutionRole", False, True),
        ("AmazonSQSFullAccess", True, True),
        ("SomethingThatWeDoNotKnow", False, False),
    ):
        world.iam.attach_role_policy(RoleName="worker", PolicyArn=managed + policy)
        for allowed, call, more in (
            (may_send, sqs.send_message, {"MessageBody": "m"}),
            (may_receive, sqs.receive_message, {}),
        ):
            call(QueueUrl=other, **more) if allowed else refused(call, QueueUrl=other, **more)
        world.iam.detach_role_policy(RoleName="worker", PolicyArn=managed + policy)

    document = {"Version": "2012-10-17", "Statement": {"Effect": "Allow", "Action": "sqs:*", "Resource": "*"}}
    arn = world.iam.create_policy(PolicyName="own", PolicyDocument=json.dumps(document))["Policy"]["Arn"]
    refused(sqs.send_message, QueueUrl=other, MessageBody="m")
    world.iam.attach_role_policy(RoleName="worker", PolicyArn=arn)
    sqs.send_message(QueueUrl=other, MessageBody="m")
    document["Statement"]["NotAction"] = [document["Statement"].pop("Action"), "s3:*"]
    world.iam.create_policy_version(PolicyArn=arn, PolicyDocument=json.dumps(document), SetAsDefault=True)
    refused(sqs.send_message, QueueUrl=other, MessageBody="m")


def test_a_role_that_comes_later_counts(start):
    world = start()
    _, key = world.function("late")
    sqs = world.client("sqs", key)
    refused(sqs.send_message, QueueUrl=world.urls["other"], MessageBody="m")
    world.role("late", all={"Effect": "Allow", "Action": "sqs:SendMessage", "Resource": "*"})
    sqs.send_message(QueueUrl=world.urls["other"], MessageBody="m")


def test_a_setting_widens_it(start):
    world = start("[functions]\nkey-scope = 'account'\n")
    name, key = world.function()
    sqs = world.client("sqs", key)
    sqs.send_message(QueueUrl=world.urls["other"], MessageBody="m")
    refused(sqs.create_queue, QueueName="mine")
    world.functions.delete_function(FunctionName=name)
    with pytest.raises(ClientError) as error:
        sqs.send_message(QueueUrl=world.urls["other"], MessageBody="m")
    assert error.value.response["Error"]["Code"] == "InvalidClientTokenId"
