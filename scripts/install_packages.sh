#!/usr/bin/env bash
# Installs the Debian packages for the purposes named: build, test, fuzz, bench. Does nothing when all are there.
set -euo pipefail

declare -A packages=(
  [build]="build-essential cmake ninja-build ccache libssl-dev libcurl4-openssl-dev libsimdjson-dev
           libfmt-dev libspdlog-dev libcli11-dev libtomlplusplus-dev libarchive-dev libyaml-dev liburing-dev pkg-config libbenchmark-dev libgtest-dev libgmock-dev python3"
  [test]="python3-boto3 python3-pytest python3-pytest-xdist python3-pytest-timeout awscli curl openssl python3-celery python3-pycurl python3-setuptools python3-wheel
          chromium clang-format-14 valgrind bubblewrap prometheus python3-aiosmtpd clang-19 clang-tidy-19 libclang-rt-19-dev mold"
  [fuzz]="clang-19 libclang-rt-19-dev"
  [bench]="nginx-light redis-server beanstalkd nats-server rabbitmq-server"
)

missing=()
has_node() {
  command -v npm > /dev/null && command -v node > /dev/null &&
    [ "$(node -p 'process.versions.node.split(".")[0]')" -ge 18 ]
}
need() { dpkg-query -W -f '${Status}' "$1" 2>/dev/null | grep -q 'install ok installed' || missing+=("$1"); }
for purpose in "$@"; do
  for package in ${packages[$purpose]}; do need "$package"; done
  # Any Node.js from 18 on will do; Debian's is installed only where there is none.
  if ! has_node && [[ " ${missing[*]} " != *" nodejs "* ]]; then missing+=(nodejs npm); fi
done
[ ${#missing[@]} -eq 0 ] && exit 0

sudo=""
[ "$(id -u)" -eq 0 ] || sudo=sudo
echo "installing: ${missing[*]}"
export DEBIAN_FRONTEND=noninteractive

# We want programs, not services: a policy that refuses makes Debian's scripts install and start nothing.
policy=/usr/sbin/policy-rc.d
if [ ! -e "$policy" ]; then
  trap '$sudo rm -f "$policy"' EXIT
  printf '#!/bin/sh\nexit 101\n' | $sudo tee "$policy" > /dev/null
  $sudo chmod +x "$policy"
fi
$sudo apt-get update -qq
$sudo apt-get install -y -qq --no-install-recommends "${missing[@]}" > /dev/null
