"""A server with keys: who is let in, who may do what, what is written down about it."""

import json
import os
import pathlib
import signal
import subprocess

import boto3
import pytest
from botocore.auth import SigV4Auth
from botocore.awsrequest import AWSRequest
from botocore.credentials import Credentials
from botocore.exceptions import ClientError

from harness import clock
from harness.errors import ApiError, refused
from harness.server import Server, binary_path
from harness.signed import JSON, QUERY, Signed

pytestmark = [
    pytest.mark.own_server,
    pytest.mark.skipif("REDRIVE_ENDPOINT" in os.environ, reason="needs its own server process"),
]

HOME = "000000000000"
GUEST = "222222222222"
KEYS = {
    "ADMIN": "role = 'admin'\nname = 'boss'",
    "OPERATOR": "role = 'operator'",
    "PRODUCER": "role = 'producer'\nqueues = ['orders*']",
    "CONSUMER": "role = 'consumer'\nqueues = ['orders*']",
    "READER": "role = 'reader'",
    "GUEST": f"role = 'admin'\naccount = '{GUEST}'\nname = 'visitor'",
    "SLOW": "role = 'admin'\nrequests-per-second = 3",
}


def secret_of(key):
    return f"secret/of+{key}"


def write_config(path, more=""):
    text = more
    for key, rest in KEYS.items():
        text += f"\n[[key]]\nid = '{key}'\nsecret = '{secret_of(key)}'\n{rest}\n"
    path.write_text(text)
    return str(path)


@pytest.fixture(scope="module")
def place(tmp_path_factory):
    return tmp_path_factory.mktemp("access")


@pytest.fixture(scope="module")
def server(place):
    config = write_config(place / "redrive.toml")
    running = Server(
        "--data", str(place / "data"), "--config", config, log_path=place / "server.log"
    )
    yield running
    assert running.stop() == 0


@pytest.fixture(params=[JSON, QUERY])
def protocol(request):
    return request.param


@pytest.fixture
def as_(server, protocol):
    return lambda key, **more: Signed(server.endpoint, key, secret_of(key), protocol, **more)


@pytest.fixture
def orders(as_, request):
    name = "orders-" + str(abs(hash(request.node.nodeid)) % 10**9)
    return as_("ADMIN").CreateQueue(QueueName=name)["QueueUrl"]


def arn_of(url):
    return f"arn:aws:sqs:us-east-1:{HOME}:{url.rsplit('/', 1)[1]}"


def test_boto3_works_with_a_key_and_not_without(server):
    def client(key, secret):
        return boto3.client(
            "sqs",
            endpoint_url=server.endpoint,
            region_name="eu-central-1",
            aws_access_key_id=key,
            aws_secret_access_key=secret,
        )

    sqs = client("ADMIN", secret_of("ADMIN"))
    url = sqs.create_queue(QueueName="orders with a key".replace(" ", "-"))["QueueUrl"]
    body = "ünïcödé & <xml> + 100% \n"
    sqs.send_message(QueueUrl=url, MessageBody=body)
    received = sqs.receive_message(QueueUrl=url, AttributeNames=["All"])["Messages"][0]
    assert received["Body"] == body
    assert received["Attributes"]["SenderId"] == "boss"
    with pytest.raises(ClientError) as error:
        client("ADMIN", "wrong").list_queues()
    assert error.value.response["Error"]["Code"] == "SignatureDoesNotMatch"


def test_a_key_nobody_declared(server, protocol):
    stranger = Signed(server.endpoint, "NOBODY", "x", protocol)
    with refused("InvalidClientTokenId", "The security token included in the request is invalid."):

        stranger.ListQueues()


def test_a_wrong_secret(server, protocol):
    with refused("SignatureDoesNotMatch"):
        Signed(server.endpoint, "ADMIN", "wrong", protocol).ListQueues()


def test_no_signature_at_all(server, protocol):
    client = Signed(server.endpoint, "ADMIN", "", protocol)
    status, _, body = client.send(client.request("ListQueues", {}))
    assert status == 403
    assert b"MissingAuthenticationToken" in body
    assert b"Request is missing Authentication Token" in body


