#!/usr/bin/env bash
# Runs the script against $REDRIVE_BINARY (default: build/release/redrive), then the command that
# does the same, and compares what they leave.
set -euo pipefail
here="$(cd "$(dirname "$0")" && pwd)"
export REDRIVE_BINARY="${REDRIVE_BINARY:-$here/../../build/release/redrive}"
export PYTHONDONTWRITEBYTECODE=1
/usr/bin/python3 "$here/../scripts_check.py" poison-consumer
