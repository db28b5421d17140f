#!/usr/bin/env bash
# The CDK app, synthesised and applied to the server; its library comes from npm.
set -euo pipefail
cd "$(dirname "$0")"
. ../server.sh
if ! [[ -d node_modules/aws-cdk-lib ]] && ! npm ci --no-audit --no-fund --loglevel=error; then
  echo "skipped: npm cannot install aws-cdk-lib"
  exit 0
fi
work="$(mktemp -d)"
node app.mjs "$work/cdk.out" > /dev/null
redrive apply "$work/cdk.out" --yes
redrive apply "$work/cdk.out" --yes | tail -1
rm -r "$work"
