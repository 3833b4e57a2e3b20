package activities

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/armature-io/armature/resource"
	"go.temporal.io/api/serviceerror"
)

// databases are managed children of the cluster.
func databases(t *testing.T, n int, each Managed) []Managed {
	var all []Managed
	for i := range n {
		one := each
		one.ID = id(t, fmt.Sprintf("%s/databases/d%03d", clusterText, i))
		all = append(all, one)
	}
	return all
}

//guard:data-needs-a-consent
func TestCheckDependents(t *testing.T) {
	t.Parallel()
	active := Managed{Policy: resource.PolicyManage}
	deleting := Managed{Policy: resource.PolicyManage, Deleting: true}
	released := Managed{Policy: resource.PolicyManage, Deleting: true, Released: true}
	kept := Managed{Policy: resource.PolicyDetachOnDelete}
	cases := map[string]struct {
		reason   string
		cascade  bool
		withData bool
		found    Dependents
		action   resource.Action
		why      resource.Reason
		class    resource.RetryClass
		parts    []string
		waits    int
		deleted  int
		lacks    string
	}{
		"None": {reason: "no resource needs it", action: resource.ActionProceed},
		"Blocking": {
			reason: "the message names the dependents and the action", found: Dependents{Blocking: 2, Listed: databases(t, 2, active)},
			action: resource.ActionBlock, why: resource.ReasonWaitingForDependents, class: resource.RetrySlow, waits: 2,
			parts: []string{"managed resources need c1: c1/d000 (Microsoft.Kusto/clusters/databases), c1/d001", "delete them first, or delete with --cascade"},
		},
		"Going": {
			reason: "no action needed", found: Dependents{Blocking: 2, Listed: databases(t, 2, deleting)},
			action: resource.ActionBlock, why: resource.ReasonWaitingForDependents, class: resource.RetrySlow, waits: 2,
			parts: []string{"they are being deleted"},
		},
		"Released": {
			reason: "dependents that are deleted with it do not block", found: Dependents{Listed: databases(t, 3, released)}, action: resource.ActionProceed,
		},
		"SomeReleased": {
			reason: "only blocking dependents are named",
			found:  Dependents{Blocking: 1, Listed: append(databases(t, 1, deleting), Managed{ID: id(t, clusterText+"/databases/r1"), Deleting: true, Released: true})},
			action: resource.ActionBlock, why: resource.ReasonWaitingForDependents, class: resource.RetrySlow, waits: 1, parts: []string{"c1/d000"},
		},
		"Many": {
			reason: "it names ten, counts the rest, and waits for 32", found: Dependents{Blocking: 250, Listed: databases(t, 100, active)},
			action: resource.ActionBlock, why: resource.ReasonWaitingForDependents, class: resource.RetrySlow, waits: 32, parts: []string{"c1/d009 (", " and 240 more;"},
		},
		"VeryMany": {
			reason: "the message shows that the count was cut off", found: Dependents{Blocking: 5000, More: true, Listed: databases(t, 100, active)},
			action: resource.ActionBlock, why: resource.ReasonWaitingForDependents, class: resource.RetrySlow, waits: 32, parts: []string{" and at least 4990 more;"},
		},
		"Cascade": {
			reason: "--cascade deletes the dependents that are not being deleted yet", cascade: true,
			found:  Dependents{Blocking: 3, Listed: append(databases(t, 2, active), Managed{ID: id(t, databaseText), Policy: resource.PolicyManage, Deleting: true})},
			action: resource.ActionBlock, why: resource.ReasonWaitingForDependents, class: resource.RetrySlow, waits: 3, deleted: 2,
			parts: []string{"they are being deleted"},
		},
		"CascadeWithData": {
			reason: "the consent reaches those that wait for it", cascade: true, withData: true,
			found:  Dependents{Blocking: 2, Listed: append(databases(t, 1, deleting), Managed{ID: id(t, databaseText), Policy: resource.PolicyManage, Deleting: true, HoldsData: true})},
			action: resource.ActionBlock, why: resource.ReasonWaitingForDependents, class: resource.RetrySlow, waits: 2, deleted: 1,
		},
		"CascadeWithoutData": {
			reason: "without a consent there is nothing to pass on", cascade: true,
			found:  Dependents{Blocking: 1, Listed: []Managed{{ID: id(t, databaseText), Policy: resource.PolicyManage, Deleting: true, HoldsData: true}}},
			action: resource.ActionBlock, why: resource.ReasonWaitingForDependents, class: resource.RetrySlow, waits: 1,
		},
		"CascadeOverKept": {
			reason: "a child that stays in Azure stops the whole cascade", cascade: true,
			found:  Dependents{Blocking: 3, Listed: append(databases(t, 2, active), Managed{ID: id(t, databaseText), Policy: resource.PolicyDetachOnDelete})},
			action: resource.ActionBlock, why: resource.ReasonContainsProtected, class: resource.RetryVerySlow, waits: 1,
			parts: []string{"would also delete resources that their policy, or the worker's setting observe, keeps in Azure: c1/db1"},
		},
		"CascadeOverManyKept": {
			reason: "the number of named children is bounded", cascade: true, found: Dependents{Blocking: 80, Listed: databases(t, 80, kept)},
			action: resource.ActionBlock, why: resource.ReasonContainsProtected, class: resource.RetryVerySlow, waits: 32, parts: []string{"and 70 more"},
		},
		"CascadeOverUnknownPolicy": {
			reason: "an unknown policy counts as one that keeps the resource", cascade: true, found: Dependents{Blocking: 1, Listed: databases(t, 1, Managed{})},
			action: resource.ActionBlock, why: resource.ReasonContainsProtected, class: resource.RetryVerySlow, waits: 1,
		},
		"KeptElsewhere": {
			reason: "a cascade neither deletes nor releases what is not in it", cascade: true,
			found:  Dependents{Blocking: 1, Listed: []Managed{{ID: id(t, thingText), Policy: resource.PolicyDetachOnDelete}}},
			action: resource.ActionBlock, why: resource.ReasonWaitingForDependents, class: resource.RetrySlow, waits: 1,
		},
		"CascadeAndElsewhere": {
			reason: "a cascade does not delete resources that only refer to it: the message names them", cascade: true,
			found:  Dependents{Blocking: 2, Listed: append(databases(t, 1, active), Managed{ID: id(t, thingText), Policy: resource.PolicyManage})},
			action: resource.ActionBlock, why: resource.ReasonWaitingForDependents, class: resource.RetrySlow, waits: 2, deleted: 1,
			parts: []string{"delete them first: --cascade deletes only what is in c1, and not " + id(t, thingText).Short()},
		},
		"Elsewhere": {
			reason: "the advice does not name --cascade", found: Dependents{Blocking: 1, Listed: []Managed{{ID: id(t, thingText), Policy: resource.PolicyManage}}},
			action: resource.ActionBlock, why: resource.ReasonWaitingForDependents, class: resource.RetrySlow, waits: 1,
			parts: []string{"; delete them first"}, lacks: "--cascade",
		},
		"Unreadable": {
			reason: "a cascade deletes nothing while the policy of a dependent is not known, and the message has the remedy", cascade: true,
			found:  Dependents{Blocking: 2, Listed: append(databases(t, 1, Managed{Policy: resource.PolicyProtect, Unreadable: errors.New("read memo of w: encrypted with the key k")}), active)},
			action: resource.ActionBlock, why: resource.ReasonContainsProtected, class: resource.RetryVerySlow, waits: 1,
			parts: []string{"c1/d000 (Microsoft.Kusto/clusters/databases) counts as protected: read memo of w: encrypted with the key k"},
		},
		"KeptWithoutCascade": {
			reason: "without --cascade it blocks like any other dependent", found: Dependents{Blocking: 1, Listed: databases(t, 1, kept)},
			action: resource.ActionBlock, why: resource.ReasonWaitingForDependents, class: resource.RetrySlow, waits: 1,
		},
	}
	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w := newWorld(t)
			w.fleet.dependents = c.found
			got, err := run(w, w.acts.CheckDependents, CheckDependentsInput{ID: id(t, clusterText), Cascade: c.cascade, WithData: c.withData, By: "ada@host"})
			must(t, err)
			want(t, got.Verdict, c.action, c.why, c.class, c.parts...)
			if len(got.Verdict.WaitingFor) != c.waits || len(w.fleet.deleted) != c.deleted {
				t.Errorf("%s: waits for %d, deletes %d; want %d and %d", c.reason, len(got.Verdict.WaitingFor), len(w.fleet.deleted), c.waits, c.deleted)
			}
			for _, cascade := range w.fleet.cascades {
				if !cascade.Owner.Equal(id(t, clusterText)) || cascade.By != "ada@host" {
					t.Errorf("%s: %+v, want the owner and the user of the cascade", c.reason, cascade)
				}
			}
			if c.lacks != "" && strings.Contains(got.Verdict.Message, c.lacks) {
				t.Errorf("%s: %q", c.reason, got.Verdict.Message)
			}
			if len(w.requests()) != 0 {
				t.Errorf("requests %v: the dependents come from Temporal", w.requests())
			}
		})
	}
}

