"""Functions: made, changed, told of and deleted, as boto3, awscli and Terraform want it."""

import base64
import hashlib
import json
import os
import subprocess

import pytest
from botocore.exceptions import ClientError

from harness.functions import ECHO, KEYS, ROLE, client, python_runtime, settings, zip_of
from harness.queue import unique_name


@pytest.fixture
def functions(endpoint):
    return client("lambda", endpoint)


@pytest.fixture
def made(functions):
    """Makes functions and deletes those that are left."""
    names = []

    def make(code=ECHO, **more):
        created = functions.create_function(**settings(code, **more))
        names.append(created["FunctionName"])
        return created

    yield make
    for name in names:
        try:
            functions.delete_function(FunctionName=name)
        except ClientError:
            pass


def refusal(call, **arguments):
    with pytest.raises(ClientError) as failure:
        call(**arguments)
    return failure.value.response


def code_and_message(response):
    return response["Error"]["Code"], response["Error"]["Message"]


def test_a_function_comes_and_goes(functions):
    wanted = settings(Timeout=10, MemorySize=256, Description="d", Tags={"team": "a"},
                      Environment={"Variables": {"A": "1"}})
    created = functions.create_function(**wanted)
    name = wanted["FunctionName"]
    zipped = wanted["Code"]["ZipFile"]
    assert created["ResponseMetadata"]["HTTPStatusCode"] == 201
    assert created["FunctionArn"] == f"arn:aws:lambda:us-east-1:000000000000:function:{name}"
    assert created["CodeSha256"] == base64.b64encode(hashlib.sha256(zipped).digest()).decode()
    assert created["CodeSize"] == len(zipped)
    assert created["State"] == "Active" and created["LastUpdateStatus"] == "Successful"
    assert created["Version"] == "$LATEST" and created["PackageType"] == "Zip"
    assert created["LastModified"].endswith("+0000")

    got = functions.get_function(FunctionName=name)
    told = got["Configuration"]
    assert (told["Timeout"], told["MemorySize"], told["Description"]) == (10, 256, "d")
    assert told["Environment"] == {"Variables": {"A": "1"}}
    assert told["Role"] == ROLE and told["Layers"] == []
    assert told["Architectures"] == ["x86_64"] and told["EphemeralStorage"] == {"Size": 512}
    assert got["Tags"] == {"team": "a"}
    assert functions.get_function_configuration(FunctionName=name)["RevisionId"] == told["RevisionId"]

    versions = functions.list_versions_by_function(FunctionName=name)["Versions"]
    assert [v["FunctionArn"] for v in versions] == [told["FunctionArn"] + ":$LATEST"]
    assert functions.get_function_code_signing_config(FunctionName=name)["FunctionName"] == name

    gone = functions.delete_function(FunctionName=name)
    assert gone["ResponseMetadata"]["HTTPStatusCode"] == 204
    missing = refusal(functions.get_function, FunctionName=name)
    assert missing["ResponseMetadata"]["HTTPStatusCode"] == 404
    assert code_and_message(missing) == (
        "ResourceNotFoundException", f"Function not found: {told['FunctionArn']}")


def test_a_name_is_taken_once(functions, made):
    name = made()["FunctionName"]
    again = refusal(functions.create_function, **settings(FunctionName=name))
    assert again["ResponseMetadata"]["HTTPStatusCode"] == 409
    assert code_and_message(again) == ("ResourceConflictException", f"Function already exist: {name}")


@pytest.mark.parametrize("form", ["{name}", "{name}:$LATEST", "000000000000:function:{name}", "{arn}",
                                  "{arn}:$LATEST"])
def test_functions_are_called_in_many_ways(functions, made, form):
    created = made()
    called = form.format(name=created["FunctionName"], arn=created["FunctionArn"])
    told = functions.get_function_configuration(FunctionName=called)
    assert told["FunctionName"] == created["FunctionName"]


def test_versions_that_nobody_published_are_not_there(functions, made):
    name = made()["FunctionName"]
    missing = refusal(functions.get_function, FunctionName=name, Qualifier="7")
    assert missing["Error"]["Code"] == "ResourceNotFoundException"


