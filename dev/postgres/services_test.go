package postgres

import (
	"bytes"
	"encoding/json"
	"io"
	"net/http"
	"path/filepath"
	"regexp"
	"slices"
	"strings"

	commonpb "go.temporal.io/api/common/v1"
	"google.golang.org/protobuf/encoding/protojson"

	"github.com/armature-io/armature/internal/payload"
)

// services checks the services beside the workers.
func (g ground) services() {
	if running := g.stack.Processes("worker"); len(running) != workers {
		g.T.Errorf("%d workers run, want %d", len(running), workers)
	}
	for _, worker := range g.stack.Processes("worker") {
		code, ready := g.ask("http://" + worker.Address() + ":9464/readyz")
		if code != http.StatusOK {
			g.T.Errorf("%s: %d %s", worker.Name(), code, ready)
		}
		// The process has the environment of the file, except for its own address.
		for _, variable := range worker.Environment() {
			name, value, _ := strings.Cut(variable, "=")
			if want := strings.ReplaceAll(g.stack.Environment("worker", name), "0.0.0.0", worker.Address()); value != want {
				g.T.Errorf("%s: %s=%s, the file has %s", worker.Name(), name, value, want)
			}
		}
	}
	var settings struct{ Codec struct{ Endpoint string } }
	_, body := g.ask("http://" + g.stack.Address("web-ui", "8080") + "/api/v1/settings")
	if err := json.Unmarshal([]byte(body), &settings); err != nil || settings.Codec.Endpoint != g.stack.Environment("web-ui", "TEMPORAL_CODEC_ENDPOINT") {
		g.T.Errorf("the Web UI reads payloads at %q (%v)", settings.Codec.Endpoint, err)
	}
	if code, _ := g.ask("http://" + g.stack.Address("temporal", "9090") + "/metrics"); code != http.StatusOK {
		g.T.Errorf("Temporal's metrics return %d", code)
	}
	g.decode()
}

// decode calls the codec server as the Web UI does.
func (g ground) decode() {
	large := &commonpb.Payload{
		Metadata: map[string][]byte{"encoding": []byte("json/plain")},
		Data:     []byte(`{"body":"` + strings.Repeat("large ", 1000) + `"}`),
	}
	stored, err := payload.Codec().Encode([]*commonpb.Payload{large})
	if err != nil {
		g.T.Fatal(err)
	}
	question, err := protojson.Marshal(&commonpb.Payloads{Payloads: stored})
	if err != nil {
		g.T.Fatal(err)
	}
	response, err := http.Post("http://"+g.stack.Address("codec", "8088")+"/decode", "application/json", bytes.NewReader(question))
	if err != nil {
		g.T.Fatal(err)
	}
	defer func() { _ = response.Body.Close() }()
	answer, err := io.ReadAll(response.Body)
	var read commonpb.Payloads
	if err != nil || protojson.Unmarshal(answer, &read) != nil || len(read.GetPayloads()) != 1 ||
		!bytes.Equal(read.GetPayloads()[0].GetData(), large.GetData()) {
		g.T.Errorf("the codec server answers %s %s (%v)", response.Status, answer, err)
	}
}

// sdkMetrics are metrics of the SDK that appear with their first count.
var sdkMetrics = []string{"temporal_request_failure_total", "temporal_workflow_task_execution_failed_total"}

// metrics checks that dashboard and alerts name metrics that a worker serves.
func (g ground) metrics() {
	served := map[string]bool{}
	for _, worker := range g.stack.Processes("worker") {
		_, body := g.ask("http://" + worker.Address() + ":9464/metrics")
		for _, match := range regexp.MustCompile(`(?m)^(\w+)[{ ]`).FindAllStringSubmatch(body, -1) {
			served[match[1]] = true
		}
	}
	// A process without /proc serves no process_*; package service tests that.
	used := regexp.MustCompile(`\b(temporal|armature)_[a-z_]+\b`)
	// Gauges of states that do not exist now have no series; the page lists all.
	reference := string(read(g.T, filepath.Join(built.root, "docs", "metrics.md")))
	for _, path := range []string{"grafana/dashboards/armature.json", "prometheus/alerts.yml"} {
		content := string(read(g.T, filepath.Join(built.root, "deploy", path)))
		for _, name := range used.FindAllString(content, -1) {
			if !served[name] && !slices.Contains(sdkMetrics, name) && !strings.Contains(reference, "| `"+strings.TrimSuffix(name, "_bucket")+"` |") {
				g.T.Errorf("%s: no worker serves %s", path, name)
			}
		}
	}
}

func (g ground) ask(address string) (code int, body string) {
	g.T.Helper()
	response, err := http.Get(address)
	if err != nil {
		g.T.Fatal(err)
	}
	defer func() { _ = response.Body.Close() }()
	content, err := io.ReadAll(response.Body)
	if err != nil {
		g.T.Fatal(err)
	}
	return response.StatusCode, string(content)
}
