"""`redrive apply`: plans, what it makes, what it leaves alone. Seen from outside with boto3."""

import json
import pathlib
import re
import shutil
import subprocess
import tomllib
import urllib.request

import boto3
import pytest
from botocore.config import Config

from harness.server import binary_path

KEYS = {"aws_access_key_id": "test", "aws_secret_access_key": "test"}


class Site:
    def __init__(self, endpoint, directory):
        self.endpoint = endpoint
        self.directory = directory

    def client(self, name):
        config = Config(s3={"addressing_style": "path"}, retries={"max_attempts": 1})
        return boto3.client(
            name, endpoint_url=self.endpoint, region_name="us-east-1", config=config, **KEYS
        )

    def run(self, text, *arguments, name="shop.toml", code=0):
        (self.directory / name).write_text(text)
        done = subprocess.run(
            [binary_path(), "apply", name, "--endpoint-url", self.endpoint, *arguments],
            cwd=self.directory,
            capture_output=True,
            text=True,
            timeout=60,
            stdin=subprocess.DEVNULL,
        )
        assert done.returncode == code, done.stdout + done.stderr
        return done.stdout + done.stderr

    def apply(self, text, *arguments, name="shop.toml"):
        """What was done, as signs and titles; what stayed as it was is left out."""
        plan = json.loads(self.run(text, "--yes", "--json", *arguments, name=name))
        signs = {"create": "+", "change": "~", "remove": "-", "leave": "?"}
        return [f"{signs[i['step']]} {i['title']}" for i in plan["items"] if i["step"] in signs]

    def queues(self):
        urls = self.client("sqs").list_queues().get("QueueUrls", [])
        return sorted(url.rsplit("/", 1)[1] for url in urls)

    def attributes(self, queue):
        sqs = self.client("sqs")
        url = sqs.get_queue_url(QueueName=queue)["QueueUrl"]
        return sqs.get_queue_attributes(QueueUrl=url, AttributeNames=["All"])["Attributes"]

    def tags(self, queue):
        sqs = self.client("sqs")
        url = sqs.get_queue_url(QueueName=queue)["QueueUrl"]
        return sqs.list_queue_tags(QueueUrl=url).get("Tags", {})


@pytest.fixture
def site(launch, tmp_path):
    return Site(launch("--memory").endpoint, tmp_path)


ORDERS = """
[[queue]]
name = "orders"
dlq = "orders-dlq"
visibility-timeout = 45
tags = { team = "a" }
[[queue]]
name = "orders-dlq"
retention = "14d"
redrive-allow = ["orders"]
[[bucket]]
name = "archive"
"""


def test_applies_once_and_then_has_nothing_to_do(site):
    assert site.apply(ORDERS) == ["+ bucket archive", "+ queue orders-dlq", "+ queue orders"]
    attributes = site.attributes("orders")
    assert attributes["VisibilityTimeout"] == "45"
    assert json.loads(attributes["RedrivePolicy"]) == {
        "deadLetterTargetArn": "arn:aws:sqs:us-east-1:000000000000:orders-dlq",
        "maxReceiveCount": 3,
    }
    assert site.attributes("orders-dlq")["MessageRetentionPeriod"] == "1209600"
    assert site.tags("orders") == {"team": "a", "redrive:stack": "shop"}
    assert site.apply(ORDERS) == []


def test_changes_what_differs_and_puts_back_what_is_no_longer_said(site):
    site.apply(ORDERS)
    changed = ORDERS.replace("visibility-timeout = 45\n", "delay = 5\n").replace('team = "a"', 'of = "b"')
    assert site.apply(changed) == ["~ queue orders"]
    attributes = site.attributes("orders")
    assert (attributes["VisibilityTimeout"], attributes["DelaySeconds"]) == ("30", "5")
    assert site.tags("orders") == {"of": "b", "redrive:stack": "shop"}
    assert site.apply(changed) == []