def test_half_an_authorization_names_what_is_missing(server, protocol):
    client = Signed(server.endpoint, "ADMIN", "", protocol)
    request = client.request("ListQueues", {})
    request.headers["Authorization"] = (
        "AWS4-HMAC-SHA256 Credential=ADMIN/20260101/us-east-1/sqs/aws4_request, SignedHeaders=host"
    )
    status, _, body = client.send(request)
    assert status == 400
    assert b"IncompleteSignature" in body
    assert b"'Signature'" in body


@pytest.mark.parametrize("change", ["body", "header", "path", "method"])
def test_a_signature_covers_the_whole_request(as_, orders, protocol, change):
    client = as_("ADMIN")
    request = client.sign(client.request("SendMessage", {"QueueUrl": orders, "MessageBody": "hi"}))
    assert client.send(request)[0] == 200
    if change == "body":
        request.data = request.data.replace("hi", "ho")
    elif change == "header":
        request.headers.replace_header("Content-Type", request.headers["Content-Type"] + "; a=b")
    elif change == "path":
        request.url += f"{HOME}/elsewhere"
    else:
        request.method = "PUT"
    status, _, body = client.send(request)
    assert status == 403
    assert b"SignatureDoesNotMatch" in body or b"InvalidSignatureException" in body


def test_another_action_cannot_ride_on_a_signature(as_, orders, protocol):
    """In JSON the action is a header; it must be one that is signed."""
    client = as_("ADMIN")
    request = client.sign(client.request("GetQueueAttributes", {"QueueUrl": orders}))
    if protocol == JSON:
        request.headers.replace_header("X-Amz-Target", "AmazonSQS.DeleteQueue")
    else:
        request.url += "?Action=DeleteQueue"
    assert client.send(request)[0] == 403


@pytest.mark.parametrize(
    "minutes,words", [(-6, "Signature expired"), (6, "Signature not yet current")]
)
def test_an_old_or_early_signature(as_, protocol, minutes, words):
    client = as_("ADMIN")
    request = client.sign(client.request("ListQueues", {}), seconds_from_now=minutes * 60)
    status, _, body = client.send(request)
    assert status == 403
    assert words.encode() in body


def test_a_signature_for_another_service(as_, protocol):
    with refused("SignatureDoesNotMatch", "Credential should be scoped to correct service: 'sqs'."):
        as_("ADMIN", service="s3").ListQueues()


MANAGED = {
    "management": ("POST", "/_redrive/v1/queues/orders-payload/purge", b"{}"),
    "sqs": ("POST", "/?Action=CreateQueue&QueueName=orders-unsigned", b"Version=2012-11-05"),
    "lambda": ("POST", "/2015-03-31/event-source-mappings", b"{}"),
    "iam": ("POST", "/", b"Action=ListRoles&Version=2010-05-08"),
    "monitoring": ("POST", "/", b"Action=ListMetrics&Version=2010-08-01"),
}


@pytest.mark.parametrize("digest", ["UNSIGNED-PAYLOAD", "STREAMING-UNSIGNED-PAYLOAD-TRAILER"])
@pytest.mark.parametrize("scope", ["s3", "own"])
@pytest.mark.parametrize("api", MANAGED)
def test_only_s3_takes_bodies_that_no_signature_covers(server, api, scope, digest):
    """Who chooses the scope chooses the rules of signing: the API must not let the client choose."""
    own = {"management": "sqs"}.get(api, api)
    method, path, body = MANAGED[api]
    headers = {"X-Amz-Content-Sha256": digest}
    if api != "management":
        headers["Content-Type"] = "application/x-www-form-urlencoded"
    service = "s3" if scope == "s3" else own
    request = AWSRequest(method, server.endpoint + path, headers, body)
    auth = SigV4Auth(Credentials("ADMIN", secret_of("ADMIN")), service, "us-east-1")
    auth.payload = lambda request: digest
    auth.add_auth(request)
    client = Signed(server.endpoint, "ADMIN", secret_of("ADMIN"))
    status, _, answer = client.send(request)
    if scope == "s3" and api in ("iam", "monitoring", "lambda", "sqs"):
        # The scope says which service a request to a shared path is for: S3's errors are fine, too.
        assert status in (400, 403, 404, 405, 501), answer
    else:
        assert status == 403, answer
    names = Signed(server.endpoint, "ADMIN", secret_of("ADMIN")).ListQueues().get("QueueUrls", [])
    assert not [name for name in names if name.endswith("orders-unsigned")]


