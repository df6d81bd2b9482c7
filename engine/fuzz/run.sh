#!/usr/bin/env bash
# run.sh BUILD SECONDS [NAME…]: each fuzzer (or those named) for so many seconds, from its seeds and from what earlier runs found interesting
# (BUILD/found/NAME). An input that breaks something is kept as BUILD/found/NAME-crash-…; running the fuzzer with that file shows it again.
set -euo pipefail
cd "$(dirname "$0")"
build=$1 seconds=$2
shift 2

names=("$@")
[ ${#names[@]} -gt 0 ] || mapfile -t names < <(cd corpus && ls | sed 's/\.lines$//' | sort -u)
failed=0
for name in "${names[@]}"; do
  mkdir -p "$build/found/$name"
  log=$build/$name.log
  seeds=()
  [ ! -d "corpus/$name" ] || seeds=("corpus/$name")
  if [ -f "corpus/$name.lines" ]; then  # one seed per line
    split=$build/seeds/$name
    rm -rf "$split" && mkdir -p "$split"
    split --lines=1 --suffix-length=4 "corpus/$name.lines" "$split/"
    seeds+=("$split")
  fi
  dictionary=()
  [ ! -f "$name.dict" ] || dictionary=(-dict="$name.dict")
  if "$build/fuzz/$name" -max_total_time="$seconds" -timeout=10 -rss_limit_mb=2048 -max_len=65536 -print_final_stats=1 "${dictionary[@]}" \
    -artifact_prefix="$build/found/$name-" "$build/found/$name" "${seeds[@]}" >"$log" 2>&1; then
    printf 'ok      %-24s %s inputs\n' "$name" "$(awk '/number_of_executed_units/ {print $2}' "$log")"
  else
    printf 'FAILED  %-24s whole output: %s\n' "$name" "$log"
    tail -n 40 "$log"
    failed=1
  fi
done
exit "$failed"
