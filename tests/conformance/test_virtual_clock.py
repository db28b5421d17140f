"""Time that stands still until it is moved (--virtual-clock), and the reset between two tests."""

import concurrent.futures
import contextlib
import datetime
import os
import subprocess

import pytest

from harness import clock
from harness.clients import JsonRaw
from harness.errors import PREFIX, ApiError, refused
from harness.management import Management, Refused
from harness.queue import Queue
from harness.server import command_line

pytestmark = [
    pytest.mark.virtual_clock,
    pytest.mark.skipif("REDRIVE_ENDPOINT" in os.environ, reason="needs its own server process"),
]

DAY = 86_400


@pytest.fixture
def management(endpoint):
    return Management(endpoint)


@contextlib.contextmanager
def waiting(management, *polls):
    """Long polls that the server has and holds; yields what will be their results."""
    before = management.clock()["waitingReceives"]
    with concurrent.futures.ThreadPoolExecutor() as pool:
        futures = [pool.submit(poll) for poll in polls]
        clock.until(
            "the polls wait",
            lambda: management.clock()["waitingReceives"] == before + len(polls),
        )
        yield futures


@contextlib.contextmanager
def declined(status, code):
    with pytest.raises(Refused) as caught:
        yield caught
    assert (caught.value.status, caught.value.code) == (status, code)
    assert caught.value.message


# --- The clock itself --------------------------------------------------------------------------


def test_time_stands_still(management):
    first = management.clock()
    assert first["virtual"] is True
    assert management.clock() == first


def test_an_advance_answers_the_new_time(management):
    before = management.clock()["epochMilliseconds"]
    after = management.advance(900)
    assert after["epochMilliseconds"] == before + 900_000
    assert management.advance(0.25)["epochMilliseconds"] == before + 900_250
    moved = management.call("POST", "clock/advance", {"milliseconds": 3})
    assert moved["epochMilliseconds"] == before + 900_253
    shown = datetime.datetime.strptime(moved["now"], "%Y-%m-%dT%H:%M:%S.%fZ")
    assert shown.replace(tzinfo=datetime.timezone.utc).timestamp() * 1000 == before + 900_253
    assert management.clock() == moved


@pytest.mark.parametrize("seconds", [0, -1, 0.0001, 10 * 365 * DAY + 1])
def test_time_moves_forward_and_not_too_far(management, seconds):
    before = management.clock()
    with declined(400, "InvalidParameterValue"):
        management.advance(seconds)
    assert management.clock() == before


def test_an_advance_says_how_far(management):
    with declined(400, "MissingParameter"):
        management.call("POST", "clock/advance", {})


def test_a_real_clock_is_shown_but_not_moved(launch):
    management = Management(launch("--memory").endpoint)
    shown = management.clock()
    assert shown["virtual"] is False
    clock.follow(None)
    assert abs(shown["epochMilliseconds"] - clock.now_ms()) < 60_000
    with declined(403, "AccessDenied") as refusal:
        management.advance(1)
    assert "--virtual-clock" in refusal.value.message


def test_unknown_paths_and_methods(management):
    with declined(404, "NotFound"):
        management.call("GET", "nothing")
    with declined(405, "MethodNotAllowed"):
        management.call("GET", "reset")
    status, headers, _ = management.request("GET", "reset")
    assert (status, headers["Allow"]) == (405, "POST")


def test_the_description_is_served(management):
    status, headers, content = management.request("GET", "openapi.yaml")
    assert (status, headers["Content-Type"]) == (200, "application/yaml")
    assert b"/_redrive/v1/clock/advance:" in content


# --- What follows it ---------------------------------------------------------------------------


def test_a_visibility_timeout_ends_on_the_millisecond(new_queue):
    queue = new_queue()
    queue.send("m")
    queue.receive_one(VisibilityTimeout=43_200)
    clock.wait(43_199.999)
    assert queue.bodies() == []
    clock.wait(0.001)
    assert queue.bodies() == ["m"]


def test_a_delay_ends_on_the_millisecond(new_queue):
    queue = new_queue(attributes={"DelaySeconds": "900"})
    queue.send("m")
    clock.wait(899.999)
    assert queue.counts() == (0, 0, 1)
    clock.wait(0.001)
    assert queue.counts() == (1, 0, 0)


def test_retention_ends_on_the_millisecond(new_queue):
    queue = new_queue(attributes={"MessageRetentionPeriod": str(14 * DAY)})
    queue.send("m")
    clock.wait(14 * DAY - 0.001)
    assert queue.counts() == (1, 0, 0)
    clock.wait(0.001)
    assert queue.counts() == (0, 0, 0)


