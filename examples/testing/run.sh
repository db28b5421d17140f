#!/usr/bin/env bash
# Runs the examples of docs/testing.md against $REDRIVE_BINARY (default: build/release/redrive).
set -euo pipefail
here="$(cd "$(dirname "$0")" && pwd)"
export REDRIVE_BINARY="${REDRIVE_BINARY:-$here/../../build/release/redrive}"
export PYTHONDONTWRITEBYTECODE=1

echo "== pytest"
(cd "$here/pytest" && /usr/bin/python3 -m pytest)

echo "== vitest"
cd "$here/vitest"
if [[ ! -d node_modules || package-lock.json -nt node_modules/.package-lock.json ]]; then
  npm ci --no-audit --no-fund --loglevel=error
fi
npm test --silent