def test_the_management_api_takes_the_scopes_of_its_clients(server):
    for service, status in {"sqs": 200, "lambda": 200, "redrive": 200, "s3": 403, "iam": 403}.items():
        request = AWSRequest("GET", server.endpoint + "/_redrive/v1/overview")
        SigV4Auth(Credentials("ADMIN", secret_of("ADMIN")), service, "us-east-1").add_auth(request)
        client = Signed(server.endpoint, "ADMIN", secret_of("ADMIN"))
        assert client.send(request)[0] == status, service


def test_a_presigned_request(server, orders):
    client = Signed(server.endpoint, "ADMIN", secret_of("ADMIN"), QUERY)
    from botocore.awsrequest import AWSRequest

    url = f"{orders}?Action=SendMessage&MessageBody=a%20presigned%20%26%20odd%2Bbody&Version=2012-11-05"
    request = client.presign(AWSRequest("GET", url), 60)
    status, _, body = client.send(request)
    assert status == 200, body
    request.url = request.url.replace("presigned", "forged")
    assert client.send(request)[0] == 403


def test_a_session_token_is_none_of_ours(as_, protocol):
    client = as_("ADMIN")
    client._credentials.token = "FwoGZXIvYXdzE"
    with refused("InvalidClientTokenId"):
        client.ListQueues()


ROLES = {
    "CreateQueue": {"ADMIN"},
    "DeleteQueue": {"ADMIN"},
    "AddPermission": {"ADMIN"},
    "SetQueueAttributes": {"ADMIN", "OPERATOR"},
    "TagQueue": {"ADMIN", "OPERATOR"},
    "PurgeQueue": {"ADMIN", "OPERATOR"},
    "SendMessage": {"ADMIN", "OPERATOR", "PRODUCER"},
    "ReceiveMessage": {"ADMIN", "OPERATOR", "CONSUMER"},
    "ListQueueTags": {"ADMIN", "OPERATOR", "READER"},
    "GetQueueAttributes": {"ADMIN", "OPERATOR", "PRODUCER", "CONSUMER", "READER"},
}


@pytest.mark.parametrize("action", ROLES)
@pytest.mark.parametrize("key", ["ADMIN", "OPERATOR", "PRODUCER", "CONSUMER", "READER"])
def test_roles(as_, orders, action, key):
    more = {
        "CreateQueue": {"QueueName": "orders-new"},
        "AddPermission": {"Label": "a", "AWSAccountIds": [GUEST], "Actions": ["SendMessage"]},
        "SetQueueAttributes": {"Attributes": {"DelaySeconds": "1"}},
        "TagQueue": {"Tags": {"a": "b"}},
        "SendMessage": {"MessageBody": "x"},
    }.get(action, {})
    if action != "CreateQueue":
        more = dict(more, QueueUrl=orders)
    if key in ROLES[action]:
        as_(key).call(action, **more)
        return
    with refused("AccessDenied", matching=r"User: arn:aws:iam::\d+:user/\w+ is not authorized to "
                 rf"perform: sqs:{action.lower()} on resource: arn:aws:sqs:.*"):
        as_(key).call(action, **more)


def test_sharing_takes_an_admin(as_, orders):
    policy = json.dumps({"Statement": []})
    as_("ADMIN").SetQueueAttributes(QueueUrl=orders, Attributes={"Policy": policy})
    with refused("AccessDenied"):
        as_("OPERATOR").SetQueueAttributes(QueueUrl=orders, Attributes={"Policy": policy})


def test_queue_patterns(as_, orders):
    other = as_("ADMIN").CreateQueue(QueueName="bills")["QueueUrl"]
    as_("PRODUCER").SendMessage(QueueUrl=orders, MessageBody="x")
    with refused("AccessDenied", matching=".*the key's patterns do not match the queue"):
        as_("PRODUCER").SendMessage(QueueUrl=other, MessageBody="x")
    with refused("AccessDenied"):
        as_("PRODUCER").GetQueueUrl(QueueName="bills")
    listed = as_("PRODUCER").ListQueues()["QueueUrls"]
    assert orders in listed and other not in listed


def test_redriving_takes_both_queues(as_, orders):
    with refused("AccessDenied"):
        as_("CONSUMER").StartMessageMoveTask(SourceArn=arn_of(orders))
    with refused("AccessDenied"):
        as_("GUEST").StartMessageMoveTask(SourceArn=arn_of(orders))
    with refused("AccessDenied"):
        as_("GUEST").ListMessageMoveTasks(SourceArn=arn_of(orders))


