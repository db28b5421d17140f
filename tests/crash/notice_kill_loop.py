#!/usr/bin/env python3
"""Kills the server at random points while alarms change their states and notify a webhook.

    /usr/bin/python3 tests/crash/notice_kill_loop.py [rounds] [--seed N]

The webhook refuses some notices, so that retries are always open when the server dies. In the end

- the last notice that the webhook accepted of each alarm is of the state that the alarm is in: a
  notice that was queued before a kill is delivered after it;
- what the server had reported as delivered before a kill was not sent again after it;
- a notice was accepted twice only when a kill came between the answer and its record, so at most
  as often as there were kills and deliveries under way;
- the history of every alarm says that its last notice was delivered.

Time stands still but for jumps over the pauses between attempts.
"""

import argparse
import collections
import http.client
import http.server
import json
import pathlib
import random
import sys
import tempfile
import threading
import time

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "conformance"))

import boto3  # noqa: E402
import botocore.config  # noqa: E402
import botocore.exceptions  # noqa: E402
from harness.management import Management, Refused  # noqa: E402
from harness.server import Server  # noqa: E402

ALARMS = [f"alarm-{i}" for i in range(6)]
CHANGES_A_ROUND = 30
WAIT_SECONDS_MAX = 60
THREADS_MAX = 4  # Of the server's deliveries.


class Hook:
    """Accepts notices, or refuses them as `refuses` says."""

    def __init__(self):
        self.accepted = []  # (notice id, alarm, state), in order.
        self.refuses = lambda: False
        self.lock = threading.Lock()
        hook = self

        class Handler(http.server.BaseHTTPRequestHandler):
            def do_POST(self):
                notice = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
                with hook.lock:
                    refused = hook.refuses()
                    if not refused:
                        hook.accepted.append((notice["NoticeId"], notice["AlarmName"], notice["NewStateValue"]))
                try:
                    self.send_response(503 if refused else 200)
                    self.send_header("Content-Length", "0")
                    self.end_headers()
                except OSError:
                    pass  # The server was killed meanwhile.

            def log_message(self, *arguments):
                pass

        self.server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self.url = f"http://127.0.0.1:{self.server.server_port}/hook"
        threading.Thread(target=self.server.serve_forever, daemon=True).start()

    def count(self):
        with self.lock:
            return len(self.accepted)


class Run:
    def __init__(self, directory, hook, chance):
        self.directory = directory
        self.hook = hook
        self.chance = chance
        self.kills = 0
        (directory / "redrive.toml").write_text(f'[alarms]\nnotify = ["{hook.url}"]\n')

    def start(self):
        data = str(self.directory / "data")
        config = str(self.directory / "redrive.toml")
        self.server = Server("--data", data, "--virtual-clock", "--config", config)
        self.management = Management(self.server.endpoint)
        self.client = boto3.client(
            "cloudwatch",
            endpoint_url=self.server.endpoint,
            region_name="us-east-1",
            aws_access_key_id="000000000000",
            aws_secret_access_key="x",
            config=botocore.config.Config(retries={"total_max_attempts": 1}),
        )

    def make_alarms(self):
        for name in ALARMS:
            self.client.put_metric_alarm(
                AlarmName=name,
                Namespace="AWS/SQS",
                MetricName="NumberOfMessagesSent",
                Dimensions=[{"Name": "QueueName", "Value": "none"}],
                Statistic="Sum",
                Period=86400,
                EvaluationPeriods=1,
                Threshold=0,
                ComparisonOperator="GreaterThanThreshold",
                TreatMissingData="ignore",
                AlarmActions=[self.hook.url],
                OKActions=[self.hook.url],
            )

    def states(self):
        return {a["AlarmName"]: a["StateValue"] for a in self.client.describe_alarms()["MetricAlarms"]}

    def targets(self):
        listed = self.management.call("GET", "alarms")["alarms"]
        return {alarm["name"]: alarm["targets"] for alarm in listed}

    def change_until_killed(self):
        """Changes states at random; the server is killed on the way."""
        delay = self.chance.random() * 0.3
        killer = threading.Timer(delay, self.server.kill)
        killer.start()
        try:
            for _ in range(CHANGES_A_ROUND):
                name = self.chance.choice(ALARMS)
                state = self.chance.choice(["OK", "ALARM"])
                self.client.set_alarm_state(AlarmName=name, StateValue=state, StateReason="a drill")
                if self.chance.random() < 0.2:
                    self.management.call("POST", "clock/advance", {"seconds": 2})
        except (botocore.exceptions.BotoCoreError, botocore.exceptions.ClientError, Refused, OSError, http.client.HTTPException):
            pass  # Killed.
        killer.join()
        self.kills += 1

    def settle(self):
        """Lets time pass until no notice waits."""
        deadline = time.monotonic() + WAIT_SECONDS_MAX
        while time.monotonic() < deadline:
            self.management.call("POST", "clock/advance", {"seconds": 601})
            if not any(target["waiting"] for targets in self.targets().values() for target in targets):
                return
            time.sleep(0.05)
        raise AssertionError(f"notices still wait: {self.targets()}")

    def check_settled(self):
        last = {}
        for _, alarm, state in self.hook.accepted:
            last[alarm] = state
        states = self.states()
        for name, targets in self.targets().items():
            if states[name] == "INSUFFICIENT_DATA":
                continue
            assert [target["state"] for target in targets] == ["delivered"], (name, targets)
            assert last.get(name) == states[name], (name, last.get(name), states[name])

    def check_not_repeated(self):
        """Everything is reported as delivered: a kill repeats nothing."""
        before = self.hook.count()
        self.server.kill()
        self.start()
        self.settle()
        assert self.hook.count() == before, self.hook.accepted[before:]


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("rounds", nargs="?", type=int, default=20)
    parser.add_argument("--seed", type=int, default=random.randrange(1 << 30))
    options = parser.parse_args()
    print(f"notice_kill_loop: {options.rounds} rounds, seed {options.seed}", flush=True)
    chance = random.Random(options.seed)
    hook = Hook()
    with tempfile.TemporaryDirectory() as directory:
        run = Run(pathlib.Path(directory), hook, chance)
        run.start()
        run.make_alarms()
        for number in range(options.rounds):
            hook.refuses = lambda: chance.random() < 0.4
            run.change_until_killed()
            run.start()
            hook.refuses = lambda: False
            if number % 2:
                run.settle()
                run.check_settled()
                run.check_not_repeated()
        run.settle()
        run.check_settled()
        run.server.stop()
    repeated = sum(n - 1 for n in collections.Counter(id for id, _, _ in hook.accepted).values())
    assert repeated <= run.kills * THREADS_MAX, repeated
    print(f"ok: {hook.count()} notices accepted, {repeated} of them repeated after {run.kills} kills")


if __name__ == "__main__":
    main()
