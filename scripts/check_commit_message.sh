#!/usr/bin/env bash
# commit-msg hook: the subject is `area: summary` in at most 72 characters, and a body begins after an empty line.
# CONTRIBUTING.md says how to install it; with the file of a message as its argument it checks any.
set -euo pipefail
fail() { echo "commit message: $1" >&2; echo "  $subject" >&2; exit 1; }

mapfile -t lines < <(grep -v '^#' "$1" || true)
subject="${lines[0]:-}"
case "$subject" in "Merge "* | "Revert "* | "fixup! "* | "squash! "*) exit 0 ;; esac

[[ "$subject" =~ ^[a-z0-9_./-]+(,\ [a-z0-9_./-]+)*:\ [^\ ] ]] ||
  fail 'the subject must be `area: summary`, such as `journal: sync the directory`'
[[ ${#subject} -le 72 ]] || fail "the subject has ${#subject} characters; at most 72 are allowed"
[[ "$subject" != *. ]] || fail 'the subject must not end with a full stop'
[[ -z "${lines[1]:-}" ]] || fail 'an empty line must follow the subject'