def test_another_account_needs_a_policy(as_, orders):
    guest = as_("GUEST")
    with refused("AccessDenied", matching=".*no resource-based policy allows it"):
        guest.SendMessage(QueueUrl=orders, MessageBody="x")
    as_("ADMIN").AddPermission(
        QueueUrl=orders, Label="guest", AWSAccountIds=[GUEST], Actions=["SendMessage"]
    )
    guest.SendMessage(QueueUrl=orders, MessageBody="x")
    guest.SendMessageBatch(QueueUrl=orders, Entries=[{"Id": "a", "MessageBody": "y"}])
    with refused("AccessDenied"):
        guest.ReceiveMessage(QueueUrl=orders)
    as_("ADMIN").RemovePermission(QueueUrl=orders, Label="guest")
    with refused("AccessDenied"):
        guest.SendMessage(QueueUrl=orders, MessageBody="x")


def test_what_a_policy_can_never_share(as_, orders):
    policy = {"Statement": {"Effect": "Allow", "Principal": "*", "Action": "*", "Resource": "*"}}
    as_("ADMIN").SetQueueAttributes(QueueUrl=orders, Attributes={"Policy": json.dumps(policy)})
    as_("GUEST").SendMessage(QueueUrl=orders, MessageBody="x")
    for action, more in {
        "DeleteQueue": {},
        "SetQueueAttributes": {"Attributes": {"DelaySeconds": "1"}},
        "TagQueue": {"Tags": {"a": "b"}},
    }.items():
        with refused("AccessDenied", matching=".*only the account that owns the queue may do it"):
            as_("GUEST").call(action, QueueUrl=orders, **more)


def test_deny_wins_and_an_admin_can_mend_it(as_, orders):
    policy = {"Statement": {"Effect": "Deny", "Principal": "*", "Action": "sqs:*", "Resource": "*"}}
    as_("ADMIN").SetQueueAttributes(QueueUrl=orders, Attributes={"Policy": json.dumps(policy)})
    with refused("AccessDenied", matching=".*the queue's policy denies it"):
        as_("PRODUCER").SendMessage(QueueUrl=orders, MessageBody="x")
    as_("ADMIN").SetQueueAttributes(QueueUrl=orders, Attributes={"Policy": ""})
    as_("PRODUCER").SendMessage(QueueUrl=orders, MessageBody="x")


def test_accounts_do_not_see_each_other(as_, orders):
    own = as_("GUEST").CreateQueue(QueueName="orders")["QueueUrl"]
    assert f"/{GUEST}/orders" in own
    assert orders not in as_("GUEST").ListQueues().get("QueueUrls", [])


def test_a_key_with_a_rate(as_):
    slow = as_("SLOW")
    with refused("RequestThrottled"):
        for _ in range(20):
            slow.ListQueues()
    clock.wait(0.5)
    slow.ListQueues()


def test_the_audit_log_tells_who_did_what(as_, place, orders):
    as_("ADMIN").PurgeQueue(QueueUrl=orders)
    as_("ADMIN").SendMessage(QueueUrl=orders, MessageBody="not for the audit log")
    with pytest.raises(ApiError):
        as_("READER").DeleteQueue(QueueUrl=orders)
    as_("ADMIN").DeleteQueue(QueueUrl=orders)
    lines = [json.loads(line) for line in (place / "data/audit.ndjson").read_text().splitlines()]
    mine = [line for line in lines if line["resource"] == arn_of(orders)]
    assert [(line["who"], line["action"], line["outcome"]) for line in mine] == [
        ("boss", "CreateQueue", "done"),
        ("boss", "PurgeQueue", "done"),
        ("READER", "DeleteQueue", "AccessDenied"),
        ("boss", "DeleteQueue", "done"),
    ]
    assert mine[0]["request"]["QueueName"] == orders.rsplit("/", 1)[1]
    assert {"time", "key", "account", "from", "service", "requestId"} <= mine[0].keys()


def run_server(*arguments):
    return subprocess.run(
        [binary_path(), "serve", *arguments], capture_output=True, text=True, timeout=20
    )


