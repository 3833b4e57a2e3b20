package otlp_test

import (
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"github.com/armature-io/armature/internal/tracing/otlp"
)

// TestFailedExportHidesKeys lets a collector repeat the headers and the URL of an export in
// its refusal: the reason that is logged has neither.
func TestFailedExportHidesKeys(t *testing.T) {
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		http.Error(w, "refused\n"+r.Header.Get("Authorization")+" "+r.Header.Get("Api-Key")+" at http://user:planted-pass@"+r.Host+r.URL.String()+" "+strings.Repeat("long ", 1000), http.StatusUnauthorized)
	}))
	t.Cleanup(server.Close)
	variables := map[string]string{
		"OTEL_EXPORTER_OTLP_TRACES_ENDPOINT": server.URL + "/planted-path?key=planted-query",
		"OTEL_EXPORTER_OTLP_HEADERS":         "Authorization=Bearer%20planted-token, Api-Key=planted-4711",
	}
	for name, value := range variables {
		t.Setenv(name, value)
	}
	failed := make(chan error, 1)
	provider, err := otlp.Open(t.Context(), otlp.Options{
		Lookup: func(name string) (string, bool) { value, set := variables[name]; return value, set },
		Failed: func(err error) { failed <- err },
	})
	if err != nil {
		t.Fatal(err)
	}
	_, span := provider.Tracer().Start(t.Context(), "one")
	span.End()
	if err := provider.Close(10 * time.Second); err != nil {
		t.Fatal(err)
	}
	text := (<-failed).Error()
	if strings.Contains(text, "planted") || !strings.Contains(text, "refused") || strings.Contains(text, "\n") || len(text) > 400 {
		t.Errorf("the reason is %q, want the refusal on one short line, without a key", text)
	}
}
