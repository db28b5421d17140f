#!/usr/bin/python3
"""Fills a disk to the last byte and kills the server again and again: it starts and can be drained.

The disk is a small file system of its own (tmpfs, or ext4 in a file with --ext4), mounted in a
private mount namespace; without the right to mount nothing is tested, and the exit code is 0.
Messages are sent until the server refuses them, a file takes the rest of the space, and then the
server is killed and started many times while consumers receive and delete. Every acknowledged
message comes out once, and with the space back the server takes messages again.

    tests/crash/full_disk.py               12 kills
    tests/crash/full_disk.py 50 --ext4
"""

import argparse
import os
import pathlib
import shutil
import subprocess
import sys
import tempfile
import time
import traceback

HERE = pathlib.Path(__file__).resolve().parent
sys.path[:0] = [str(HERE), str(HERE.parent / "conformance")]

from ledger import Violation  # noqa: E402

from harness.clients import JsonRaw  # noqa: E402
from harness.errors import ApiError  # noqa: E402
from harness.server import Server, ServerFailed  # noqa: E402

INSIDE = "REDRIVE_FULL_DISK_INSIDE"
DISK_MIB = 200
BODY_BYTES = 200_000
DELETED_PER_RUN = 7


class FullDisk:
    def __init__(self, options, disk):
        self._options = options
        self._disk = disk
        self._log = disk.parent / "server.log"
        self._live = {}  # Body -> message id, acknowledged and not deleted.
        self._sent = 0

    def run(self):
        server, api, url = self._start()
        self._send_until_refused(api, url)
        sent = self._sent
        self._take_all_space()
        for _ in range(self._options.kills):
            self._receive_and_delete(api, url, DELETED_PER_RUN)
            server.kill()
            self._take_all_space()
            server, api, url = self._start()
        while self._live:
            self._receive_and_delete(api, url, 10)
        (self._disk / "filler").unlink()
        self._send_again(api, url)
        if (code := server.stop()) != 0:
            raise Violation(f"SIGTERM ended the server with code {code}")
        print(f"full_disk: {sent} messages filled the disk, {self._options.kills} kills")

    def _start(self):
        server = Server("--data", str(self._disk / "data"), log_path=self._log)
        api = JsonRaw(server.endpoint)
        try:
            url = api.CreateQueue(QueueName="orders")["QueueUrl"]
        except BaseException:
            server.kill()
            raise
        return server, api, url

    def _send(self, api, url):
        body = f"{self._sent} ".ljust(BODY_BYTES, "x")
        answer = api.SendMessage(QueueUrl=url, MessageBody=body)
        self._sent += 1
        self._live[body] = answer["MessageId"]

    def _send_until_refused(self, api, url):
        while self._sent * BODY_BYTES < 2 * DISK_MIB << 20:
            try:
                self._send(api, url)
            except ApiError as error:
                if error.code != "ServiceUnavailable":
                    raise
                self._must_be_logged()
                return self._must_not_be_ready(api)
        raise Violation("more was accepted than the disk holds")

    def _must_be_logged(self):
        log = self._log.read_text()
        if not any('"level":"error"' in line and "ServiceUnavailable" in line for line in log.splitlines()):
            raise Violation("a send was refused with 503, and the log has no line at level error")

    def _must_not_be_ready(self, api):
        deadline = time.monotonic() + 10
        while time.monotonic() < deadline:
            status, _, body = api.wire.request("GET", "/ready")
            if status == 503 and b'"disk":"full"' in body:
                return
            time.sleep(0.1)
        raise Violation(f"sends are refused, and /ready says {status} {body!r}")

    def _take_all_space(self):
        """Also what the server has given back meanwhile."""
        size = 1 << 20
        with open(self._disk / "filler", "ab", buffering=0) as filler:
            while size > 0:
                try:
                    if filler.write(bytes(size)) < size:
                        size //= 2
                except OSError:
                    size //= 2
            try:
                os.fsync(filler.fileno())
            except OSError:
                pass

    def _receive_and_delete(self, api, url, count):
        deadline = time.monotonic() + 20
        while count > 0 and self._live:
            messages = api.ReceiveMessage(
                QueueUrl=url, MaxNumberOfMessages=min(count, 10), VisibilityTimeout=2
            ).get("Messages", [])
            if not messages and time.monotonic() > deadline:
                raise Violation(f"{len(self._live)} acknowledged messages do not come")
            for each in messages:
                if self._live.get(each["Body"]) != each["MessageId"]:
                    raise Violation(f"{each['Body'][:20]!r} was deleted, or never sent")
                api.DeleteMessage(QueueUrl=url, ReceiptHandle=each["ReceiptHandle"])
                del self._live[each["Body"]]
                count -= 1
            if not messages:
                time.sleep(0.1)

    def _send_again(self, api, url):
        deadline = time.monotonic() + 20
        while True:
            try:
                return self._send(api, url)
            except ApiError:
                if time.monotonic() > deadline:
                    raise Violation("there is space again, and sends are still refused") from None
                time.sleep(0.1)


def mount_disk(directory, ext4):
    """The mount point, or None when this is not permitted."""
    disk = directory / "disk"
    disk.mkdir()
    if ext4:
        image = directory / "image"
        with open(image, "wb") as file:
            file.truncate(DISK_MIB << 20)
        # Without space that only root may use: the server runs as root here.
        made = subprocess.run(["mkfs.ext4", "-q", "-m", "0", str(image)], check=False)
        command = ["mount", "-o", "loop", str(image), str(disk)]
        permitted = made.returncode == 0
    else:
        command = ["mount", "-t", "tmpfs", "-o", f"size={DISK_MIB}M", "none", str(disk)]
        permitted = True
    permitted = permitted and subprocess.run(command, check=False, stderr=subprocess.DEVNULL).returncode == 0
    return disk if permitted else None


def enter_namespace():
    """Runs this program again where mounts are seen by nobody else."""
    environment = {**os.environ, INSIDE: "1"}
    command = ["unshare", "--mount", "--propagation", "private", sys.executable, *sys.argv]
    try:
        possible = subprocess.run([*command[:4], "true"], check=False, stderr=subprocess.DEVNULL)
    except FileNotFoundError:
        possible = None
    if possible is None or possible.returncode != 0:
        print("full_disk: skipped: no right to mount")
        return 0
    return subprocess.run(command, env=environment, check=False).returncode


def parse_options():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("kills", nargs="?", type=int, default=12)
    parser.add_argument("--ext4", action="store_true", help="ext4 in a file instead of tmpfs")
    return parser.parse_args()


def main():
    options = parse_options()
    if INSIDE not in os.environ:
        return enter_namespace()
    directory = pathlib.Path(tempfile.mkdtemp(prefix="redrive-full-"))
    disk = mount_disk(directory, options.ext4)
    if disk is None:
        print("full_disk: skipped: no right to mount")
        return 0
    started_at = time.monotonic()
    passed = False
    try:
        FullDisk(options, disk).run()
        passed = True
        print(f"full_disk: passed in {time.monotonic() - started_at:.1f} s")
    except (Violation, ServerFailed, ApiError) as error:
        print(f"full_disk: FAILED: {error}; see {directory}/server.log")
    except Exception:
        print("full_disk: FAILED:")
        traceback.print_exc(file=sys.stdout)
    subprocess.run(["umount", "-l", str(disk)], check=False)
    if passed:
        shutil.rmtree(directory)
    return 0 if passed else 1


if __name__ == "__main__":
    sys.exit(main())