def test_beyond_loopback_takes_keys(tmp_path):
    ended = run_server("--listen", "0.0.0.0:0", "--data", str(tmp_path / "data"))
    assert ended.returncode == 2
    assert "refusing to listen on 0.0.0.0:0" in ended.stderr
    assert not (tmp_path / "data").exists()


def test_keys_open_the_way_beyond_loopback(tmp_path):
    config = write_config(tmp_path / "redrive.toml", "listen = '0.0.0.0:0'\n")
    process = subprocess.Popen(
        [binary_path(), "serve", "--memory", "--config", config], stdout=subprocess.PIPE, text=True
    )
    assert "listening on http://0.0.0.0:" in process.stdout.readline()
    process.send_signal(signal.SIGTERM)
    assert process.wait(10) == 0


@pytest.mark.parametrize(
    "text,words",
    [
        ("[[key]]\nid='A12'\nrole='admin'\n", "requires one of secret, secret-file and secret-env"),
        ("[[key]]\nid='A12'\nsecret='x'\nrole='king'\n", "the role must be"),
        ("[[key]]\nid='A12'\nsecret='x'\n", "requires a role"),
        ("[[key]]\nsecret='x'\nrole='admin'\n", "the id of a key"),
        ("[[key]]\nid='A12'\nsecret='x'\nrole='admin'\naccount='12'\n", "must have 12 digits"),
        ("[[key]]\nid='A12'\nsecret='x'\nrole='admin'\ncolour='red'\n", "unknown setting `colour`"),
        ("[[key]]\nid='A12'\nsecret-env='NOT_SET_ANYWHERE'\nrole='admin'\n", "NOT_SET_ANYWHERE"),
        ("[[key]]\nid='A12'\nsecret-file='missing'\nrole='admin'\n", "cannot read"),
        (2 * "[[key]]\nid='A12'\nsecret='x'\nrole='admin'\n", "declared twice"),
        ("key = 3\n", "[[key]] tables"),
    ],
)
def test_a_bad_key_stops_the_start(tmp_path, text, words):
    (tmp_path / "c.toml").write_text(text)
    ended = run_server("--listen", "127.0.0.1:0", "--memory", "--config", str(tmp_path / "c.toml"))
    assert ended.returncode != 0
    assert words in ended.stderr


def test_secrets_from_a_file_and_the_environment(tmp_path, monkeypatch):
    monkeypatch.setenv("REDRIVE_TEST_SECRET", "from the environment")
    (tmp_path / "secret").write_text("from a file\n")
    (tmp_path / "c.toml").write_text(
        "[[key]]\nid='FILE'\nsecret-file='secret'\nrole='admin'\n"
        "[[key]]\nid='ENV'\nsecret-env='REDRIVE_TEST_SECRET'\nrole='admin'\n"
    )
    server = Server("--memory", "--config", str(tmp_path / "c.toml"))
    try:
        Signed(server.endpoint, "FILE", "from a file").ListQueues()
        Signed(server.endpoint, "ENV", "from the environment").ListQueues()
    finally:
        server.stop()


def test_sighup_reads_keys_and_audit_log_again(tmp_path):
    config, log = tmp_path / "c.toml", tmp_path / "audit.ndjson"
    table = "[[key]]\nid='{0}'\nsecret='{0}'\nrole='admin'\n"
    config.write_text(f"audit-log = '{log}'\n" + table.format("OLD"))
    server = Server("--memory", "--config", str(config))

    def serves(key):
        try:
            Signed(server.endpoint, key, key).CreateQueue(QueueName="q")
            return True
        except ApiError as error:
            assert error.code == "InvalidClientTokenId"
            return False

    try:
        assert serves("OLD") and not serves("NEW")
        log.rename(tmp_path / "audit.1")
        config.write_text(f"audit-log = '{log}'\n" + table.format("NEW"))
        os.kill(server.pid, signal.SIGHUP)
        clock.until("the new key", lambda: serves("NEW"))
        assert not serves("OLD")
        clock.until("a new audit log", log.exists)
        config.write_text("nonsense")
        os.kill(server.pid, signal.SIGHUP)
        clock.wait(0.1)
        assert serves("NEW")
    finally:
        assert server.stop() == 0


