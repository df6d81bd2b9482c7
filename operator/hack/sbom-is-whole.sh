#!/bin/sh
# sbom-is-whole.sh SBOM PROGRAM: every module that the linker has put into the program is named, in its version.
set -eu
modules=$(go version -m "$2" | awk '$1 == "dep" { print "pkg:golang/" $2 "@" $3 }')
for module in $modules; do
  grep -qi "\"purl\": \"$module?" "$1" || { echo "$1 does not name $module" >&2; exit 1; }
done
echo "$(basename "$1"): $(echo "$modules" | wc -l) modules and the standard library"
