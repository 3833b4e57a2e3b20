package payload_test

import (
	"bytes"
	"context"
	"errors"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/armature-io/armature/internal/payload"
	"github.com/google/go-cmp/cmp"
	commonpb "go.temporal.io/api/common/v1"
	"go.temporal.io/sdk/client"
	"go.temporal.io/sdk/converter"
	"go.temporal.io/sdk/interceptor"
	"go.temporal.io/sdk/temporal"
	"go.temporal.io/sdk/testsuite"
	"go.temporal.io/sdk/workflow"
	"google.golang.org/protobuf/encoding/protojson"
)

// reversing is the codec of an embedder: it turns the data around, and fails on demand.
type reversing struct {
	name string
	err  error
}

func (r reversing) Encode(payloads []*commonpb.Payload) ([]*commonpb.Payload, error) {
	result := make([]*commonpb.Payload, len(payloads))
	for i, p := range payloads {
		data, err := protojson.Marshal(p)
		if err != nil {
			return nil, err
		}
		result[i] = &commonpb.Payload{Metadata: metadata(r.name), Data: turned(data)}
	}
	return result, r.err
}

func (r reversing) Decode(payloads []*commonpb.Payload) ([]*commonpb.Payload, error) {
	result := make([]*commonpb.Payload, len(payloads))
	for i, p := range payloads {
		result[i] = p
		if string(p.GetMetadata()[converter.MetadataEncoding]) != r.name {
			continue
		}
		if r.err != nil {
			return nil, r.err
		}
		result[i] = &commonpb.Payload{}
		if err := protojson.Unmarshal(turned(p.GetData()), result[i]); err != nil {
			return nil, err
		}
	}
	return result, nil
}

func turned(data []byte) []byte {
	result := bytes.Clone(data)
	for i, j := 0, len(result)-1; i < j; i, j = i+1, j-1 {
		result[i], result[j] = result[j], result[i]
	}
	return result
}

func embedded(t *testing.T, options payload.Options) *payload.Converters {
	t.Helper()
	c, err := payload.New(options)
	if err != nil {
		t.Fatal(err)
	}
	return c
}

// TestCodecsOfEmbedders checks that codecs encode what Armature wrote, in their order, and
// that histories from before them, from before encryption, and with another write key stay
// readable.
func TestCodecsOfEmbedders(t *testing.T) {
	keys := []payload.Key{{ID: "a", Secret: bytes.Repeat([]byte{1}, 32)}}
	codecs := []converter.PayloadCodec{reversing{name: "first"}, reversing{name: "second"}}
	both := embedded(t, payload.Options{Keys: keys, WriteKey: "a", Codecs: codecs})
	value := body{Name: "v1", Tags: map[string]string{"note": strings.Repeat("long ", 1000)}}
	encoded, err := both.Data.ToPayload(value)
	if err != nil {
		t.Fatal(err)
	}
	if got := string(encoded.GetMetadata()[converter.MetadataEncoding]); got != "second" {
		t.Errorf("the outermost encoding is %q, want that of the last codec", got)
	}
	inner, err := reversing{name: "first"}.Decode(mustDecode(t, reversing{name: "second"}, encoded))
	if err != nil || payload.KeyID(inner[0]) != "a" {
		t.Errorf("inside of the codecs is %v (%v), want what Armature encrypted", inner, err)
	}
	earlier := map[string]*payload.Converters{
		"plain": payload.Clear(), "encrypted": embedded(t, payload.Options{Keys: keys, WriteKey: "a"}),
		"one codec": embedded(t, payload.Options{Codecs: codecs[:1]}), "all": both,
	}
	for name, from := range earlier {
		written, err := from.Data.ToPayload(value)
		if err != nil {
			t.Fatal(err)
		}
		var got body
		if err := both.Data.FromPayload(written, &got); err != nil {
			t.Errorf("what was written with %s: %v", name, err)
		}
		if diff := cmp.Diff(value, got); diff != "" {
			t.Errorf("what was written with %s (-want +got):\n%s", name, diff)
		}
	}
	response := httptest.NewRecorder()
	text, err := protojson.Marshal(&commonpb.Payloads{Payloads: []*commonpb.Payload{encoded}})
	if err != nil {
		t.Fatal(err)
	}
	request := httptest.NewRequest(http.MethodPost, "/decode", bytes.NewReader(text))
	request.Header.Set("Content-Type", "application/json")
	both.NewHandler(payload.HandlerOptions{}).ServeHTTP(response, request)
	hidden := httptest.NewRequest(http.MethodPost, "/decode", bytes.NewReader(text))
	hidden.Header.Set("Content-Type", "application/json")
	refused := httptest.NewRecorder()
	both.NewHandler(payload.HandlerOptions{MayDecrypt: func(_ *http.Request, key string) bool { return key != "a" }}).ServeHTTP(refused, hidden)
	if refused.Code != http.StatusForbidden {
		t.Errorf("codecs hide the key from the check of callers: %d", refused.Code)
	}
	var decoded commonpb.Payloads
	if data, _ := io.ReadAll(response.Body); protojson.Unmarshal(data, &decoded) != nil || !strings.Contains(string(decoded.GetPayloads()[0].GetData()), "long long") {
		t.Errorf("the codec server returns %d %.200s", response.Code, data)
	}
}

