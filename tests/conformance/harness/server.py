"""Starts and stops the server under test as a child process."""

import os
import pathlib
import re
import select
import signal
import subprocess
import threading
import time

REPOSITORY = pathlib.Path(__file__).resolve().parents[3]
LISTENING = re.compile(r"redrive: listening on (https?://[\w.:\[\]-]+)")
START_SECONDS_MAX = 20
STOP_SECONDS_MAX = 15


def binary_path():
    """The executable to test: $REDRIVE_BINARY, or what the release preset builds."""
    return os.environ.get("REDRIVE_BINARY") or str(REPOSITORY / "build/release/redrive")


class ServerFailed(Exception):
    """The server did not start, or did not stop as promised."""


def command_line(*arguments):
    return [binary_path(), "serve", "--listen", "127.0.0.1:0", *arguments]


def kill_while_starting(seconds, *arguments):
    """Starts a server only to kill it, as likely as not in the middle of its recovery."""
    devnull = subprocess.DEVNULL
    process = subprocess.Popen(command_line(*arguments), stdout=devnull, stderr=devnull)
    time.sleep(seconds)
    process.kill()
    process.wait()


class Server:
    """One running server. `endpoint` is the URL it printed when it was ready."""

    def __init__(self, *arguments, log_path=None):
        self._log = open(log_path, "ab") if log_path else None
        self._process = subprocess.Popen(
            command_line(*arguments),
            stdout=subprocess.PIPE,
            stderr=self._log or subprocess.DEVNULL,
        )
        self._drain = threading.Thread(target=self._drain_output, daemon=True)
        try:
            self.endpoint = self._read_endpoint()
            self._drain.start()
        except ServerFailed:
            self.kill()
            raise

    @property
    def pid(self):
        return self._process.pid

    def _read_endpoint(self):
        deadline = time.monotonic() + START_SECONDS_MAX
        seen = b""
        descriptor = self._process.stdout.fileno()
        while time.monotonic() < deadline:
            ready, _, _ = select.select([descriptor], [], [], 0.2)
            if not ready:
                continue
            chunk = os.read(descriptor, 65536)
            if not chunk:
                break
            seen += chunk
            found = LISTENING.search(seen.decode(errors="replace"))
            if found and b"\n" in seen[seen.find(b"listening on") :]:
                return found.group(1)
        raise ServerFailed(f"no 'redrive: listening on' line; stdout was {seen!r}")

    def _drain_output(self):
        """Nobody reads further lines, but a full pipe would stop the server."""
        while os.read(self._process.stdout.fileno(), 65536):
            pass

    def running(self):
        return self._process.poll() is None

    def stop(self):
        """SIGTERM, as an init system would; returns the exit code."""
        if self.running():
            self._process.send_signal(signal.SIGTERM)
        try:
            self._process.wait(timeout=STOP_SECONDS_MAX)
        except subprocess.TimeoutExpired:
            self.kill()
            raise ServerFailed(f"still running {STOP_SECONDS_MAX} s after SIGTERM") from None
        self._close_files()
        return self._process.returncode

    def kill(self):
        """SIGKILL: what a power cut looks like to the process."""
        self._process.kill()
        self._process.wait()
        self._close_files()

    def _close_files(self):
        if self._drain.is_alive():
            self._drain.join()
        self._process.stdout.close()
        if self._log:
            self._log.close()
            self._log = None
