package chart

import (
	"encoding/json"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/armature-io/armature/config"
	"github.com/armature-io/armature/starter"
	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
	"sigs.k8s.io/yaml"
)

// load loads worker.yaml of a ConfigMap with the variables of the worker's container, as the
// worker does.
func load(t *testing.T, objects []Object, w Workload) config.Config {
	t.Helper()
	container := w.Template.Spec.Containers[0]
	for _, volume := range w.Template.Spec.Volumes {
		if volume.ConfigMap == nil {
			continue
		}
		data, _ := find(t, objects, "ConfigMap", volume.ConfigMap.Name).Content["data"].(map[string]any)
		content, _ := data["worker.yaml"].(string)
		path := filepath.Join(t.TempDir(), "worker.yaml")
		if err := os.WriteFile(path, []byte(content), 0o600); err != nil {
			t.Fatal(err)
		}
		t.Setenv(config.FileVariable, path)
	}
	for _, variable := range container.Env {
		if strings.HasPrefix(variable.Name, "ARMATURE_") && variable.Name != config.FileVariable {
			t.Setenv(variable.Name, variable.Value)
		}
	}
	loaded, err := config.Load(container.Args)
	if err != nil {
		t.Fatalf("%s would end with exit code 2: %v", w, err)
	}
	return loaded
}

// Workers accept the configuration that they get; probes find their port, and a stop has
// time to end.
func TestWorkersAcceptTheirConfiguration(t *testing.T) {
	for _, name := range []string{"cloud", "mtls", "demo"} {
		objects := render(t, set(t, name))
		for _, w := range workloads(t, objects) {
			if w.Template.Labels["app.kubernetes.io/component"] != "worker" {
				continue
			}
			t.Run(name+" "+w.Name, func(t *testing.T) {
				loaded := load(t, objects, w)
				port := ":" + strconv.Itoa(int(w.Template.Spec.Containers[0].Ports[0].ContainerPort))
				if loaded.HTTP.Listen != port {
					t.Errorf("probes use %s, the worker listens at %s", port, loaded.HTTP.Listen)
				}
				grace := time.Duration(*w.Template.Spec.TerminationGracePeriodSeconds) * time.Second
				if grace < 40*time.Second || grace < loaded.StopTimeout+10*time.Second {
					t.Errorf("the pod is killed after %s, its activities have %s to end", grace, loaded.StopTimeout)
				}
				if loaded.MaskKey.String() != "file:/etc/armature/mask-key/mask-key" {
					t.Errorf("the mask-key is read from %s", loaded.MaskKey)
				}
				deployment, build := loaded.Worker.Deployment, loaded.Worker.BuildID
				if w.Kind == "Deployment" && (deployment != "armature" || !strings.HasSuffix(w.Name, strings.ReplaceAll(build, ".", "-"))) {
					t.Errorf("the worker is version %q of %q", build, deployment)
				}
				if w.Kind != "Deployment" && deployment+build != "" {
					t.Error("the controller states the version, and the chart too")
				}
			})
		}
	}
}

// Whatever is in config reaches the worker unchanged, so that a new setting needs no new chart.
func TestConfigurationPassesThrough(t *testing.T) {
	stated := `
task-queue: azure
workflow-cache: 12000000
read-only: true
azure: {budget-share: 0.25, auxiliary-tenants: "a,b"}
http: {listen: "0.0.0.0:8000"}
not-known-yet: {endpoint: "https://otel:4317", list: [a, 1, 2.5, true], text: "yes: {no}"}
credentials: {prod: {kind: client-secret, subscriptions: [00000000-0000-0000-0000-00000000000b]}}
`
	var want map[string]any
	if err := yaml.Unmarshal([]byte(stated), &want); err != nil {
		t.Fatal(err)
	}
	objects := render(t, merged(set(t, "demo"), map[string]any{"armsim": map[string]any{"enabled": false}, "config": want}))
	data, _ := find(t, objects, "ConfigMap", "armature-worker-v1-2-3").Content["data"].(map[string]any)
	content, _ := data["worker.yaml"].(string)
	var got map[string]any
	if err := yaml.UnmarshalStrict([]byte(content), &got); err != nil {
		t.Fatal(err)
	}
	want["mask-key"] = "file:/etc/armature/mask-key/mask-key"
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("the worker gets another configuration:\n%s\n%s", diff, content)
	}
	if !strings.Contains(content, "workflow-cache: 12000000\n") {
		t.Errorf("a large number is written as a float:\n%s", content)
	}
	worker := string(find(t, objects, "Deployment", "armature-worker-v1-2-3").YAML)
	if !strings.Contains(worker, "containerPort: 8000") {
		t.Errorf("the probes do not follow http.listen:\n%s", worker)
	}
}

