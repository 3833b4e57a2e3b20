package corpus

import (
	"context"
	"fmt"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/armature-io/armature/activities"
	"github.com/armature-io/armature/arm"
	"github.com/armature-io/armature/resource"
)

// TestCorpusOperations replays every recorded operation: the recorded outcome,
// never fewer polls than the server needs, never one before Retry-After, and one
// write.
func TestCorpusOperations(t *testing.T) {
	traces := read[trace](t, "lro.jsonl.gz")
	w := newWorld(t)
	replayed := 0
	for i := range traces {
		if err := w.replay(t, &traces[i]); err != nil {
			t.Errorf("%s %d %s %s (%s): %v", traces[i].Cassette, traces[i].Index, traces[i].Type, traces[i].Shape, traces[i].Outcome, err)
			continue
		}
		replayed++
	}
	score("lro.replayed", replayed, len(traces))
}

// replay plays one trace to its end and returns what was wrong.
func (w *world) replay(t *testing.T, tr *trace) error {
	t.Helper()
	id := idOf(t, tr.Type)
	s := newStage(tr, id.String(), w.server.URL, w.now)
	w.play = s
	op, err := w.begin(tr, id)
	if err != nil {
		return fmt.Errorf("the request was refused: %w", err)
	}
	got, err := w.follow(s, op, id)
	if err != nil {
		return err
	}
	polls := s.played[s.followed()]
	switch needed := s.needed(); {
	case !agrees(tr.Outcome, got, s.played[toResource] > 0):
		return fmt.Errorf("it ended as %s", got)
	case polls < needed && settled(tr.Outcome):
		return fmt.Errorf("it ended after %d polls, the server needs %d", polls, needed)
	case s.early > 0:
		return fmt.Errorf("%d requests came before Retry-After", s.early)
	case s.writes != 1:
		return fmt.Errorf("it was sent %d times", s.writes)
	}
	return nil
}

func (w *world) begin(tr *trace, id resource.ID) (arm.Operation, error) {
	ctx, cancel := context.WithTimeout(arm.WithSubject(context.Background(), id), 30*time.Second)
	defer cancel()
	switch tr.Method {
	case http.MethodPut:
		return w.client.Put(ctx, id, versionOf(tr.APIVersion), []byte(`{}`), arm.PutOptions{})
	case http.MethodDelete:
		return w.client.Delete(ctx, id, versionOf(tr.APIVersion), arm.DeleteOptions{})
	}
	return w.client.Post(ctx, id, "action", versionOf(tr.APIVersion), nil)
}

// follow waits for the operation and reads the resource, as a pass does.
func (w *world) follow(s *stage, op arm.Operation, id resource.ID) (string, error) {
	deleting := s.trace.Method == http.MethodDelete
	target := resource.Target{ID: id, APIVersion: versionOf(s.trace.APIVersion)}
	got := strings.ToLower(op.Outcome)
	if !op.Done {
		result, err := finish(w, w.acts.PollOperation, activities.PollOperationInput{
			Target: target, Token: op.Token, RetryAfter: op.RetryAfter, Delete: deleting,
		})
		if err != nil {
			return "", err
		}
		got = "succeeded"
		if result.Verdict.Stops() {
			got = "failed"
			if strings.Contains(result.Verdict.Message, "ended as Canceled") {
				got = "canceled"
			}
		}
	}
	if got != "succeeded" || deleting || s.trace.Method == http.MethodPost {
		return got, nil
	}
	// The response to a PUT names no wait for reading the resource.
	s.notBefore = time.Time{}
	read, err := finish(w, w.acts.GetResource, activities.GetResourceInput{Target: target})
	if err != nil {
		return "", err
	}
	object := resource.Object{}
	if read.Exists {
		if object.Observed, err = resource.DecodeBody(read.Observed); err != nil {
			return "", err
		}
	}
	if resource.Broken(object.ProvisioningState()) {
		return "failed", nil
	}
	return got, nil
}

// settled reports whether the recording shows the end of the operation.
func settled(outcome string) bool {
	return outcome == "succeeded" || outcome == "failed" || outcome == "canceled"
}

// agrees compares outcomes; an end that was not recorded counts as accepted when
// the resource was read.
func agrees(recorded, got string, read bool) bool {
	if settled(recorded) {
		return recorded == got
	}
	return got == "succeeded" && read
}

// versionOf returns an api-version, also where none was recorded.
func versionOf(recorded string) string {
	if recorded == "" {
		return "2024-01-01"
	}
	return recorded
}

// idOf returns an ID of a type.
func idOf(t *testing.T, typ string) resource.ID {
	t.Helper()
	const subscription = "/subscriptions/00000000-0000-0000-0000-000000000000"
	namespace, kinds, ok := strings.Cut(typ, "/")
	if !ok {
		namespace, kinds = "Contoso.Things", "things"
	}
	text := subscription + "/resourceGroups/rg1/providers/" + namespace
	switch {
	case strings.EqualFold(typ, resource.TypeResourceGroup):
		text, kinds = subscription+"/resourceGroups/rg1", ""
	case strings.EqualFold(typ, resource.TypeSubscription):
		text, kinds = subscription, ""
	}
	for i, kind := range strings.Split(kinds, "/") {
		if kind != "" {
			text += fmt.Sprintf("/%s/n%d", kind, i+1)
		}
	}
	id, err := resource.ParseID(text)
	must(t, err)
	return id
}
