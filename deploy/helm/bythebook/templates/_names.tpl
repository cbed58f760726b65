{{- define "bythebook.labels" -}}
app.kubernetes.io/name: bythebook
app.kubernetes.io/instance: {{ .Release.Name }}
{{- end -}}
{{- define "bythebook.image" -}}
{{ .Values.image.repository }}:{{ .Values.image.tag | default .Chart.AppVersion }}
{{- end -}}
