"""The resources of main.tf made with boto3, and what becomes of messages under each way to retry.

Time is moved rather than waited for: the server runs with --virtual-clock.
"""

import json
import os
import pathlib
import subprocess
import sys
import time
import urllib.request

import boto3

ENDPOINT = os.environ["AWS_ENDPOINT_URL"]
SQS, LAMBDA, IAM = (boto3.client(name, endpoint_url=ENDPOINT) for name in ("sqs", "lambda", "iam"))
ARN = "arn:aws:sqs:us-east-1:000000000000:"
TRUST = {
    "Version": "2012-10-17",
    "Statement": [
        {"Action": "sts:AssumeRole", "Effect": "Allow", "Principal": {"Service": "lambda.amazonaws.com"}}
    ],
}
POLICIES = ["AmazonSQSFullAccess", "service-role/AWSLambdaBasicExecutionRole"]
REDRIVE = json.dumps({"deadLetterTargetArn": ARN + "dlq", "maxReceiveCount": 3})


def redrive(*arguments):
    subprocess.run([os.environ["REDRIVE_BINARY"], *arguments], check=True, stdout=subprocess.DEVNULL)


def handlers():
    with urllib.request.urlopen(f"{ENDPOINT}/_redrive/v1/overview") as answer:
        return json.load(answer)["handlers"]


def at_work():
    """Whether a handler runs: time stands still for it, or its messages would seem to take too long."""
    return any(handler["running"] for handler in handlers())


def is_polled(mapping):
    return any(handler["polling"] for handler in handlers() if handler.get("mapping") == mapping)


def wait_until(condition, advance=None):
    """Until it holds; meanwhile, if told, time goes on by so many seconds again and again."""
    deadline = time.monotonic() + 90
    while not condition():
        assert time.monotonic() < deadline, "that should have happened by now"
        if advance and not at_work():
            redrive("clock", "advance", str(advance))
        time.sleep(0.3)


def count(name):
    kinds = ["ApproximateNumberOfMessages", "ApproximateNumberOfMessagesNotVisible"]
    told = SQS.get_queue_attributes(QueueUrl=URLS[name], AttributeNames=kinds)["Attributes"]
    return sum(map(int, told.values()))


def take(name):
    """Everything in a queue, out of it."""
    found = []
    while batch := SQS.receive_message(QueueUrl=URLS[name], MaxNumberOfMessages=10).get("Messages"):
        for message in batch:
            found.append(message["Body"])
            SQS.delete_message(QueueUrl=URLS[name], ReceiptHandle=message["ReceiptHandle"])
    return found


def create_resources(payload):
    for name, seconds in (("dlq", 1209600), ("main-queue", 345600), ("succeeded", 345600), ("given-up", 345600)):
        attributes = {"MessageRetentionPeriod": str(seconds), "VisibilityTimeout": "30"}
        URLS[name] = SQS.create_queue(QueueName=name, Attributes=attributes)["QueueUrl"]
    SQS.set_queue_attributes(QueueUrl=URLS["main-queue"], Attributes={"RedrivePolicy": REDRIVE})
    role = IAM.create_role(RoleName="lambda_role", AssumeRolePolicyDocument=json.dumps(TRUST))
    for policy in POLICIES:
        IAM.attach_role_policy(RoleName="lambda_role", PolicyArn=f"arn:aws:iam::aws:policy/{policy}")
    for name, handler in (("sqs-processor", "raising.handler"), ("direct", "direct.handler")):
        LAMBDA.create_function(
            FunctionName=name, Runtime="python3.11", Handler=handler, Role=role["Role"]["Arn"],
            Code={"ZipFile": payload}, Timeout=25,
            Environment={"Variables": {"QUEUE_URL": URLS["main-queue"]}},
        )  # fmt: skip
    made = LAMBDA.create_event_source_mapping(
        EventSourceArn=ARN + "main-queue", FunctionName="sqs-processor", BatchSize=10, Enabled=False
    )
    return made["UUID"]


def send_ten(mapping, bad="This message will fail."):
    """Ten messages for one batch, the fourth of which is bad."""
    LAMBDA.update_event_source_mapping(UUID=mapping, Enabled=False)
    wait_until(lambda: not is_polled(mapping))  # It would take them, give them back, and count that.
    bodies = [bad if n == 3 else f"message {n}" for n in range(10)]
    entries = [{"Id": str(n), "MessageBody": body} for n, body in enumerate(bodies)]
    SQS.send_message_batch(QueueUrl=URLS["main-queue"], Entries=entries)
    LAMBDA.update_event_source_mapping(UUID=mapping, Enabled=True)


