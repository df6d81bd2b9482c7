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
# With watchNamespaces: the same rights as a Role in each of them, and none elsewhere.
{
  cat <<'TEMPLATE'
{{- if .Values.rbac.create }}
{{- range $namespace := default (list "") .Values.watchNamespaces }}
---
apiVersion: rbac.authorization.k8s.io/v1
kind: {{ if $namespace }}Role{{ else }}ClusterRole{{ end }}
metadata:
  name: {{ include "commitlab.fullname" $ }}
  {{- if $namespace }}
  namespace: {{ $namespace }}
  {{- end }}
  labels:
    {{- include "commitlab.labels" $ | nindent 4 }}
TEMPLATE
  sed -n '/^rules:$/,$p' "$config/rbac/role.yaml"
  echo '{{- end }}'
  echo '{{- end }}'
} > "$templates/clusterrole.yaml"
