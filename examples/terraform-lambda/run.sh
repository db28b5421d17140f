#!/usr/bin/env bash
# The resources of main.tf and each kind of retry, on a server with a virtual clock. README.md shows
# the output.
set -euo pipefail
cd "$(dirname "$0")"
export REDRIVE_BINARY="${REDRIVE_BINARY:-$PWD/../../build/release/redrive}" PYTHONDONTWRITEBYTECODE=1 PYTHONUNBUFFERED=1
export AWS_ACCESS_KEY_ID=test AWS_SECRET_ACCESS_KEY=test AWS_DEFAULT_REGION=us-east-1
work="$(mktemp -d)"
coproc server { exec "$REDRIVE_BINARY" serve --memory --virtual-clock --listen 127.0.0.1:0 2> "$work/server.log"; }
server_pid="$server_PID"
trap 'kill "$server_pid"; rm -r "$work"' EXIT
read -r line <&"${server[0]}"
export AWS_ENDPOINT_URL="${line##* }"

(cd handlers && /usr/bin/python3 -m zipfile -c "$work/lambda_function_payload.zip" ./*.py)
/usr/bin/python3 walk.py "$work/lambda_function_payload.zip"
