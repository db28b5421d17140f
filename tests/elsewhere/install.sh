#!/usr/bin/env bash
# Fetches the servers that are not ours (npm's fauxqs and s3rver), once.
cd "$(dirname "$0")" || exit 2
if [[ -d node_modules && ! package-lock.json -nt node_modules/.package-lock.json ]]; then exit 0; fi
exec npm ci --no-audit --no-fund --loglevel=error