def test_key_new_makes_keys_that_work(tmp_path):
    config = tmp_path / "redrive.toml"
    made = subprocess.run(
        [binary_path(), "key", "new", "--role", "admin", "--name", "it's \"me\"", "--append",
         str(config)],
        capture_output=True, text=True, check=True,
    ).stdout
    assert pathlib.Path(config).stat().st_mode & 0o777 == 0o600
    variables = dict(line.removeprefix("export ").split("=", 1) for line in made.splitlines())
    server = Server("--memory", "--config", str(config))
    try:
        Signed(
            server.endpoint, variables["AWS_ACCESS_KEY_ID"], variables["AWS_SECRET_ACCESS_KEY"]
        ).CreateQueue(QueueName="q")
    finally:
        server.stop()


# --- Accounts and patterns, across APIs -----------------------------------------------------------

SCOPED = {
    "ROOT": "role = 'admin'",
    "TEAM": "role = 'admin'\nqueues = ['team-*']",
    "AWAY": f"role = 'admin'\naccount = '{GUEST}'",
}


def scoped_config(path):
    path.write_text("".join(
        f"[[key]]\nid = '{key}'\nsecret = '{secret_of(key)}'\n{rest}\n" for key, rest in SCOPED.items()))
    return str(path)


def aws(server, service, key):
    return boto3.client(
        service,
        endpoint_url=server.endpoint,
        region_name="us-east-1",
        aws_access_key_id=key,
        aws_secret_access_key=secret_of(key),
    )


def signed_get(server, path, key):
    client = Signed(server.endpoint, key, secret_of(key))
    request = AWSRequest(method="GET", url=server.endpoint + path)
    client.sign(request)
    status, _, body = client.send(request)
    return status, body if isinstance(body, str) else body.decode()


def code_of(call, **arguments):
    with pytest.raises(ClientError) as failure:
        call(**arguments)
    return failure.value.response["Error"]["Code"]


def test_a_bucket_belongs_to_its_account_also_after_a_restart(launch, tmp_path):
    arguments = ("--data", str(tmp_path / "data"), "--config", scoped_config(tmp_path / "redrive.toml"))
    server = launch(*arguments)
    aws(server, "s3", "ROOT").create_bucket(Bucket="home")
    aws(server, "s3", "ROOT").put_object(Bucket="home", Key="k", Body=b"x")
    aws(server, "s3", "AWAY").create_bucket(Bucket="away")
    # A bucket of an earlier version has no owner: it is the server's own account's.
    settings = tmp_path / "data" / "objects" / "settings"
    assert server.stop() == 0
    old = [line for line in (settings / "home").read_text().splitlines() if not line.startswith("owner")]
    (settings / "home").write_text("\n".join(old) + "\n")
    server = launch(*arguments)
    root, away = aws(server, "s3", "ROOT"), aws(server, "s3", "AWAY")
    assert root.get_object(Bucket="home", Key="k")["Body"].read() == b"x"
    assert code_of(away.get_object, Bucket="home", Key="k") == "AccessDenied"
    assert code_of(away.delete_object, Bucket="home", Key="k") == "AccessDenied"
    assert code_of(root.list_objects_v2, Bucket="away") == "AccessDenied"
    assert code_of(root.create_bucket, Bucket="away") == "BucketAlreadyExists"
    assert [bucket["Name"] for bucket in away.list_buckets()["Buckets"]] == ["away"]


def test_pages_show_what_the_key_is_for(launch, tmp_path):
    server = launch("--memory", "--config", scoped_config(tmp_path / "redrive.toml"))
    for name in "team-1", "secret":
        aws(server, "sqs", "ROOT").create_queue(QueueName=name)
    status, page = signed_get(server, "/metrics", "ROOT")
    assert status == 200 and 'queue="secret"' in page and "redrive_journal_" in page
    for key in "TEAM", "AWAY":
        status, page = signed_get(server, "/metrics", key)
        assert status == 200 and "secret" not in page and "redrive_journal_" not in page
        status, page = signed_get(server, "/_redrive/v1/overview", key)
        assert status == 200 and "secret" not in page
        status, page = signed_get(server, "/_redrive/v1/logs", key)
        assert status == 403 and "concerns the whole server" in page
    assert 'queue="team-1"' in signed_get(server, "/metrics", "TEAM")[1]
    assert signed_get(server, "/_redrive/v1/logs", "ROOT")[0] == 200


