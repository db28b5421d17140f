#!/usr/bin/env python3
"""Runs one step of `make test`, shows its output and records what it counted.

    scripts/test_step.py NAME COMMAND...

Writes build/test-results/NAME.json: {"passed": n, "failed": n, "skipped": ["reason", ...]}. Counts come from
the output of pytest, node --test and ctest (with the GoogleTest programs that ctest ran). A command that
counts nothing is one test. A line `skipped: REASON` or `NAME: skipped: REASON` is a skipped test.
scripts/test_summary.py adds the results up. Exits with the exit code of the command.
"""

import json
import os
import pathlib
import re
import subprocess
import sys

ROOT = pathlib.Path(__file__).resolve().parent.parent
RESULTS = pathlib.Path(os.environ.get("REDRIVE_TEST_RESULTS", ROOT / "build" / "test-results"))

PYTEST_END = re.compile(r"^=*\s*(\d+ (?:passed|failed|skipped|error).*) in [\d.]+s")
PYTEST_COUNT = re.compile(r"(\d+) (passed|failed|skipped|errors?|xfailed|xpassed)")
PYTEST_SKIP = re.compile(r"^SKIPPED \[(\d+)\] (\S+): (.*)")
NODE_COUNT = re.compile(r"^ℹ (pass|fail|cancelled|skipped) (\d+)")
CTEST_DIRECTORY = re.compile(r"^Internal ctest changing into directory: (.*)")
PLAIN_SKIP = re.compile(r"^(?:[\w-]+: )?skipped: (.*)")


class Counts:
    def __init__(self):
        self.passed = 0
        self.failed = 0
        self.skipped = []

    def total(self):
        return self.passed + self.failed + len(self.skipped)

    def read(self, line):
        if match := PYTEST_END.match(line):
            self.add_pytest(match[1])
        elif match := PYTEST_SKIP.match(line):
            self.skipped += [match[3]] * int(match[1])
        elif match := NODE_COUNT.match(line):
            self.add_node(match[1], int(match[2]))
        elif match := CTEST_DIRECTORY.match(line):
            self.ctest = pathlib.Path(match[1])
        elif match := PLAIN_SKIP.match(line):
            self.skipped.append(match[1])

    def add_pytest(self, text):
        for number, word in PYTEST_COUNT.findall(text):
            if word in ("passed", "xfailed"):
                self.passed += int(number)
            elif word in ("failed", "error", "errors", "xpassed"):
                self.failed += int(number)
            else:  # The reasons stand above, with -rs.
                self.skipped += ["no reason shown"] * max(0, int(number) - len(self.skipped))

    def add_node(self, word, number):
        if word == "pass":
            self.passed += number
        elif word == "skipped":
            self.skipped += ["skipped by node --test"] * number
        else:
            self.failed += number

    ctest = None

    def add_ctest(self):
        """Each program that ctest ran: its GoogleTest counts, or one test if it has none."""
        log = self.ctest / "Testing" / "Temporary" / "LastTest.log"
        for section in re.split(r"^\d+/\d+ Testing: ", log.read_text(errors="replace"), flags=re.M)[1:]:
            self.add_program(section, "\nTest Passed.\n" in section)

    def add_program(self, section, succeeded):
        gtest = re.search(r"^\[  PASSED  \] (\d+) tests?\.", section, re.M)
        skips = re.search(r"^\[  SKIPPED \] (\d+) tests?", section, re.M)
        failures = re.search(r"^\[  FAILED  \] (\d+) tests?, listed below", section, re.M)
        self.passed += int(gtest[1]) if gtest else int(succeeded)
        self.failed += max(int(failures[1]) if failures else 0, int(not succeeded))
        if skips:
            reasons = re.findall(r"Skipped\n(.+)\n", section)
            wanted = int(skips[1])
            self.skipped += (reasons + ["no reason shown"] * wanted)[:wanted]


def run(command, counts):
    process = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, errors="replace")
    for line in process.stdout:
        sys.stdout.write(line)
        sys.stdout.flush()
        counts.read(line.rstrip("\n"))
    return process.wait()


def main():
    name, command = sys.argv[1], sys.argv[2:]
    counts = Counts()
    code = run(command, counts)
    if counts.ctest:
        counts.add_ctest()
    if counts.total() == 0:
        counts.passed = int(code == 0)
    if code != 0 and counts.failed == 0:
        counts.failed = 1  # It failed outside of its tests.
    RESULTS.mkdir(parents=True, exist_ok=True)
    result = {"passed": counts.passed, "failed": counts.failed, "skipped": counts.skipped}
    (RESULTS / f"{name}.json").write_text(json.dumps(result))
    sys.exit(code)


if __name__ == "__main__":
    main()
