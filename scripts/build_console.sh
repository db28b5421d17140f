#!/usr/bin/env bash
# Builds the web console and writes what the server embeds of it into the directory given. Packages are installed
# from web/package-lock.json when that has changed. Fails when npm or the build does: there is no server without it.
set -euo pipefail

web="$(cd "$(dirname "$0")/../web" && pwd)"
out="$(mkdir -p "$1" && cd "$1" && pwd)"
exec 9> "$web/.lock"
flock 9  # Builds of several presets may run at once.
"$web/scripts/install.sh" build
node "$web/build.mjs"
node "$web/embed.mjs" "$out"