// TestCascadeStopsAtHalfItsTime checks that a cascade over many dependents ends
// within its time when Temporal is slow; the next pass deletes the rest.
func TestCascadeStopsAtHalfItsTime(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.fleet.slow = make(chan struct{})
	found := Dependents{Blocking: 100, Listed: databases(t, 100, Managed{Policy: resource.PolicyManage})}
	ctx, cancel := context.WithTimeout(t.Context(), time.Second)
	defer cancel()
	time.AfterFunc(600*time.Millisecond, func() { close(w.fleet.slow) })
	must(t, w.acts.cascade(ctx, CheckDependentsInput{ID: id(t, clusterText), Cascade: true}, found))
	if n := len(w.fleet.deleted); n == 0 || n > 2*maxConcurrentDeletes {
		t.Errorf("deleted %d, want those of the first half of the time only", n)
	}
}

// TestDependentsThatLast retries a deletion rarely that waits for the same dependents for an hour:
// the end of each is a wake.
func TestDependentsThatLast(t *testing.T) {
	t.Parallel()
	for waited, class := range map[time.Duration]resource.RetryClass{time.Hour - time.Second: resource.RetrySlow, time.Hour: resource.RetryWoken} {
		w := newWorld(t)
		w.fleet.dependents = Dependents{Blocking: 1, Listed: databases(t, 1, Managed{Policy: resource.PolicyManage})}
		got, err := run(w, w.acts.CheckDependents, CheckDependentsInput{ID: id(t, clusterText), WaitedFor: waited})
		must(t, err)
		want(t, got.Verdict, resource.ActionBlock, resource.ReasonWaitingForDependents, class)
	}
}

