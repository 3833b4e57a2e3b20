package activities

import (
	"context"
	"errors"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/armature-io/armature/activities/writing"
	"github.com/armature-io/armature/arm"
	"github.com/armature-io/armature/armsim"
	"github.com/armature-io/armature/resource"
	"github.com/armature-io/armature/types"
)

// TestGuardFence asks Temporal before each kind of write. What Temporal does not confirm is
// not sent.
//
//guard:fence
func TestGuardFence(t *testing.T) {
	t.Parallel()
	type step func(w *world) (resource.Verdict, int)
	put := func(change func(*PutResourceInput)) step {
		return func(w *world) (resource.Verdict, int) {
			w.put(thingText, `{"location":"westus2","properties":{"size":1}}`)
			in := PutResourceInput{Desired: desired(w.t, thingText, `{"location":"westus2","properties":{"size":2}}`), PassFacts: PassFacts{Generation: 3}, ObservedAt: w.now()}
			change(&in)
			got, _ := finish(w, w.acts.PutResource, in)
			return got.Verdict, 1
		}
	}
	steps := map[string]step{
		"PUT":   put(func(*PutResourceInput) {}),
		"PATCH": put(func(in *PutResourceInput) { in.Desired.Put = resource.PutPatch }),
		"DELETE": func(w *world) (resource.Verdict, int) {
			w.put(thingText, `{"location":"westus2"}`)
			got, _ := finish(w, w.acts.DeleteResource, DeleteResourceInput{Desired: desired(w.t, thingText, `{}`), PassFacts: PassFacts{Generation: 3}})
			if got.Verdict.Stops() && !got.Unsent {
				w.t.Error("a DELETE that was not sent counts as sent")
			}
			return got.Verdict, 1
		},
		"purge": func(w *world) (resource.Verdict, int) {
			spec := desired(w.t, purgeVault, `{"location":"westus2","properties":{}}`)
			spec.APIVersion, spec.Deletion.Purge = types.Newest(spec.ID.Type()), true
			w.put(purgeVault, string(spec.Body))
			_, err := w.acts.Client.Delete(w.writes(w.t.Context()), spec.ID, spec.APIVersion, arm.DeleteOptions{})
			must(w.t, err)
			w.fleet.confirmed = nil
			w.advance(time.Minute)
			got, _ := finish(w, w.acts.PurgeResource, PurgeResourceInput{Desired: spec, PassFacts: PassFacts{Generation: 3}, Since: w.now()})
			if got.Sent != (w.fleet.confirm == nil) {
				w.t.Errorf("the purge counts as sent: %t", got.Sent)
			}
			return got.Verdict, 1
		},
	}
	answers := map[string]struct {
		reason string
		// deny is nil for an answer that lets the write go.
		deny    func(n int) (writing.Standing, error)
		verdict resource.Reason
		part    string
	}{
		"Current": {reason: "the attempt is current and the generation the newest"},
		"Over": {"another attempt has begun: its writes are newer",
			func(int) (writing.Standing, error) { return writing.Standing{Over: "another attempt has begun"}, nil }, resource.ReasonSuperseded, "another attempt has begun"},
		"Newer": {"a newer generation was applied meanwhile",
			func(int) (writing.Standing, error) { return writing.Standing{Generation: 4}, nil }, resource.ReasonSuperseded, "generation 4 was applied before generation 3"},
		"Silent": {"without an answer nothing is known",
			func(int) (writing.Standing, error) { return writing.Standing{}, errors.New("deadline exceeded") }, resource.ReasonCheckFailed, "nothing is written"},
	}
	for kind, send := range steps {
		for name, answer := range answers {
			t.Run(kind+name, func(t *testing.T) {
				t.Parallel()
				w := newWorld(t)
				w.put(groupText, `{"location":"westus2"}`)
				w.fleet.confirm = nil
				if kind != "purge" {
					w.fleet.confirm = answer.deny
				}
				if kind == "purge" && answer.deny != nil {
					// The DELETE that prepares the purge is confirmed.
					deny := answer.deny
					w.fleet.confirm = func(n int) (writing.Standing, error) {
						if len(w.sim.Requests()) < 2 {
							return writing.Standing{}, nil
						}
						return deny(n)
					}
				}
				verdict, asked := send(w)
				writes := slices.DeleteFunc(w.sim.Requests(), func(r armsim.Request) bool { return r.Method == "GET" })
				if kind == "purge" {
					writes = slices.DeleteFunc(writes, func(r armsim.Request) bool { return r.Method == "DELETE" })
				}
				sent := answer.deny == nil
				if (len(writes) > 0) != sent || verdict.Reason == resource.ReasonSuperseded && sent {
					t.Errorf("%d writes and %+v: %s", len(writes), verdict, answer.reason)
				}
				if !sent && (verdict.Reason != answer.verdict || !strings.Contains(verdict.Message, answer.part)) {
					t.Errorf("the verdict is %s %q, want %s with %q: %s", verdict.Reason, verdict.Message, answer.verdict, answer.part, answer.reason)
				}
				if len(w.fleet.confirmed) != asked {
					t.Errorf("asked %d times, want %d: each write costs one question", len(w.fleet.confirmed), asked)
				}
			})
		}
	}
}

