package chart

import (
	"encoding/json"
	"fmt"
	"regexp"
	"strings"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	networkingv1 "k8s.io/api/networking/v1"
	policyv1 "k8s.io/api/policy/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/apimachinery/pkg/util/validation"
)

var (
	hashed = regexp.MustCompile(`armature-worker-[0-9a-f]{8}$`)
	pinned = regexp.MustCompile(`^\S+(:v\d+\.\d+\.\d+|@sha256:[0-9a-f]{64})$`)
)

// Workload is an object with pods.
type Workload struct {
	Object
	Template corev1.PodTemplateSpec
	// Selector is nil where a controller sets it.
	Selector *metav1.LabelSelector
}

// Workloads returns the objects with pods.
func Workloads(objects []Object) ([]Workload, error) {
	var all []Workload
	for _, o := range objects {
		var spec struct {
			Spec struct {
				Selector *metav1.LabelSelector
				Template corev1.PodTemplateSpec
			}
		}
		if o.Kind != "Deployment" && o.Kind != "WorkerDeployment" {
			continue
		}
		if err := decode(o, &spec); err != nil {
			return nil, err
		}
		all = append(all, Workload{Object: o, Template: spec.Spec.Template, Selector: spec.Spec.Selector})
	}
	return all, nil
}

// decode decodes an object into a type of the API.
func decode(o Object, into any) error {
	content, err := json.Marshal(o.Content)
	if err != nil {
		return fmt.Errorf("decode %s: %w", o, err)
	}
	if err := json.Unmarshal(content, into); err != nil {
		return fmt.Errorf("decode %s: %w", o, err)
	}
	return nil
}

// Disagreements returns what is wrong between objects that are valid each by itself: a name
// that no object has, a selector that selects nothing, a container with rights.
func Disagreements(objects []Object) []string {
	a := &agreement{names: map[string]bool{}}
	workloads, err := Workloads(objects)
	if err != nil {
		return []string{err.Error()}
	}
	a.workloads = workloads
	for _, o := range objects {
		if a.names[o.String()] {
			a.add("%s is rendered twice", o)
		}
		a.names[o.String()] = true
		if problems := validation.IsDNS1123Label(o.Name); len(problems) > 0 {
			a.add("%s: %s", o, strings.Join(problems, ", "))
		}
	}
	for _, w := range workloads {
		a.workload(w)
	}
	for _, o := range objects {
		a.object(o, objects)
	}
	return a.problems
}

type agreement struct {
	names     map[string]bool
	workloads []Workload
	problems  []string
}

func (a *agreement) add(format string, args ...any) {
	a.problems = append(a.problems, fmt.Sprintf(format, args...))
}

// selected returns the workloads whose pods have the labels of a selector.
func (a *agreement) selected(by *metav1.LabelSelector) []Workload {
	selector, err := metav1.LabelSelectorAsSelector(by)
	if err != nil {
		a.add("%v", err)
		return nil
	}
	var found []Workload
	for _, w := range a.workloads {
		if selector.Matches(labels.Set(w.Template.Labels)) {
			found = append(found, w)
		}
	}
	return found
}

// object checks the names and labels by which an object refers to others.
func (a *agreement) object(o Object, all []Object) {
	switch o.Kind {
	case "Deployment":
		var d appsv1.Deployment
		a.decode(o, &d)
		if found := a.selected(d.Spec.Selector); len(found) != 1 || found[0].Name != o.Name {
			a.add("%s selects the pods of %v, want its own only", o, found)
		}
	case "PodDisruptionBudget":
		var p policyv1.PodDisruptionBudget
		a.decode(o, &p)
		if found := a.selected(p.Spec.Selector); len(found) != 1 {
			a.add("%s selects the pods of %d workloads, want one", o, len(found))
		}
	case "NetworkPolicy":
		var p networkingv1.NetworkPolicy
		a.decode(o, &p)
		if len(a.selected(&p.Spec.PodSelector)) == 0 {
			a.add("%s selects no pod", o)
		}
	case "Service":
		a.service(o)
	case "ServiceMonitor":
		a.monitor(o, all)
	case "ScaledObject":
		a.refers(o, "Deployment", "spec", "scaleTargetRef", "name")
		triggers, _ := o.Content["spec"].(map[string]any)["triggers"].([]any)
		for _, trigger := range triggers {
			if ref, ok := trigger.(map[string]any)["authenticationRef"].(map[string]any); ok {
				a.refers(Object{Kind: o.Kind, Name: o.Name, Content: ref}, "TriggerAuthentication", "name")
			}
		}
	case "WorkerDeployment":
		a.refers(o, "Connection", "spec", "workerOptions", "connectionRef", "name")
	case "WorkerResourceTemplate":
		a.refers(o, "WorkerDeployment", "spec", "workerDeploymentRef", "name")
	}
}

func (a *agreement) decode(o Object, into any) {
	if err := decode(o, into); err != nil {
		a.add("%v", err)
	}
}

// refers checks that the object with the name at a path exists.
func (a *agreement) refers(o Object, kind string, path ...string) {
	var at any = o.Content
	for _, name := range path {
		inner, _ := at.(map[string]any)
		at = inner[name]
	}
	if name, _ := at.(string); !a.names[kind+" "+name] {
		a.add("%s refers to %s %v, which is not rendered", o, kind, at)
	}
}

func (a *agreement) service(o Object) {
	var s corev1.Service
	a.decode(o, &s)
	found := a.selected(&metav1.LabelSelector{MatchLabels: s.Spec.Selector})
	for _, w := range a.workloads {
		// The controller adds labels to the pods of a WorkerDeployment and takes none away.
		if w.Kind == "WorkerDeployment" && len(found) == 0 {
			a.add("%s selects no pod of %s", o, w)
		}
	}
	if len(found) == 0 {
		a.add("%s selects no pod", o)
	}
	for _, w := range found {
		for _, port := range s.Spec.Ports {
			if !hasPort(w.Template.Spec.Containers[0], port.TargetPort.StrVal) {
				a.add("%s sends to port %s, which %s does not have", o, port.TargetPort.StrVal, w)
			}
		}
	}
}

func (a *agreement) monitor(o Object, all []Object) {
	var m struct {
		Spec struct {
			Selector  metav1.LabelSelector
			Endpoints []struct{ Port string }
		}
	}
	a.decode(o, &m)
	selector, err := metav1.LabelSelectorAsSelector(&m.Spec.Selector)
	if err != nil {
		a.add("%s: %v", o, err)
		return
	}
	found := 0
	for _, other := range all {
		var s corev1.Service
		if other.Kind != "Service" {
			continue
		}
		a.decode(other, &s)
		if !selector.Matches(labels.Set(s.Labels)) {
			continue
		}
		found++
		if len(m.Spec.Endpoints) != 1 || m.Spec.Endpoints[0].Port != s.Spec.Ports[0].Name {
			a.add("%s scrapes a port that %s does not have", o, other)
		}
	}
	if found != 1 {
		a.add("%s selects %d services, want one: two would scrape each worker twice", o, found)
	}
}

func hasPort(c corev1.Container, name string) bool {
	for _, port := range c.Ports {
		if port.Name == name {
			return true
		}
	}
	return false
}
