package workflows_test

import (
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/armature-io/armature/activities"
	"github.com/armature-io/armature/resource"
	"github.com/armature-io/armature/workflows"
)

// signedAt returns the spec of the tests with a signature of a minute.
func signedAt(minute int) resource.Desired {
	spec := desired()
	spec.Signature = &resource.Signature{Key: "k", At: time.Date(2026, 1, 1, 0, minute, 0, 0, time.UTC), Value: []byte{1}}
	return spec
}

// TestRepeatedApplyRenewsSignature applies an unchanged manifest with a key after a worker
// refused it for want of one.
func TestRepeatedApplyRenewsSignature(t *testing.T) {
	r := newRun(t)
	var written []*resource.Signature
	r.script.pre = create
	r.script.put = func(in activities.PutResourceInput) (activities.PutResourceResult, error) {
		if in.Desired.Signature == nil {
			return activities.PutResourceResult{Verdict: resource.Block(resource.ReasonSignatureMissing, "not signed")}, nil
		}
		written = append(written, in.Desired.Signature)
		r.script.pre = newScript().pre
		return activities.PutResourceResult{Verdict: resource.Proceed("accepted"), Done: true, Sent: true}, nil
	}
	r.apply(desired())
	blocked := r.statusAt(5 * time.Second)
	again := r.at(10*time.Second, workflows.ApplyUpdate, workflows.ApplyInput{Desired: signedAt(1)})
	ready := r.statusAt(20 * time.Second)
	quiet := r.at(30*time.Second, workflows.ApplyUpdate, workflows.ApplyInput{Desired: signedAt(2)})
	last := r.statusAt(40 * time.Second)
	r.start(time.Minute)
	if blocked.Condition.Reason != resource.ReasonSignatureMissing {
		t.Errorf("before: %+v", blocked.Condition)
	}
	for name, update := range map[string]*updateResult{"renewed": again, "repeated": quiet} {
		if diff := cmp.Diff(workflows.ApplyResult{Generation: 1}, update.result); diff != "" || update.rejected != nil {
			t.Errorf("%s: the spec is the same (-want +got):\n%s%v", name, diff, update.rejected)
		}
	}
	if len(written) != 1 || ready.Phase != workflows.PhaseReady {
		t.Errorf("a signature starts a pass at once: %d writes, %+v", len(written), ready.Condition)
	}
	if last.Pass != ready.Pass {
		t.Error("the next signature of a Ready resource started a pass")
	}
}

// TestOlderSignatureIsRefused applies what was signed before the spec in force.
//
//guard:signed-specs
func TestOlderSignatureIsRefused(t *testing.T) {
	r := newRun(t)
	r.apply(signedAt(5))
	older := r.at(10*time.Second, workflows.ApplyUpdate, workflows.ApplyInput{Desired: signedAt(4)})
	unsigned := r.at(20*time.Second, workflows.ApplyUpdate, workflows.ApplyInput{Desired: desired()})
	stillOlder := r.at(30*time.Second, workflows.ApplyUpdate, workflows.ApplyInput{Desired: signedAt(4)})
	r.start(time.Minute)
	for name, update := range map[string]*updateResult{"older": older, "older after an unsigned one": stillOlder} {
		if update.rejected == nil || !strings.Contains(update.rejected.Error(), "compare the clocks of the signers") {
			t.Errorf("%s: %+v", name, update)
		}
	}
	if unsigned.rejected != nil {
		t.Errorf("workers without keys accept what is not signed: %v", unsigned.rejected)
	}
}

