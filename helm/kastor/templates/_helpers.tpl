{{- define "kastor.name" -}}
{{ printf "%s-kastor" .Release.Name | trunc 63 | trimSuffix "-" }}
{{- end }}

{{- define "kastor.selector" -}}
app.kubernetes.io/name: kastor
app.kubernetes.io/instance: {{ .Release.Name }}
{{- end }}

{{- define "kastor.labels" -}}
{{ include "kastor.selector" . }}
app.kubernetes.io/version: {{ .Chart.AppVersion | quote }}
app.kubernetes.io/part-of: kastor
{{- end }}

{{- define "kastor.host" -}}
{{ include "kastor.name" . }}.{{ .Release.Namespace }}.svc
{{- end }}

{{- define "kastor.tlsSecret" -}}
{{ .Values.tls.secretName | default (printf "%s-tls" (include "kastor.name" .)) }}
{{- end }}

{{- /* Labels of the pods of all jobs: only the operator makes pods that it made itself. */ -}}
{{- define "kastor.jobSelector" -}}
app.kubernetes.io/managed-by: kastor
{{- end }}

{{- define "kastor.dns" -}}
- {port: 53, protocol: UDP}
- {port: 53, protocol: TCP}
{{- end }}

{{- /* Rules that let people see how the pods of their jobs fare. */ -}}
{{- define "kastor.readPods" -}}
- apiGroups: [""]
  resources: [pods, pods/log]
  verbs: [get, list, watch]
- apiGroups: ["", events.k8s.io]
  resources: [events]
  verbs: [get, list, watch]
{{- end }}