// TestGuardOldGeneration ends a step whose spec was replaced before it began, without a
// request.
//
//guard:fence
func TestGuardOldGeneration(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	in := PutResourceInput{Desired: desired(t, thingText, `{"location":"westus2"}`), PassFacts: PassFacts{Generation: 3}, Kind: PutCreation, Newest: 5, MaySent: true, ObservedAt: w.now()}
	got, _ := finish(w, w.acts.PutResource, in)
	want(t, got.Verdict, resource.ActionBlock, resource.ReasonSuperseded, resource.RetryFast, "generation 5 was applied before generation 3")
	if requests := w.requests(); len(requests) > 0 || !got.Unknown {
		t.Errorf("requests %v, unknown %t; want none, and what an earlier PUT did stays unknown", requests, got.Unknown)
	}
}

// TestNothingIsConfirmedWithoutWrite counts the questions of a step that finds nothing to
// write.
func TestNothingIsConfirmedWithoutWrite(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.put(groupText, `{"location":"westus2"}`)
	w.put(thingText, `{"location":"westus2"}`)
	got, _ := finish(w, w.acts.PutResource, PutResourceInput{Desired: desired(t, thingText, `{"location":"westus2"}`), PassFacts: PassFacts{Generation: 1}, ObservedAt: w.now()})
	if !got.Done || len(w.fleet.confirmed) != 0 {
		t.Errorf("%+v after %d questions, want none", got, len(w.fleet.confirmed))
	}
}

// TestWritesOutsideOfSteps sends a write from a context that no step marked.
func TestWritesOutsideOfSteps(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	_, err := w.acts.Client.Delete(t.Context(), id(t, thingText), "2024-01-01", arm.DeleteOptions{})
	verdict, refused := writing.Blocked(err)
	if !refused || verdict.Reason != resource.ReasonCheckFailed || len(w.requests()) > 0 {
		t.Errorf("the DELETE ended with %v after %v", err, w.requests())
	}
}

// TestLocalActivitiesSendNoWrites sends each method from a check.
func TestLocalActivitiesSendNoWrites(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.put(groupText, `{"location":"westus2"}`)
	w.put(thingText, `{"location":"westus2"}`)
	check := func(ctx context.Context, method string) (string, error) {
		ctx = w.acts.forWrites(ctx, desired(t, thingText, `{}`), PassFacts{Generation: 1}, writing.Step{})
		var err error
		if method == "POST" {
			_, err = w.acts.Client.Post(ctx, id(t, thingText), "sync", "2024-01-01", nil)
		} else {
			_, err = w.acts.Client.Delete(ctx, id(t, thingText), "2024-01-01", arm.DeleteOptions{})
		}
		_, refused := writing.Blocked(err)
		if refused {
			return "refused", nil
		}
		return "sent", nil
	}
	for method, want := range map[string]string{"POST": "sent", "DELETE": "refused"} {
		if got := local(w, check, method); got != want {
			t.Errorf("a %s of a check was %s, want %s", method, got, want)
		}
	}
	if len(w.fleet.confirmed) != 1 || w.fleet.confirmed[0].TaskToken != nil {
		t.Errorf("asked %+v, want once and without a token of an attempt", w.fleet.confirmed)
	}
}

// TestGuardFenceRegistration asks before a provider is registered: it is a write too.
//
//guard:fence
func TestGuardFenceRegistration(t *testing.T) {
	t.Parallel()
	w, _, in := unregistered(t)
	w.fleet.confirm = func(int) (writing.Standing, error) { return writing.Standing{Over: "another attempt has begun"}, nil }
	got, _ := finish(w, w.acts.RegisterProvider, in)
	if got.Verdict.Reason != resource.ReasonSuperseded || w.posts() != 0 {
		t.Errorf("%+v after %d POSTs, want none", got.Verdict, w.posts())
	}
}
