"""Start-up with a data directory that cannot be used: says what and where, changes nothing."""

import hashlib
import os
import pathlib
import subprocess

import pytest

from harness.clients import JsonRaw
from harness.server import Server, binary_path

pytestmark = [
    pytest.mark.own_server,
    pytest.mark.skipif("REDRIVE_ENDPOINT" in os.environ, reason="needs its own server process"),
]


def start(data):
    return subprocess.run(
        [binary_path(), "serve", "--listen", "127.0.0.1:0", "--data", str(data)],
        capture_output=True, text=True, timeout=30,
    )


def contents(data):
    """Every file but the lock, which says who looked last."""
    return {
        path.name: hashlib.sha256(path.read_bytes()).hexdigest()
        for path in pathlib.Path(data).iterdir()
        if path.name != "lock" and path.is_file()
    }


@pytest.fixture
def used(tmp_path):
    """A directory with a queue and messages in it."""
    server = Server("--data", str(tmp_path / "data"))
    client = JsonRaw(server.endpoint)
    url = client.CreateQueue(QueueName="q")["QueueUrl"]
    for number in range(20):
        client.SendMessage(QueueUrl=url, MessageBody=f"message {number} " + "x" * 300)
    assert server.stop() == 0
    return tmp_path / "data"


def test_somebody_elses_directory(tmp_path):
    (tmp_path / "thesis.txt").write_text("chapter one")
    ended = start(tmp_path)
    assert ended.returncode == 1
    assert str(tmp_path) in ended.stderr and "thesis.txt" in ended.stderr
    assert os.listdir(tmp_path) == ["thesis.txt"]


def test_a_second_server(tmp_path):
    first = Server("--data", str(tmp_path / "data"))
    try:
        ended = start(tmp_path / "data")
        assert ended.returncode == 1
        assert f"process {first.pid} holds" in ended.stderr
        JsonRaw(first.endpoint).CreateQueue(QueueName="q")
    finally:
        assert first.stop() == 0


def test_a_flipped_bit_stops_the_start_and_repair_saves_the_rest(used):
    """In the head of a record. In the contents of a message it stops nothing: test_damage.py."""
    segment = next(path for path in used.glob("*.seg") if b"message 7 " in path.read_bytes())
    content = segment.read_bytes()
    # Before the body come 48 bytes of digests and sizes, the sender, a head of 52 bytes and the stamp.
    at = content.find(b"message 7 ") - 130
    with open(segment, "r+b") as file:
        file.seek(at)
        file.write(bytes([content[at] ^ 1]))
    before = contents(used)
    ended = start(used)
    assert ended.returncode == 1
    assert segment.name in ended.stderr and "at byte" in ended.stderr
    assert "redrive journal check" in ended.stderr
    assert contents(used) == before

    check = subprocess.run(
        [binary_path(), "journal", "check", "--data", str(used)], capture_output=True, text=True
    )
    assert check.returncode == 1 and segment.name in check.stdout + check.stderr
    assert contents(used) == before
    subprocess.run([binary_path(), "journal", "repair", "--data", str(used)], check=True,
                   capture_output=True)
    server = Server("--data", str(used))
    client = JsonRaw(server.endpoint)
    url = client.GetQueueUrl(QueueName="q")["QueueUrl"]
    bodies = set()
    while messages := client.ReceiveMessage(QueueUrl=url, MaxNumberOfMessages=10).get("Messages"):
        bodies |= {message["Body"].split(" x")[0] for message in messages}
    assert bodies == {f"message {number}" for number in range(20) if number != 7}
    assert server.stop() == 0


def test_another_version_of_the_format(used):
    manifest = used / "manifest"
    data = bytearray(manifest.read_bytes())
    data[8] += 1
    manifest.write_bytes(data)
    before = contents(used)
    ended = start(used)
    assert ended.returncode == 1
    assert "manifest" in ended.stderr
    assert contents(used) == before
