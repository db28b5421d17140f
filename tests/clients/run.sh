#!/usr/bin/env bash
# A day's work through every client we can install, against $REDRIVE_BINARY (default:
# build/release/redrive) or, if REDRIVE_ENDPOINT is set, against that server.
# Arguments go to pytest. All runners always run; the exit code is non-zero if one failed.
set -u
here="$(cd "$(dirname "$0")" && pwd)"
root="$(cd "$here/../.." && pwd)"
binary="${REDRIVE_BINARY:-$root/build/release/redrive}"
export PYTHONDONTWRITEBYTECODE=1
failed=0
server=""
node=""
home="$(mktemp -d -t redrive-clients-XXXXXX)"

# The server must have survived the clients and must end cleanly; its log is kept if it did not.
finish() {
  if [[ -n "$node" ]]; then kill "$node" 2> /dev/null; fi
  if [[ -n "$server" ]]; then
    kill -TERM "$server" 2> /dev/null || echo "clients: the server did not survive" >&2
    wait "$server" || { echo "clients: the server ended with $?; see $home" >&2; exit 1; }
  fi
  rm -rf "$home"
}
trap finish EXIT

start_server() {
  "$binary" serve --listen 127.0.0.1:0 --data "$home/data" > "$home/stdout" 2> "$home/stderr" &
  server=$!
  for _ in {1..200}; do
    REDRIVE_ENDPOINT="$(sed -n 's/^redrive: listening on //p' "$home/stdout")"
    if [[ -n "$REDRIVE_ENDPOINT" ]]; then return 0; fi
    kill -0 "$server" 2> /dev/null || break
    sleep 0.1
  done
  cat "$home/stderr" >&2
  echo "clients: cannot start $binary" >&2
  exit 2
}

cd "$here/node" || exit 2
if [[ ! -d node_modules || package-lock.json -nt node_modules/.package-lock.json ]]; then
  npm ci --no-audit --no-fund --loglevel=error || exit 2
fi
# Our own helper as npm would install it from its package.
rm -rf node_modules/redrive-sqs-consumer && mkdir -p node_modules/redrive-sqs-consumer &&
  package="$(npm pack --silent --pack-destination "$home" "$root/clients/sqs-consumer")" &&
  tar xzf "$home/$package" -C node_modules/redrive-sqs-consumer --strip-components 1 || exit 2
if [[ -z "${REDRIVE_ENDPOINT:-}" ]]; then start_server; fi
export REDRIVE_ENDPOINT

# Clients mostly wait, so they all work at the same time; each has its own queues.
node --test --test-reporter=spec > "$home/node" 2>&1 &
node=$!
echo "== Python: boto3 in both protocols, signed raw requests, curl, awscli, Celery"
(cd "$here" && /usr/bin/python3 -m pytest -n "${REDRIVE_TEST_WORKERS:-8}" "$@") || failed=1
echo "== Node: @aws-sdk/client-sqs, sqs-producer and sqs-consumer"
wait "$node" || failed=1
node=""
cat "$home/node"

exit "$failed"
