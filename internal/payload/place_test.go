package payload_test

import (
	"bytes"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	commonpb "go.temporal.io/api/common/v1"
	"go.temporal.io/sdk/converter"
	"go.temporal.io/sdk/workflow"
	"google.golang.org/protobuf/encoding/protojson"
	"google.golang.org/protobuf/proto"

	"github.com/armature-io/armature/internal/payload"
)

// TestPlaces checks that an encrypted payload is readable at its own place and where no place is
// known, and nowhere else, also after its metadata was changed.
//
//guard:what-is-encrypted-stays-whole
func TestPlaces(t *testing.T) {
	t.Parallel()
	c := converters(t, key("a", 1))
	here, there := payload.Place{Namespace: "prod", WorkflowID: "/subscriptions/a"}, payload.Place{Namespace: "prod", WorkflowID: "/subscriptions/b"}
	sealed := func(place payload.Place) *commonpb.Payload {
		p, err := payload.At(place, c.Data).ToPayload("delete it")
		if err != nil {
			t.Fatal(err)
		}
		return p
	}
	relabeled := proto.CloneOf(sealed(here))
	relabeled.Metadata[payload.MetadataWorkflowID] = []byte(there.WorkflowID)
	shifted := proto.CloneOf(sealed(here))
	shifted.Metadata[payload.MetadataNamespace], shifted.Metadata[payload.MetadataWorkflowID] = []byte("od"), []byte(here.WorkflowID+"pr")
	stripped := proto.CloneOf(sealed(here))
	delete(stripped.Metadata, payload.MetadataNamespace)
	delete(stripped.Metadata, payload.MetadataWorkflowID)
	cases := map[string]struct {
		reason  string
		payload *commonpb.Payload
		place   payload.Place
		want    string
	}{
		"own":           {"it was written there", sealed(here), here, ""},
		"unknown place": {"a codec server and a replay of a file know none", sealed(here), payload.Place{}, ""},
		"replay":        {"the SDK replays files in a namespace of its own", sealed(here), payload.Place{Namespace: "ReplayNamespace", WorkflowID: "ReplayId"}, ""},
		"workflow":      {"a message to another resource", sealed(there), here, "written for workflow /subscriptions/b of namespace prod"},
		"namespace":     {"another namespace has the same resource", sealed(payload.Place{Namespace: "test", WorkflowID: here.WorkflowID}), here, "namespace test"},
		"no place":      {"nothing in a workflow is written without one", sealed(payload.Place{}), here, "written for no workflow"},
		"relabeled":     {"the label is authenticated", relabeled, there, "altered"},
		"shifted":       {"and where the namespace ends", shifted, payload.Place{Namespace: "od", WorkflowID: here.WorkflowID + "pr"}, "altered"},
		"stripped":      {"and that there is one", stripped, payload.Place{}, "altered"},
	}
	for name, c2 := range cases {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			var got string
			err := payload.At(c2.place, c.Data).FromPayload(c2.payload, &got)
			if c2.want == "" && (err != nil || got != "delete it") || c2.want != "" && (err == nil || !strings.Contains(err.Error(), c2.want)) {
				t.Errorf("%s: read %q with %v, want the error %q", c2.reason, got, err, c2.want)
			}
		})
	}
	activity := converter.WithDataConverterSerializationContext(c.Data, converter.ActivitySerializationContext{Namespace: here.Namespace, WorkflowID: here.WorkflowID})
	var got string
	if err := activity.FromPayload(sealed(here), &got); err != nil {
		t.Errorf("a step does not read what its workflow wrote: %v", err)
	}
	func() {
		defer func() {
			if recover() == nil {
				t.Error("what was copied into a history ends no workflow task: its workflow would end, or drop a message")
			}
		}()
		inWorkflow := payload.At(here, c.Data).(workflow.ContextAware).WithWorkflowContext(nil) //nolint:forcetypeassert // it is one
		_ = inWorkflow.FromPayload(sealed(there), &got)
	}()
	if more := proto.Size(sealed(here)) - proto.Size(sealed(payload.Place{})) - len(here.Namespace+here.WorkflowID); more > 60 {
		t.Errorf("a place takes %d bytes beside its texts", more)
	} else {
		t.Logf("a place takes %d bytes beside its texts", more)
	}
	if clear := payload.Clear().Data; payload.At(here, clear) != clear {
		t.Error("a converter without keys is made anew for each workflow")
	}
}

// TestCodecServerNamespaces checks that a codec server decodes no payload that was copied from
// another namespace, if the sender says which one it looks at.
func TestCodecServerNamespaces(t *testing.T) {
	t.Parallel()
	c := converters(t, key("a", 1))
	p, err := payload.At(payload.Place{Namespace: "prod", WorkflowID: "adx"}, c.Data).ToPayload("a body")
	if err != nil {
		t.Fatal(err)
	}
	body, err := protojson.Marshal(&commonpb.Payloads{Payloads: []*commonpb.Payload{p}})
	if err != nil {
		t.Fatal(err)
	}
	for namespace, want := range map[string]int{"prod": http.StatusOK, "": http.StatusOK, "test": http.StatusForbidden} {
		r := httptest.NewRequest(http.MethodPost, "/decode", bytes.NewReader(body))
		r.Header.Set("Content-Type", "application/json")
		r.Header.Set("X-Namespace", namespace)
		w := httptest.NewRecorder()
		c.NewHandler(payload.HandlerOptions{}).ServeHTTP(w, r)
		if w.Code != want {
			t.Errorf("a payload of prod read in %q returned %d, want %d: %s", namespace, w.Code, want, w.Body)
		}
	}
}

// TestBound checks that the token of a freeze is encrypted, although the freeze is clear.
func TestBound(t *testing.T) {
	t.Parallel()
	c := converters(t, key("a", 1))
	freeze := payload.Place{Namespace: "prod", WorkflowID: payload.ClearWorkflowID}
	for name, clear := range map[string]bool{"At": true, "Bound": false} {
		at := payload.At(freeze, c.Data)
		if name == "Bound" {
			at = payload.Bound(freeze, c.Data)
		}
		p, err := at.ToPayload("token")
		if err != nil {
			t.Fatal(err)
		}
		if isClear := payload.KeyID(p) == ""; isClear != clear {
			t.Errorf("%s: clear is %t, want %t", name, isClear, clear)
		}
		var got string
		if err := at.FromPayload(p, &got); err != nil || got != "token" {
			t.Errorf("%s: read %q, %v", name, got, err)
		}
	}
	p, err := payload.Bound(freeze, c.Data).ToPayload("token")
	if err != nil {
		t.Fatal(err)
	}
	var got string
	if err := payload.Bound(payload.Place{Namespace: "prod", WorkflowID: "/subscriptions/a"}, c.Data).FromPayload(p, &got); err == nil {
		t.Error("the token of a freeze is read in another workflow")
	}
}
