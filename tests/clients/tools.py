"""boto3 and the AWS command line behind the interface of the harness's clients.

Both come from Debian and are older than message move tasks and MessageSystemAttributeNames. Move
tasks therefore go out as signed raw requests; system attributes are asked for by the older name.
"""

import json
import os
import pathlib
import re
import subprocess

import boto3
import botocore
from botocore.config import Config

from harness.clients import Client
from wires import REGION, signed_json, signed_query

AWS = "/usr/bin/aws"
MOVE_TASK_ACTIONS = {"StartMessageMoveTask", "ListMessageMoveTasks"}
QUEUE_ACTIONS = {"CreateQueue", "DeleteQueue", "GetQueueAttributes", "SetQueueAttributes"}


def snake(action):
    return re.sub(r"(?<!^)(?=[A-Z])", "_", action).lower()


def older_names(parameters):
    parameters = dict(parameters)
    if "MessageSystemAttributeNames" in parameters:
        parameters["AttributeNames"] = parameters.pop("MessageSystemAttributeNames")
    return parameters


class Boto3(Client):
    """boto3 with its own settings: validation, retries and checks of digests are on."""

    def __init__(self, endpoint, data_path=None):
        super().__init__(endpoint, region=REGION)
        session = botocore.session.get_session()
        session.set_config_variable("data_path", data_path and str(data_path))
        self.client = boto3.Session(botocore_session=session).client(
            "sqs",
            endpoint_url=endpoint,
            region_name=REGION,
            aws_access_key_id="test",
            aws_secret_access_key="test",
            config=Config(max_pool_connections=16),
        )
        self.protocol = self.client.meta.service_model.protocol
        self._signed = (signed_json if self.protocol == "json" else signed_query)(endpoint)

    def call(self, action, parameters):
        if action in MOVE_TASK_ACTIONS:
            return self._signed.call(action, parameters)
        answer = getattr(self.client, snake(action))(**older_names(parameters))
        answer.pop("ResponseMetadata")
        return answer


def write_json_model(folder):
    """Debian's model of SQS, with the protocol that newer ones name.

    Debian's botocore can speak AWS JSON, only its description of SQS still says Query. What is
    left out are the names that members have in forms and in XML; in JSON they carry their own.
    """
    shipped = pathlib.Path(botocore.__file__).parent / "data/sqs/2012-11-05/service-2.json"
    if not shipped.exists():
        raise FileNotFoundError(f"{shipped}: this botocore keeps its models elsewhere")
    model = json.loads(shipped.read_text(), object_hook=_without_form_names)
    model["metadata"] |= {
        "protocol": "json",
        "jsonVersion": "1.0",
        "targetPrefix": "AmazonSQS",
        "awsQueryCompatible": {},
    }
    place = folder / "sqs/2012-11-05/service-2.json"
    place.parent.mkdir(parents=True)
    place.write_text(json.dumps(model))
    return folder


def _without_form_names(part):
    form_only = ("locationName", "flattened", "resultWrapper")
    return {name: value for name, value in part.items() if name not in form_only}


class AwsCli(Client):
    """A process of `aws sqs` for everything done to messages; parameters are --cli-input-json.

    A process takes most of a second, so what is done to queues (which the conformance tests do
    with this tool) are raw requests.
    """

    protocol = "query"

    def __init__(self, endpoint, home):
        super().__init__(endpoint, region=REGION)
        self._environment = {
            "PATH": "/usr/bin:/bin",
            "HOME": str(home),
            "AWS_ACCESS_KEY_ID": "test",
            "AWS_SECRET_ACCESS_KEY": "test",
            "AWS_DEFAULT_REGION": REGION,
            "AWS_PAGER": "",
        }
        self._signed = signed_query(endpoint)

    @staticmethod
    def installed():
        return os.path.exists(AWS)

    def call(self, action, parameters):
        if action in MOVE_TASK_ACTIONS or action in QUEUE_ACTIONS:
            return self._signed.call(action, parameters)
        command = [AWS, "--endpoint-url", self.endpoint, "--output", "json", "sqs"]
        command += [snake(action).replace("_", "-")]
        command += ["--cli-input-json", json.dumps(older_names(parameters))]
        done = subprocess.run(command, env=self._environment, capture_output=True, text=True)
        assert done.returncode == 0, f"aws {action}: {done.stderr.strip()}"
        return json.loads(done.stdout) if done.stdout.strip() else {}
