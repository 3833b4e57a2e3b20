package activities

import (
	"context"
	"encoding/json"
	"fmt"
	"log/slog"
	"net/http"
	"os"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/armature-io/armature/armsim"
	"github.com/armature-io/armature/extensions"
	"github.com/armature-io/armature/resource"
)

const secretBody = `{"location":"westus2","properties":{"size":1,"adminPassword":{"$secret":"env:ARMATURE_SECRET_ACTIVITIES"}}}`

// TestMain sets the one secret, so that the tests can run in parallel.
func TestMain(m *testing.M) {
	if err := os.Setenv("ARMATURE_SECRET_ACTIVITIES", planted); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
	os.Exit(m.Run())
}

// lastPut returns the body that ARM last accepted for the thing.
func (w *world) lastPut() map[string]any {
	w.t.Helper()
	writes := w.sim.Writes()
	if len(writes) == 0 {
		w.t.Fatal("ARM accepted no PUT")
	}
	return writes[len(writes)-1].Body
}

//guard:secrets
func TestGuardSecret(t *testing.T) {
	t.Parallel()
	w, in := putWorld(t, long(armsim.OperationSpec{Shape: armsim.ShapeAsync, Seconds: 60}))
	in.Desired.Body, in.Desired.Secret = json.RawMessage(secretBody), []string{"properties.adminPassword"}
	got, err := run(w, w.acts.PutResource, in)
	must(t, err)
	if !strings.Contains(jsonOf(w.lastPut()), planted) {
		t.Fatalf("ARM got %v, without the secret", w.lastPut())
	}
	w.leaks(planted, got, w.verdicts)
}

//guard:secrets
func TestGuardSecretEchoed(t *testing.T) {
	t.Parallel()
	cases := map[string]struct {
		reason string
		fault  armsim.Fault
		part   string
	}{
		"Refused": {
			reason: "ARM repeats the value in its message", part: "The password",
			fault: armsim.Fault{Status: 400, Code: "InvalidParameter", Message: "The password '" + planted + "' is too short."},
		},
		"Details": {
			reason: "ARM repeats the value in target and details", part: "See details",
			fault: armsim.Fault{Status: 400, Body: json.RawMessage(`{"error":{"code":"BadRequest","message":"See details","target":"` + planted +
				`","details":[{"code":"Bad","message":"value ` + planted + `"}]}}`)},
		},
		"Fault": {
			reason: "also in an error that is retried", part: "failed on",
			fault: armsim.Fault{Status: 500, Code: "InternalServerError", Message: "failed on " + planted},
		},
	}
	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w, in := putWorld(t)
			in.Desired.Body, in.Desired.Secret = json.RawMessage(secretBody), []string{"properties.adminPassword"}
			c.fault.Method = http.MethodPut
			w.sim.AddFault(c.fault)
			got, failures := finish(w, w.acts.PutResource, in)
			if !strings.Contains(got.Verdict.Message, c.part) {
				t.Errorf("%s: message %q", c.reason, got.Verdict.Message)
			}
			for _, failure := range failures {
				w.leaks(planted, failure.Error())
			}
			w.leaks(planted, got, w.verdicts)
		})
	}
}

func TestPutResourceSecretMissing(t *testing.T) {
	t.Parallel()
	cases := map[string]struct {
		reason, ref string
		action      resource.Action
		class       resource.RetryClass
		part        string
	}{
		"Missing":    {"a secret may still be created", "env:ARMATURE_SECRET_NONE", resource.ActionBlock, resource.RetrySlow, "no such environment variable"},
		"NotAllowed": {"only a change of manifest or config fixes it", "env:HOME", resource.ActionError, resource.RetryVerySlow, "allows only variables"},
	}
	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w, in := putWorld(t)
			in.Desired.Body = json.RawMessage(`{"properties":{"adminPassword":{"$secret":"` + c.ref + `"}}}`)
			got, err := run(w, w.acts.PutResource, in)
			must(t, err)
			want(t, got.Verdict, c.action, resource.ReasonSecretNotFound, c.class, c.ref, c.part)
			if len(w.requests()) != 0 {
				t.Errorf("%s: requests %v", c.reason, w.requests())
			}
		})
	}
}

// An ignored path keeps ARM's value, unmasked; a marker that another user wrote
// there cannot read a secret of the worker.
//
//guard:ignore
//guard:secrets
func TestGuardIgnored(t *testing.T) {
	t.Parallel()
	w, in := putWorld(t)
	w.put(thingText, `{"location":"westus2","properties":{"size":7,"accessKey":"of-azure","count":5,"bait":{"$secret":"env:ARMATURE_SECRET_ACTIVITIES"}}}`)
	in.Desired.Ignore = []string{"properties.accessKey", "properties.count", "properties.bait"}
	got, err := run(w, w.acts.PutResource, in)
	must(t, err)
	if !got.Sent {
		t.Fatalf("got %+v", got)
	}
	sent := w.lastPut()["properties"].(map[string]any)
	delete(sent, "provisioningState")
	wanted := map[string]any{"size": 1.0, "accessKey": "of-azure", "count": 5.0, "bait": map[string]any{"$secret": "env:ARMATURE_SECRET_ACTIVITIES"}}
	if diff := cmp.Diff(jsonOf(wanted), jsonOf(sent)); diff != "" {
		t.Errorf("sent (-want +got):\n%s", diff)
	}
	w.leaks("of-azure", got, w.verdicts)
}

