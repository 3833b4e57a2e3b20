{{/* Variables of the connection to Temporal. */}}
{{- define "armature.temporal.env" -}}
{{- $t := .Values.temporal -}}
- {name: TEMPORAL_ADDRESS, value: {{ required "temporal.address is required: host:port of Temporal" $t.address | quote }}}
- {name: TEMPORAL_NAMESPACE, value: {{ $t.namespace | quote }}}
{{- with $t.apiKey.existingSecret }}
- name: TEMPORAL_API_KEY
  valueFrom: {secretKeyRef: {name: {{ . }}, key: {{ $t.apiKey.key | default "api-key" }}}}
{{- end }}
{{- if or $t.tls.enabled $t.tls.existingSecret $t.tls.caSecret }}
- {name: TEMPORAL_TLS, value: "true"}
{{- end }}
{{- if $t.tls.existingSecret }}
- {name: TEMPORAL_TLS_CLIENT_CERT_PATH, value: /etc/temporal/tls/tls.crt}
- {name: TEMPORAL_TLS_CLIENT_KEY_PATH, value: /etc/temporal/tls/tls.key}
{{- end }}
{{- if $t.tls.caSecret }}
- {name: TEMPORAL_TLS_SERVER_CA_CERT_PATH, value: /etc/temporal/tls-ca/ca.crt}
{{- end }}
{{- with $t.tls.serverName }}
- {name: TEMPORAL_TLS_SERVER_NAME, value: {{ . | quote }}}
{{- end }}
{{- end -}}

{{/* The pod template of a worker: .root, .version, and .controlled for the worker controller,
which adds the connection to Temporal and the version by itself. */}}
{{- define "armature.worker.template" -}}
{{- $root := .root -}}
{{- $values := $root.Values -}}
{{- $worker := $values.worker -}}
{{- $tls := $values.temporal.tls -}}
{{- $version := .version -}}
{{- $config := include "armature.config" (dict "root" $root "config" $version.config) -}}
{{- $port := include "armature.port" $version -}}
metadata:
  {{- /* No labels of the chart's version: they would replace all pods, and versions. */}}
  labels:
    {{- include "armature.selector" (dict "root" $root "component" "worker") | nindent 4 }}
    {{- if and $version.buildId (not .controlled) }}
    armature/build: {{ include "armature.slug" $version.buildId }}
    {{- end }}
    {{- if $values.azure.workloadIdentity.enabled }}
    azure.workload.identity/use: "true"
    {{- end }}
    {{- with $worker.podLabels }}
    {{- toYaml . | nindent 4 }}
    {{- end }}
  annotations:
    armature/config: {{ sha256sum $config | trunc 16 | quote }}
    {{- with $worker.podAnnotations }}
    {{- toYaml . | nindent 4 }}
    {{- end }}