def test_code_and_settings_change(functions, made):
    name = made()["FunctionName"]
    before = functions.get_function_configuration(FunctionName=name)
    other = zip_of(index__py="def handler(event, context): return 'other'\n")
    changed = functions.update_function_code(FunctionName=name, ZipFile=other)
    assert changed["CodeSha256"] == base64.b64encode(hashlib.sha256(other).digest()).decode()
    assert changed["RevisionId"] != before["RevisionId"]
    told = functions.update_function_configuration(
        FunctionName=name, Timeout=12, Environment={"Variables": {"B": "2"}})
    assert told["Timeout"] == 12 and told["MemorySize"] == before["MemorySize"]
    assert told["Environment"] == {"Variables": {"B": "2"}}
    told = functions.update_function_configuration(FunctionName=name, Environment={"Variables": {}})
    assert "Environment" not in told
    stale = refusal(functions.update_function_code, FunctionName=name, ZipFile=other,
                    RevisionId=before["RevisionId"])
    assert stale["ResponseMetadata"]["HTTPStatusCode"] == 412
    answer = functions.invoke(FunctionName=name)
    assert json.load(answer["Payload"]) == "other"


@pytest.mark.parametrize("change, code", [
    ({"Timeout": 901}, "ValidationException"),
    ({"Timeout": 0}, None),
    ({"MemorySize": 127}, None),
    ({"Runtime": "cobol85"}, "InvalidParameterValueException"),
    ({"Layers": ["arn:aws:lambda:us-east-1:1:layer:l:1"]}, "InvalidParameterValueException"),
    ({"Environment": {"Variables": {"AWS_REGION": "x"}}}, "InvalidParameterValueException"),
    ({"Environment": {"Variables": {"A": "x" * 5000}}}, "InvalidParameterValueException"),
    ({"Code": {"ZipFile": b"no zip"}}, "InvalidParameterValueException"),
    ({"Code": {"S3Bucket": "nowhere", "S3Key": "k"}}, "InvalidParameterValueException"),
])
def test_what_cannot_be_is_refused(functions, change, code):
    from botocore.exceptions import ParamValidationError
    wanted = settings(**change)
    try:
        functions.create_function(**wanted)
    except ParamValidationError:
        pass
    except ClientError as error:
        assert error.response["Error"]["Code"] == (code or "ValidationException")
    else:
        functions.delete_function(FunctionName=wanted["FunctionName"])
        pytest.fail("it was made")


def test_code_comes_from_a_bucket_of_ours(endpoint, functions, made):
    s3 = client("s3", endpoint)
    bucket = unique_name("code").lower().replace("_", "-")
    s3.create_bucket(Bucket=bucket)
    s3.put_object(Bucket=bucket, Key="a/fn.zip",
                  Body=zip_of(index__py="def handler(event, context): return 'from a bucket'\n"))
    name = made(Code={"S3Bucket": bucket, "S3Key": "a/fn.zip"})["FunctionName"]
    assert json.load(functions.invoke(FunctionName=name)["Payload"]) == "from a bucket"


def test_lists_come_in_pages(functions, made):
    names = {made()["FunctionName"] for _ in range(3)}
    listed, marker = set(), None
    while True:
        page = functions.list_functions(MaxItems=2, **({"Marker": marker} if marker else {}))
        assert len(page["Functions"]) <= 2
        listed |= {each["FunctionName"] for each in page["Functions"]}
        marker = page.get("NextMarker")
        if not marker:
            break
    assert names <= listed


def test_tags_of_functions(functions, made):
    arn = made(Tags={"a": "1"})["FunctionArn"]
    functions.tag_resource(Resource=arn, Tags={"b": "2", "c": "3"})
    functions.untag_resource(Resource=arn, TagKeys=["a", "c"])
    assert functions.list_tags(Resource=arn)["Tags"] == {"b": "2"}


def test_concurrency_and_permissions(functions, made):
    name = made()["FunctionName"]
    assert "ReservedConcurrentExecutions" not in functions.get_function_concurrency(FunctionName=name)
    functions.put_function_concurrency(FunctionName=name, ReservedConcurrentExecutions=3)
    assert functions.get_function(FunctionName=name)["Concurrency"] == {
        "ReservedConcurrentExecutions": 3}
    functions.delete_function_concurrency(FunctionName=name)
    assert "Concurrency" not in functions.get_function(FunctionName=name)

    assert refusal(functions.get_policy, FunctionName=name)["Error"]["Code"] == (
        "ResourceNotFoundException")
    functions.add_permission(FunctionName=name, StatementId="s1", Action="lambda:InvokeFunction",
                             Principal="s3.amazonaws.com", SourceArn="arn:aws:s3:::b")
    taken = refusal(functions.add_permission, FunctionName=name, StatementId="s1",
                    Action="lambda:InvokeFunction", Principal="*")
    assert taken["Error"]["Code"] == "ResourceConflictException"
    policy = json.loads(functions.get_policy(FunctionName=name)["Policy"])
    assert policy["Statement"][0]["Principal"] == {"Service": "s3.amazonaws.com"}
    assert policy["Statement"][0]["Condition"] == {"ArnLike": {"AWS:SourceArn": "arn:aws:s3:::b"}}
    functions.remove_permission(FunctionName=name, StatementId="s1")
    assert refusal(functions.get_policy, FunctionName=name)["Error"]["Code"] == (
        "ResourceNotFoundException")


