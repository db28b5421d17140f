#!/usr/bin/python3
"""A CDK app is synthesised (no cdk command needed), applied, and its messages flow."""

import json
import pathlib
import shutil
import subprocess
import sys
import tempfile
import time

HERE = pathlib.Path(__file__).resolve().parent
sys.path.insert(0, str(HERE.parent / "conformance"))

import boto3  # noqa: E402
from harness.server import Server, binary_path  # noqa: E402

QUEUE = "reliable_q"
DEAD = "dlq_for_reliable_q"


def install():
    """Whether the packages are here, if need be because they were just installed."""
    if (HERE / "node_modules" / "aws-cdk-lib").exists():
        return True
    npm = ["npm", "ci", "--no-audit", "--no-fund", "--loglevel=error"]
    return shutil.which("npm") is not None and subprocess.run(npm, cwd=HERE).returncode == 0


def apply(endpoint, directory, *arguments):
    done = subprocess.run(
        [binary_path(), "apply", directory, "--endpoint-url", endpoint, "--json", "--yes", *arguments],
        capture_output=True,
        text=True,
        timeout=120,
    )
    if done.returncode != 0:
        sys.exit(f"redrive apply ended with {done.returncode}:\n{done.stdout}{done.stderr}")
    return json.loads(done.stdout)


def steps(plan, step):
    return [item["title"] for item in plan["items"] if item["step"] == step]


def wait_for(what, condition):
    deadline = time.monotonic() + 60
    while not condition():
        assert time.monotonic() < deadline, f"no {what} after a minute"
        time.sleep(0.1)


def check(endpoint, directory):
    plan = apply(endpoint, directory)
    made = steps(plan, "create")
    print("\n".join(f"+ {title}" for title in made))
    for title in (f"queue {QUEUE}", f"queue {DEAD}"):
        assert title in made, plan
    skipped = [note for note in plan["notes"] if "no functions" in note]
    again = apply(endpoint, directory)
    assert not steps(again, "create") and not steps(again, "change"), again
    if skipped:
        return print("cdk: applied; this server has no functions, so no message flows")

    assert sum(title.startswith("mapping ") for title in made) == 2, made
    keys = {"aws_access_key_id": "test", "aws_secret_access_key": "test"}
    sqs = boto3.client("sqs", endpoint_url=endpoint, region_name="us-east-1", **keys)
    urls = {name: sqs.get_queue_url(QueueName=name)["QueueUrl"] for name in (QUEUE, DEAD)}
    for n in range(10):
        order = {"order": n} if n % 5 == 0 else {"order": n, "store_id": n}
        sqs.send_message(QueueUrl=urls[QUEUE], MessageBody=json.dumps(order))

    def count(name, *which):
        names = [f"ApproximateNumberOfMessages{part}" for part in which]
        told = sqs.get_queue_attributes(QueueUrl=urls[name], AttributeNames=names)["Attributes"]
        return sum(int(value) for value in told.values())

    # Two orders have no store: each fails twice, and is dead at the third look.
    wait_for("orders without a store", lambda: count(QUEUE, "NotVisible", "") == 2 or count(DEAD, ""))
    for _ in range(3):
        command = [binary_path(), "clock", "advance", "31", "--endpoint-url", endpoint]
        subprocess.run(command, check=True, capture_output=True)
        time.sleep(1)
    wait_for("dead letters", lambda: count(DEAD, "") == 2)
    wait_for("empty queue", lambda: count(QUEUE, "", "NotVisible") == 0)
    removed = subprocess.run(
        [binary_path(), "apply", "none.toml", "--stack", "Stores", "--prune", "--yes", "--endpoint-url", endpoint],
        cwd=directory,
        capture_output=True,
        text=True,
    )
    assert removed.returncode == 0, removed.stdout + removed.stderr
    assert "QueueUrls" not in sqs.list_queues(), sqs.list_queues()
    print("cdk: synthesised, applied, ten orders processed, two of them dead, all removed")


def main():
    if shutil.which("node") is None or not install():
        return print("skipped: aws-cdk-lib not found")
    with tempfile.TemporaryDirectory(prefix="redrive-cdk-") as work:
        synth = ["node", str(HERE / "app.mjs"), f"{work}/cdk.out"]
        subprocess.run(synth, check=True, stdout=subprocess.DEVNULL)
        (pathlib.Path(work) / "cdk.out" / "none.toml").write_text("")
        server = Server("--memory", "--virtual-clock", log_path=f"{work}/server.log")
        try:
            check(server.endpoint, f"{work}/cdk.out")
        finally:
            server.stop()


main()