spec:
  serviceAccountName: {{ include "armature.serviceAccount" $root }}
  automountServiceAccountToken: false
  enableServiceLinks: false
  terminationGracePeriodSeconds: {{ include "armature.grace" (dict "root" $root "config" $version.config) }}
  securityContext:
    {{- toYaml $values.podSecurityContext | nindent 4 }}
  {{- with $values.imagePullSecrets }}
  imagePullSecrets:
    {{- toYaml . | nindent 4 }}
  {{- end }}
  containers:
    - name: worker
      image: {{ include "armature.image" (dict "root" $root "image" $version.image) }}
      imagePullPolicy: {{ $version.image.pullPolicy }}
      {{- with $worker.extraArgs }}
      args:
        {{- toYaml . | nindent 8 }}
      {{- end }}
      env:
        - {name: ARMATURE_CONFIG, value: /etc/armature/config/worker.yaml}
        {{- if .controlled }}
        {{- if and $tls.existingSecret $tls.ca }}
        - {name: TEMPORAL_TLS_SERVER_CA_CERT_PATH, value: /etc/temporal/tls/ca.crt}
        {{- end }}
        {{- else }}
        {{- include "armature.temporal.env" $root | nindent 8 }}
        {{- if and $tls.existingSecret $tls.ca (not $tls.caSecret) }}
        - {name: TEMPORAL_TLS_SERVER_CA_CERT_PATH, value: /etc/temporal/tls/ca.crt}
        {{- end }}
        {{- if $values.versioning.enabled }}
        - {name: ARMATURE_WORKER_DEPLOYMENT, value: {{ include "armature.deploymentName" $root | quote }}}
        - {name: ARMATURE_WORKER_BUILD_ID, value: {{ $version.buildId | quote }}}
        {{- end }}
        {{- end }}
        {{- with $worker.extraEnv }}
        {{- toYaml . | nindent 8 }}
        {{- end }}
      {{- with $worker.extraEnvFrom }}
      envFrom:
        {{- toYaml . | nindent 8 }}
      {{- end }}
      ports:
        - {name: http, containerPort: {{ $port }}}
      startupProbe:
        httpGet: {path: /healthz, port: http}
        {{- toYaml $worker.startupProbe | nindent 8 }}
      livenessProbe:
        httpGet: {path: /healthz, port: http}
        {{- toYaml $worker.livenessProbe | nindent 8 }}
      readinessProbe:
        httpGet: {path: /readyz, port: http}
        {{- toYaml $worker.readinessProbe | nindent 8 }}
      resources:
        {{- toYaml $worker.resources | nindent 8 }}
      securityContext:
        {{- toYaml $values.securityContext | nindent 8 }}
      volumeMounts:
        - {name: config, mountPath: /etc/armature/config, readOnly: true}
        {{- if $values.maskKey.existingSecret }}
        - {name: mask-key, mountPath: /etc/armature/mask-key, readOnly: true}
        {{- end }}
        {{- if $values.armsim.enabled }}
        - {name: armsim, mountPath: /etc/armature/armsim, readOnly: true}
        {{- end }}
        {{- if not .controlled }}
        {{- if $tls.existingSecret }}
        - {name: temporal-tls, mountPath: /etc/temporal/tls, readOnly: true}
        {{- end }}
        {{- if $tls.caSecret }}
        - {name: temporal-tls-ca, mountPath: /etc/temporal/tls-ca, readOnly: true}
        {{- end }}
        {{- end }}
        {{- with $worker.extraVolumeMounts }}
        {{- toYaml . | nindent 8 }}
        {{- end }}
  volumes:
    - name: config
      configMap: {name: {{ $version.configMap }}}
    {{- with $values.maskKey.existingSecret }}
    - name: mask-key
      secret: {secretName: {{ . }}}
    {{- end }}
    {{- if $values.armsim.enabled }}
    - name: armsim
      secret:
        secretName: {{ include "armature.armsim.secret" $root }}
        items: [{key: ca.crt, path: ca.crt}, {key: client-secret, path: client-secret}]
    {{- end }}
    {{- if not .controlled }}
    {{- with $tls.existingSecret }}
    - name: temporal-tls
      secret: {secretName: {{ . }}}
    {{- end }}
    {{- with $tls.caSecret }}
    - name: temporal-tls-ca
      secret: {secretName: {{ . }}}
    {{- end }}
    {{- end }}
    {{- with $worker.extraVolumes }}
    {{- toYaml . | nindent 4 }}
    {{- end }}
  {{- range $key := list "nodeSelector" "tolerations" "affinity" "topologySpreadConstraints" "priorityClassName" }}
  {{- with get $worker $key }}
  {{ $key }}:
    {{- toYaml . | nindent 4 }}
  {{- end }}
  {{- end }}
{{- end -}}

{{/* The grace period, at least stop-timeout and 10 s, with an audit trail 20 s more: its last
lines may wait for their destination. */}}
{{- define "armature.grace" -}}
{{- $grace := int .root.Values.worker.terminationGracePeriodSeconds -}}
{{- $stop := get .config "stop-timeout" | default "30s" -}}
{{- if not (regexMatch "^[0-9]+[smh]$" $stop) -}}
{{- fail (printf "config.stop-timeout is %q: write one number and unit, such as 45s or 2m" $stop) -}}
{{- end -}}
{{- $unit := get (dict "s" 1 "m" 60 "h" 3600) (regexFind "[smh]$" $stop) -}}
{{- $more := ternary 30 10 (not (empty (get .config "audit"))) -}}
{{- $need := add $more (mul (regexFind "^[0-9]+" $stop | int) $unit) | int -}}
{{- if lt $grace $need -}}
{{- fail (printf "worker.terminationGracePeriodSeconds is %d: a stop takes up to stop-timeout (%s) and %d s, so at least %d" $grace $stop $more $need) -}}
{{- end -}}
{{- $grace -}}
{{- end -}}