def raise_on_failure(mapping):
    send_ten(mapping)
    wait_until(lambda: count("main-queue") == 0, advance=31)
    dead = take("dlq")
    assert "This message will fail." in dead, dead
    print(f"processed {10 - len(dead)}, dead {len(dead)}")


def delete_the_successes(mapping):
    LAMBDA.update_function_configuration(FunctionName="sqs-processor", Handler="deleting.handler")
    SQS.set_queue_attributes(QueueUrl=URLS["main-queue"], Attributes={"RedrivePolicy": ""})
    send_ten(mapping)
    wait_until(lambda: count("main-queue") == 1)
    for _ in range(5):
        redrive("clock", "advance", "31")
    print(f"after the first batch and five retries: {count('main-queue')} left")
    redrive("clock", "advance", "345600")
    wait_until(lambda: count("main-queue") == 0)
    print(f"after four days: {count('main-queue')} left, {count('dlq')} dead")


def asynchronously():
    LAMBDA.put_function_event_invoke_config(
        FunctionName="direct", MaximumRetryAttempts=2, MaximumEventAgeInSeconds=21600,
        DestinationConfig={"OnSuccess": {"Destination": ARN + "succeeded"},
                           "OnFailure": {"Destination": ARN + "given-up"}},
    )  # fmt: skip
    for text in ("This is a test message.", "This message will fail."):
        LAMBDA.invoke(FunctionName="direct", InvocationType="Event", Payload=json.dumps({"message": text}))
    wait_until(lambda: count("succeeded") == 1)
    wait_until(lambda: count("given-up") == 1, advance=60)
    for name in ("succeeded", "given-up"):
        record = json.loads(take(name)[0])
        context = record["requestContext"]
        print(f"{name}: {context['condition']} after {context['approximateInvokeCount']} runs: "
              f"{record['requestPayload']['message']}")  # fmt: skip


def bisect(mapping):
    SQS.set_queue_attributes(QueueUrl=URLS["main-queue"], Attributes={"RedrivePolicy": REDRIVE})
    LAMBDA.update_function_configuration(FunctionName="sqs-processor", Handler="raising.handler")
    LAMBDA.update_event_source_mapping(
        UUID=mapping, BisectBatchOnFunctionError=True, MaximumRetryAttempts=1,
        MaximumRecordAgeInSeconds=3600, DestinationConfig={"OnFailure": {"Destination": ARN + "given-up"}},
    )  # fmt: skip
    send_ten(mapping)
    wait_until(lambda: count("main-queue") == 0, advance=31)
    wait_until(lambda: count("given-up") == 1)
    record = json.loads(take("given-up")[0])
    context, lost = record["requestContext"], record["payload"]["Records"]
    assert len(lost) == 1 and count("dlq") == 0, record
    print(f"given up: {context['condition']} after {context['approximateInvokeCount']} runs: {lost[0]['body']}")


def by_error_type(mapping):
    policy = [
        {"ErrorEquals": ["Hopeless"], "MaxAttempts": 0},
        {"ErrorEquals": ["States.ALL"], "IntervalSeconds": 5, "BackoffRate": 2, "MaxAttempts": 1},
    ]
    redrive("mapping", "set", mapping, "--retry-policy", json.dumps(policy),
            "--max-retries", "-1", "--on-failure", "off")  # fmt: skip
    for bad in ("This is hopeless.", "This message will fail."):
        send_ten(mapping, bad)
        wait_until(lambda: count("main-queue") == 0, advance=5)
        told = SQS.receive_message(QueueUrl=URLS["dlq"], AttributeNames=["ApproximateReceiveCount"])
        runs = int(told["Messages"][0]["Attributes"]["ApproximateReceiveCount"]) - 1
        redrive("clock", "advance", "31")
        assert take("dlq") == [bad]
        print(f"dead after {runs} {'run' if runs == 1 else 'runs'}: {bad}")


URLS = {}
uuid = create_resources(pathlib.Path(sys.argv[1]).read_bytes())
print("== A handler that raises an error: messages after the bad one in its batch fail too")
raise_on_failure(uuid)
print("== A handler that deletes processed messages; the rest is retried until it expires")
delete_the_successes(uuid)
print("== Asynchronous invocation: two retries, after one and two minutes, then a destination")
asynchronously()
print("== The first handler with bisection, one retry and a destination")
bisect(uuid)
print("== Retries by error type: hopeless errors are not retried")
by_error_type(uuid)