def test_prunes_what_it_made_and_nothing_else(site):
    site.client("sqs").create_queue(QueueName="by-hand", Attributes={"DelaySeconds": "9"})
    both = ORDERS + '[[queue]]\nname = "by-hand"\ndelay = 7\n'
    assert "~ queue by-hand" in site.apply(both)
    assert site.attributes("by-hand")["DelaySeconds"] == "7"
    other = '[[queue]]\nname = "others"\n'
    assert site.apply(other, name="other.toml") == ["+ queue others"]
    one = '[[queue]]\nname = "orders-dlq"\n'
    assert site.apply(one) == ["~ queue orders-dlq", "? queue orders", "? bucket archive"]
    assert site.apply(one, "--prune") == ["- queue orders", "- bucket archive"]
    assert site.queues() == ["by-hand", "orders-dlq", "others"]
    assert site.client("s3").list_buckets()["Buckets"] == []


def test_what_another_stack_made_is_refused(site):
    site.apply(ORDERS)
    printed = site.run(ORDERS, "--yes", "--stack", "rival", code=2)
    assert "belongs to the stack shop" in printed


def test_what_a_dead_letter_queue_does_by_itself(site):
    with_policy = ORDERS.replace(
        'retention = "14d"',
        'retention = "14d"\ndead-letters = { max-redrives = 2, redrive-after = "1m", then = "park" }',
    )
    site.apply(with_policy)

    def policy():
        url = f"{site.endpoint}/_redrive/v1/queues/orders-dlq/policy"
        return json.load(urllib.request.urlopen(url))

    assert policy()["maxRedrives"] == 2 and policy()["redriveAfterSeconds"] == 60
    assert site.apply(with_policy) == []
    assert site.apply(with_policy.replace('"1m"', '"2m"')) == ["~ queue orders-dlq"]
    assert policy()["redriveAfterSeconds"] == 120
    assert site.apply(ORDERS) == ["~ queue orders-dlq"]
    assert policy()["source"] == "none"


def test_shows_a_plan_and_asks(site):
    printed = site.run(ORDERS, "--dry-run")
    assert "+ queue orders" in printed and "3 to create" in printed
    assert "pass --yes" in site.run(ORDERS, code=2)
    assert site.queues() == []
    printed = site.run(ORDERS, "--yes")
    assert "created queue orders\n" in printed
    printed = site.run(ORDERS.replace("45", "60"), "--dry-run")
    assert "VisibilityTimeout: 45 → 60" in printed and "1 to change" in printed


def test_a_file_is_the_servers_too(site, launch):
    both = 'listen = "127.0.0.1:0"\nmemory = true\nstack = "named"\n[limits]\nconnections = 50\n' + ORDERS
    (site.directory / "redrive.toml").write_text(both)
    server = launch("--config", str(site.directory / "redrive.toml"))
    site.endpoint = server.endpoint
    assert "+ queue orders" in site.apply(both, name="redrive.toml")
    assert site.tags("orders")["redrive:stack"] == "named"


KEYED = """
[[key]]
id = "ADMIN"
secret = "admin-secret"
role = "admin"
[[key]]
id = "READER"
secret = "reader-secret"
role = "reader"
"""


def test_signs_for_each_service_and_says_what_is_refused(site, launch, monkeypatch):
    (site.directory / "keys.toml").write_text(KEYED)
    site.endpoint = launch("--memory", "--config", str(site.directory / "keys.toml")).endpoint
    monkeypatch.setenv("AWS_ACCESS_KEY_ID", "ADMIN")
    monkeypatch.setenv("AWS_SECRET_ACCESS_KEY", "admin-secret")
    text = ORDERS.replace('"archive"', '"a-b.c"')
    assert site.apply(text) == ["+ bucket a-b.c", "+ queue orders-dlq", "+ queue orders"]
    assert site.apply(text) == []
    monkeypatch.setenv("AWS_ACCESS_KEY_ID", "READER")
    monkeypatch.setenv("AWS_SECRET_ACCESS_KEY", "reader-secret")
    assert site.apply(text) == []
    printed = site.run(text.replace("45", "46"), "--yes", code=1)
    assert "queue orders: " in printed and "reader does not allow it" in printed


