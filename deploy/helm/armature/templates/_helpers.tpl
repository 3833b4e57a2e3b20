{{- define "armature.fullname" -}}
{{- if .Values.fullnameOverride -}}
{{- .Values.fullnameOverride | trunc 40 | trimSuffix "-" -}}
{{- else -}}
{{- $name := default .Chart.Name .Values.nameOverride -}}
{{- ternary .Release.Name (printf "%s-%s" .Release.Name $name) (contains $name .Release.Name) | trunc 40 | trimSuffix "-" -}}
{{- end -}}
{{- end -}}

{{- define "armature.selector" -}}
app.kubernetes.io/name: {{ default .root.Chart.Name .root.Values.nameOverride | trunc 63 | trimSuffix "-" }}
app.kubernetes.io/instance: {{ .root.Release.Name }}
app.kubernetes.io/component: {{ .component }}
{{- end -}}

{{- define "armature.labels" -}}
{{ include "armature.selector" . }}
app.kubernetes.io/version: {{ .root.Chart.AppVersion | quote }}
app.kubernetes.io/managed-by: {{ .root.Release.Service }}
helm.sh/chart: {{ printf "%s-%s" .root.Chart.Name .root.Chart.Version }}
{{- with .root.Values.commonLabels }}
{{ toYaml . }}
{{- end }}
{{- end -}}

{{- define "armature.image" -}}
{{- if .image.digest -}}
{{ .image.repository }}@{{ .image.digest }}
{{- else -}}
{{ .image.repository }}:{{ .image.tag | default .root.Chart.AppVersion }}
{{- end -}}
{{- end -}}

{{- define "armature.serviceAccount" -}}
{{- if .Values.serviceAccount.create -}}
{{ .Values.serviceAccount.name | default (include "armature.fullname" .) }}
{{- else -}}
{{ .Values.serviceAccount.name | default "default" }}
{{- end -}}
{{- end -}}

{{/* The port of http.listen, which probes and metrics use. */}}
{{- define "armature.port" -}}
{{- $listen := dig "http" "listen" "" .config -}}
{{- if not (regexMatch ":[0-9]+$" $listen) -}}
{{- fail (printf "config.http.listen is %q: probes need a port, for example \":9464\"" $listen) -}}
{{- end -}}
{{- if regexMatch "^(127\\.|localhost:|\\[::1\\])" $listen -}}
{{- fail (printf "config.http.listen is %q: probes do not reach a loopback address; use \":9464\"" $listen) -}}
{{- end -}}
{{- regexFind "[0-9]+$" $listen -}}
{{- end -}}

{{/* The configuration of the worker: config, with what other values imply. */}}
{{- define "armature.config" -}}
{{- $config := deepCopy .config -}}
{{- $values := .root.Values -}}
{{- if not (hasKey $config "mask-key") -}}
{{- $_ := set $config "mask-key" (printf "file:/etc/armature/mask-key/%s" $values.maskKey.key) -}}
{{- if not $values.maskKey.existingSecret -}}
{{- fail "maskKey.existingSecret is required: a Secret with random text that never changes (openssl rand -hex 32); or set config.mask-key" -}}
{{- end -}}
{{- end -}}
{{- $azure := get $config "azure" | default dict -}}
{{- if and $values.azure.workloadIdentity.enabled (not (hasKey $azure "credential")) -}}
{{- $_ := set $azure "credential" "workload-identity" -}}
{{- $_ := set $config "azure" $azure -}}
{{- end -}}
{{- if $values.armsim.enabled -}}
{{- $url := printf "https://%s-armsim:4545" (include "armature.fullname" .root) -}}
{{- $demo := dict "cloud" "custom" "endpoint" $url "authority-host" $url "ca-file" "/etc/armature/armsim/ca.crt" "credential" "client-secret" "tenant-id" (include "armature.armsim.tenant" .) "client-id" (include "armature.armsim.client" .) "client-secret" "file:/etc/armature/armsim/client-secret" -}}
{{- $_ := set $config "azure" (merge $azure $demo) -}}
{{- end -}}
{{- toYaml $config -}}
{{- end -}}

