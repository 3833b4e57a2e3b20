package wait

import (
	"testing"
	"time"

	"github.com/armature-io/armature/resource"
	"github.com/armature-io/armature/starter/internal/backend"
	"github.com/armature-io/armature/workflows"
	"github.com/google/go-cmp/cmp"
)

// TestIsHopeless checks that a wait ends because of a list only after the workflow was
// asked: a list shows neither a pass that runs nor what is older than it.
func TestIsHopeless(t *testing.T) {
	blocked := row(t, workflows.PhaseNotReady, 1, 1)
	blocked.Summary.Condition.Reason = resource.ReasonSecretNotFound
	status := workflows.Status{ID: blocked.ID, Phase: workflows.PhaseNotReady, Generation: 1, Condition: blocked.Summary.Condition}
	running := status
	running.InPass = true
	for name, tc := range map[string]struct {
		reason string
		status workflows.Status
		want   bool
	}{
		"idle":   {reason: "only a person helps", status: status, want: true},
		"a pass": {reason: "it may find the secret", status: running},
	} {
		t.Run(name, func(t *testing.T) {
			s := &server{listed: blocked, described: blocked, status: tc.status}
			f := Follow(s, []Resource{{Record: backend.RecordOf(blocked.ID), Changed: true}}, Ready, time.Now)
			if err := f.Round(t.Context()); err != nil || s.asked > 0 {
				t.Fatalf("%d queries, %v; want none before the wait is to end", s.asked, err)
			}
			got, err := f.IsHopeless(t.Context())
			if got != tc.want || err != nil || s.asked != 1 {
				t.Errorf("%s: hopeless %t, %v after %d queries; want %t after 1", tc.reason, got, err, s.asked, tc.want)
			}
			if blocker := f.Outcomes[0].Blocker; (blocker != "") != tc.want {
				t.Errorf("%s: blocker %q", tc.reason, blocker)
			}
		})
	}
}

// TestTriedWithoutTrace checks that a wait ends after the longest time between two tries if
// the list shows nothing new: a pass that ends as the one before writes nothing.
func TestTriedWithoutTrace(t *testing.T) {
	blocked := row(t, workflows.PhaseNotReady, 1, 1)
	blocked.Summary.Condition.Reason, blocked.Summary.RetryWithin = resource.ReasonSecretNotFound, 3*time.Minute
	clock := noon()
	s := &server{listed: blocked, described: blocked, status: workflows.Status{
		ID: blocked.ID, Phase: workflows.PhaseNotReady, Generation: 1, Condition: blocked.Summary.Condition, Pass: 9, NextTry: clock.Add(5 * time.Minute),
	}}
	f := Follow(s, []Resource{{Record: backend.RecordOf(blocked.ID)}}, Ready, func() time.Time { return clock })
	for _, after := range []time.Duration{0, time.Minute, 3 * time.Minute, 3*time.Minute + 31*time.Second} {
		clock = noon().Add(after)
		if err := f.Round(t.Context()); err != nil {
			t.Fatal(err)
		}
		got, err := f.IsHopeless(t.Context())
		if want := after > 3*time.Minute; got != want || err != nil {
			t.Errorf("after %s: hopeless %t, %v; want %t", after, got, err, want)
		}
	}
}

// TestNames checks that the names of what a resource waits for come from the wait, or from
// its owners, and else from its workflow.
func TestNames(t *testing.T) {
	group, err := resource.ParseID("/subscriptions/11111111-2222-3333-4444-555555555555/resourceGroups/rg1")
	if err != nil {
		t.Fatal(err)
	}
	vault, err := resource.ParseID(group.String() + "/providers/Microsoft.KeyVault/vaults/v1")
	if err != nil {
		t.Fatal(err)
	}
	for name, tc := range map[string]struct {
		reason string
		waits  resource.ID
		others []resource.ID
		asked  int
	}{
		"an owner":       {reason: "the ID has it", waits: group},
		"of the wait":    {reason: "the wait has its ID", waits: vault, others: []resource.ID{vault}},
		"something else": {reason: "a list has only its hash", waits: vault, asked: 1},
	} {
		t.Run(name, func(t *testing.T) {
			blocked := row(t, workflows.PhaseBlocked, 1, 1)
			blocked.WaitingFor = []string{workflows.WaitingKey(tc.waits)}
			s := &server{listed: blocked, described: blocked, status: workflows.Status{ID: blocked.ID, Phase: workflows.PhaseBlocked, WaitingFor: []resource.ID{tc.waits}}}
			list := []Resource{{Record: backend.RecordOf(blocked.ID)}}
			for _, id := range tc.others {
				done := Resource{Record: backend.RecordOf(id)}
				list = append(list, done)
			}
			f := Follow(s, list, Ready, time.Now)
			for i := range tc.others {
				f.Outcomes[1+i].Done = true
			}
			if err := f.Round(t.Context()); err != nil {
				t.Fatal(err)
			}
			equal := cmp.Comparer(resource.ID.Equal)
			if diff := cmp.Diff([]resource.ID{tc.waits}, f.Outcomes[0].View.WaitingFor, equal); diff != "" || s.asked != tc.asked {
				t.Errorf("%s: %d queries, want %d; names (-want +got):\n%s", tc.reason, s.asked, tc.asked, diff)
			}
		})
	}
}
