"""One server for the whole run, three clients for every behavioural test.

Tests marked `virtual_clock` run against another server, one for each worker, whose time they move
(harness/clock.py): they wait for nothing, and are exact to the millisecond.

With REDRIVE_ENDPOINT set, the tests run against that server instead of starting one.
"""

import os
import pathlib
import shutil
import sys
import tempfile

import pytest

sys.path.insert(0, str(pathlib.Path(__file__).parent))

from harness import clients, clock  # noqa: E402
from harness.queue import Queue  # noqa: E402
from harness.server import Server, ServerFailed, binary_path  # noqa: E402

_ENDPOINT = pytest.StashKey()
_SERVER = pytest.StashKey()
_DATA = pytest.StashKey()


@pytest.hookimpl(optionalhook=True)
def pytest_configure_node(node):
    """With pytest-xdist the controlling process owns the server; workers only get its address."""
    node.workerinput["redrive_endpoint"] = node.config.stash[_ENDPOINT]


def pytest_configure(config):
    config.addinivalue_line("markers", "own_server: starts its own server process")
    config.addinivalue_line("markers", "virtual_clock: time stands still but for clock.wait")
    if hasattr(config, "workerinput"):
        config.stash[_ENDPOINT] = config.workerinput["redrive_endpoint"]
        return
    if not config.option.collectonly:
        _start_server(config)


def _start_server(config):
    config.stash[_ENDPOINT] = os.environ.get("REDRIVE_ENDPOINT")
    if config.stash[_ENDPOINT]:
        return
    config.stash[_DATA] = tempfile.mkdtemp(prefix="redrive-conformance-")
    log = os.path.join(config.stash[_DATA], "server.log")
    data = os.path.join(config.stash[_DATA], "data")
    try:
        config.stash[_SERVER] = Server("--data", data, log_path=log)
    except (OSError, ServerFailed) as error:
        printed = pathlib.Path(log).read_text(errors="replace")
        shutil.rmtree(config.stash[_DATA])
        pytest.exit(f"cannot start {binary_path()}: {error}\n{printed}", returncode=2)
    config.stash[_ENDPOINT] = config.stash[_SERVER].endpoint


def pytest_sessionfinish(session, exitstatus):
    """The server must have survived the tests and must end cleanly on SIGTERM."""
    server = session.config.stash.get(_SERVER, None)
    if server is None:
        return
    survived = server.running()
    code = server.stop()
    if survived and code == 0:
        shutil.rmtree(session.config.stash[_DATA], ignore_errors=True)
        return
    what = "exited with" if survived else "died during the tests with"
    print(f"\nFAILED: the server {what} code {code}; see {session.config.stash[_DATA]}")
    session.exitstatus = 1


@pytest.fixture(scope="session")
def virtual_server(tmp_path_factory):
    """Time stands still here. One for each worker, whose tests run one after another."""
    log = tmp_path_factory.mktemp("virtual") / "server.log"
    server = Server("--memory", "--virtual-clock", log_path=log)
    yield server
    assert server.running(), f"the server with the virtual clock died; see {log}"
    assert server.stop() == 0


@pytest.fixture
def endpoint(request):
    marked = request.node.get_closest_marker("virtual_clock") is not None
    if not marked or "REDRIVE_ENDPOINT" in os.environ:
        yield request.config.stash[_ENDPOINT]
        return
    server = request.getfixturevalue("virtual_server")
    clock.follow(server.endpoint)
    yield server.endpoint
    clock.follow(None)


@pytest.fixture
def launch(tmp_path):
    """Starts servers and makes sure none outlives the test."""
    started = []

    def start(*arguments):
        started.append(Server(*arguments, log_path=tmp_path / "server.log"))
        return started[-1]

    yield start
    for server in started:
        if server.running():
            server.kill()


_clients = {}


def _client(name, endpoint):
    """Clients are built once per process: loading boto3's service model takes a while."""
    if (name, endpoint) not in _clients:
        _clients[name, endpoint] = clients.ALL[name](endpoint)
    return _clients[name, endpoint]


@pytest.fixture(params=list(clients.ALL))
def api(request, endpoint):
    """Each behavioural test runs once per client; both protocols promise the same."""
    return _client(request.param, endpoint)


@pytest.fixture
def json_api(endpoint):
    return _client("json-raw", endpoint)


@pytest.fixture
def query_api(endpoint):
    return _client("query-raw", endpoint)


@pytest.fixture
def new_queue(api):
    """Makes queues with unique names and deletes them afterwards."""
    made = []

    def make(prefix="q", fifo=False, attributes=None, tags=None, using=None):
        made.append(Queue.create(using or api, prefix, fifo, attributes, tags))
        return made[-1]

    yield make
    for queue in made:
        try:
            queue.api.DeleteQueue(QueueUrl=queue.url)
        except clients.ApiError:
            pass  # The test deleted it itself.
