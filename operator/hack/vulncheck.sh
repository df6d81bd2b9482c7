#!/bin/sh
# vulncheck.sh GOVULNCHECK PROGRAM...: fails when a program has code in it that is known to be vulnerable. Where the database cannot be
# reached nothing is known: that is said, and is no failure, unless STRICT is set. VULNDB is another database (https: or file:), which must be there.
set -eu
db=${VULNDB:-https://vuln.go.dev}
check=$1
shift
found=$(mktemp)
trap 'rm -f "$found"' EXIT
for program in "$@"; do
  code=0
  "$check" -mode=binary -db "$db" "$program" >"$found" 2>&1 || code=$?
  if [ "$code" = 0 ]; then
    echo "$(basename "$program"): nothing known to be vulnerable, by $db"
  elif [ "$code" = 1 ] && grep -q '^govulncheck: fetching vulnerabilities' "$found" && [ -z "${STRICT:-}" ]; then
    echo "not checked: $db cannot be reached: $(cat "$found")"
    exit 0
  else
    cat "$found" >&2
    exit 1
  fi
done