def test_the_timestamps_of_a_message_are_virtual(new_queue):
    queue = new_queue()
    sent_at = clock.now_ms()
    queue.send("m")
    clock.wait(3600)
    names = ["SentTimestamp", "ApproximateFirstReceiveTimestamp"]
    attributes = queue.receive_one(AttributeNames=names)["Attributes"]
    assert attributes == {
        "SentTimestamp": str(sent_at),
        "ApproximateFirstReceiveTimestamp": str(sent_at + 3_600_000),
    }


def test_a_deduplication_id_is_remembered_for_five_minutes(new_queue):
    queue = new_queue(fifo=True)
    first = queue.send_fifo("m", dedup="d")["MessageId"]
    clock.wait(299.999)
    assert queue.send_fifo("m", dedup="d")["MessageId"] == first
    clock.wait(0.001)
    assert queue.send_fifo("m", dedup="d")["MessageId"] != first


def test_a_long_poll_ends_at_its_virtual_deadline(new_queue, management):
    queue = new_queue()
    with waiting(management, lambda: queue.receive(wait=20)) as (poll,):
        clock.wait(19.999)
        assert management.clock()["waitingReceives"] == 1
        assert not poll.done()
        clock.wait(0.001)
        assert poll.result(timeout=10) == []


def test_things_happen_in_their_order_on_the_way(new_queue, management):
    queue = new_queue()
    queue.send("m", DelaySeconds=15)
    polls = (lambda: queue.bodies(wait=10), lambda: queue.bodies(wait=20, VisibilityTimeout=30))
    with waiting(management, *polls) as (impatient, patient):
        clock.wait(44.999)
        assert impatient.result(timeout=10) == []
        assert patient.result(timeout=10) == ["m"]
    assert queue.bodies() == [], "received at 15 s, so hidden until 45 s"
    clock.wait(0.001)
    assert queue.bodies() == ["m"]


def dead_letters(new_queue, count):
    target = new_queue("dlq")
    source = new_queue("source")
    source.redrive_to(target, 1)
    for first in range(0, count, 10):
        numbers = range(first, min(first + 10, count))
        source.send_batch([{"Id": str(n), "MessageBody": str(n)} for n in numbers])
    while source.receive(VisibilityTimeout=0):
        pass
    assert target.counts() == (count, 0, 0)
    return source, target


def test_a_move_task_keeps_its_rate(new_queue):
    source, target = dead_letters(new_queue, 30)
    target.api.StartMessageMoveTask(SourceArn=target.arn, MaxNumberOfMessagesPerSecond=2)
    clock.until("the first goes at once", lambda: source.counts()[0] == 1)
    clock.wait(5)
    assert source.counts()[0] == 11
    clock.wait(60)
    assert source.counts()[0] == 30


def test_a_move_task_without_a_rate_needs_no_time(new_queue):
    source, target = dead_letters(new_queue, 600)
    target.api.StartMessageMoveTask(SourceArn=target.arn)
    clock.until("all moved", lambda: source.counts()[0] == 600)


def test_a_purge_may_be_repeated_after_a_minute(api, new_queue):
    queue = new_queue()
    api.PurgeQueue(QueueUrl=queue.url)
    clock.wait(59.999)
    with refused(PREFIX + "PurgeQueueInProgress", status=403):
        api.PurgeQueue(QueueUrl=queue.url)
    clock.wait(0.001)
    assert api.PurgeQueue(QueueUrl=queue.url) == {}


@pytest.fixture
def strict(launch):
    """A client and the management of a server with AWS's sixty seconds between name and name."""
    endpoint = launch("--memory", "--virtual-clock", "--strict-timing").endpoint
    return JsonRaw(endpoint), Management(endpoint)


def test_strict_timing_gives_a_name_back_after_sixty_seconds(strict):
    api, management = strict
    api.DeleteQueue(QueueUrl=api.CreateQueue(QueueName="q")["QueueUrl"])
    management.advance(59.999)
    with refused(PREFIX + "QueueDeletedRecently"):
        api.CreateQueue(QueueName="q")
    management.advance(0.001)
    api.CreateQueue(QueueName="q")


# --- Reset -------------------------------------------------------------------------------------


def test_a_reset_forgets_everything(launch):
    endpoint = launch("--memory", "--virtual-clock").endpoint
    api, management = JsonRaw(endpoint), Management(endpoint)
    queue = Queue.create(api, fifo=True)
    queue.send_fifo("m", dedup="d")
    Queue.create(api).send("m")
    before = management.clock()
    assert management.reset() == {"queues": 2}
    assert api.ListQueues() == {}
    with refused(PREFIX + "NonExistentQueue"):
        queue.receive()
    assert management.clock() == before, "a reset leaves the time alone"

    attributes = {"FifoQueue": "true"}
    url = api.CreateQueue(QueueName=queue.name, Attributes=attributes)["QueueUrl"]
    again = Queue(api, queue.name, url)
    assert again.counts() == (0, 0, 0)
    again.send_fifo("anew", dedup="d")
    assert again.bodies() == ["anew"], "nothing is a duplicate of what was forgotten"


