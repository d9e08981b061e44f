{{- define "kastor.name" -}}
{{ printf "%s-kastor" .Release.Name | trunc 63 | trimSuffix "-" }}
{{- end }}
{{- define "kastor.labels" -}}
app.kubernetes.io/name: kastor
app.kubernetes.io/instance: {{ .Release.Name }}
{{- end }}
{{- define "kastor.tlsSecret" -}}
{{ .Values.tls.secretName | default (printf "%s-tls" (include "kastor.name" .)) }}
{{- end }}
