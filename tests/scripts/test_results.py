"""How scripts/test_step.py counts what a step of `make test` did, and what the summary makes of it."""

import json
import os
import pathlib
import subprocess
import sys
import tempfile
import textwrap
import unittest

ROOT = pathlib.Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "scripts"))

import test_step  # noqa: E402
import test_summary  # noqa: E402


def counted(output):
    counts = test_step.Counts()
    for line in textwrap.dedent(output).strip().splitlines():
        counts.read(line)
    return counts.passed, counts.failed, counts.skipped


class Counting(unittest.TestCase):
    def test_pytest(self):
        self.assertEqual(counted("12 passed in 3.45s"), (12, 0, []))
        self.assertEqual(counted("=== 1 failed, 12 passed, 2 errors in 3.45s (0:00:03) ==="), (12, 3, []))
        output = """
            SKIPPED [2] test_awscli.py:13: awscli is not installed
            3 passed, 2 skipped in 1.00s
        """
        self.assertEqual(counted(output), (3, 0, ["awscli is not installed"] * 2))
        self.assertEqual(counted("3 passed, 1 skipped in 1.00s"), (3, 0, ["no reason shown"]))

    def test_node(self):
        output = """
            ℹ tests 6
            ℹ pass 4
            ℹ fail 1
            ℹ cancelled 0
            ℹ skipped 1
        """
        self.assertEqual(counted(output), (4, 1, ["skipped by node --test"]))

    def test_plain_skips(self):
        self.assertEqual(counted("skipped: terraform not found"), (0, 0, ["terraform not found"]))
        self.assertEqual(counted("full_disk: skipped: no right to mount"), (0, 0, ["no right to mount"]))

    def test_ctest(self):
        log = textwrap.dedent("""
            1/3 Testing: queue
            1/3 Test: queue
            Output:
            [==========] 5 tests from 2 test suites ran. (3 ms total)
            [  PASSED  ] 4 tests.
            [  SKIPPED ] 1 test.
            x.cpp:5: Skipped
            only root can change users
            Test Passed.
            2/3 Testing: sim
            all seeds passed
            Test Passed.
            3/3 Testing: store
            [  PASSED  ] 1 test.
            [  FAILED  ] 2 tests, listed below:
            Test Failed.
            """)
        with tempfile.TemporaryDirectory() as build:
            place = pathlib.Path(build) / "Testing" / "Temporary"
            place.mkdir(parents=True)
            (place / "LastTest.log").write_text(log)
            counts = test_step.Counts()
            counts.read(f"Internal ctest changing into directory: {build}")
            counts.add_ctest()
        self.assertEqual((counts.passed, counts.failed), (6, 2))
        self.assertEqual(counts.skipped, ["only root can change users"])


class Summary(unittest.TestCase):
    def summarise(self, results, steps, **environment):
        with tempfile.TemporaryDirectory() as directory:
            for name, result in results.items():
                (pathlib.Path(directory) / f"{name}.json").write_text(json.dumps(result))
            command = [sys.executable, str(ROOT / "scripts" / "test_summary.py"), *steps]
            base = {name: value for name, value in os.environ.items() if name != "CI"}
            done = subprocess.run(command, capture_output=True, text=True,
                                  env={**base, "REDRIVE_TEST_RESULTS": directory, **environment})
        return done.returncode, done.stdout.splitlines()

    def test_the_last_line_counts(self):
        results = {"unit": {"passed": 7, "failed": 0, "skipped": []},
                   "terraform": {"passed": 0, "failed": 0, "skipped": ["terraform not found"]}}
        code, lines = self.summarise(results, ["unit", "terraform"], CI="1")
        self.assertEqual(code, 0)
        self.assertEqual(lines[-1], "make test: 7 passed, 0 failed, 1 skipped")
        self.assertIn("skipped: 1 (terraform not found)", lines)

    def test_a_failure_and_a_missing_step_fail(self):
        results = {"unit": {"passed": 7, "failed": 2, "skipped": []}}
        code, lines = self.summarise(results, ["unit", "sim"])
        self.assertEqual(code, 1)
        self.assertEqual(lines[-1], "make test: 7 passed, 2 failed, 0 skipped, 1 steps did not run")

    def test_ci_forbids_what_could_have_run(self):
        results = {"cdk": {"passed": 0, "failed": 0, "skipped": ["aws-cdk-lib not found"]}}
        self.assertEqual(self.summarise(results, ["cdk"])[0], 0)
        self.assertEqual(self.summarise(results, ["cdk"], CI="true")[0], 1)
        self.assertEqual(self.summarise(results, ["cdk"], CI="1")[0], 1)

    def test_every_permitted_reason_is_a_text_of_some_test(self):
        sources = [*ROOT.glob("tests/**/*.py"), *ROOT.glob("tests/**/*.cpp"), *ROOT.glob("scripts/*.py")]
        text = "".join(path.read_text(errors="replace") for path in sources)
        for reason in test_summary.permitted_reasons():
            self.assertIn(reason, text)


class CommitMessages(unittest.TestCase):
    def accepts(self, message):
        with tempfile.NamedTemporaryFile("w", suffix=".txt") as file:
            file.write(message)
            file.flush()
            command = [str(ROOT / "scripts" / "check_commit_message.sh"), file.name]
            return subprocess.run(command, capture_output=True).returncode == 0

    def test_subjects(self):
        self.assertTrue(self.accepts("journal: sync the directory\n\nBecause.\n# A comment of git.\n"))
        self.assertTrue(self.accepts("net/http: restore the assert in receive"))
        self.assertTrue(self.accepts("Merge branch 'x'"))
        self.assertFalse(self.accepts("Sync the directory"))
        self.assertFalse(self.accepts("journal:sync"))
        self.assertFalse(self.accepts("journal: sync."))
        self.assertFalse(self.accepts("journal: " + "x" * 64))
        self.assertFalse(self.accepts("journal: sync\nno empty line"))
        self.assertFalse(self.accepts(""))


if __name__ == "__main__":
    unittest.main()