def test_a_reset_ends_move_tasks(launch):
    endpoint = launch("--memory", "--virtual-clock").endpoint
    api, management = JsonRaw(endpoint), Management(endpoint)

    def make(prefix):
        return Queue(api, prefix, api.CreateQueue(QueueName=prefix)["QueueUrl"])

    source, target = dead_letters(make, 5)
    api.StartMessageMoveTask(SourceArn=target.arn, MaxNumberOfMessagesPerSecond=1)
    management.reset()
    make("source"), make("dlq")
    management.advance(60)
    assert source.counts() == (0, 0, 0)
    assert api.ListMessageMoveTasks(SourceArn=target.arn) in ({}, {"Results": []})


def test_a_reset_forgets_which_names_were_deleted(strict):
    api, management = strict
    api.DeleteQueue(QueueUrl=api.CreateQueue(QueueName="deleted")["QueueUrl"])
    api.CreateQueue(QueueName="reset")
    management.reset()
    api.CreateQueue(QueueName="deleted")
    api.CreateQueue(QueueName="reset")


def test_a_reset_ends_waiting_receives(launch):
    endpoint = launch("--memory", "--virtual-clock").endpoint
    api, management = JsonRaw(endpoint), Management(endpoint)
    queue = Queue.create(api)
    with waiting(management, lambda: queue.receive(wait=20)) as (poll,):
        management.reset()
        with pytest.raises(ApiError) as caught:
            poll.result(timeout=10)
    assert caught.value.code == PREFIX + "NonExistentQueue"


def test_a_server_in_memory_can_be_reset_in_real_time(launch):
    management = Management(launch("--memory").endpoint)
    assert management.reset() == {"queues": 0}


def test_a_server_that_keeps_its_messages_cannot_be_reset(launch, tmp_path):
    server = launch("--data", str(tmp_path / "data"))
    queue = Queue.create(JsonRaw(server.endpoint))
    with declined(403, "AccessDenied") as refusal:
        Management(server.endpoint).reset()
    assert "--memory" in refusal.value.message
    assert queue.counts() == (0, 0, 0)


# --- Restarts ----------------------------------------------------------------------------------

START = "2026-01-01T00:00:00Z"
START_MS = 1_767_225_600_000


@pytest.fixture
def relaunch(launch, tmp_path):
    """Starts a server on one and the same data directory; returns it, a client, its management."""

    def start(*arguments):
        server = launch("--data", str(tmp_path / "data"), "--virtual-clock", *arguments)
        return server, JsonRaw(server.endpoint), Management(server.endpoint)

    return start


def test_time_begins_where_it_is_told_to(relaunch):
    _, _, management = relaunch("--virtual-clock-start", START)
    assert management.clock()["now"] == "2026-01-01T00:00:00.000Z"


@pytest.mark.parametrize("ending", ["stop", "kill"])
def test_a_restart_goes_on_where_time_was(relaunch, ending):
    server, api, management = relaunch("--virtual-clock-start", START)
    queue = Queue.create(api)
    queue.send("delayed", DelaySeconds=900)
    queue.send("held")
    queue.receive_one(VisibilityTimeout=600)
    management.advance(599)
    getattr(server, ending)()

    _, api, management = relaunch("--virtual-clock-start", START)
    assert management.clock()["epochMilliseconds"] == START_MS + 599_000
    queue.api = api
    assert queue.bodies() == []
    management.advance(1)
    assert queue.bodies(VisibilityTimeout=3600) == ["held"]
    management.advance(300)
    assert queue.bodies() == ["delayed"]


def test_a_reset_outlives_a_crash(relaunch):
    server, api, management = relaunch()
    for _ in range(3):
        Queue.create(api).send("m")
    assert management.reset() == {"queues": 3}
    server.kill()
    _, api, _ = relaunch()
    assert api.ListQueues() == {}


def test_the_settings_file_can_stop_time(launch, tmp_path):
    path = tmp_path / "redrive.toml"
    path.write_text(f'memory = true\nvirtual-clock = true\nvirtual-clock-start = "{START}"\n')
    management = Management(launch("--config", str(path)).endpoint)
    assert management.clock()["epochMilliseconds"] == START_MS


@pytest.mark.parametrize(
    "arguments,complaint",
    [
        (["--virtual-clock", "--virtual-clock-start", "yesterday"], "2026-01-01T00:00:00Z"),
        (["--virtual-clock-start", START], "needs --virtual-clock"),
    ],
    ids=["no time", "no virtual clock"],
)
def test_a_start_that_makes_no_sense_is_refused(arguments, complaint):
    done = subprocess.run(
        command_line("--memory", *arguments), capture_output=True, text=True, timeout=20
    )
    assert done.returncode == 2
    assert complaint in done.stderr
