#!/usr/bin/env bash
# run.sh PROGRAMS STATE SECONDS [NAME…]: each fuzzer (or those named) for so many seconds, one per processor at a time, from its seeds and from what earlier
# runs found interesting (STATE/found/NAME). An input that breaks something is kept as STATE/found/NAME-crash-…; running the fuzzer with that file
# shows it again. FUZZ_SEED (0: another one each time) decides what is tried in which order, as far as SECONDS go and at most
# most_with_seed inputs. That order also hangs on addresses and on when the fuzzer looks for new files: both are held still for it.
set -euo pipefail
cd "$(dirname "$0")"
programs=$1 state=$2 seconds=$3
shift 3

# An input of `plans` makes tables and some sixty statements on them; of the others it is one text or packet.
most_with_seed() {
  case $1 in
    plans) echo 200 ;;  # so many are tried in a minute on a busy machine, too
    *) echo 1000000 ;;
  esac
}

run_fuzzer() {
  local name=$1 log=$state/$1.log seeds=() dictionary=()
  mkdir -p "$state/found/$name"
  [ ! -d "corpus/$name" ] || seeds=("corpus/$name")
  if [ -f "corpus/$name.lines" ]; then  # one seed per line
    local split=$state/seeds/$name
    rm -rf "$split" && mkdir -p "$split"
    split --lines=1 --suffix-length=4 "corpus/$name.lines" "$split/"
    seeds+=("$split")
  fi
  [ ! -f "$name.dict" ] || dictionary=(-dict="$name.dict")
  local fixed=() before=()
  if [ "${FUZZ_SEED:-0}" != 0 ]; then
    fixed=(-runs="$(most_with_seed "$name")" -reload=0)
    ! setarch -R true 2>/dev/null || before=(setarch -R)
  fi
  if "${before[@]}" "$programs/$name" "${fixed[@]}" -max_total_time="$seconds" -seed="${FUZZ_SEED:-0}" -timeout=10 -rss_limit_mb=2048 -max_len=65536 -print_final_stats=1 "${dictionary[@]}" \
    -artifact_prefix="$state/found/$name-" "$state/found/$name" "${seeds[@]}" >"$log" 2>&1; then
    printf 'ok      %-24s %s inputs\n' "$name" "$(awk '/number_of_executed_units/ {print $2}' "$log")"
  else
    printf 'FAILED  %-24s whole output: %s\n%s\n' "$name" "$log" "$(tail -n 40 "$log")"
    return 1
  fi
}
export -f run_fuzzer most_with_seed
export programs state seconds

names=("$@")
[ ${#names[@]} -gt 0 ] || mapfile -t names < <(find corpus -mindepth 1 -maxdepth 1 -printf '%f\n' | sed 's/\.lines$//' | sort -u)
printf '%s\n' "${names[@]}" | xargs -P "$(nproc)" -I NAME bash -euo pipefail -c 'run_fuzzer NAME'
