{{- define "kastor.name" -}}
{{ .Values.fullnameOverride | default (printf "%s-kastor" .Release.Name) | trunc 63 | trimSuffix "-" }}
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

{{- /* An image, from another registry if one is given. The first part of a name is a host if it has a dot or a port. */ -}}
{{- define "kastor.image" -}}
{{- if .registry }}{{ .registry }}/{{ regexReplaceAll "^([^/]*[.:][^/]*|localhost)/" .image "" }}{{ else }}{{ .image }}{{ end }}
{{- end }}

{{- define "kastor.host" -}}
{{ include "kastor.name" . }}.{{ .Release.Namespace }}.svc
{{- end }}

{{- define "kastor.tlsSecret" -}}
{{ .Values.tls.secretName | default (printf "%s-tls" (include "kastor.name" .)) }}
{{- end }}

{{- /* Labels of the pods of all jobs. Whoever may make pods can set them too, unless admission.enabled. */ -}}
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

{{- /* Whoever asks is neither the operator nor of a group that may do the same. */ -}}
{{- define "kastor.notOperator" -}}
- name: not-the-operator
  expression: {{ printf "request.userInfo.username != 'system:serviceaccount:%s:%s'" .Release.Namespace (include "kastor.name" .) | quote }}
{{- with .Values.admission.exemptGroups }}
- name: not-exempt
  expression: {{ printf "!(has(request.userInfo.groups) && request.userInfo.groups.exists(group, group in %s))" (. | toJson | replace "\"" "'") | quote }}
{{- end }}
{{- end }}

{{- /* What running jobs takes, in each namespace of jobNamespaces or everywhere. */ -}}
{{- define "kastor.runJobs" -}}
- apiGroups: [kastor.dev]
  resources: [trainingjobs]
  verbs: [patch, delete]
- apiGroups: [kastor.dev]
  resources: [trainingjobs/status]
  verbs: [patch]
- apiGroups: [kastor.dev]
  resources: [trainingjobs/finalizers]
  verbs: [update]
- apiGroups: [""]
  resources: [pods]
  verbs: [create, delete, patch]
- apiGroups: [""]
  resources: [services]
  verbs: [get, create, delete]
- apiGroups: [""]
  resources: [secrets]
  verbs: [get, create, update, delete]
- apiGroups: [""]
  resources: [events]
  verbs: [create]
{{- end }}

{{- /* Milliseconds of a time such as 500ms, 8s or 2m. */ -}}
{{- define "kastor.millis" -}}
{{- if hasSuffix "ms" . }}{{ trimSuffix "ms" . }}{{ else if hasSuffix "s" . }}{{ mul 1000 (trimSuffix "s" . | int) }}{{ else }}{{ mul 60000 (trimSuffix "m" . | int) }}{{ end }}
{{- end }}

{{- /* Values that are well formed alone and make no sense together. */ -}}
{{- define "kastor.check" -}}
{{- $policies := list "kastor" "pollux" "fifo" "tiresias" "optimus" "srtf" "sia" "shockwave" "gavel" }}
{{- if and (not (has .Values.policy.name $policies)) (not .Values.plugins.volume) }}
{{- fail (printf "policy.name: there is no policy %s. Use one of %s; one of your own needs plugins.volume." .Values.policy.name (join ", " $policies)) }}
{{- end }}
{{- if and .Values.checkpoints.claim .Values.checkpoints.hostPath }}
{{- fail "checkpoints: set claim or hostPath, not both" }}
{{- end }}
{{- if and (.Values.web.ingress).enabled (not .Values.web.authorize) }}
{{- fail "web.ingress.enabled needs web.authorize: without it the page shows everything to all who reach it" }}
{{- end }}
{{- if and (.Values.web.ingress).enabled .Values.networkPolicy.enabled (not .Values.web.ingress.from) }}
{{- fail "web.ingress.enabled: nobody may reach the page while web.ingress.from is empty. Set it to where the Ingress controller runs, such as [{namespaceSelector: {matchLabels: {kubernetes.io/metadata.name: ingress-nginx}}}]." }}
{{- end }}
{{- with .Values.leaderElection }}
{{- $lease := include "kastor.millis" .leaseDuration | int }}
{{- $renew := include "kastor.millis" .renewDeadline | int }}
{{- $retry := include "kastor.millis" .retryPeriod | int }}
{{- if lt $lease (add $renew 1000 | int) }}
{{- fail (printf "leaderElection.leaseDuration (%s) must be at least a second above renewDeadline (%s): else another operator leads while this one still writes" .leaseDuration .renewDeadline) }}
{{- end }}
{{- if ge $retry $renew }}
{{- fail (printf "leaderElection.retryPeriod (%s) must be below renewDeadline (%s)" .retryPeriod .renewDeadline) }}
{{- end }}
{{- end }}
{{- end }}

{{/* The policy and its options as the operator reads them: name:option=value:option=value. */}}
{{- define "kastor.policy" -}}
{{ .Values.policy.name }}{{ range $option, $value := .Values.policy.options }}:{{ $option }}={{ $value }}{{ end }}
{{- end }}
