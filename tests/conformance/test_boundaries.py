"""A server and its machine: its directory, its disk, its memory."""

import json
import os
import pathlib
import shutil
import subprocess
import tempfile

import pytest

from harness import clock
from harness.clients import JsonRaw
from harness.errors import ApiError
from harness.server import LISTENING, Server, ServerFailed, binary_path
from harness.signed import JSON, Signed

pytestmark = [
    pytest.mark.own_server,
    pytest.mark.skipif("REDRIVE_ENDPOINT" in os.environ, reason="needs its own server process"),
]

REFUSED = 60


def test_removing_the_lock_file_lets_no_second_server_in(tmp_path):
    first = Server("--data", str(tmp_path / "data"))
    try:
        url = JsonRaw(first.endpoint).CreateQueue(QueueName="orders")["QueueUrl"]
        (tmp_path / "data/lock").unlink()
        with pytest.raises(ServerFailed):
            Server("--data", str(tmp_path / "data"), log_path=tmp_path / "second.log")
        JsonRaw(first.endpoint).SendMessage(QueueUrl=url, MessageBody="still here")
    finally:
        assert first.stop() == 0


def audit_lines(folder):
    files = sorted((folder / "data").glob("audit.ndjson*"))
    return [json.loads(line) for file in files for line in file.read_text().splitlines()]


def test_refused_requests_do_not_fill_the_disk_with_audit_lines(tmp_path):
    config = tmp_path / "redrive.toml"
    config.write_text(
        "[audit]\nfile-bytes = 100000\nfiles = 2\n"
        "[[key]]\nid = 'ADMIN'\nsecret = 'a'\nrole = 'admin'\n"
        "[[key]]\nid = 'PRODUCER'\nsecret = 'p'\nrole = 'producer'\nname = 'shop'\n"
    )
    server = Server("--data", str(tmp_path / "data"), "--config", str(config))
    try:
        url = Signed(server.endpoint, "ADMIN", "a", JSON).CreateQueue(QueueName="orders")["QueueUrl"]
        producer = Signed(server.endpoint, "PRODUCER", "p", JSON)
        for number in range(REFUSED):
            with pytest.raises(ApiError):
                producer.TagQueue(QueueUrl=url, Tags={"big": str(number) + "x" * 1_000_000})

        def all_are_accounted_for():
            of_shop = [line for line in audit_lines(tmp_path) if line["who"] == "shop"]
            single = [line for line in of_shop if line["outcome"] == "AccessDenied"]
            counted = sum(line.get("suppressed", 0) for line in of_shop)
            assert all(line["requestBytes"] > 1_000_000 for line in single)
            return counted > 0 and len(single) + counted == REFUSED

        clock.until("every refusal is written down or counted", all_are_accounted_for)
        size = sum(file.stat().st_size for file in (tmp_path / "data").glob("audit*"))
        assert size < 250_000
    finally:
        assert server.stop() == 0


@pytest.mark.skipif(os.geteuid() != 0 or not shutil.which("setpriv"), reason="needs another user")
def test_a_process_of_the_same_user_cannot_read_the_servers_memory():
    folder = pathlib.Path(tempfile.mkdtemp(prefix="redrive-memory-"))
    other = ["setpriv", "--reuid=65534", "--regid=65534", "--clear-groups"]
    server = None
    try:
        folder.chmod(0o777)
        shutil.copy(binary_path(), folder / "redrive")
        (folder / "redrive").chmod(0o755)
        command = [*other, str(folder / "redrive"), "serve", "--listen", "127.0.0.1:0"]
        server = subprocess.Popen(
            [*command, "--data", str(folder / "data")], cwd=folder, stdout=subprocess.PIPE, text=True
        )
        assert LISTENING.search(server.stdout.readline())
        for name in ("environ", "mem", "maps"):
            read = subprocess.run(
                [*other, "head", "-c", "1", f"/proc/{server.pid}/{name}"],
                check=False,
                capture_output=True,
                text=True,
            )
            assert "Permission denied" in read.stderr, name
    finally:
        if server:
            server.terminate()
            server.wait()
            server.stdout.close()
        shutil.rmtree(folder)


def test_the_disk_is_in_the_metrics(tmp_path):
    server = Server("--data", str(tmp_path / "data"))
    try:
        _, _, page = JsonRaw(server.endpoint).wire.request("GET", "/metrics")
        numbers = dict(
            line.split(" ")
            for line in page.decode().splitlines()
            if line.startswith("redrive_disk_")
        )
        free = int(numbers["redrive_disk_free_bytes"])
        assert 0 < free <= int(numbers["redrive_disk_total_bytes"])
        assert abs(free - shutil.disk_usage(tmp_path).free) < 4 << 30
    finally:
        assert server.stop() == 0