TEMPLATE = """
AWSTemplateFormatVersion: '2010-09-09'
Parameters:
  Stage: {Type: String}
Resources:
  Orders:
    Type: AWS::SQS::Queue
    Properties:
      QueueName: !Sub '${Stage}-orders'
      RedrivePolicy: {deadLetterTargetArn: !GetAtt Dead.Arn, maxReceiveCount: 2}
  Dead: {Type: AWS::SQS::Queue}
  Policy:
    Type: AWS::SQS::QueuePolicy
    Properties:
      Queues: [!Ref Orders]
      PolicyDocument:
        Version: '2012-10-17'
        Statement:
          - {Effect: Allow, Principal: '*', Action: 'sqs:SendMessage', Resource: !GetAtt Orders.Arn}
  Role: {Type: AWS::IAM::Role, Properties: {AssumeRolePolicyDocument: {}}}
"""


def test_a_cloudformation_template(site):
    done = site.apply(TEMPLATE, "--parameter", "Stage=dev", name="shop.yaml")
    assert done == ["+ queue shop-Dead", "+ queue dev-orders"]
    policy = json.loads(site.attributes("dev-orders")["Policy"])
    assert policy["Statement"][0]["Resource"] == "arn:aws:sqs:us-east-1:000000000000:dev-orders"
    assert site.apply(TEMPLATE, "--parameter", "Stage=dev", name="shop.yaml") == []
    printed = site.run(TEMPLATE, "--parameter", "Stage=dev", name="shop.yaml")
    assert "Role (AWS::IAM::Role) is omitted" in printed
    assert "the parameter Stage has no value" in site.run(TEMPLATE, name="shop.yaml", code=2)


FUNCTION = """
[[queue]]
name = "work"
visibility-timeout = 30
[[queue]]
name = "done"
[[function]]
name = "forward"
runtime = "python3.11"
handler = "index.handler"
code = "src"
timeout = 10
environment = { TARGET = "done" }
[[mapping]]
queue = "work"
function = "forward"
batch-size = 5
report-item-failures = true
"""
HANDLER = """
import os, urllib.parse, urllib.request

def handler(event, context):
    url = os.environ["AWS_ENDPOINT_URL"] + "/000000000000/" + os.environ["TARGET"]
    for record in event["Records"]:
        form = {"Action": "SendMessage", "MessageBody": record["body"] + " done"}
        urllib.request.urlopen(url, urllib.parse.urlencode(form).encode())
    return {"batchItemFailures": []}
"""


ALARM = ORDERS + """
[[alarm]]
name = "dead-orders"
queue = "orders-dlq"
description = "somebody should look"
"""


def test_alarms(site):
    cloudwatch = site.client("cloudwatch")
    assert site.apply(ALARM)[-1] == "+ alarm dead-orders"
    alarm = cloudwatch.describe_alarms(AlarmNames=["dead-orders"])["MetricAlarms"][0]
    assert alarm["MetricName"] == "ApproximateNumberOfMessagesVisible"
    assert alarm["Dimensions"] == [{"Name": "QueueName", "Value": "orders-dlq"}]
    assert (alarm["Threshold"], alarm["ComparisonOperator"]) == (0, "GreaterThanThreshold")
    assert site.apply(ALARM) == []
    changed = ALARM.replace('description = "somebody should look"', 'threshold = 5\ntags = { a = "b" }')
    assert site.apply(changed) == ["~ alarm dead-orders"]
    assert site.apply(changed) == []
    alarm = cloudwatch.describe_alarms(AlarmNames=["dead-orders"])["MetricAlarms"][0]
    assert alarm["Threshold"] == 5 and not alarm.get("AlarmDescription")
    assert site.apply(ORDERS, "--prune") == ["- alarm dead-orders"]