// A mistake in values is refused with what to do, before anything reaches a cluster.
func TestValuesRefused(t *testing.T) {
	tests := map[string]struct{ set, values, want, reason string }{
		"misspelt":          {"demo", "{podDisruptionBudgets: {enabled: true}}", "podDisruptionBudgets", "a misspelt value would be ignored"},
		"misspelt inside":   {"demo", "{temporal: {adress: 'a:1'}}", "adress", "so would one inside"},
		"address":           {"demo", "{temporal: {address: temporal}}", "temporal", "an address has a port"},
		"no address":        {"demo", "{temporal: {address: ''}}", "temporal.address is required", "there is no default Temporal"},
		"no mask key":       {"demo", "{maskKey: {existingSecret: ''}}", "maskKey.existingSecret is required", "a worker for Azure does not start without"},
		"grace":             {"demo", "{worker: {terminationGracePeriodSeconds: 30}}", "40", "the worker takes stop-timeout and 10 s"},
		"grace and timeout": {"demo", "{config: {stop-timeout: 2m}}", "at least 130", "a longer stop-timeout needs a longer grace period"},
		"grace and audit":   {"mtls", "{config: {audit: {stdout: true}}}", "at least 80", "the last lines of the audit trail would be lost"},
		"loopback":          {"demo", "{config: {http: {listen: '127.0.0.1:9464'}}}", "do not reach a loopback address", "every probe would fail"},
		"no listener":       {"demo", "{config: {http: {listen: ''}}}", "probes need a port", "every probe would fail"},
		"version twice":     {"mtls", "{versioning: {previous: [{buildId: v1.2.3, image: {tag: v1.2.3}}]}}", "is there twice", "both Deployments would have one name"},
		"same name":         {"mtls", "{versioning: {previous: [{buildId: v1-2-3, image: {tag: a}}]}}", "the same name", "both Deployments would have one name"},
		"both logins":       {"mtls", "{temporal: {apiKey: {existingSecret: a}}}", "not", "the controller accepts one"},
		"open codec":        {"demo", "{codec: {open: false}}", "codec.oidc.issuer", "a codec server is never open by default"},
		"codec and both":    {"mtls", "{codec: {open: true}}", "codec.oidc.issuer", "the codec server refuses both"},
		"open pages":        {"mtls", "{ui: {oidc: {issuer: ''}}}", "ui.oidc.issuer is required", "pages that other machines reach have a login"},
		"pages for all":     {"mtls", "{ui: {read: []}}", "ui.read is required", "a public issuer has users everywhere"},
		"pages without TLS": {"mtls", "{ui: {baseUrl: 'http://armature.example.com'}}", "baseUrl", "cookies would be readable"},
		"no origins":        {"demo", "{codec: {origins: []}}", "codec.origins is required", "no page could use it"},
		"identity":          {"cloud", "{azure: {workloadIdentity: {clientId: ''}}}", "clientId is required", "the webhook would use no identity"},
		"kept by hand":      {"cloud", "{versioning: {previous: [{buildId: a, image: {tag: a}}]}}", "controller keeps previous versions", "it would be ignored"},
		"ramp":              {"cloud", "{workerDeployment: {rollout: {steps: [{rampPercentage: 100, pauseDuration: 1m}]}}}", "99", "the CRD refuses it later"},
		"never":             {"demo", "{autoscaling: {minReplicas: 0}}", "minReplicas", "a queue without workers runs no timers, and a version without pollers is not registered"},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			_, err := Render(root, Release{Name: "armature", Namespace: namespace}, with(t, set(t, tc.set), tc.values))
			if err == nil || !strings.Contains(err.Error(), tc.want) {
				t.Errorf("got %v, want an error with %q, since %s", err, tc.want, tc.reason)
			}
		})
	}
}

// Secrets, variables and files of an existing Secret or a CSI driver need no new chart.
func TestSecretsByReference(t *testing.T) {
	objects := render(t, with(t, set(t, "mtls"), `
worker:
  extraArgs: [--log-level=debug]
  extraEnv: [{name: SQL, valueFrom: {secretKeyRef: {name: sql, key: password}}}]
  extraEnvFrom: [{secretRef: {name: all, optional: true}}]
  podLabels: {team: a}
extraObjects:
  - apiVersion: v1
    kind: ConfigMap
    metadata: {name: "{{ .Release.Name }}-extra", namespace: armature-system}
`))
	checked := 0
	for _, w := range workloads(t, objects) {
		c := w.Template.Spec.Containers[0]
		if c.Name != "worker" {
			continue
		}
		checked++
		variables, err := json.Marshal(c.Env)
		if err != nil {
			t.Fatal(err)
		}
		if !strings.Contains(string(variables), `"secretKeyRef":{"name":"sql","key":"password"}`) || c.EnvFrom[0].SecretRef.Name != "all" || c.Args[0] != "--log-level=debug" || w.Template.Labels["team"] != "a" {
			t.Errorf("%s does not have what was added: %s", w, variables)
		}
		if !hasMount(c, "/etc/armature/azure") {
			t.Errorf("%s does not mount the CSI driver's volume", w)
		}
	}
	if checked != 2 {
		t.Errorf("%d workers were checked, want two versions", checked)
	}
	find(t, objects, "ConfigMap", "armature-extra")
	// No rendered object but the simulator's Secret has a secret: all others are references.
	for _, o := range objects {
		if o.Kind == "Secret" {
			t.Errorf("the chart renders %s", o)
		}
	}
}

