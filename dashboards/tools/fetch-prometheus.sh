#!/usr/bin/env bash
# Debian's Prometheus in build/prometheus, with links to prometheus and promtool in build/bin.
set -euo pipefail

root=$(cd "$(dirname "$0")/../.." && pwd)
"$root/.ci/apt-unpack" "$root/build/prometheus" prometheus
mkdir -p "$root/build/bin"
ln -sfn ../prometheus/usr/bin/prometheus "$root/build/bin/prometheus"
ln -sfn ../prometheus/usr/bin/promtool "$root/build/bin/promtool"
