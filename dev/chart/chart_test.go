package chart

import (
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"sigs.k8s.io/yaml"
)

// root is the folder of the repository.
const root = "../.."

// namespace is the one of all renderings.
const namespace = "armature-system"

func loadSchemas(t *testing.T) *Schemas {
	t.Helper()
	schemas, err := LoadSchemas("testdata/schemas")
	if err != nil {
		t.Fatal(err)
	}
	return schemas
}

// set returns a set of values of the chart's folder ci.
func set(t *testing.T, name string) map[string]any {
	t.Helper()
	values, err := Values(filepath.Join(root, Folder, "ci", name+"-values.yaml"))
	if err != nil {
		t.Fatal(err)
	}
	return values
}

func render(t *testing.T, values map[string]any) []Object {
	t.Helper()
	objects, err := Render(root, Release{Name: "armature", Namespace: namespace}, values)
	if err != nil {
		t.Fatal(err)
	}
	return objects
}

// check fails the test where an object is not valid, or disagrees with another one.
func check(t *testing.T, schemas *Schemas, objects []Object) {
	t.Helper()
	for _, o := range objects {
		if err := schemas.Validate(o); err != nil {
			t.Errorf("%s: %v\n%s", o.Template, err, o.YAML)
		}
	}
	for _, problem := range Disagreements(objects) {
		t.Error(problem)
	}
}

// workloads returns the objects that run pods.
func workloads(t *testing.T, objects []Object) []Workload {
	t.Helper()
	found, err := Workloads(objects)
	if err != nil {
		t.Fatal(err)
	}
	return found
}

// with returns values with YAML merged into them.
func with(t *testing.T, values map[string]any, text string) map[string]any {
	t.Helper()
	var more map[string]any
	if err := yaml.Unmarshal([]byte(text), &more); err != nil {
		t.Fatal(err)
	}
	return merged(values, more)
}

func merged(into, from map[string]any) map[string]any {
	into = maps.Clone(into)
	if into == nil {
		into = map[string]any{}
	}
	for name, value := range from {
		a, isMap := into[name].(map[string]any)
		if b, ok := value.(map[string]any); ok && isMap {
			value = merged(a, b)
		}
		into[name] = value
	}
	return into
}

// The three sets render to exactly these objects, which are valid and agree with each other.
func TestSets(t *testing.T) {
	schemas := loadSchemas(t)
	tests := map[string][]string{
		"cloud": {
			"ConfigMap armature-dashboard-armature", "ConfigMap armature-worker-HASH", "Connection armature", "NetworkPolicy armature-worker",
			"PrometheusRule armature", "Service armature-metrics", "ServiceAccount armature", "ServiceMonitor armature", "TriggerAuthentication armature-temporal",
			"WorkerDeployment armature", "WorkerResourceTemplate armature-pdb", "WorkerResourceTemplate armature-scale",
		},
		"mtls": {
			"ConfigMap armature-dashboard-armature", "ConfigMap armature-worker-v1-2-2", "ConfigMap armature-worker-v1-2-3",
			"Deployment armature-codec", "Deployment armature-ui", "Deployment armature-worker-v1-2-2", "Deployment armature-worker-v1-2-3", "Ingress armature-codec", "Ingress armature-ui",
			"NetworkPolicy armature-codec", "NetworkPolicy armature-ui", "NetworkPolicy armature-worker",
			"PodDisruptionBudget armature-worker-v1-2-2", "PodDisruptionBudget armature-worker-v1-2-3", "PrometheusRule armature",
			"ScaledObject armature-worker-v1-2-2", "ScaledObject armature-worker-v1-2-3", "Service armature-codec", "Service armature-metrics", "Service armature-ui",
			"ServiceAccount armature", "ServiceAccount armature-codec", "ServiceAccount armature-ui", "ServiceMonitor armature", "TriggerAuthentication armature-temporal",
		},
		"demo": {
			"ConfigMap armature-worker-v1-2-3", "Deployment armature-armsim", "Deployment armature-codec", "Deployment armature-worker-v1-2-3",
			"NetworkPolicy armature-armsim", "NetworkPolicy armature-codec", "NetworkPolicy armature-worker",
			"Secret armature-armsim", "Service armature-armsim", "Service armature-codec", "ServiceAccount armature", "ServiceAccount armature-codec",
		},
	}
	for name, want := range tests {
		t.Run(name, func(t *testing.T) {
			objects := render(t, set(t, name))
			check(t, schemas, objects)
			var got []string
			for _, o := range objects {
				if o.Content["metadata"].(map[string]any)["namespace"] != namespace {
					t.Errorf("%s is not in the namespace of the release", o)
				}
				got = append(got, hashed.ReplaceAllString(o.String(), "armature-worker-HASH"))
			}
			slices.Sort(got)
			if diff := cmp.Diff(want, got); diff != "" {
				t.Errorf("the rendered objects differ (-want +got):\n%s", diff)
			}
		})
	}
}