{{- define "armature.armsim.tenant" -}}00000000-0000-0000-0000-00000000a001{{- end -}}
{{- define "armature.armsim.client" -}}00000000-0000-0000-0000-00000000a002{{- end -}}
{{- define "armature.armsim.secret" -}}
{{ .Values.armsim.existingSecret | default (printf "%s-armsim" (include "armature.fullname" .)) }}
{{- end -}}

{{/* Part of a name: a build ID in lower case, with a hash where letters were replaced. */}}
{{- define "armature.slug" -}}
{{- $slug := lower . | replace "." "-" | replace "_" "-" | replace ":" "-" | replace "+" "-" -}}
{{- if or (ne ($slug | replace "-" "") (. | replace "." "" | replace "-" "")) (gt (len $slug) 24) -}}
{{- printf "%s-%s" ($slug | trunc 15 | trimSuffix "-") (sha256sum . | trunc 8) -}}
{{- else -}}
{{- $slug -}}
{{- end -}}
{{- end -}}

{{/*
The versions of the worker as JSON: the current one first. Each has its build ID, name, image,
replicas and configuration.
*/}}
{{- define "armature.versions" -}}
{{- $full := include "armature.fullname" . -}}
{{- $image := .Values.image -}}
{{- $digest := $image.digest | trimPrefix "sha256:" | trunc 12 -}}
{{- $build := .Values.versioning.buildId | default $digest | default $image.tag | default .Chart.AppVersion -}}
{{- $all := prepend .Values.versioning.previous (dict "buildId" $build) -}}
{{- $out := list -}}
{{- $seen := dict -}}
{{- range ternary $all (list (dict)) .Values.versioning.enabled -}}
{{- $id := .buildId | default "" -}}
{{- $name := ternary (printf "%s-worker-%s" $full (include "armature.slug" $id)) (printf "%s-worker" $full) $.Values.versioning.enabled -}}
{{- if hasKey $seen $name -}}
{{- fail (printf "versioning: build ID %q is there twice, or another one gives the same name; a new version needs another image tag or versioning.buildId" $id) -}}
{{- end -}}
{{- $_ := set $seen $name true -}}
{{- $replicas := .replicas -}}
{{- if kindIs "invalid" $replicas -}}{{- $replicas = $.Values.worker.replicas -}}{{- end -}}
{{- $own := merge (deepCopy (.image | default dict)) $image -}}
{{- if and .image .image.tag (not .image.digest) -}}{{- $_ := set $own "digest" "" -}}{{- end -}}
{{- $out = append $out (dict "buildId" $id "name" $name "image" $own "replicas" $replicas "previous" (hasKey . "image") "config" (.config | default $.Values.config)) -}}
{{- end -}}
{{- toJson $out -}}
{{- end -}}

{{- define "armature.deploymentName" -}}
{{ .Values.versioning.deploymentName | default (include "armature.fullname" .) }}
{{- end -}}

{{/* Fails an upgrade that would remove workers of a version that is not retired. The cluster
is read at an upgrade only; helm template knows none. */}}
{{- define "armature.keep" -}}
{{- $stated := .Values.versioning.retired -}}
{{- if not .Values.workerDeployment.enabled -}}
{{- range include "armature.versions" . | fromJsonArray -}}
{{- $stated = append $stated .buildId -}}
{{- end -}}
{{- end -}}
{{- $selector := include "armature.selector" (dict "root" . "component" "worker") | fromYaml -}}
{{- range (lookup "apps/v1" "Deployment" .Release.Namespace "").items -}}
{{- $labels := .spec.template.metadata.labels | default dict -}}
{{- $own := true -}}
{{- range $key, $value := $selector -}}
{{- if ne (get $labels $key | default "") $value -}}{{- $own = false -}}{{- end -}}
{{- end -}}
{{- $build := "" -}}
{{- range (index .spec.template.spec.containers 0).env -}}
{{- if eq .name "ARMATURE_WORKER_BUILD_ID" -}}{{- $build = .value -}}{{- end -}}
{{- end -}}
{{- $stopped := and (hasKey .spec "replicas") (eq (int .spec.replicas) 0) -}}
{{- if and $own $build (not (has $build $stated)) (not $stopped) -}}
{{- fail (printf "Deployment %s runs version %s, to which workflows may be pinned: add it to versioning.previous, or to versioning.retired once `armature rollout status` shows no workflows on it" .metadata.name $build) -}}
{{- end -}}
{{- end -}}
{{- end -}}