// TestSignedDeletion checks that the steps of a deletion get the signed request, and the
// api-version of the spec.
func TestSignedDeletion(t *testing.T) {
	r := newRun(t)
	order := &resource.DeletionOrder{ID: desired().ID, Cascade: true, APIVersion: "2030-01-01", Signature: signedAt(6).Signature}
	var deleted activities.DeleteResourceInput
	var cascade *resource.DeletionOrder
	gone := false
	r.script.get = func(activities.GetResourceInput) activities.GetResourceResult {
		if gone {
			return absent()
		}
		return present()
	}
	r.script.dependents = func(in activities.CheckDependentsInput) resource.Verdict {
		cascade = in.Order
		return resource.Proceed("")
	}
	r.script.delete = func(in activities.DeleteResourceInput) activities.DeleteResourceResult {
		deleted, gone = in, true
		return activities.DeleteResourceResult{Verdict: resource.Proceed("accepted"), Done: true, Accepted: true}
	}
	r.apply(signedAt(5))
	r.at(10*time.Second, workflows.DeleteUpdate, workflows.DeleteInput{Cascade: true, APIVersion: "2030-01-01", Order: order})
	r.start(0)
	if diff := cmp.Diff(order, deleted.Order); diff != "" || deleted.SpecVersion != desired().APIVersion || deleted.Desired.APIVersion != "2030-01-01" {
		t.Errorf("DELETE (-want +got):\n%s%+v", diff, deleted)
	}
	if diff := cmp.Diff(order, cascade); diff != "" {
		t.Errorf("the cascade (-want +got):\n%s", diff)
	}
}

// TestRepeatedDeletionKeepsOrder repeats a deletion with other requests.
func TestRepeatedDeletionKeepsOrder(t *testing.T) {
	of := func(minute int, cascade bool) *resource.DeletionOrder {
		return &resource.DeletionOrder{ID: desired().ID, Cascade: cascade, Signature: signedAt(minute).Signature}
	}
	cases := map[string]struct {
		reason        string
		first, second workflows.DeleteInput
		want          *resource.DeletionOrder
	}{
		"newer":         {"a user signs again", workflows.DeleteInput{Order: of(1, false)}, workflows.DeleteInput{Order: of(2, false)}, of(2, false)},
		"first one":     {"a user signs after a request without a key", workflows.DeleteInput{}, workflows.DeleteInput{Order: of(2, false)}, of(2, false)},
		"without":       {"a request without a key", workflows.DeleteInput{Order: of(1, false)}, workflows.DeleteInput{}, of(1, false)},
		"cascade stays": {"the deletion keeps its cascade", workflows.DeleteInput{Cascade: true, Order: of(1, true)}, workflows.DeleteInput{Order: of(2, false)}, of(1, true)},
		"of an owner": {
			"the request of a user outlasts the cascade", workflows.DeleteInput{Order: of(1, false)},
			workflows.DeleteInput{From: desired().Owner, Cascade: true, Order: of(2, true)}, of(1, false),
		},
	}
	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			r := newRun(t)
			var got *resource.DeletionOrder
			r.script.dependents = func(in activities.CheckDependentsInput) resource.Verdict {
				got = in.Order
				return needed(in)
			}
			r.apply(desired())
			r.at(10*time.Second, workflows.DeleteUpdate, c.first)
			r.at(20*time.Second, workflows.DeleteUpdate, c.second)
			r.start(time.Hour)
			if diff := cmp.Diff(c.want, got); diff != "" {
				t.Errorf("%s (-want +got):\n%s", c.reason, diff)
			}
		})
	}
}

// TestSignedReplacement checks that the DELETE of a replacement has the signed approval.
func TestSignedReplacement(t *testing.T) {
	r := newRun(t)
	order := &resource.DeletionOrder{ID: desired().ID, Replace: true, Signature: signedAt(6).Signature}
	var deleted activities.DeleteResourceInput
	r.script.pre = func(activities.PreCheckInput) resource.Verdict { return resource.Proceed("drift") }
	r.script.put = func(in activities.PutResourceInput) (activities.PutResourceResult, error) {
		return activities.PutResourceResult{Verdict: resource.Fail("PropertyChangeNotAllowed", resource.RetryVerySlow, "no"), Replace: in.Approved.Replacement}, nil
	}
	r.script.delete = func(in activities.DeleteResourceInput) activities.DeleteResourceResult {
		deleted = in
		return activities.DeleteResourceResult{Verdict: resource.Fail("Stop", resource.RetryVerySlow, "enough")}
	}
	spec := signedAt(5)
	spec.Recreate = resource.RecreateOnImmutable
	r.apply(spec)
	r.at(10*time.Second, workflows.ReconcileUpdate, workflows.ReconcileInput{Recreate: true, Order: order})
	r.start(time.Minute)
	if diff := cmp.Diff(order, deleted.Order); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}