def test_invoke_config(functions, made, endpoint):
    created = made()
    name, arn = created["FunctionName"], created["FunctionArn"]
    missing = refusal(functions.get_function_event_invoke_config, FunctionName=name)
    assert code_and_message(missing) == (
        "ResourceNotFoundException", f"The function {arn}:$LATEST doesn't have an EventInvokeConfig")
    put = functions.put_function_event_invoke_config(FunctionName=name, MaximumRetryAttempts=1)
    assert put["FunctionArn"] == f"{arn}:$LATEST" and put["MaximumRetryAttempts"] == 1
    assert put["DestinationConfig"] == {"OnSuccess": {}, "OnFailure": {}}
    assert "MaximumEventAgeInSeconds" not in put
    sqs = client("sqs", endpoint)
    url = sqs.create_queue(QueueName=unique_name("dest"))["QueueUrl"]
    queue = sqs.get_queue_attributes(QueueUrl=url, AttributeNames=["QueueArn"])["Attributes"]
    updated = functions.update_function_event_invoke_config(
        FunctionName=name, MaximumEventAgeInSeconds=60,
        DestinationConfig={"OnFailure": {"Destination": queue["QueueArn"]}})
    assert updated["MaximumRetryAttempts"] == 1 and updated["MaximumEventAgeInSeconds"] == 60
    assert updated["DestinationConfig"]["OnFailure"] == {"Destination": queue["QueueArn"]}
    listed = functions.list_function_event_invoke_configs(FunctionName=name)
    assert len(listed["FunctionEventInvokeConfigs"]) == 1
    itself = refusal(functions.put_function_event_invoke_config, FunctionName=name,
                     DestinationConfig={"OnFailure": {"Destination": arn}})
    assert itself["Error"]["Code"] == "InvalidParameterValueException"
    replaced = functions.put_function_event_invoke_config(FunctionName=name,
                                                          MaximumEventAgeInSeconds=100)
    assert "MaximumRetryAttempts" not in replaced
    functions.delete_function_event_invoke_config(FunctionName=name)
    assert refusal(functions.get_function_event_invoke_config, FunctionName=name)


@pytest.fixture
def queues(endpoint):
    """The ARNs of a standard queue, of a FIFO queue and of one that is gone."""
    sqs = client("sqs", endpoint)
    arns, urls = [], []
    for end, more in [("", {}), (".fifo", {"FifoQueue": "true"}), ("", {})]:
        urls.append(sqs.create_queue(QueueName=unique_name("to") + end, Attributes=more)["QueueUrl"])
        told = sqs.get_queue_attributes(QueueUrl=urls[-1], AttributeNames=["QueueArn"])
        arns.append(told["Attributes"]["QueueArn"])
    sqs.delete_queue(QueueUrl=urls.pop())
    yield arns
    for url in urls:
        sqs.delete_queue(QueueUrl=url)


def test_events_that_failed_go_to_standard_queues_that_exist(functions, made, queues):
    standard, fifo, gone = queues
    name = made(DeadLetterConfig={"TargetArn": standard})["FunctionName"]
    for arn in fifo, gone, "arn:aws:sns:us-east-1:000000000000:t", "arn:aws:sqs:nonsense":
        for call, more in [(functions.create_function, settings()),
                           (functions.update_function_configuration, {"FunctionName": name})]:
            code, message = code_and_message(
                refusal(call, **more, DeadLetterConfig={"TargetArn": arn}))
            assert code == "InvalidParameterValueException", message
            assert message.startswith(f"Invalid dead letter ARN {arn}. "), message
    kept = functions.get_function_configuration(FunctionName=name)
    assert kept["DeadLetterConfig"] == {"TargetArn": standard}
    removed = functions.update_function_configuration(
        FunctionName=name, DeadLetterConfig={"TargetArn": ""})
    assert "DeadLetterConfig" not in removed


