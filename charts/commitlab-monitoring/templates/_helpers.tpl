{{- define "commitlab-monitoring.labels" -}}
helm.sh/chart: {{ .Chart.Name }}-{{ .Chart.Version }}
app.kubernetes.io/instance: {{ .Release.Name }}
app.kubernetes.io/managed-by: {{ .Release.Service }}
app.kubernetes.io/part-of: commitlab
{{- end }}

{{/* The Service's name is fixed: load generators write to prometheus.NAMESPACE:9090. One release per namespace. */}}
{{- define "commitlab-monitoring.prometheus.name" -}}
prometheus
{{- end }}

{{- define "commitlab-monitoring.prometheus.selector" -}}
app.kubernetes.io/name: prometheus
app.kubernetes.io/instance: {{ .Release.Name }}
{{- end }}

{{/* Cluster-wide objects carry the namespace, so that two releases do not share one. */}}
{{- define "commitlab-monitoring.prometheus.clusterName" -}}
{{ printf "%s-%s-prometheus" .Release.Namespace .Release.Name | trunc 63 | trimSuffix "-" }}
{{- end }}