def test_actions_that_alarms_cannot_notify_are_left_out_with_a_note(site):
    template = json.dumps({"Resources": {
        "Topic": {"Type": "AWS::SNS::Topic"},
        "Queue": {"Type": "AWS::SQS::Queue", "Properties": {"QueueName": "alerts"}},
        "Alarm": {"Type": "AWS::CloudWatch::Alarm", "Properties": {
            "AlarmName": "busy", "Namespace": "AWS/SQS", "MetricName": "NumberOfMessagesSent",
            "Statistic": "Sum", "Period": 60, "EvaluationPeriods": 1, "Threshold": 1,
            "ComparisonOperator": "GreaterThanThreshold",
            "AlarmActions": [{"Ref": "Topic"}, {"Fn::GetAtt": ["Queue", "Arn"]}],
        }},
    }})
    shown = site.run(template, "--yes", name="alarms.json")
    assert "alarm busy: the action arn:aws:sns:" in shown and "is skipped" in shown
    (alarm,) = site.client("cloudwatch").describe_alarms(AlarmNames=["busy"])["MetricAlarms"]
    assert alarm["AlarmActions"] == ["arn:aws:sqs:us-east-1:000000000000:alerts"]
    assert site.apply(template, name="alarms.json") == []


def documented_topologies():
    """Every topology in TOML that docs/ and examples/ show."""
    root = pathlib.Path(__file__).parents[2]
    for page in sorted(root.glob("docs/**/*.md")) + [root / "README.md"]:
        for number, text in enumerate(re.findall(r"```toml\n(.*?)```", page.read_text(), re.DOTALL)):
            if "[[queue]]" in text:
                yield pytest.param(text, None, id=f"{page.name}-{number}")
    for path in sorted(root.glob("examples/**/*.toml")):
        if "[[queue]]" in path.read_text():
            yield pytest.param(path.read_text(), path.parent, id=path.parent.name)


def test_there_are_documented_topologies():
    assert len(list(documented_topologies())) >= 2


@pytest.mark.parametrize("text, beside", documented_topologies())
def test_documented_topologies_settle(site, text, beside):
    for function in tomllib.loads(text).get("function", []):
        if "code" not in function:
            continue
        if beside:
            shutil.copytree(beside / function["code"], site.directory / function["code"])
        else:
            (site.directory / function["code"]).mkdir()
            (site.directory / function["code"] / "index.py").write_text(HANDLER)
    assert site.apply(text) != []
    assert site.apply(text) == []


def test_functions_and_mappings(site):
    (site.directory / "src").mkdir()
    (site.directory / "src" / "index.py").write_text(HANDLER)
    assert site.apply(FUNCTION) == [
        "+ queue work",
        "+ queue done",
        "+ function forward",
        "+ mapping work → forward",
    ]
    assert site.apply(FUNCTION) == []
    sqs = site.client("sqs")
    sqs.send_message(QueueUrl=sqs.get_queue_url(QueueName="work")["QueueUrl"], MessageBody="it is")
    received = sqs.receive_message(
        QueueUrl=sqs.get_queue_url(QueueName="done")["QueueUrl"], WaitTimeSeconds=20
    )
    assert [m["Body"] for m in received["Messages"]] == ["it is done"]

    (site.directory / "src" / "index.py").write_text(HANDLER + "# another\n")
    changed = FUNCTION.replace("timeout = 10", "timeout = 12").replace("batch-size = 5", "batch-size = 7")
    assert site.apply(changed) == ["~ function forward", "~ mapping work → forward"]
    assert site.apply(changed) == []
    assert site.client("lambda").get_function(FunctionName="forward")["Configuration"]["Timeout"] == 12
    assert site.apply("[[queue]]\nname = 'work'\n", "--prune") == [
        "- mapping work → forward",
        "- function forward",
        "- queue done",
    ]
