package chart

import (
	"encoding/json"
	"io"
	"log"
	"os"
	"strings"
	"testing"

	"sigs.k8s.io/yaml"
)

// TestMain drops the line that Helm logs for each link.
func TestMain(m *testing.M) {
	log.SetOutput(io.Discard)
	os.Exit(m.Run())
}

// The judge must find faults, or every chart is valid.
func TestSchemasRefuse(t *testing.T) {
	schemas := loadSchemas(t)
	tests := map[string]struct{ yaml, want, reason string }{
		"unknown field of the API": {
			yaml: object("apps/v1", "Deployment", "{replica: 1}"), want: "unknown field", reason: "an API server drops it silently",
		},
		"wrong kind of value": {
			yaml: object("v1", "Service", "{ports: [{port: http}]}"), want: "cannot unmarshal", reason: "a port is a number",
		},
		"unknown kind": {
			yaml: "apiVersion: example.com/v1\nkind: Cache\nmetadata: {name: a}", want: "no kind", reason: "a custom resource needs a schema here",
		},
		"pod of a WorkerDeployment": {
			yaml: workerDeployment("template: {spec: {containers: [{nam: a}]}}"), want: "unknown field", reason: "its CRD contains the pod template of Kubernetes",
		},
		"rollout without steps": {
			yaml: workerDeployment("rollout: {strategy: Progressive}"), want: "steps", reason: "the CRD requires steps",
		},
		"unknown strategy": {
			yaml: workerDeployment("rollout: {strategy: Canary}"), want: "must be one of", reason: "the CRD has a list of strategies",
		},
		"scaled object without triggers": {
			yaml: object("keda.sh/v1alpha1", "ScaledObject", "{scaleTargetRef: {name: a}}"), want: "triggers", reason: "KEDA requires triggers",
		},
		"number where KEDA takes text": {
			yaml: object("keda.sh/v1alpha1", "ScaledObject", "{scaleTargetRef: {name: a}, triggers: [{type: temporal, metadata: {targetQueueSize: 5}}]}"), want: "targetQueueSize", reason: "metadata of a trigger is text",
		},
		"inside of a template": {
			yaml: object("temporal.io/v1alpha1", "WorkerResourceTemplate", "{workerDeploymentRef: {name: a}, template: {apiVersion: policy/v1, kind: PodDisruptionBudget, spec: {maxUnavailabel: 1}}}"), want: "unknown field", reason: "the controller applies it later, where nobody looks",
		},
		"misspelt field of Prometheus": {
			yaml: object("monitoring.coreos.com/v1", "ServiceMonitor", "{selector: {}, endpoints: [{prot: http}]}"), want: "prot", reason: "a scrape would be missing",
		},
		"alert without a name": {
			yaml: object("monitoring.coreos.com/v1", "PrometheusRule", "{groups: [{rules: [{expr: up}]}]}"), want: "name", reason: "a group has a name",
		},
		"two ways into Temporal": {
			yaml: object("temporal.io/v1alpha1", "Connection", "{hostPort: 'a:1', mutualTLSSecretRef: {name: a}, apiKeySecretRef: {name: a, key: a}}"), want: "not", reason: "the CRD allows one",
		},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			objects, err := split(name, tc.yaml)
			if err != nil || len(objects) != 1 {
				t.Fatalf("%d objects, %v", len(objects), err)
			}
			if err := schemas.Validate(objects[0]); err == nil || !strings.Contains(err.Error(), tc.want) {
				t.Errorf("got %v, want an error with %q, since %s", err, tc.want, tc.reason)
			}
		})
	}
}

// object returns an object as YAML.
func object(apiVersion, kind, spec string) string {
	return "apiVersion: " + apiVersion + "\nkind: " + kind + "\nmetadata: {name: a}\nspec: " + spec
}

// workerDeployment returns a valid WorkerDeployment with one field of its spec replaced.
func workerDeployment(field string) string {
	spec := map[string]any{
		"workerOptions": map[string]any{"connectionRef": map[string]any{"name": "a"}, "temporalNamespace": "a"},
		"rollout":       map[string]any{"strategy": "Manual"},
		"sunset":        map[string]any{},
		"template":      map[string]any{"spec": map[string]any{"containers": []any{map[string]any{"name": "a", "image": "a"}}}},
	}
	if err := yaml.Unmarshal([]byte(field), &spec); err != nil {
		return err.Error()
	}
	content, err := json.Marshal(spec)
	if err != nil {
		return err.Error()
	}
	return object("temporal.io/v1alpha1", "WorkerDeployment", string(content))
}
