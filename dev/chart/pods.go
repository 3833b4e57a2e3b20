package chart

import (
	"slices"

	corev1 "k8s.io/api/core/v1"
)

// workload checks the pods of a workload: the restricted Pod Security Standard, a read-only
// root, probes at ports that exist, and volumes that are there and used.
func (a *agreement) workload(w Workload) {
	pod := w.Template.Spec
	security := pod.SecurityContext
	switch {
	case security == nil || security.RunAsNonRoot == nil || !*security.RunAsNonRoot || security.RunAsUser == nil || *security.RunAsUser == 0:
		a.add("%s may run as root", w)
	case security.SeccompProfile == nil || security.SeccompProfile.Type != corev1.SeccompProfileTypeRuntimeDefault:
		a.add("%s has no seccomp profile", w)
	}
	if pod.AutomountServiceAccountToken == nil || *pod.AutomountServiceAccountToken {
		a.add("%s mounts a token of the API server, which it does not use", w)
	}
	if pod.ServiceAccountName != "" && !a.names["ServiceAccount "+pod.ServiceAccountName] {
		a.add("%s runs as ServiceAccount %s, which is not rendered", w, pod.ServiceAccountName)
	}
	if len(pod.Containers) != 1 || len(pod.InitContainers) > 0 {
		a.add("%s has %d containers, want one", w, len(pod.Containers))
		return
	}
	a.container(w, pod.Containers[0])
	a.volumes(w)
}

func (a *agreement) container(w Workload, c corev1.Container) {
	s := c.SecurityContext
	switch {
	case s == nil || s.ReadOnlyRootFilesystem == nil || !*s.ReadOnlyRootFilesystem:
		a.add("%s may write to its root", w)
	case s.AllowPrivilegeEscalation == nil || *s.AllowPrivilegeEscalation:
		a.add("%s may gain privileges", w)
	case s.Capabilities == nil || !slices.Equal(s.Capabilities.Drop, []corev1.Capability{"ALL"}) || len(s.Capabilities.Add) > 0:
		a.add("%s has capabilities", w)
	}
	if !pinned.MatchString(c.Image) {
		a.add("%s runs %s, which is no version and no digest", w, c.Image)
	}
	if c.Resources.Limits.Memory().IsZero() || c.Resources.Requests.Memory().IsZero() || c.Resources.Requests.Cpu().IsZero() {
		a.add("%s states no resources", w)
	}
	for name, probe := range map[string]*corev1.Probe{"liveness": c.LivenessProbe, "readiness": c.ReadinessProbe} {
		if probe == nil || probe.HTTPGet == nil || !hasPort(c, probe.HTTPGet.Port.StrVal) {
			a.add("%s has no %s probe at a port of its own", w, name)
		}
	}
	seen := map[string]bool{}
	for _, variable := range c.Env {
		if seen[variable.Name] {
			a.add("%s has the variable %s twice", w, variable.Name)
		}
		seen[variable.Name] = true
	}
}

func (a *agreement) volumes(w Workload) {
	volumes, mounts := map[string]bool{}, map[string]bool{}
	for _, v := range w.Template.Spec.Volumes {
		volumes[v.Name] = true
		if v.ConfigMap != nil && !a.names["ConfigMap "+v.ConfigMap.Name] {
			a.add("%s mounts ConfigMap %s, which is not rendered", w, v.ConfigMap.Name)
		}
	}
	for _, m := range w.Template.Spec.Containers[0].VolumeMounts {
		mounts[m.Name] = true
		if !volumes[m.Name] {
			a.add("%s mounts %s, which is no volume", w, m.Name)
		}
		if !m.ReadOnly {
			a.add("%s may write to %s", w, m.MountPath)
		}
	}
	for name := range volumes {
		if !mounts[name] {
			a.add("%s does not mount its volume %s", w, name)
		}
	}
}
