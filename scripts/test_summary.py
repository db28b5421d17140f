#!/usr/bin/env python3
"""Prints what the steps of `make test` counted: the last line is `make test: N passed, M failed, K skipped`.

    scripts/test_summary.py STEP...

A step without a result did not run, which is a failure. With CI=1 or CI=true so is a test that was skipped for
a reason that tests/may_be_skipped.txt does not have: there the tools that `make test` installs are expected to work.
"""

import collections
import json
import os
import pathlib
import sys

ROOT = pathlib.Path(__file__).resolve().parent.parent
RESULTS = pathlib.Path(os.environ.get("REDRIVE_TEST_RESULTS", ROOT / "build" / "test-results"))


def permitted_reasons():
    lines = (ROOT / "tests" / "may_be_skipped.txt").read_text().splitlines()
    return [line.strip() for line in lines if line.strip() and not line.startswith("#")]


def main():
    steps = sys.argv[1:]
    results = {step: json.loads((RESULTS / f"{step}.json").read_text())
               for step in steps if (RESULTS / f"{step}.json").exists()}
    missing = [step for step in steps if step not in results]
    passed = sum(result["passed"] for result in results.values())
    failed = sum(result["failed"] for result in results.values())
    skipped = collections.Counter(reason for result in results.values() for reason in result["skipped"])

    for step, result in results.items():
        if result["failed"]:
            print(f"failed: {step} ({result['failed']})")
    for step in missing:
        print(f"did not run: {step}")
    for reason, number in skipped.most_common():
        print(f"skipped: {number} ({reason})")
    forbidden = []
    if os.environ.get("CI") in ("1", "true"):
        permitted = permitted_reasons()
        forbidden = [reason for reason in skipped if not any(text in reason for text in permitted)]
        for reason in forbidden:
            print(f"must not be skipped where CI is set: {reason}")
    unrun = f", {len(missing)} steps did not run" if missing else ""
    print(f"make test: {passed} passed, {failed} failed, {sum(skipped.values())} skipped{unrun}")
    sys.exit(1 if failed or missing or forbidden else 0)


if __name__ == "__main__":
    main()
