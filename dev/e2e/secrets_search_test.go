package e2e

import (
	"fmt"
	"net/http"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/armature-io/armature/dev/internal/collector"
	"github.com/armature-io/armature/dev/internal/harness"
	"github.com/armature-io/armature/dev/internal/leaks"
	"github.com/armature-io/armature/dev/temporaldev"
)

// Places of the search.
const (
	inTemporal = "Temporal"
	inLog      = "the worker's log"
	inOutput   = "the CLI's output"
	inTrail    = "the audit trail"
	inSpans    = "the spans"
	inMetrics  = "the metrics"
)

// signature is the signed part of the URL of an operation. Histories have it, because another
// worker continues the operation; it opens nothing without a token of Azure. JSON escapes its
// ampersand.
var signature = regexp.MustCompile(`(?:[?&]|u0026|%26)(?:s|sig)=[\w%+/-]{8,}`)

// search looks for the planted values, to prove that it works, then for secrets. It stops
// the worker, so that everything is written.
func (s *secretsScene) search() {
	s.T.Helper()
	metrics := s.worker.OpenMetrics()
	s.worker.Stop()
	_, trail := auditTrail(s.T, s.Folder)
	places := map[string]string{
		inTemporal: strings.Join(s.Texts(), "\n"), inLog: s.worker.Log(), inOutput: strings.Join(s.output, "\n"),
		inTrail: trail, inSpans: string(s.spans.Raw()), inMetrics: metrics,
	}
	for place, planted := range map[string][]string{
		inTemporal: {plantedLabel, plantedBody, plantedName, plantedError, plantedPlan, "properties.size", `"large"`},
		inLog:      {plantedName, plantedError, `"level":"DEBUG"`, "extension panicked", "careless gadget"},
		inOutput:   {plantedLabel, plantedName, plantedError, "properties.size"},
		inTrail:    {plantedName, plantedError, "properties.size"},
		inSpans:    {plantedName, "PUT Microsoft.Example/things", "armature apply", "armature-worker", "PollOperation", "InvalidPassword"},
		inMetrics:  {"microsoft.example/things", `trace_id="`},
	} {
		for _, value := range planted {
			if !strings.Contains(places[place], value) {
				s.T.Errorf("the search does not find the planted %q in %s", value, place)
			}
		}
	}
	checkSignatures(s.T, places)
	checkSpans(s.T, s.spans.Spans())
	for _, file := range []string{temporaldev.LogFile, temporaldev.DatabaseFile, temporaldev.DatabaseFile + "-wal"} {
		data, err := os.ReadFile(filepath.Join(s.Folder, "temporal", file))
		if err != nil {
			s.T.Fatal(err)
		}
		places[file] = string(data)
	}
	for _, leak := range leaks.Find(places, s.secrets()) {
		s.T.Error(leak)
	}
}

// checkSignatures checks that histories alone have the signatures of operations.
func checkSignatures(t testing.TB, places map[string]string) {
	t.Helper()
	for place, text := range places {
		if found := signature.FindString(text); (found != "") != (place == inTemporal) {
			t.Errorf("the signature of an operation in %s: %q, want it in Temporal alone", place, found)
		}
	}
}

// Bounds of a span.
const (
	maxSpanName  = 100
	maxSpanValue = 1024
	// maxSpanNames is far below the number of resources times steps.
	maxSpanNames = 120
)

// unbounded matches what must not be in the name of a span: IDs and queries. Temporal's
// own interceptors are not used here.
var unbounded = regexp.MustCompile(`(?i)[0-9a-f]{8}-[0-9a-f]{4}|/subscriptions/|[?=]`)

// attributeRow matches the first column of the table of attributes in the docs.
var attributeRow = regexp.MustCompile("(?m)^\\| (`[^|]+`) \\|")

// checkSpans checks that names of spans do not grow with the resources, that attributes are
// those in the docs, and that all texts are bounded.
func checkSpans(t testing.TB, spans []collector.Span) {
	t.Helper()
	page, err := os.ReadFile(tracePage)
	if err != nil {
		t.Fatal(err)
	}
	_, table, _ := strings.Cut(string(page), "\n## Attributes\n")
	table, _, _ = strings.Cut(table, "\n## ")
	documented := map[string]bool{}
	for _, row := range attributeRow.FindAllStringSubmatch(table, -1) {
		for name := range strings.SplitSeq(row[1], ",") {
			documented[strings.Trim(name, " `")] = true
		}
	}
	names := map[string]bool{}
	reported := map[string]bool{}
	report := func(format string, args ...any) {
		if problem := fmt.Sprintf(format, args...); !reported[problem] {
			reported[problem] = true
			t.Error(problem)
		}
	}
	for _, span := range spans {
		names[span.Name] = true
		if len(span.Name) > maxSpanName || unbounded.MatchString(span.Name) || strings.Contains(span.Name, plantedName) {
			report("the span %q has a name with an ID, or a long one", span.Name)
		}
		if span.Events > 0 || len(span.StatusMessage) > maxSpanName || strings.Contains(span.StatusMessage, " ") && span.StatusMessage != "no response" {
			report("the span %s has %d events and the status %q, want none, and one word", span.Name, span.Events, span.StatusMessage)
		}
		for key, value := range span.Attributes {
			if !documented[key] || len(value) > maxSpanValue {
				report("the span %s has the attribute %s with %d bytes, want one of docs/contributing/tracing.md with at most %d", span.Name, key, len(value), maxSpanValue)
			}
		}
	}
	if len(names) > maxSpanNames || len(spans) < 2*len(names) {
		t.Errorf("%d spans have %d names, want fewer", len(spans), len(names))
	}
}

// secrets returns all values that must not be published, by their kind.
func (s *secretsScene) secrets() map[string]string {
	s.T.Helper()
	var made struct{ Values []string }
	s.Sim.Call(http.MethodGet, "/secrets", nil, &made)
	secrets := map[string]string{}
	for _, value := range made.Values {
		secrets[value] = "a key that the server made or was given"
	}
	if len(secrets) < 10 {
		s.T.Errorf("ARM knows only %d secrets: %q", len(secrets), made.Values)
	}
	for kind, value := range map[string]string{
		"the password of the examples": postgresSecret, "the worker's client secret": harness.ClientSecret, "the key of the collector": collectorKey,
		"the secret of a variable": "Zq7env81", "the secret of a file": "Zq7file82",
		"the whole secret of a variable": envSecret, "the whole secret of a file": fileSecret,
	} {
		secrets[value] = kind
	}
	return secrets
}