def test_a_dead_letter_queue_that_went_holds_up_no_other_change(functions, made, endpoint):
    sqs = client("sqs", endpoint)
    url = sqs.create_queue(QueueName=unique_name("going"))["QueueUrl"]
    told = sqs.get_queue_attributes(QueueUrl=url, AttributeNames=["QueueArn"])["Attributes"]
    name = made(DeadLetterConfig={"TargetArn": told["QueueArn"]})["FunctionName"]
    sqs.delete_queue(QueueUrl=url)
    changed = functions.update_function_configuration(FunctionName=name, Timeout=7)
    assert changed["Timeout"] == 7 and changed["DeadLetterConfig"]["TargetArn"] == told["QueueArn"]


@pytest.mark.parametrize("which", ["OnSuccess", "OnFailure"])
def test_asynchronous_destinations_are_standard_queues_that_exist(functions, made, queues, which):
    standard, fifo, gone = queues
    name = made()["FunctionName"]
    for arn in fifo, gone:
        code, message = code_and_message(refusal(
            functions.put_function_event_invoke_config, FunctionName=name,
            DestinationConfig={which: {"Destination": arn}}))
        assert code == "InvalidParameterValueException"
        assert message.startswith(f"The destination ARN {arn} is invalid."), message
    functions.put_function_event_invoke_config(
        FunctionName=name, DestinationConfig={which: {"Destination": standard}})


def test_functions_outlive_a_restart(launch, tmp_path):
    data = str(tmp_path / "data")
    server = launch("--data", data)
    wanted = settings("def handler(event, context): return 'still here'\n", Tags={"k": "v"})
    client("lambda", server.endpoint).create_function(**wanted)
    unused = settings("def handler(event, context): return 1\n")
    client("lambda", server.endpoint).create_function(**unused)
    client("lambda", server.endpoint).delete_function(FunctionName=unused["FunctionName"])
    server.kill()
    again = launch("--data", data)
    functions = client("lambda", again.endpoint)
    told = functions.get_function(FunctionName=wanted["FunctionName"])
    assert told["Tags"] == {"k": "v"}
    answer = functions.invoke(FunctionName=wanted["FunctionName"])
    assert json.load(answer["Payload"]) == "still here"
    zips = [name for name in os.listdir(os.path.join(data, "functions")) if name.endswith(".zip")]
    assert len(zips) == 1, "code that no function has is gone after a restart"


def test_awscli_makes_and_runs_a_function(endpoint, functions, tmp_path):
    name = unique_name("cli")
    (tmp_path / "fn.zip").write_bytes(zip_of(index__py=ECHO))
    environment = {**os.environ, "AWS_ACCESS_KEY_ID": "test", "AWS_SECRET_ACCESS_KEY": "test",
                   "AWS_DEFAULT_REGION": "us-east-1", "AWS_PAGER": ""}

    def aws(*arguments):
        done = subprocess.run(["/usr/bin/aws", "--endpoint-url", endpoint, "lambda", *arguments],
                              capture_output=True, text=True, env=environment, cwd=tmp_path)
        assert done.returncode == 0, done.stderr
        return done.stdout

    aws("create-function", "--function-name", name, "--runtime", python_runtime(), "--role", ROLE,
        "--handler", "index.handler", "--zip-file", "fileb://fn.zip")
    (tmp_path / "event.json").write_text('{"a": 1}')
    said = json.loads(aws("invoke", "--function-name", name, "--payload", "file://event.json",
                          "--cli-binary-format", "raw-in-base64-out", "out.json")
                      if _knows_binary_format() else
                      aws("invoke", "--function-name", name, "--payload", "file://event.json",
                          "out.json"))
    assert said["StatusCode"] == 200
    assert json.loads((tmp_path / "out.json").read_text()) == {"a": 1}
    aws("delete-function", "--function-name", name)


def _knows_binary_format():
    version = subprocess.run(["/usr/bin/aws", "--version"], capture_output=True, text=True)
    return (version.stdout + version.stderr).startswith("aws-cli/2")