func mustDecode(t *testing.T, codec converter.PayloadCodec, p *commonpb.Payload) []*commonpb.Payload {
	t.Helper()
	decoded, err := codec.Decode([]*commonpb.Payload{p})
	if err != nil {
		t.Fatal(err)
	}
	return decoded
}

// TestCodecOutage checks that a codec that fails for a while fails the workflow task and not
// the workflow: its error would end a resource's management.
func TestCodecOutage(t *testing.T) {
	working := embedded(t, payload.Options{Codecs: []converter.PayloadCodec{reversing{name: "kms"}}})
	input, err := working.Data.ToPayload("hello")
	if err != nil {
		t.Fatal(err)
	}
	down := embedded(t, payload.Options{Codecs: []converter.PayloadCodec{reversing{name: "kms", err: errors.New("503 from the key service")}}})
	for name, convert := range map[string]func(inside converter.DataConverter) error{
		"one value read": func(c converter.DataConverter) error { var text string; return c.FromPayload(input, &text) },
		"values read": func(c converter.DataConverter) error {
			var text string
			return c.FromPayloads(&commonpb.Payloads{Payloads: []*commonpb.Payload{input}}, &text)
		},
		"one value written": func(c converter.DataConverter) error { _, err := c.ToPayload("hello"); return err },
		"values written":    func(c converter.DataConverter) error { _, err := c.ToPayloads("hello"); return err },
	} {
		var suite testsuite.WorkflowTestSuite
		env := suite.NewTestWorkflowEnvironment()
		var panicked any
		env.ExecuteWorkflow(func(ctx workflow.Context) error {
			defer func() { panicked = recover() }()
			return convert(down.Data.(workflow.ContextAware).WithWorkflowContext(ctx))
		})
		if err, ok := panicked.(error); !ok || !strings.Contains(err.Error(), "503 from the key service") {
			t.Errorf("%s: the workflow task fails with %v", name, panicked)
		}
	}
	var text string
	if err := down.Data.FromPayload(input, &text); err == nil || !strings.Contains(err.Error(), "503") {
		t.Errorf("outside of workflows: %v", err)
	}
}

// counting counts how often a plugin is asked, and what it surrounds.
type counting struct{ configured, connected int }

// TestConfigure checks that a plugin configures once for all clients of a process, that its
// data converter stays below compression and encryption, and that it surrounds connections.
func TestConfigure(t *testing.T) {
	var counted counting
	own := converter.NewCodecDataConverter(converter.GetDefaultDataConverter(), reversing{name: "own"})
	plugin, err := temporal.NewSimplePlugin(temporal.SimplePluginOptions{
		Name: "example.com/tracing", DataConverter: own, ClientInterceptors: []interceptor.ClientInterceptor{&interceptor.ClientInterceptorBase{}},
		ConfigureClient: func(context.Context, client.PluginConfigureClientOptions) error { counted.configured++; return nil },
	})
	if err != nil {
		t.Fatal(err)
	}
	options, base := client.Options{HostPort: "127.0.0.1:1"}, payload.Options{}
	if err := payload.Configure(t.Context(), &options, []client.Plugin{plugin, &surrounding{counted: &counted}}, &base); err != nil {
		t.Fatal(err)
	}
	converters := embedded(t, base)
	converters.Apply(&options)
	for range 2 {
		c, err := client.NewLazyClient(options)
		if err != nil {
			t.Fatal(err)
		}
		c.Close()
	}
	if diff := cmp.Diff(counting{configured: 1, connected: 2}, counted, cmp.AllowUnexported(counting{})); diff != "" {
		t.Errorf("calls of the plugins (-want +got):\n%s", diff)
	}
	if len(options.Interceptors) != 1 {
		t.Errorf("%d interceptors of plugins, want one", len(options.Interceptors))
	}
	large := body{Name: strings.Repeat("long ", 1000)}
	encoded, err := options.DataConverter.ToPayload(large)
	if err != nil || string(encoded.GetMetadata()[converter.MetadataEncoding]) != payload.Encoding {
		t.Errorf("the payload is not compressed: %v (%v)", encoded.GetMetadata(), err)
	}
	for name, from := range map[string]converter.DataConverter{"of the plugin": options.DataConverter, "from before": payload.DataConverter()} {
		var got body
		if written, err := from.ToPayload(large); err != nil || options.DataConverter.FromPayload(written, &got) != nil || got.Name != large.Name {
			t.Errorf("what was written %s is not readable: %v", name, err)
		}
	}
	failing, err := temporal.NewSimplePlugin(temporal.SimplePluginOptions{
		Name: "example.com/broken", ConfigureClient: func(context.Context, client.PluginConfigureClientOptions) error { return errors.New("no license") },
	})
	if err != nil {
		t.Fatal(err)
	}
	if err := payload.Configure(t.Context(), &client.Options{}, []client.Plugin{failing}, &payload.Options{}); err == nil || !strings.Contains(err.Error(), "example.com/broken: no license") {
		t.Errorf("a plugin that fails: %v", err)
	}
}

// surrounding is a plugin that counts connections.
type surrounding struct {
	client.PluginBase
	counted *counting
}

func (*surrounding) Name() string { return "example.com/surrounding" }

func (s *surrounding) NewClient(ctx context.Context, options client.PluginNewClientOptions, next func(context.Context, client.PluginNewClientOptions) error) error {
	s.counted.connected++
	return next(ctx, options)
}