// Images by digest are versions with names too, and previous ones keep their own image.
func TestVersionsByDigest(t *testing.T) {
	digest := "sha256:" + strings.Repeat("0123456789abcdef", 4)
	objects := render(t, with(t, set(t, "mtls"), "{image: {digest: '"+digest+"'}, versioning: {previous: [{buildId: 'Release_1.2.2+hotfix', image: {tag: v1.2.2}}]}}"))
	for _, problem := range Disagreements(objects) {
		t.Error(problem)
	}
	images := map[string]string{}
	for _, w := range workloads(t, objects) {
		if w.Template.Spec.Containers[0].Name == "worker" {
			loaded := load(t, objects, w)
			images[loaded.Worker.BuildID] = w.Template.Spec.Containers[0].Image
		}
	}
	want := map[string]string{
		"0123456789ab":         "ghcr.io/armature-io/armature/worker@" + digest,
		"Release_1.2.2+hotfix": "ghcr.io/armature-io/armature/worker:v1.2.2",
	}
	if diff := cmp.Diff(want, images); diff != "" {
		t.Errorf("versions and images (-want +got):\n%s", diff)
	}
}

// The codec server gets the keys of the workers, and nothing else of their configuration.
func TestCodecHasTheKeys(t *testing.T) {
	encrypted := `
config: {put-budget: 7, encryption: {keys: "a=file:/etc/armature/keys/a", write-key: a}}
codec:
  extraVolumes: [{name: keys, secret: {secretName: armature-keys}}]
  extraVolumeMounts: [{name: keys, mountPath: /etc/armature/keys, readOnly: true}]
`
	objects := render(t, with(t, set(t, "demo"), encrypted))
	check(t, loadSchemas(t), objects)
	checked := 0
	for _, w := range workloads(t, objects) {
		if w.Name != "armature-codec" {
			continue
		}
		checked++
		w.Template.Spec.Containers[0].Args = nil // flags of the codec server
		loaded := load(t, objects, w)
		if strings.Join(loaded.Encryption.Keys, ",") != "a=file:/etc/armature/keys/a" || loaded.Encryption.WriteKey != "a" || loaded.PutBudget == 7 {
			t.Errorf("the codec server has the keys %+v and put-budget %d", loaded.Encryption, loaded.PutBudget)
		}
	}
	if checked != 1 {
		t.Errorf("%d codec servers", checked)
	}
	for _, o := range render(t, set(t, "demo")) {
		if o.String() == "ConfigMap armature-codec" {
			t.Error("without encryption the codec server has a configuration too")
		}
	}
}

// The pages accept the flags that they get, read Temporal with a certificate of their own, and
// have one pod, which has the key of sessions.
func TestPagesOfATeam(t *testing.T) {
	objects := render(t, with(t, set(t, "mtls"), "{config: {task-queue: azure, encryption: {keys: [a=env:A, b=env:B], write-key: a}}, ui: {extraEnv: [{name: A, value: a}, {name: B, value: b}]}}"))
	check(t, loadSchemas(t), objects)
	checked := 0
	for _, w := range workloads(t, objects) {
		if w.Name != "armature-ui" {
			continue
		}
		checked++
		c := w.Template.Spec.Containers[0]
		args := strings.Join(c.Args, " ")
		for _, want := range []string{"--base-url=https://armature.example.com ", "--read=groups=00000000-0000-0000-0000-00000000000f,roles=Armature.Read", "--task-queue=azure", "--encryption-keys=a=env:A,b=env:B", "--others=staging="} {
			if !strings.Contains(args, want) {
				t.Errorf("the pages have no %q: %s", want, args)
			}
		}
		// Help is printed only if all flags are known.
		if code := starter.Main(append(c.Args, "--help"), starter.Options{}); code != 0 {
			t.Errorf("armature %s ends with exit code %d", args, code)
		}
		if volumes := string(find(t, objects, "Deployment", "armature-ui").YAML); !strings.Contains(volumes, "secretName: armature-ui-temporal-tls") || strings.Contains(volumes, "armature-temporal-tls") || !strings.Contains(volumes, "replicas: 1") {
			t.Errorf("the Deployment is\n%s", volumes)
		}
		if c.Image != "ghcr.io/armature-io/armature/cli:v1.2.3" {
			t.Errorf("the image is %s, want the version of the workers", c.Image)
		}
	}
	if checked != 1 {
		t.Errorf("%d Deployments", checked)
	}
	if ingress := string(find(t, objects, "Ingress", "armature-ui").YAML); !strings.Contains(ingress, `host: "armature.example.com"`) {
		t.Errorf("the Ingress is\n%s", ingress)
	}
}

func hasMount(c corev1.Container, path string) bool {
	for _, mount := range c.VolumeMounts {
		if mount.MountPath == path && mount.ReadOnly {
			return true
		}
	}
	return false
}