def test_a_server_with_keys_asks_who_may(launch, tmp_path):
    config = tmp_path / "redrive.toml"
    config.write_text(
        "[[key]]\nid = 'ADMIN'\nsecret = 'a'\nrole = 'admin'\n"
        "[[key]]\nid = 'READER'\nsecret = 'r'\nrole = 'reader'\n")
    server = launch("--config", str(config), "--data", str(tmp_path / "data"))

    def as_key(key, secret):
        return client("lambda", server.endpoint, aws_access_key_id=key, aws_secret_access_key=secret)

    # A handler uses the key that it was lent: what its role allows, and no administration.
    code = """
import datetime, hashlib, hmac, json, os, urllib.request

def handler(event, context):
    return {name: os.environ[name] for name in
            ('AWS_ENDPOINT_URL', 'AWS_REGION', 'AWS_ACCESS_KEY_ID', 'AWS_SECRET_ACCESS_KEY')}
"""
    wanted = settings(code)
    admin = as_key("ADMIN", "a")
    admin.create_function(**wanted)
    name = wanted["FunctionName"]
    reader = as_key("READER", "r")
    assert reader.get_function(FunctionName=name)["Configuration"]["FunctionName"] == name
    for call in (reader.delete_function, reader.invoke):
        assert refusal(call, FunctionName=name)["Error"]["Code"] == "AccessDeniedException"
    wrong = as_key("ADMIN", "wrong")
    assert refusal(wrong.get_function, FunctionName=name)["Error"]["Code"] == (
        "InvalidSignatureException")
    lent = json.load(admin.invoke(FunctionName=name)["Payload"])
    assert lent["AWS_ENDPOINT_URL"] == server.endpoint
    keys = {"aws_access_key_id": lent["AWS_ACCESS_KEY_ID"],
            "aws_secret_access_key": lent["AWS_SECRET_ACCESS_KEY"]}
    client("sqs", server.endpoint, aws_access_key_id="ADMIN", aws_secret_access_key="a").create_queue(
        QueueName="orders")
    roles = client("iam", server.endpoint, aws_access_key_id="ADMIN", aws_secret_access_key="a")
    roles.create_role(RoleName="r", AssumeRolePolicyDocument="{}")
    roles.attach_role_policy(RoleName="r", PolicyArn="arn:aws:iam::aws:policy/AmazonSQSFullAccess")
    roles.put_role_policy(RoleName="r", PolicyName="no-creation", PolicyDocument=json.dumps(
        {"Statement": {"Effect": "Deny", "Action": "sqs:CreateQueue", "Resource": "*"}}))
    handler = client("sqs", server.endpoint, **keys)
    url = handler.get_queue_url(QueueName="orders")["QueueUrl"]
    handler.send_message(QueueUrl=url, MessageBody="from a handler")
    with pytest.raises(ClientError):
        handler.create_queue(QueueName="others")
    lines = [json.loads(line) for line in (tmp_path / "data/audit.ndjson").read_text().splitlines()]
    actions = [(line["action"], line["outcome"]) for line in lines]
    assert ("CreateFunction", "done") in actions
    assert ("DeleteFunction", "AccessDeniedException") in actions
    assert "ZipFile" not in (tmp_path / "data/audit.ndjson").read_text()


def test_large_code_is_taken(functions, made):
    """Twenty megabytes that do not compress: more than any message could have."""
    large = zip_of(index__py="import os\n\ndef handler(event, context):\n"
                             "    return os.path.getsize('/'.join([os.environ['LAMBDA_TASK_ROOT'], 'blob.bin']))\n",
                   blob__bin=os.urandom(20 << 20))
    name = made(Code={"ZipFile": large})["FunctionName"]
    assert json.load(functions.invoke(FunctionName=name)["Payload"]) == 20 << 20
    changed = functions.update_function_code(FunctionName=name, ZipFile=zip_of(index__py=ECHO))
    assert changed["CodeSize"] < 1000


def test_a_key_with_patterns_sends_nothing_to_other_queues(launch, tmp_path):
    config = tmp_path / "redrive.toml"
    config.write_text("[[key]]\nid = 'ADMIN'\nsecret = 'a'\nrole = 'admin'\n"
                      "[[key]]\nid = 'TEAM'\nsecret = 't'\nrole = 'admin'\nqueues = ['team-*']\n")
    server = launch("--memory", "--config", str(config))
    admin = client("sqs", server.endpoint, aws_access_key_id="ADMIN", aws_secret_access_key="a")
    for name in "team-dead", "payroll":
        admin.create_queue(QueueName=name)
    team = client("lambda", server.endpoint, aws_access_key_id="TEAM", aws_secret_access_key="t")
    arn = "arn:aws:sqs:us-east-1:000000000000:"
    wanted = {**settings(), "FunctionName": "team-f"}
    for other in "payroll", "not-there":
        told = refusal(team.create_function, **wanted, DeadLetterConfig={"TargetArn": arn + other})
        assert told["Error"]["Code"] == "AccessDeniedException"
    team.create_function(**wanted, DeadLetterConfig={"TargetArn": arn + "team-dead"})
