package service_test

import (
	"bytes"
	"context"
	"encoding/json"
	"net/http"
	"strings"
	"testing"

	"github.com/armature-io/armature/internal/payload"
	"github.com/armature-io/armature/service"
	"github.com/google/go-cmp/cmp"
	commonpb "go.temporal.io/api/common/v1"
	"google.golang.org/protobuf/encoding/protojson"
)

// TestCodecServer checks that the codec server decodes payloads of a worker, and permits
// only the Web UI's origin to read them.
func TestCodecServer(t *testing.T) {
	ctx, stop := context.WithCancel(t.Context())
	addresses, exitCodes := make(chan string, 1), make(chan int, 1)
	go func() {
		exitCodes <- service.Main(ctx, []string{"codec", "--listen", "127.0.0.1:0", "--origins", "http://ui.test:8080"},
			service.Options{OnListen: func(address string) { addresses <- address }, Stdout: &bytes.Buffer{}})
	}()
	address := <-addresses
	large := &commonpb.Payload{
		Metadata: map[string][]byte{"encoding": []byte("json/plain")},
		Data:     []byte(`"` + strings.Repeat("a body ", 1000) + `"`),
	}
	stored, err := payload.Codec().Encode([]*commonpb.Payload{large})
	if err != nil {
		t.Fatal(err)
	}
	body, err := protojson.Marshal(&commonpb.Payloads{Payloads: stored})
	if err != nil {
		t.Fatal(err)
	}
	for origin, allowed := range map[string]string{"http://ui.test:8080": "http://ui.test:8080", "http://elsewhere.test": ""} {
		request, err := http.NewRequestWithContext(t.Context(), http.MethodPost, "http://"+address+"/decode", bytes.NewReader(body))
		if err != nil {
			t.Fatal(err)
		}
		request.Header.Set("Origin", origin)
		request.Header.Set("Content-Type", "application/json")
		response, err := http.DefaultClient.Do(request)
		if err != nil {
			t.Fatal(err)
		}
		if allowed == "" {
			_ = response.Body.Close()
			if response.StatusCode != http.StatusForbidden {
				t.Errorf("origin %s: got %s, want 403", origin, response.Status)
			}
			continue
		}
		var decoded json.RawMessage
		err = json.NewDecoder(response.Body).Decode(&decoded)
		_ = response.Body.Close()
		var read commonpb.Payloads
		if err != nil || protojson.Unmarshal(decoded, &read) != nil || len(read.GetPayloads()) != 1 {
			t.Fatalf("%s: %s %s", origin, response.Status, decoded)
		}
		if diff := cmp.Diff(string(large.GetData()), string(read.GetPayloads()[0].GetData())); diff != "" {
			t.Errorf("%s (-written +read):\n%s", origin, diff)
		}
		if got := response.Header.Get("Access-Control-Allow-Origin"); got != allowed {
			t.Errorf("origin %s: Access-Control-Allow-Origin is %q", origin, got)
		}
	}
	probe := []string{"codec", "--probe", "--listen", address}
	if got := service.Main(t.Context(), probe, service.Options{}); got != service.ExitStopped {
		t.Errorf("probe of a running codec server returned %d", got)
	}
	stop()
	if got := <-exitCodes; got != service.ExitStopped {
		t.Errorf("a stop returned %d", got)
	}
	if got := service.Main(t.Context(), probe, service.Options{Stderr: &bytes.Buffer{}}); got != service.ExitFailed {
		t.Errorf("probe without a server returned %d", got)
	}
}

func TestCodecFlags(t *testing.T) {
	cases := map[string]struct {
		reason string
		args   []string
		want   string
	}{
		"any origin": {"a wildcard would let every site read histories", []string{"--origins", "*"}, `--origins "*" is not scheme://host[:port]`},
		"path":       {"browsers send an origin without a path", []string{"--origins", "http://a.test/ui"}, "is not scheme://host[:port]"},
		"no port":    {"the server needs a port", []string{"--listen", "localhost"}, `--listen "localhost" is not host:port`},
		"argument":   {"a missing dash must not be ignored", []string{"probe"}, `unexpected argument "probe"`},
	}
	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			var stderr bytes.Buffer
			got := service.Main(t.Context(), append([]string{"codec"}, c.args...), service.Options{Stderr: &stderr, Stdout: &bytes.Buffer{}})
			if got != service.ExitConfig || !strings.Contains(stderr.String(), c.want) {
				t.Errorf("%s: exit code %d, %q, want %d and %q", c.reason, got, stderr.String(), service.ExitConfig, c.want)
			}
		})
	}
}