// Alerts and dashboards have one source, which the chart links to.
func TestMonitoringHasOneSource(t *testing.T) {
	objects := render(t, set(t, "cloud"))
	content, err := os.ReadFile(filepath.Join(root, "deploy/prometheus/alerts.yml"))
	if err != nil {
		t.Fatal(err)
	}
	var alerts map[string]any
	if err := yaml.Unmarshal(content, &alerts); err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(alerts, find(t, objects, "PrometheusRule", "armature").Content["spec"]); diff != "" {
		t.Errorf("PrometheusRule differs from deploy/prometheus/alerts.yml:\n%s", diff)
	}
	dashboards, err := filepath.Glob(filepath.Join(root, "deploy/grafana/dashboards/*.json"))
	if err != nil || len(dashboards) == 0 {
		t.Fatal(dashboards, err)
	}
	for _, file := range dashboards {
		content, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		name := filepath.Base(file)
		data := find(t, objects, "ConfigMap", "armature-dashboard-"+strings.TrimSuffix(name, ".json")).Content["data"]
		got, _ := data.(map[string]any)[name].(string)
		if strings.TrimSpace(got) != strings.TrimSpace(string(content)) {
			t.Errorf("the ConfigMap of %s differs from the file", file)
		}
	}
	// A copy would drift; helm follows links.
	for _, link := range []string{"alerts.yml", "dashboards"} {
		info, err := os.Lstat(filepath.Join(root, Folder, "files", link))
		if err != nil || info.Mode()&os.ModeSymlink == 0 {
			t.Errorf("files/%s is no link (%v)", link, err)
		}
	}
	// The expressions select the workers by this job, which Compose's Prometheus sets too.
	if monitor := string(find(t, objects, "ServiceMonitor", "armature").YAML); !strings.Contains(monitor, "{targetLabel: job, replacement: worker}") {
		t.Errorf("the ServiceMonitor does not name the job of the alerts:\n%s", monitor)
	}
}

// The links of the alerts lead to the address of the pages that the values state.
func TestAlertsLinkToThePage(t *testing.T) {
	values := set(t, "cloud")
	values["prometheusRule"] = map[string]any{"enabled": true, "page": "https://armature.example.com/"}
	rule := string(find(t, render(t, values), "PrometheusRule", "armature").YAML)
	for _, want := range []string{"page_url: https://armature.example.com/?reason=Held\n", "page_url: https://armature.example.com/?reason={{ $labels.reason }}\n"} {
		if !strings.Contains(rule, want) {
			t.Errorf("the rule has no %q", want)
		}
	}
	if strings.Contains(rule, "127.0.0.1") || strings.Contains(rule, "example.com//") {
		t.Errorf("a link does not lead to the address:\n%s", rule)
	}
}

func find(t *testing.T, objects []Object, kind, name string) Object {
	t.Helper()
	for _, o := range objects {
		if o.Kind == kind && o.Name == name {
			return o
		}
	}
	t.Fatalf("there is no %s %s", kind, name)
	return Object{}
}
