package payload_test

import (
	"errors"
	"strings"
	"testing"

	commonpb "go.temporal.io/api/common/v1"
	"go.temporal.io/sdk/client"
	"go.temporal.io/sdk/converter"
	"go.temporal.io/sdk/temporal"
	"go.temporal.io/sdk/workflow"

	"github.com/armature-io/armature/internal/payload"
)

// TestClearPlaces checks which payloads are exempt from encryption: those of the workflow of
// freezes and of the activity that confirms them. A payload cannot claim the exemption.
//
//guard:freeze
func TestClearPlaces(t *testing.T) {
	t.Parallel()
	workflowOf := func(id string) converter.SerializationContext {
		return converter.WorkflowSerializationContext{Namespace: "n", WorkflowID: id}
	}
	cases := map[string]struct {
		reason string
		place  converter.SerializationContext
		clear  bool
	}{
		"freezes":             {"a user without a key stops workers that have one", workflowOf(payload.ClearWorkflowID), true},
		"local":               {"its local activities, which a worker without the key replays", converter.ActivitySerializationContext{WorkflowID: payload.ClearWorkflowID, ActivityType: "RecordRequests", IsLocal: true}, true},
		"confirmation":        {"the answer of a worker to a user without a key", converter.ActivitySerializationContext{ActivityType: payload.ClearActivity}, true},
		"resource":            {"a resource is none of it", workflowOf("/subscriptions/1/resourceGroups/g"), false},
		"longer ID":           {"a prefix of an ID is another workflow", workflowOf(payload.ClearWorkflowID + "/x"), false},
		"no ID":               {"nor is a workflow that the SDK does not name", workflowOf(""), false},
		"activity":            {"a workflow with that ID schedules steps of a worker", converter.ActivitySerializationContext{WorkflowID: payload.ClearWorkflowID, WorkflowType: payload.ClearWorkflow, ActivityType: "PutResource"}, false},
		"confirmation inside": {"an activity of a workflow confirms nothing", converter.ActivitySerializationContext{WorkflowID: "w", ActivityType: payload.ClearActivity}, false},
		"step":                {"a step without a workflow", converter.ActivitySerializationContext{ActivityType: "PlanResource"}, false},
		"nexus":               {"nothing of Armature", converter.NexusSerializationContext{}, false},
	}
	with := converters(t, key("a", 1))
	around := embedded(t, payload.Options{Codecs: []converter.PayloadCodec{reversing{name: "outer", err: errors.New("its server is away")}}})
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			p, err := converter.WithDataConverterSerializationContext(with.Data, tc.place).ToPayload("planted")
			if err != nil {
				t.Fatal(err)
			}
			if clear := payload.KeyID(p) == ""; clear != tc.clear {
				t.Errorf("clear %t: %s", clear, tc.reason)
			}
			failure := converter.WithFailureConverterSerializationContext(with.Failure, tc.place).ErrorToFailure(temporal.NewApplicationError("planted", "Kind"))
			if clear := strings.Contains(failure.String(), "planted"); clear != tc.clear {
				t.Errorf("the message of a failure is clear %t: %s", clear, tc.reason)
			}
			if _, err := converter.WithDataConverterSerializationContext(around.Data, tc.place).ToPayload("planted"); (err == nil) != tc.clear {
				t.Errorf("a codec of an embedder returned %v: %s", err, tc.reason)
			}
		})
	}
	// The metadata of a payload says nothing about its place.
	claiming := &commonpb.Payload{Metadata: map[string][]byte{converter.MetadataEncoding: []byte("json/plain"), "armature": []byte(payload.ClearWorkflowID)}, Data: []byte(`"planted"`)}
	encoded, err := with.Codec.Encode([]*commonpb.Payload{claiming})
	if err != nil || payload.KeyID(encoded[0]) != "a" {
		t.Errorf("a payload claimed to be clear: %v, %v", encoded, err)
	}
}

// TestClearReading checks that what one side wrote without a key, or with another one, is
// read by all, and that an encrypted payload in a clear place is an error of that payload,
// which does not fail the workflow task until a worker with the key comes.
func TestClearReading(t *testing.T) {
	t.Parallel()
	sides := map[string]*payload.Converters{"no key": payload.Clear(), "a": converters(t, key("a", 1)), "b": converters(t, key("b", 2))}
	place := converter.WorkflowSerializationContext{WorkflowID: payload.ClearWorkflowID}
	for writer, from := range sides {
		p, err := from.ClearData().ToPayload(strings.Repeat("stack=prod,", 1000))
		if err != nil {
			t.Fatal(err)
		}
		hidden, err := from.Data.ToPayload("x")
		if err != nil {
			t.Fatal(err)
		}
		for reader, to := range sides {
			var options client.Options
			to.ApplyForWorker(&options)
			inWorkflow, ok := converter.WithDataConverterSerializationContext(options.DataConverter, place).(workflow.ContextAware)
			if !ok {
				t.Fatal("the converter has no variant for workflows")
			}
			data := inWorkflow.WithWorkflowContext(nil)
			var got string
			if err := data.FromPayload(p, &got); err != nil || len(got) != 11000 {
				t.Errorf("written by %s, read by %s: %d bytes, %v", writer, reader, len(got), err)
			}
			if err := data.FromPayload(hidden, &got); (err == nil) != (writer == "no key") {
				t.Errorf("encrypted by %s, read by %s: %v", writer, reader, err)
			}
		}
	}
}

// TestSeal checks the one encrypted member of a value that stays clear.
func TestSeal(t *testing.T) {
	t.Parallel()
	with, other := converters(t, key("a", 1)), converters(t, key("b", 2))
	sealed, err := with.Sealer("prod").Seal(body{Name: "planted"})
	if err != nil || len(sealed) == 0 || strings.Contains(string(sealed), "planted") {
		t.Fatalf("sealed %q, %v", sealed, err)
	}
	var got body
	if err := with.Sealer("prod").Unseal(sealed, &got); err != nil || got.Name != "planted" {
		t.Errorf("opened %+v, %v", got, err)
	}
	for name, c := range map[string]*payload.Converters{"no key": payload.Clear(), "another key": other} {
		if err := c.Sealer("prod").Unseal(sealed, &got); err == nil {
			t.Errorf("%s opened it", name)
		}
	}
	if err := with.Sealer("test").Unseal(sealed, &got); err == nil {
		t.Error("the author of a freeze of one namespace is that of one in another")
	}
	if err := with.Sealer("prod").Unseal([]byte("noise"), &got); err == nil {
		t.Error("noise was opened")
	}
	if sealed, err := payload.Clear().Sealer("prod").Seal(body{}); sealed != nil || err != nil {
		t.Errorf("without a key %q, %v; want nothing", sealed, err)
	}
}
