"""What the measuring programs share: servers on one core, the generator on another."""

import contextlib
import ctypes
import http.client
import json
import os
import pathlib
import shutil
import signal
import socket
import subprocess
import sys
import time

ROOT = pathlib.Path(__file__).resolve().parent.parent
DATA = ROOT / "build" / "bench-data"
START_SECONDS_MAX = 600
QUIET_SECONDS_MAX = 120
QUIET_SHARE_MAX = 0.05  # Of the machine, that others may use before we say so.
QUIET_SHARE = 0.02  # Of a core, for a second.
LIBC = ctypes.CDLL(None)
PR_SET_PDEATHSIG = 1

# Being told to stop is no reason to leave servers and gigabytes behind.
signal.signal(signal.SIGTERM, lambda *_: sys.exit(143))


def two_cores():
    """(server's, generator's); the same one on a machine that has no other."""
    cores = sorted(os.sched_getaffinity(0))
    return cores[0], cores[min(1, len(cores) - 1)]


SERVER_CORE, GENERATOR_CORE = two_cores()


def stop(message):
    sys.exit(f"{pathlib.Path(sys.argv[0]).name}: {message}")


def free_port():
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return probe.getsockname()[1]


def commit():
    """The commit being measured, marked when the tree differs from it."""
    def git(*words):
        return subprocess.run(["git", "-C", str(ROOT), *words], capture_output=True, text=True)

    head = git("rev-parse", "--short=12", "HEAD")
    if head.returncode != 0:
        return "uncommitted"
    return head.stdout.strip() + ("-dirty" if git("status", "--porcelain").stdout.strip() else "")


def others_share(seconds=0.5):
    """How much of the machine is busy while all of ours stand still, 0 to 1."""
    def read():
        times = [int(field) for field in open("/proc/stat").readline().split()[1:9]]
        return sum(times), times[3] + times[4]

    before = read()
    time.sleep(seconds)
    total, idle = (after - earlier for after, earlier in zip(read(), before))
    return 1 - idle / max(total, 1)


def filesystem_of(path):
    """The type of the file system a path is on."""
    best = ("", "unknown")
    for line in pathlib.Path("/proc/mounts").read_text().splitlines():
        mount, kind = line.split()[1:3]
        if (f"{path}/".startswith(mount.rstrip("/") + "/")) and len(mount) >= len(best[0]):
            best = (mount, kind)
    return best[1]


@contextlib.contextmanager
def data_directory():
    """A fresh directory on the disk that holds the build; removed afterwards."""
    path = DATA / str(os.getpid())
    path.mkdir(parents=True)
    try:
        yield path
    finally:
        shutil.rmtree(path, ignore_errors=True)


def spawn(command, log, env=None):
    """A child on the server's core, threads and children included. It does not outlive us."""
    def prepare():
        os.sched_setaffinity(0, {SERVER_CORE})
        LIBC.prctl(PR_SET_PDEATHSIG, signal.SIGKILL)

    words = [str(word) for word in command]
    with open(log, "ab") as out:
        return subprocess.Popen(words, preexec_fn=prepare, stdin=subprocess.DEVNULL, stdout=out, stderr=out,
                                env={**os.environ, **(env or {})})


def tree_of(pid):
    """A process and its living descendants, parents first."""
    pids = [pid]
    with contextlib.suppress(OSError):
        for task in pathlib.Path(f"/proc/{pid}/task").iterdir():
            for child in (task / "children").read_text().split():
                pids += tree_of(int(child))
    return pids


def signal_tree(pid, how):
    for member in tree_of(pid):
        with contextlib.suppress(ProcessLookupError):
            os.kill(member, how)


def end(process, how=signal.SIGTERM):
    if process.poll() is None:
        process.send_signal(how)
    process.wait()


class Failed(Exception):
    """A measurement that could not be made."""


class Server:
    """`redrive serve` on a data directory."""

    def __init__(self, build, data, port=0):
        self.port = port or free_port()
        self._log = data.parent / "server.log"
        began = time.monotonic()
        self.process = spawn([build / "redrive", "serve", "--listen", f"127.0.0.1:{self.port}", "--data", data,
                              "--log-level", "warn"], self._log)
        self._await_answer()
        self.start_seconds = time.monotonic() - began

    @property
    def pid(self):
        return self.process.pid

    def _await_answer(self):
        deadline = time.monotonic() + START_SECONDS_MAX
        while time.monotonic() < deadline:
            if self.process.poll() is not None:
                stop(f"the server ended with {self.process.returncode}:\n{self._log.read_text()[-2000:]}")
            try:
                connection = http.client.HTTPConnection("127.0.0.1", self.port, timeout=5)
                connection.request("GET", "/ready")
                if connection.getresponse().status == 200:
                    return
            except OSError:
                time.sleep(0.005)
        stop("the server does not answer")

    def memory_bytes(self):
        """Resident memory that is the process's own, not pages of files."""
        return self.status_bytes("RssAnon")

    def status_bytes(self, field):
        for line in pathlib.Path(f"/proc/{self.pid}/status").read_text().splitlines():
            if line.startswith(f"{field}:"):
                return int(line.split()[1]) * 1024
        stop(f"the system does not tell {field}")

    def cpu_seconds(self):
        """User and system, to the nanosecond: what the scheduler has given its threads."""
        tasks = pathlib.Path(f"/proc/{self.pid}/task").iterdir()
        return sum(int((task / "schedstat").read_text().split()[0]) for task in tasks) / 1e9

    def wait_until_quiet(self):
        """Lets checkpoints and the like end. Returns the CPU seconds they took."""
        began = self.cpu_seconds()
        for _ in range(QUIET_SECONDS_MAX):
            before = self.cpu_seconds()
            time.sleep(1)
            if self.cpu_seconds() - before < QUIET_SHARE:
                break
        return self.cpu_seconds() - began

    def end(self, how=signal.SIGTERM):
        end(self.process, how)


class Generator:
    """Runs redrive-bench and reads its answer."""

    def __init__(self, build):
        self._binary = build / "redrive-bench"
        self._commit = commit()

    def run(self, mode, port, pid, *more):
        command = [self._binary, mode, "--port", port, "--pid", pid, "--core", GENERATOR_CORE,
                   "--commit", self._commit, "--format", "json", *more]
        ran = subprocess.run([str(word) for word in command], capture_output=True, text=True)
        if ran.returncode != 0:
            raise Failed(ran.stderr.strip() or f"redrive-bench ended with {ran.returncode}")
        return json.loads(ran.stdout)


def check_built(build):
    missing = [name for name in ("redrive", "redrive-bench") if not (build / name).exists()]
    if missing:
        stop(f"{build / missing[0]} is missing; build it first: cmake --build --preset release")