def test_an_alarm_sends_only_where_its_maker_may(launch, tmp_path):
    server = launch("--memory", "--config", scoped_config(tmp_path / "redrive.toml"))
    for name in "team-1", "secret":
        aws(server, "sqs", "ROOT").create_queue(QueueName=name)
    alarm = dict(
        AlarmName="team-alarm", Namespace="AWS/SQS", MetricName="NumberOfMessagesSent",
        Dimensions=[{"Name": "QueueName", "Value": "team-1"}], Statistic="Sum", Period=60,
        EvaluationPeriods=1, Threshold=1, ComparisonOperator="GreaterThanThreshold",
    )
    arn = f"arn:aws:sqs:us-east-1:{HOME}:"
    for key in "TEAM", "AWAY":
        put = aws(server, "cloudwatch", key).put_metric_alarm
        assert code_of(put, **alarm, AlarmActions=[arn + "secret"]) == "AccessDenied"
    aws(server, "cloudwatch", "TEAM").put_metric_alarm(**alarm, AlarmActions=[arn + "team-1"])
def key_new(config):
    return subprocess.run(
        [binary_path(), "key", "new", "--role", "admin", "--append", str(config)],
        capture_output=True, text=True, check=True,
    )  # fmt: skip


@pytest.mark.parametrize("mode,after", [(0o644, 0o600), (0o666, 0o600), (0o640, 0o640), (0o600, 0o600)])
def test_key_new_keeps_its_secret_from_other_users(tmp_path, mode, after):
    config = tmp_path / "redrive.toml"
    config.write_text("memory = true\n")
    config.chmod(mode)
    said = key_new(config).stderr
    assert config.stat().st_mode & 0o777 == after
    assert ("its mode is now 0600" in said) == (mode != after)
    assert "memory = true" in config.read_text() and "secret = " in config.read_text()


def test_the_server_says_when_everybody_may_read_its_secrets(tmp_path):
    config, secret, log = tmp_path / "c.toml", tmp_path / "secret", tmp_path / "server.log"
    secret.write_text("hidden\n")
    secret.chmod(0o600)
    config.write_text("[[key]]\nid='FILE'\nsecret-file='secret'\nrole='admin'\n")
    config.chmod(0o644)
    server = Server("--memory", "--config", str(config), log_path=log)
    try:
        assert "chmod 600" not in log.read_text(), "there is no secret in the file"
        secret.chmod(0o644)
        os.kill(server.pid, signal.SIGHUP)
        clock.until("a warning", lambda: f"chmod 600 {secret}" in log.read_text())
        assert f"chmod 600 {config}" not in log.read_text()
    finally:
        server.stop()
    config.write_text("[[key]]\nid='HERE'\nsecret='hidden'\nrole='admin'\n")
    server = Server("--memory", "--config", str(config), log_path=log)
    try:
        clock.until("a warning", lambda: f"chmod 600 {config}" in log.read_text())
    finally:
        server.stop()


def test_doctor_names_key_files_that_other_users_can_read(tmp_path):
    config = tmp_path / "c.toml"
    config.write_text(
        "[[key]]\nid='ADMIN'\nsecret='hidden'\nrole='admin'\n"
        "[[key]]\nid='TEAM'\nsecret='hidden'\nrole='reader'\nqueues=['team-*']\n")
    config.chmod(0o644)
    server = Server("--memory", "--config", str(config), log_path=tmp_path / "server.log")

    def findings(key):
        done = subprocess.run(
            [binary_path(), "doctor", "--json", "--endpoint-url", server.endpoint],
            capture_output=True, text=True, timeout=60,
            env={"PATH": "/usr/bin:/bin", "AWS_ACCESS_KEY_ID": key, "AWS_SECRET_ACCESS_KEY": "hidden"})
        lines = [json.loads(line) for line in done.stdout.splitlines()]
        return done.returncode, [
            (line["severity"], line["fix"]) for line in lines if line["rule"] == "exposed-key-file"]

    try:
        assert findings("ADMIN") == (1, [("problem", f"chmod 600 {config}")])
        assert findings("TEAM") == (0, []), "a key with patterns learns nothing about the whole server"
        config.chmod(0o640)
        assert findings("ADMIN") == (0, [("advice", f"chmod 600 {config}")])
        config.chmod(0o600)
        assert findings("ADMIN") == (0, [])
    finally:
        server.stop()
