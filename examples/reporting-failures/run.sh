#!/usr/bin/env bash
# Runs both consumers against a server of its own ($REDRIVE_BINARY, default: build/release/redrive), with an
# access key, and shows what it knows of the failures afterwards.
set -euo pipefail
cd "$(dirname "$0")"
redrive="${REDRIVE_BINARY:-$PWD/../../build/release/redrive}"
work="$(mktemp -d)"
export PYTHONDONTWRITEBYTECODE=1
export AWS_ACCESS_KEY_ID=AKIAEXAMPLE AWS_SECRET_ACCESS_KEY=example-secret AWS_DEFAULT_REGION=us-east-1 AWS_REGION=us-east-1
printf '[[key]]\nid = "%s"\nsecret = "%s"\nrole = "admin"\n' "$AWS_ACCESS_KEY_ID" "$AWS_SECRET_ACCESS_KEY" > "$work/redrive.toml"
"$redrive" serve --memory --listen 127.0.0.1:0 --config "$work/redrive.toml" > "$work/log" 2>&1 &
server=$!
trap 'kill "$server"; wait "$server" || true; rm -rf "$work"' EXIT
for _ in $(seq 100); do
  AWS_ENDPOINT_URL="$(grep -o 'http://[0-9.:]*' "$work/log" | head -1 || true)"
  [[ -n "$AWS_ENDPOINT_URL" ]] && break
  sleep 0.1
done
export AWS_ENDPOINT_URL

if [[ ! -d node_modules || package-lock.json -nt node_modules/.package-lock.json ]]; then
  npm ci --no-audit --no-fund --loglevel=error
fi
"$redrive" queue create orders --dlq orders-dlq > /dev/null
for consumer in "/usr/bin/python3 consumer.py" "node consumer.mjs"; do
  "$redrive" send orders '{"store_id": 1}' > /dev/null
  "$redrive" send orders '{"amount": 5}' > /dev/null
  $consumer
done
"$redrive" dlq groups orders-dlq
groups="$("$redrive" dlq groups orders-dlq --json)"
test "$(grep -c '"count":1' <<< "$groups")" = 2
test "$(grep -c 'Permanent' <<< "$groups")" = 2
test "$("$redrive" dlq peek orders-dlq --json | grep -c '"why":"reported"')" = 2