// The PUT must overwrite what was read.
//
//guard:if-match
func TestGuardIfMatch(t *testing.T) {
	t.Parallel()
	var header string
	w, in := putWorld(t, func(s *setup) {
		s.handler = func(next http.Handler) http.Handler {
			return http.HandlerFunc(func(response http.ResponseWriter, r *http.Request) {
				if r.Method == http.MethodPut {
					header = r.Header.Get("If-Match")
				}
				next.ServeHTTP(response, r)
			})
		}
	})
	w.put(thingText, `{"location":"westus2","properties":{"size":7,"count":5}}`)
	in.ObservedAt = time.Time{}
	_, err := run(w, w.acts.PutResource, in)
	must(t, err)
	if header == "" {
		t.Error("a PUT of what was read has no If-Match")
	}
	w.put(thingText, `{"location":"westus2","properties":{"size":7,"count":5}}`)
	in.Desired.Ignore = []string{"properties.count"}
	_, err = run(w, w.acts.PutResource, in)
	must(t, err)
	if header == "" {
		t.Error("a PUT merged from a GET has no If-Match")
	}
	must(t, w.sim.Patch(thingText, map[string]any{"properties": map[string]any{"size": 8}}))
	w.sim.AddFault(armsim.Fault{Method: http.MethodPut, Status: 412, Code: "PreconditionFailed"})
	got, err := run(w, w.acts.PutResource, in)
	must(t, err)
	want(t, got.Verdict, resource.ActionBlock, "PreconditionFailed", resource.RetrySlow)
}

//guard:no-mask-is-sent
func TestGuardMask(t *testing.T) {
	t.Parallel()
	w, in := putWorld(t)
	in.Desired.Body = json.RawMessage(`{"properties":{"list":[{"key":"` + resource.MaskPrefix + `0123456789abcdef"}]}}`)
	got, err := run(w, w.acts.PutResource, in)
	must(t, err)
	want(t, got.Verdict, resource.ActionError, resource.ReasonFailed, resource.RetryVerySlow, "masked value")
	if len(w.requests()) != 0 {
		t.Errorf("requests %v", w.requests())
	}
}

// modifier adds a property and may fail.
type modifier struct{ fail bool }

func (m modifier) ModifyARMResource(
	ctx context.Context, payload map[string]any, obj, owner *resource.Object, resolver extensions.Resolver,
	client extensions.ARMClient, log *slog.Logger, next extensions.ARMResourceModifierFunc,
) (map[string]any, error) {
	if m.fail {
		log.With("at once", payload).WithGroup("g").Info(fmt.Sprint(payload), slog.Group("later", "payload", payload))
		return nil, fmt.Errorf("cannot place %v", payload["properties"])
	}
	observed, _ := obj.StringAt("properties.only")
	properties, _ := payload["properties"].(map[string]any)
	properties["copied"], properties["owner"] = observed, owner.ID.Name()
	return next(ctx, payload, obj, owner, resolver, client, log)
}

func TestPutResourceModifier(t *testing.T) {
	t.Parallel()
	w, in := putWorld(t, func(s *setup) {
		s.entries = append(s.entries, extensions.Entry{Type: "Contoso.Things/things", Link: modifier{}})
	})
	w.put(thingText, `{"location":"westus2","properties":{"size":7,"only":"observed"}}`)
	_, err := run(w, w.acts.PutResource, in)
	must(t, err)
	sent := w.lastPut()["properties"].(map[string]any)
	if sent["copied"] != "observed" || sent["owner"] != "rg1" {
		t.Errorf("sent %v", sent)
	}
	if diff := cmp.Diff([]string{"GET t1", "GET rg1", "PUT t1"}, w.requests()); diff != "" {
		t.Errorf("requests (-want +got):\n%s", diff)
	}
}

func TestPutResourceModifierFails(t *testing.T) {
	t.Parallel()
	w, in := putWorld(t, func(s *setup) {
		s.entries = append(s.entries, extensions.Entry{Type: "Contoso.Things/things", Link: modifier{fail: true}})
	})
	in.Desired.Body = json.RawMessage(secretBody)
	got, err := run(w, w.acts.PutResource, in)
	must(t, err)
	want(t, got.Verdict, resource.ActionError, resource.ReasonCheckFailed, resource.RetrySlow, "cannot place")
	w.leaks(planted, got, w.verdicts)
	if w.puts(thingText) != 0 {
		t.Error("a payload that no modifier agreed to was sent")
	}
}
