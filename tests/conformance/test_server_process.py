"""The server as a process: what survives a restart, the flags, the way it ends."""

import concurrent.futures
import os
import signal

import pytest

from harness import clock
from harness.clients import JsonRaw
from harness.errors import PREFIX, refused
from harness.queue import Queue, string

pytestmark = [
    pytest.mark.own_server,
    pytest.mark.skipif("REDRIVE_ENDPOINT" in os.environ, reason="needs its own server process"),
]


def test_sigterm_ends_it_with_code_zero(launch, tmp_path):
    server = launch("--data", str(tmp_path / "data"))
    JsonRaw(server.endpoint).CreateQueue(QueueName="q")
    assert server.stop() == 0


def test_sigint_ends_it_with_code_zero(launch):
    server = launch("--memory")
    os.kill(server.pid, signal.SIGINT)
    assert server.stop() == 0


def test_sigterm_ends_waiting_long_polls(launch):
    server = launch("--memory")
    queue = Queue.create(JsonRaw(server.endpoint))

    def poll():
        try:
            return queue.receive(wait=20)
        except Exception as error:
            return error

    with concurrent.futures.ThreadPoolExecutor() as pool:
        waiting = pool.submit(poll)
        queue.counts()
        assert server.stop() == 0
        waiting.result(timeout=10)


def fill(api):
    """One of everything a restart must bring back."""
    target = Queue.create(api, "dlq")
    queue = Queue.create(api, attributes={"VisibilityTimeout": "77"}, tags={"team": "a"})
    queue.redrive_to(target, 5)
    queue.send("in flight", MessageAttributes={"k": string("x")})
    held = queue.receive_one()
    queue.send("visible é\r\n")
    queue.send("delayed", DelaySeconds=900)
    fifo = Queue.create(api, fifo=True)
    fifo.send_fifo("gone", group="g", dedup="taken")
    fifo.delete(fifo.receive_one())
    for n in range(3):
        fifo.send_fifo(f"m{n}", group="g")
    return queue, held, fifo


def check_restored(api, queue, held, fifo):
    url = api.GetQueueUrl(QueueName=queue.name)["QueueUrl"]
    again, fifo_again = Queue(api, queue.name, url), Queue(
        api, fifo.name, api.GetQueueUrl(QueueName=fifo.name)["QueueUrl"]
    )
    assert again.counts() == (1, 1, 1)
    assert again.attribute("VisibilityTimeout") == "77"
    assert "maxReceiveCount" in again.attribute("RedrivePolicy")
    assert api.ListQueueTags(QueueUrl=url)["Tags"] == {"team": "a"}
    again.change_visibility(held, 0)
    found = again.receive(AttributeNames=["All"], MessageAttributeNames=["All"])
    by_body = {message["Body"]: message for message in found}
    assert set(by_body) == {"in flight", "visible é\r\n"}
    assert by_body["in flight"]["MessageId"] == held["MessageId"]
    assert by_body["in flight"]["Attributes"]["ApproximateReceiveCount"] == "2"
    assert by_body["in flight"]["MessageAttributes"] == {"k": string("x")}
    fifo_again.send_fifo("duplicate", group="g", dedup="taken")
    assert fifo_again.bodies() == ["m0", "m1", "m2"], "order and taken ids survive"


@pytest.mark.parametrize("ending", ["stop", "kill"])
def test_a_restart_brings_everything_back(launch, tmp_path, ending):
    server = launch("--data", str(tmp_path / "data"))
    state = fill(JsonRaw(server.endpoint))
    getattr(server, ending)()
    server = launch("--data", str(tmp_path / "data"))
    check_restored(JsonRaw(server.endpoint), *state)
    assert server.stop() == 0


def test_memory_keeps_nothing(launch):
    server = launch("--memory")
    queue = Queue.create(JsonRaw(server.endpoint))
    queue.send("m")
    assert queue.bodies() == ["m"]
    server.stop()
    assert JsonRaw(launch("--memory").endpoint).ListQueues() == {}


def test_strict_timing_makes_a_name_wait_after_deletion(launch):
    api = JsonRaw(launch("--memory", "--strict-timing").endpoint)
    queue = Queue.create(api)
    api.DeleteQueue(QueueUrl=queue.url)
    with refused(
        PREFIX + "QueueDeletedRecently",
        "You must wait 60 seconds after deleting a queue before you can create another with the "
        "same name.",
    ):
        api.CreateQueue(QueueName=queue.name)


def test_move_tasks_survive_a_restart(launch, tmp_path):
    """A task in the middle neither loses nor doubles a message."""
    server = launch("--data", str(tmp_path / "data"))
    api = JsonRaw(server.endpoint)
    target, source = Queue.create(api, "dlq"), Queue.create(api, "source")
    source.redrive_to(target, 1)
    source.send_batch([{"Id": str(n), "MessageBody": f"m{n}"} for n in range(8)])
    while source.receive(VisibilityTimeout=0):
        pass
    target_arn = target.arn
    api.StartMessageMoveTask(SourceArn=target_arn, MaxNumberOfMessagesPerSecond=4)
    server.kill()
    api = JsonRaw(launch("--data", str(tmp_path / "data")).endpoint)
    queues = [
        Queue(api, name, api.GetQueueUrl(QueueName=name)["QueueUrl"])
        for name in (source.name, target.name)
    ]
    bodies = []

    def everything_seen():
        for queue in queues:
            bodies.extend(queue.bodies())
        return len(set(bodies)) == 8

    clock.until("all eight messages are somewhere", everything_seen)
    assert len(bodies) == 8, "no message is in both queues"
    newest = api.ListMessageMoveTasks(SourceArn=target_arn)["Results"][0]
    assert newest["ApproximateNumberOfMessagesToMove"] == 8, "the task is remembered"


def test_a_killed_server_leaves_no_directory_for_long(launch, tmp_path, monkeypatch):
    monkeypatch.setenv("TMPDIR", str(tmp_path))

    def directories():
        return {path.name for path in tmp_path.glob("redrive-handlers-*")}

    killed, other = launch("--memory"), launch("--memory")
    before = directories()
    assert len(before) == 2
    killed.kill()
    assert directories() == before
    third = launch("--memory")
    # That of the other one, which lives, is none of its business.
    assert len(directories()) == 2 and len(directories() & before) == 1
    assert other.stop() == 0 and third.stop() == 0
    assert not directories()
