#!/usr/bin/python3
"""Terraform against a server of ours: init, apply, a plan with nothing to do, a change, destroy.

Needs `terraform` and its aws provider on this machine, and takes nothing from elsewhere: the
provider is looked for where Terraform looks for local ones, in $REDRIVE_TF_PLUGINS, and in /opt.
Where either is missing it says so and is content.
"""

import glob
import io
import json
import os
import pathlib
import shutil
import subprocess
import sys
import tempfile
import time
import urllib.request
import zipfile

HERE = pathlib.Path(__file__).resolve().parent
sys.path.insert(0, str(HERE.parent / "conformance"))

from harness.server import Server  # noqa: E402

HANDLERS = {
    "python": ("index.py", "def handler(event, context):\n    return {'seen': len(event['Records'])}\n"),
    "node": ("index.js", "exports.handler = async (event) => ({ seen: event.Records.length });\n"),
}


def plugin_directory():
    """A directory laid out as host/hashicorp/aws/version/platform, which is how Terraform mirrors."""
    places = [
        os.environ.get("REDRIVE_TF_PLUGINS", ""),
        os.path.expanduser("~/.terraform.d/plugins"),
        "/usr/local/share/terraform/plugins",
        "/usr/share/terraform/plugins",
        *glob.glob("/opt/*plugins*"),
    ]
    return next((p for p in places if p and glob.glob(f"{p}/*/hashicorp/aws/*")), None)


def write_zip(path, name, text):
    """The same bytes every time, so that the hash of the code stays."""
    packed = io.BytesIO()
    with zipfile.ZipFile(packed, "w") as archive:
        archive.writestr(zipfile.ZipInfo(name, (2026, 1, 1, 0, 0, 0)), text)
    path.write_bytes(packed.getvalue())


def answers(request):
    """Whether the server has a service at all: any answer but one that it knows no such thing."""
    try:
        return urllib.request.urlopen(request, timeout=10).status == 200
    except urllib.error.HTTPError:
        return False


class Terraform:
    def __init__(self, directory, endpoint):
        self.directory = directory
        self.variables = {"endpoint": endpoint, **services_of(endpoint)}
        self.environment = {
            **os.environ,
            "CHECKPOINT_DISABLE": "1",
            "TF_IN_AUTOMATION": "1",
            "TF_CLI_CONFIG_FILE": os.devnull,
            "AWS_EC2_METADATA_DISABLED": "true",
            "TF_VAR_endpoint": endpoint,
            **{f"TF_VAR_{name}": str(value).lower() for name, value in self.variables.items()},
        }

    def run(self, *arguments, codes=(0,)):
        started = time.monotonic()
        done = subprocess.run(
            ["terraform", *arguments],
            cwd=self.directory,
            env=self.environment,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
            timeout=600,
        )
        print(f"terraform {' '.join(arguments)}: {time.monotonic() - started:.0f} s", flush=True)
        if done.returncode not in codes:
            sys.exit(f"{done.stdout}\nterraform ended with {done.returncode}")
        return done.stdout

    def plan_is_empty(self):
        # 0: nothing to do, 2: something.
        printed = self.run("plan", "-no-color", "-detailed-exitcode", codes=(0, 2))
        if "No changes." not in printed:
            sys.exit(f"a plan after apply wants to change something:\n{printed}")


def services_of(endpoint):
    form = b"Action=DescribeAlarms&Version=2010-08-01"
    return {
        "with_lambda": answers(f"{endpoint}/2015-03-31/functions"),
        "with_alarm": answers(urllib.request.Request(endpoint, form)),
    }


def queues(endpoint):
    request = urllib.request.Request(
        endpoint, b"{}", {"X-Amz-Target": "AmazonSQS.ListQueues", "Content-Type": "application/x-amz-json-1.0"}
    )
    urls = json.load(urllib.request.urlopen(request, timeout=10)).get("QueueUrls", [])
    return sorted(url.rsplit("/", 1)[1] for url in urls)


def main():
    plugins = plugin_directory()
    if shutil.which("terraform") is None:
        return print("skipped: terraform not found")
    if plugins is None:
        return print("skipped: terraform's aws provider not found")
    with tempfile.TemporaryDirectory(prefix="redrive-terraform-") as work:
        server = Server("--memory", log_path=f"{work}/server.log")
        try:
            shutil.copy(HERE / "main.tf", work)
            for language, (name, text) in HANDLERS.items():
                write_zip(pathlib.Path(work) / f"{language}.zip", name, text)
            terraform = Terraform(work, server.endpoint)
            print(f"services beside SQS, IAM, STS and S3: {terraform.variables}")
            terraform.run("init", "-no-color", "-input=false", f"-plugin-dir={plugins}")
            terraform.run("apply", "-no-color", "-auto-approve", "-input=false")
            assert queues(server.endpoint) == ["dlq", "main-queue"], queues(server.endpoint)
            terraform.plan_is_empty()
            if terraform.variables["with_lambda"]:
                terraform.environment["TF_VAR_timeout"] = "12"
                printed = terraform.run("apply", "-no-color", "-auto-approve", "-input=false")
                assert "2 changed" in printed, printed
                terraform.plan_is_empty()
            terraform.run("destroy", "-no-color", "-auto-approve", "-input=false")
            assert queues(server.endpoint) == [], queues(server.endpoint)
        finally:
            server.stop()
    print("terraform: init, apply, plan without changes, destroy: all succeeded")


main()
