#!/usr/bin/env bash
# Fuzzes every target in turn with clang's libFuzzer, guided by coverage, for MINUTES in all:
#
#   fuzz/run_long.sh MINUTES [target]...        such as: fuzz/run_long.sh 30 http_parser
#
# Inputs that reach new code are added to fuzz/corpus, the fewest that do. An input that crashes,
# hangs or leaks is written to fuzz/crashes, the other targets still have their turn, and the exit
# code is 1. Once mended, such an input belongs into fuzz/corpus/<target> under a name of its own.
set -u
root="$(cd "$(dirname "$0")/.." && pwd)"
programs="$root/build/fuzz"
minutes="${1:?how many minutes?}"
shift
targets=("$@")
if [ ${#targets[@]} -eq 0 ]; then
  for source in "$root"/fuzz/*_fuzz.cpp; do targets+=("$(basename "$source" _fuzz.cpp)"); done
fi
seconds=$((minutes * 60 / ${#targets[@]}))
[ "$seconds" -gt 0 ] || seconds=1
input_bytes_max=4096
failed=0

# Adds to the corpus what reaches code that nothing in it reaches, however often it is reached.
merge() { "$programs/$1_fuzz" -merge=1 -use_counters=0 -max_len=$input_bytes_max "$root/fuzz/corpus/$1" "$2" > /dev/null 2>&1; }

for target in "${targets[@]}"; do
  found="$programs/found/$target"
  log="$programs/$target.log"
  mkdir -p "$found" "$root/fuzz/corpus/$target" "$root/fuzz/crashes"
  echo "fuzz-long: $target for $seconds seconds"
  "$programs/${target}_fuzz" -max_total_time=$seconds -max_len=$input_bytes_max -timeout=10 \
    -rss_limit_mb=2048 -print_final_stats=1 -verbosity=1 \
    -artifact_prefix="$root/fuzz/crashes/$target-" "$found" "$root/fuzz/corpus/$target" > "$log" 2>&1
  code=$?
  runs="$(sed -n 's/^stat::number_of_executed_units: *//p' "$log")"
  echo "$(date -u +%FT%TZ) $target $seconds s ${runs:-0} runs exit $code" | tee -a "$programs/history.log"
  if [ "$code" -ne 0 ]; then
    failed=1
    grep -E 'ERROR|SUMMARY|Assertion|runtime error|Test unit written' "$log" | head -20
  fi
  merge "$target" "$found" || echo "fuzz-long: $target: the corpus could not be merged"
done

rmdir "$root/fuzz/crashes" 2> /dev/null
du -sh --apparent-size "$root/fuzz/corpus" | sed 's/^/fuzz-long: corpus: /'
exit "$failed"
