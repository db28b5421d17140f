#!/usr/bin/env bash
# Installs the packages of the lock file for a purpose: build (what the console is made of), or test (checkers and
# the browser driver as well). Does nothing when they are there: node_modules/.stamp says which lock file they are of.
set -euo pipefail
cd "$(dirname "$0")/.."

purpose="$1"
if ! command -v node > /dev/null || ! command -v npm > /dev/null; then
  echo "The web console needs Node.js 18 or later and npm to be built: run 'make packages'." >&2
  exit 1
fi
if [ "$(node -p 'process.versions.node.split(".")[0]')" -lt 18 ]; then
  echo "The web console needs Node.js 18 or later to be built; this is $(node --version)." >&2
  exit 1
fi
digest="$(sha256sum package-lock.json | cut -c1-32)"
stamp="$(cat node_modules/.stamp 2> /dev/null || true)"
[ "$stamp" = "$digest test" ] && exit 0
[ "$stamp" = "$digest $purpose" ] && exit 0

omit=()
[ "$purpose" = build ] && omit=(--omit=dev)
echo "console: installing packages for $purpose"
if ! npm ci --ignore-scripts --no-audit --no-fund --loglevel=error "${omit[@]}"; then
  echo "npm could not install the packages of web/package-lock.json; the server cannot be built without its console." >&2
  exit 1
fi
echo "$digest $purpose" > node_modules/.stamp
