#!/usr/bin/env bash
# Runs the whole conformance suite against $REDRIVE_BINARY (default: build/release/redrive).
# Arguments go to pytest. Both runners always run; the exit code is non-zero if either failed.
set -u
here="$(cd "$(dirname "$0")" && pwd)"
root="$(cd "$here/../.." && pwd)"
export REDRIVE_BINARY="${REDRIVE_BINARY:-$root/build/release/redrive}"
export PYTHONDONTWRITEBYTECODE=1
failed=0

if [[ ! -x "$REDRIVE_BINARY" && -z "${REDRIVE_ENDPOINT:-}" ]]; then
  echo "conformance: $REDRIVE_BINARY is missing; build it or set REDRIVE_BINARY" >&2
  exit 2
fi

"$root/tests/elsewhere/install.sh" || exit 2

# Most of the time is spent waiting for timeouts, so more workers than cores pay off.
echo "== Python: raw JSON, raw Query, boto3, awscli"
(cd "$here" && /usr/bin/python3 -m pytest -n "${REDRIVE_TEST_WORKERS:-6}" "$@") || failed=1

echo "== Node: @aws-sdk/client-sqs"
cd "$here/node" || exit 2
if [[ ! -d node_modules || package-lock.json -nt node_modules/.package-lock.json ]]; then
  npm ci --no-audit --no-fund --loglevel=error || exit 2
fi
# A file each, so that a server is never shared between files; the runner prints the summary.
node --test --test-reporter=spec || failed=1

exit "$failed"
