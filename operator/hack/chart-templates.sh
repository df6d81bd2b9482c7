#!/bin/sh
# Makes the chart's CRD and RBAC templates from what controller-gen generates: chart-templates.sh CONFIG_DIR TEMPLATES_DIR
set -eu
config=$1
templates=$2
mkdir -p "$templates/crds"
for crd in "$config"/crd/*.yaml; do
  {
    echo '{{- if .Values.crds.create }}'
    # "keep": deleting the release must not delete every cluster with its kind. Braces in descriptions are not templates.
    sed -e 's/{{/{{ "{{" }}/g' -e '/^  annotations:$/a\    helm.sh/resource-policy: keep' "$crd"
    echo '{{- end }}'
  } > "$templates/crds/$(basename "$crd" | sed 's/^commitlab.dev_//')"
done
{
  echo '{{- if .Values.rbac.create }}'
  sed -e 's/^  name: commitlab-operator$/  name: {{ include "commitlab.fullname" . }}\n  labels:\n    {{- include "commitlab.labels" . | nindent 4 }}/' "$config/rbac/role.yaml"
  echo '{{- end }}'
} > "$templates/clusterrole.yaml"
