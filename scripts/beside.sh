#!/usr/bin/env bash
# beside.sh PATIENT URGENT: two shell commands at the same time. The patient one computes: it has the lowest
# priority, so that the other one, which mostly waits and has deadlines, is not kept from its core; what it
# prints is shown when it ends. As soon as one fails the other is ended, too.
set -m
shown="$(mktemp -t redrive-beside-XXXXXX)"
nice -n 19 bash -c "$1" > "$shown" 2>&1 < /dev/null &
patient=$!
bash -c "$2" < /dev/null &
left=("$patient" "$!")
trap 'for one in "${left[@]}"; do kill -- "-$one" 2> /dev/null; done; rm -f "$shown"' EXIT
trap 'exit 130' INT TERM

while [[ ${#left[@]} -gt 0 ]]; do
  wait -n -p ended "${left[@]}"
  code=$?
  if [[ "$ended" = "$patient" ]]; then cat "$shown"; fi
  for i in "${!left[@]}"; do if [[ "${left[i]}" = "$ended" ]]; then unset "left[i]"; fi; done
  if [[ "$code" != 0 ]]; then exit "$code"; fi
done
