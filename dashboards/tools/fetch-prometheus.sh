#!/usr/bin/env bash
# Unpacks Debian's Prometheus into build/prometheus and links prometheus and promtool into build/bin. It is not installed:
# the package would start a server of its own.
set -euo pipefail

build=$(cd "$(dirname "$0")/../.." && pwd)/build
if [ -x "$build/bin/prometheus" ] && [ -x "$build/bin/promtool" ]; then
  exit 0
fi
mkdir -p "$build/prometheus" "$build/bin"
download=$(mktemp -d)
trap 'rm -rf "$download"' EXIT
cd "$download"
fetch() { apt-get download prometheus >log 2>&1; }
fetch || { apt-get update >>log 2>&1 && fetch; } || { cat log >&2; exit 1; }
dpkg -x prometheus_*.deb "$build/prometheus"
ln -sfn ../prometheus/usr/bin/prometheus "$build/bin/prometheus"
ln -sfn ../prometheus/usr/bin/promtool "$build/bin/promtool"