// TestCheckDependentsOfAMomentAgo lists after the time by which lists may be behind.
func TestCheckDependentsOfAMomentAgo(t *testing.T) {
	t.Parallel()
	for age, wait := range map[time.Duration]time.Duration{
		-time.Hour: listLag, 0: listLag, time.Second: listLag - time.Second, time.Minute: 0,
	} {
		w := newWorld(t)
		w.acts.options.Pause = func(_ context.Context, got time.Duration) bool {
			if got != wait {
				t.Errorf("%s after the request it waited %s, want %s", age, got, wait)
			}
			w.fleet.dependents = Dependents{Blocking: 1, Listed: databases(t, 1, Managed{Policy: resource.PolicyManage})}
			return true
		}
		got, err := run(w, w.acts.CheckDependents, CheckDependentsInput{ID: id(t, clusterText), StatedAt: w.now().Add(-age)})
		must(t, err)
		if got.Verdict.Stops() != (wait > 0) {
			t.Errorf("%s after the request: %+v", age, got.Verdict)
		}
	}
}

// TestCheckDependentsError checks that what Temporal does not answer is tried again, is a verdict
// then, and that neither blames Azure.
func TestCheckDependentsError(t *testing.T) {
	t.Parallel()
	cases := map[string]struct {
		err   error
		why   resource.Reason
		class resource.RetryClass
	}{
		"slow":    {fmt.Errorf("list workflows: %w", context.DeadlineExceeded), resource.ReasonTemporalSlow, resource.RetryFast},
		"away":    {serviceerror.NewUnavailable("no connection"), resource.ReasonTemporalUnavailable, resource.RetryFast},
		"refuses": {errors.New("the namespace is not known"), resource.ReasonCheckFailed, resource.RetrySlow},
	}
	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w := newWorld(t)
			w.fleet.err = c.err
			got, failures := finish(w, w.acts.CheckDependents, CheckDependentsInput{ID: id(t, clusterText)})
			want(t, got.Verdict, resource.ActionError, c.why, c.class, c.err.Error(), "not deleted")
			if len(failures) != 3 {
				t.Errorf("%d attempts before the verdict, want 3", len(failures))
			}
			for _, failure := range failures {
				if c.why != resource.ReasonCheckFailed && (failure.Type() != string(c.why) || !strings.Contains(failure.Error(), c.err.Error())) {
					t.Errorf("an attempt failed with %s: %v, want %s: %v", failure.Type(), failure, c.why, c.err)
				}
			}
		})
	}
}

func TestContains(t *testing.T) {
	t.Parallel()
	cases := map[string]struct {
		outer, inner string
		want         bool
	}{
		"child":     {clusterText, databaseText, true},
		"group":     {groupText, databaseText, true},
		"any case":  {strings.ToUpper(groupText[:60]) + groupText[60:], databaseText, true},
		"itself":    {clusterText, clusterText, false},
		"owner":     {databaseText, clusterText, false},
		"namesake":  {groupText, groupText + "2/providers/Contoso.Things/things/t1", false},
		"extension": {clusterText, clusterText + "/providers/Microsoft.Authorization/locks/l1", true},
	}
	for name, c := range cases {
		if got := Contains(id(t, c.outer), id(t, c.inner)); got != c.want {
			t.Errorf("%s: %t, want %t", name, got, c.want)
		}
	}
}
