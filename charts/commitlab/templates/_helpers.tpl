{{- define "commitlab.name" -}}
{{- default "commitlab-operator" .Values.nameOverride | trunc 63 | trimSuffix "-" }}
{{- end }}

{{- define "commitlab.fullname" -}}
{{- default (include "commitlab.name" .) .Values.fullnameOverride | trunc 63 | trimSuffix "-" }}
{{- end }}

{{- define "commitlab.selectorLabels" -}}
app.kubernetes.io/name: commitlab-operator
app.kubernetes.io/instance: {{ .Release.Name }}
{{- end }}

{{- define "commitlab.labels" -}}
{{ include "commitlab.selectorLabels" . }}
app.kubernetes.io/version: {{ .Chart.AppVersion | quote }}
app.kubernetes.io/managed-by: {{ .Release.Service }}
helm.sh/chart: {{ printf "%s-%s" .Chart.Name .Chart.Version }}
{{- end }}

{{- define "commitlab.serviceAccountName" -}}
{{- default (include "commitlab.fullname" .) .Values.serviceAccount.name }}
{{- end }}
