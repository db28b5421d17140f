# To be sourced: the examples' server is the one at $AWS_ENDPOINT_URL (default: where `make run` serves);
# when there is none, one is started for as long as the example runs.
examples="$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)"
redrive="${REDRIVE_BINARY:-$examples/../build/release/redrive}"
export REDRIVE_BINARY="$redrive" PYTHONDONTWRITEBYTECODE=1 PYTHONUNBUFFERED=1
export AWS_ENDPOINT_URL="${AWS_ENDPOINT_URL:-http://127.0.0.1:9324}"
export AWS_ACCESS_KEY_ID="${AWS_ACCESS_KEY_ID:-test}" AWS_SECRET_ACCESS_KEY="${AWS_SECRET_ACCESS_KEY:-test}"
export AWS_DEFAULT_REGION="${AWS_DEFAULT_REGION:-us-east-1}" AWS_PAGER=""

redrive() { "$redrive" "$@"; }

if ! curl --silent --output /dev/null "$AWS_ENDPOINT_URL"; then
  echo "no server at $AWS_ENDPOINT_URL: starting one, in memory"
  coproc server { exec "$redrive" serve --memory --listen "${AWS_ENDPOINT_URL#http://}" 2> /dev/null; }
  server_pid="$server_PID"
  read -r _ <&"${server[0]}"
  trap 'kill "$server_pid"' EXIT
fi
