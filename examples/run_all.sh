#!/usr/bin/env bash
# Runs the examples as their pages show them, one after another. Ends with the first that fails.
set -euo pipefail
cd "$(dirname "$0")/.."
examples/testing/run.sh
examples/reporting-failures/run.sh
examples/poison-consumer/run.sh
examples/retry-and-archive/run.sh
/usr/bin/python3 examples/check_page.py README.md  # By itself: its demo needs orders enough.
mapfile -t pages < <(grep -l '^```sh' examples/*/README.md)
/usr/bin/python3 examples/check_page.py "${pages[@]}"
