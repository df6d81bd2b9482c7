#!/bin/sh
# Generates everything into a scratch folder and compares it with what is committed.
set -eu
cd "$(dirname "$0")/.."
chart=../charts/commitlab/templates
scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT
tool="go tool -modfile=tools/go.mod controller-gen"
$tool object output:dir="$scratch/deepcopy" paths=./api/...
$tool crd output:crd:dir="$scratch/config/crd" paths=./api/...
$tool rbac:roleName=commitlab-operator output:rbac:dir="$scratch/config/rbac" paths=./internal/...
./hack/chart-templates.sh "$scratch/config" "$scratch/templates"
compare() {
  diff -u "$1" "$2" || { echo "$1 is not what the sources say: run 'make -C operator generate'" >&2; exit 1; }
}
compare api/v1alpha1/zz_generated.deepcopy.go "$scratch/deepcopy/zz_generated.deepcopy.go"
for f in "$scratch"/config/*/*.yaml; do compare "config/${f#"$scratch"/config/}" "$f"; done
for f in "$scratch"/templates/*.yaml "$scratch"/templates/crds/*.yaml; do compare "$chart/${f#"$scratch"/templates/}" "$f"; done
