"""The stores' day again, on a server that tells a webhook about dead letters; prints what it tells.

Starts the server, whose time is moved rather than waited for, and the webhook's receiver.
"""

import http.server
import json
import os
import pathlib
import queue
import subprocess
import tempfile
import threading
import time

HERE = pathlib.Path(__file__).resolve().parent
REDRIVE = os.environ.get("REDRIVE_BINARY", str(HERE / "../../build/release/redrive"))
DEAD = "dlq_for_reliable_q"
NOTICES = queue.Queue()


class Receiver(http.server.BaseHTTPRequestHandler):
    def do_POST(self):
        NOTICES.put(json.loads(self.rfile.read(int(self.headers["Content-Length"]))))
        self.send_response(200)
        self.send_header("Content-Length", "0")
        self.end_headers()

    def log_message(self, *_):
        pass


def redrive(*arguments):
    done = subprocess.run([REDRIVE, *arguments], check=True, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL)
    return done.stdout.decode()


def pass_time_until(condition, seconds):
    deadline = time.monotonic() + 120
    while not condition():
        assert time.monotonic() < deadline, "that should have happened by now"
        redrive("clock", "advance", str(seconds))
        time.sleep(0.3)


def settled():
    """Every order is processed or dead."""
    told = json.loads(redrive("queue", "show", "reliable_q", "--json"))["Attributes"]
    waiting = ("ApproximateNumberOfMessages", "ApproximateNumberOfMessagesNotVisible")
    return not any(int(told[name]) for name in waiting)


def main():
    receiver = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Receiver)
    threading.Thread(target=receiver.serve_forever, daemon=True).start()
    with tempfile.TemporaryDirectory() as work:
        config = pathlib.Path(work) / "redrive.toml"
        config.write_text(f'[alarms]\nnotify = ["http://127.0.0.1:{receiver.server_port}/"]\n')
        server = subprocess.Popen(
            [REDRIVE, "serve", "--memory", "--virtual-clock", "--listen", "127.0.0.1:0", "--config", config],
            stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True,
        )  # fmt: skip
        try:
            os.environ["AWS_ENDPOINT_URL"] = server.stdout.readline().split()[-1]
            redrive("apply", str(HERE / "stores.toml"), "--yes")
            redrive("alarm", "off", DEAD)  # So that it does not ring before the last one is dead.
            redrive("function", "invoke", "store_producer")
            pass_time_until(settled, 6)
            redrive("alarm", "on", DEAD)
            pass_time_until(lambda: not NOTICES.empty(), 10)
            told = NOTICES.get()
            print(f"{told['NewStateValue']}: {told['AlarmName']}", told["Text"], sep="\n\n")
        finally:
            server.terminate()
            server.wait(30)


main()
