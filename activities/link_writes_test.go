package activities

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net/http"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/armature-io/armature/activities/writing"
	"github.com/armature-io/armature/arm"
	"github.com/armature-io/armature/armsim"
	"github.com/armature-io/armature/extensions"
	"github.com/armature-io/armature/resource"
)

// writingLink writes the network at every point that has a client. It implements all of them.
type writingLink struct {
	// at is the point at which it writes, method what it sends, to the network or to id.
	at, method string
	id         resource.ID
	options    arm.PutOptions
	// changeFirst, if not nil, is called between the link's read and its write.
	changeFirst func()
	// failed keeps the error of the write.
	failed *error
	// block, if not "", is why the pre-check blocks after its write.
	block string
}

const (
	atOwnerCheck = "owner check"
	atPreCheck   = "pre-check"
	atPostCheck  = "post-check"
	atModifier   = "modifier"
	atSuccess    = "success"
	atDeleter    = "deleter"
)

func (l writingLink) write(ctx context.Context, at string, client extensions.ARMClient) error {
	if at != l.at {
		return nil
	}
	if l.changeFirst != nil {
		if _, err := client.Get(ctx, l.id, "2023-08-15"); err != nil {
			return err
		}
		l.changeFirst()
	}
	var err error
	switch body := []byte(`{"location":"westus2","properties":{"peer":"t1"}}`); l.method {
	case http.MethodPut:
		_, err = client.Put(ctx, l.id, "2023-08-15", body, l.options)
	case http.MethodPatch:
		_, err = client.Patch(ctx, l.id, "2023-08-15", body, l.options)
	case http.MethodDelete:
		_, err = client.Delete(ctx, l.id, "2023-08-15")
	case http.MethodPost:
		_, err = client.Post(ctx, l.id, "sync", "2023-08-15", nil)
	}
	*l.failed = err
	return err
}

func (l writingLink) PreReconcileOwnerCheck(ctx context.Context, owner *resource.Object, resolver extensions.Resolver, client extensions.ARMClient, log *slog.Logger, next extensions.PreReconcileOwnerCheckFunc) (extensions.PreReconcileCheckResult, error) {
	if err := l.write(ctx, atOwnerCheck, client); err != nil {
		return extensions.PreReconcileCheckResult{}, err
	}
	return next(ctx, owner, resolver, client, log)
}

func (l writingLink) PreReconcileCheck(ctx context.Context, obj, owner *resource.Object, resolver extensions.Resolver, client extensions.ARMClient, log *slog.Logger, next extensions.PreReconcileCheckFunc) (extensions.PreReconcileCheckResult, error) {
	if err := l.write(ctx, atPreCheck, client); err != nil {
		return extensions.PreReconcileCheckResult{}, err
	}
	if l.block != "" {
		return extensions.BlockReconcile(l.block), nil
	}
	return next(ctx, obj, owner, resolver, client, log)
}

func (l writingLink) PostReconcileCheck(ctx context.Context, obj, owner *resource.Object, resolver extensions.Resolver, client extensions.ARMClient, log *slog.Logger, next extensions.PostReconcileCheckFunc) (extensions.PostReconcileCheckResult, error) {
	if err := l.write(ctx, atPostCheck, client); err != nil {
		return extensions.PostReconcileCheckResult{}, err
	}
	return next(ctx, obj, owner, resolver, client, log)
}

func (l writingLink) ModifyARMResource(ctx context.Context, payload map[string]any, obj, owner *resource.Object, resolver extensions.Resolver, client extensions.ARMClient, log *slog.Logger, next extensions.ARMResourceModifierFunc) (map[string]any, error) {
	if err := l.write(ctx, atModifier, client); err != nil {
		return nil, err
	}
	return next(ctx, payload, obj, owner, resolver, client, log)
}

func (l writingLink) HandleSuccess(ctx context.Context, obj, owner *resource.Object, resolver extensions.Resolver, client extensions.ARMClient, log *slog.Logger, next extensions.SuccessHandlerFunc) error {
	if err := l.write(ctx, atSuccess, client); err != nil {
		return err
	}
	return next(ctx, obj, owner, resolver, client, log)
}

func (l writingLink) Delete(ctx context.Context, obj *resource.Object, resolver extensions.Resolver, client extensions.ARMClient, log *slog.Logger, next extensions.DeleterFunc) error {
	if err := l.write(ctx, atDeleter, client); err != nil {
		return err
	}
	return next(ctx, obj, resolver, client, log)
}

// linkWorld is a world with a writing link at the children of Contoso.Things/parents.
type linkWorld struct {
	*world
	link   *writingLink
	failed error
	spec   resource.Desired

	headers sync.Mutex
	// conditions are the If-Match and If-None-Match of the writes.
	conditions []string
}

func newLinkWorld(t *testing.T, at, method string, change ...func(*setup)) *linkWorld {
	t.Helper()
	lw := &linkWorld{}
	lw.link = &writingLink{at: at, method: method, id: id(t, netText), failed: &lw.failed}
	lw.world = newWorld(t, append(change, func(s *setup) {
		s.entries = append(s.entries, extensions.Entry{Type: "Contoso.Things/parents/children", Link: lw.link})
		s.handler = func(next http.Handler) http.Handler {
			return http.HandlerFunc(func(out http.ResponseWriter, r *http.Request) {
				if r.Method != http.MethodGet && strings.Contains(r.URL.Path, "/nets/") {
					lw.headers.Lock()
					lw.conditions = append(lw.conditions, r.Header.Get("If-Match")+r.Header.Get("If-None-Match"))
					lw.headers.Unlock()
				}
				next.ServeHTTP(out, r)
			})
		}
	})...)
	lw.put(parentText, thingBody)
	lw.put(childText, thingBody)
	lw.put(netText, `{"location":"westus2","properties":{"size":1}}`)
	lw.spec = desired(t, childText, thingBody)
	return lw
}

// step runs the step of the link's point.
func (lw *linkWorld) step() resource.Verdict {
	lw.t.Helper()
	observed := []byte(thingBody)
	switch lw.link.at {
	case atOwnerCheck:
		return local(lw.world, lw.acts.CheckOwner, CheckOwnerInput{Desired: lw.spec}).Verdict
	case atPreCheck:
		return local(lw.world, lw.acts.PreCheck, PreCheckInput{Desired: lw.spec, PassFacts: PassFacts{Generation: 3}, Observed: observed, Now: lw.now()}).Verdict
	case atModifier:
		got, _ := finish(lw.world, lw.acts.PutResource, PutResourceInput{Desired: lw.spec, PassFacts: PassFacts{Generation: 3}, Kind: PutUncompared, ObservedAt: lw.now()})
		return got.Verdict
	case atDeleter:
		got, _ := finish(lw.world, lw.acts.DeleteResource, DeleteResourceInput{Desired: lw.spec, PassFacts: PassFacts{Generation: 3}})
		return got.Verdict
	}
	return local(lw.world, lw.acts.PostCheck, PostCheckInput{Desired: lw.spec, PassFacts: PassFacts{Generation: 3}, Observed: observed, Now: lw.now()}).Verdict
}

// written returns the writes that the network got.
func (lw *linkWorld) written() []armsim.Request {
	return slices.DeleteFunc(lw.sim.Requests(), func(r armsim.Request) bool {
		return !strings.EqualFold(r.ID, lw.link.id.String()) || r.Method == http.MethodGet || r.Method == http.MethodHead
	})
}

// TestLinksWrite sends each write at each point, under the ETag that the step read, and names
// it in the verdict and in the log.
func TestLinksWrite(t *testing.T) {
	t.Parallel()
	for _, at := range []string{atPreCheck, atPostCheck, atModifier, atSuccess, atDeleter} {
		for _, method := range []string{http.MethodPut, http.MethodPatch, http.MethodDelete} {
			t.Run(at+" "+method, func(t *testing.T) {
				t.Parallel()
				lw := newLinkWorld(t, at, method)
				verdict := lw.step()
				written := lw.written()
				if lw.failed != nil || len(written) != 1 || written[0].Method != method {
					t.Fatalf("%v, sent %v, verdict %+v", lw.failed, written, verdict)
				}
				if len(lw.conditions) != 1 || lw.conditions[0] == "" {
					t.Errorf("it went without the ETag: %q", lw.conditions)
				}
				if part := "an extension sent " + method + " of n1: 200"; !strings.Contains(verdict.Message, part) {
					t.Errorf("message %q, want %q: it is in the history", verdict.Message, part)
				}
				if !strings.Contains(lw.log.String(), "an extension wrote another resource") {
					t.Error("the log does not name the write")
				}
				if len(lw.fleet.confirmed) == 0 {
					t.Error("the write was not confirmed in Temporal")
				}
			})
		}
	}
}

// TestBlockedLinkWritesOnce checks that a check that has written is not made again, although
// it blocks a requested pass: the verdict names the write, and the wait is short.
func TestBlockedLinkWritesOnce(t *testing.T) {
	t.Parallel()
	lw := newLinkWorld(t, atPreCheck, http.MethodPut)
	lw.link.block = "wait for it"
	verdict := local(lw.world, lw.acts.PreCheck, PreCheckInput{
		Desired: lw.spec, PassFacts: PassFacts{Generation: 3, Mandate: Mandate{RequestedAt: lw.now()}}, Observed: []byte(thingBody), Now: lw.now(),
	}).Verdict
	if n := len(lw.written()); n != 1 || verdict.Action != resource.ActionBlock || !strings.Contains(verdict.Message, "an extension sent PUT of n1") {
		t.Errorf("%d writes, verdict %+v; want one write that the verdict names", n, verdict)
	}
}

// TestLinkWritesRestOnARead refuses a write of what changed since the link read it, takes the
// link's own condition, and sends no condition where the service does not honour its ETags.
//
//guard:links-write-fenced
func TestLinkWritesRestOnARead(t *testing.T) {
	t.Parallel()
	lw := newLinkWorld(t, atPreCheck, http.MethodPut)
	lw.link.changeFirst = func() { lw.put(netText, `{"location":"westus2","properties":{"size":2}}`) }
	verdict := lw.step()
	if !hasStatus(lw.failed, http.StatusPreconditionFailed) || verdict.Action != resource.ActionError || lw.puts(netText) > 2 {
		t.Errorf("another user changed it: %v, %+v", lw.failed, verdict)
	}
	lw = newLinkWorld(t, atPreCheck, http.MethodPut)
	lw.link.options.IfNoneMatch = "*"
	if lw.step(); lw.failed == nil {
		t.Error("the link's own condition was replaced")
	}
	lw = newLinkWorld(t, atPreCheck, http.MethodPut)
	lw.sim.Delete(netText)
	if lw.step(); lw.failed != nil || lw.conditions[0] != "*" {
		t.Errorf("a creation: %v, %q", lw.failed, lw.conditions)
	}
}

// TestGuardLinkWrites tries to write another resource where nothing may be written. Nothing
// arrives, and the verdict names why.
//
//guard:links-write-fenced
func TestGuardLinkWrites(t *testing.T) {
	t.Parallel()
	cases := map[string]struct {
		reason string
		setup  func(*setup)
		given  func(*linkWorld)
		why    resource.Reason
		part   string
	}{
		"observe":  {reason: "the policy changes nothing", given: func(lw *linkWorld) { lw.spec.Policy = resource.PolicyObserve }, why: resource.ReasonProtected, part: "policy observe of"},
		"frozen":   {reason: "a freeze", given: func(lw *linkWorld) { lw.fleet.frozen = true; lw.spec.Labels = map[string]string{"stack": "prod"} }, why: resource.ReasonFrozen, part: "nothing is written"},
		"readOnly": {reason: "a read-only worker", setup: func(s *setup) { s.options.ReadOnly = true }, why: resource.ReasonReadOnly, part: "read-only"},
		"readOnlyClient": {reason: "past the steps", setup: func(s *setup) { s.client = func(o *arm.Options) { o.ReadOnly = true } },
			part: "read-only"},
		"over": {reason: "another attempt has begun", given: func(lw *linkWorld) {
			lw.fleet.confirm = func(int) (writing.Standing, error) { return writing.Standing{Over: "another attempt has begun"}, nil }
		}, why: resource.ReasonSuperseded, part: "another attempt"},
		"newer": {reason: "a newer spec was applied", given: func(lw *linkWorld) {
			lw.fleet.confirm = func(int) (writing.Standing, error) { return writing.Standing{Generation: 4}, nil }
		}, why: resource.ReasonSuperseded, part: "generation 4"},
		"silent": {reason: "Temporal does not answer", given: func(lw *linkWorld) {
			lw.fleet.confirm = func(int) (writing.Standing, error) { return writing.Standing{}, errors.New("cut") }
		}, why: resource.ReasonCheckFailed, part: "cannot confirm"},
		"unsigned": {reason: "the spec is not signed", given: func(lw *linkWorld) { signatures(lw.world) }, why: resource.ReasonSignatureMissing, part: "nothing is written"},
		"own":      {reason: "the pass writes the resource itself", given: func(lw *linkWorld) { lw.link.id = lw.spec.ID }, why: resource.ReasonProtected, part: "other resources only"},
		"observed": {reason: "Armature manages the other one with observe", given: func(lw *linkWorld) { lw.manages(netText, Managed{Policy: resource.PolicyObserve}) }, why: resource.ReasonProtected, part: "with policy observe"},
		"otherFrozen": {reason: "the other one is frozen", given: func(lw *linkWorld) {
			lw.fleet.frozen = true
			lw.manages(netText, Managed{Policy: resource.PolicyManage, Labels: map[string]string{"stack": "prod"}})
		}, part: "nothing "}, // a DELETE of a managed resource is refused before
		"unknown": {reason: "nobody knows who manages it", given: func(lw *linkWorld) { lw.fleet.err = errors.New("cut") }, part: "cannot"},
	}
	for name, c := range cases {
		for _, at := range []string{atPreCheck, atPostCheck, atModifier} {
			for _, method := range []string{http.MethodPut, http.MethodPatch, http.MethodDelete} {
				t.Run(name+" "+at+" "+method, func(t *testing.T) {
					t.Parallel()
					var change []func(*setup)
					if c.setup != nil {
						change = append(change, c.setup)
					}
					lw := newLinkWorld(t, at, method, change...)
					if c.given != nil {
						c.given(lw)
					}
					verdict := lw.step()
					if written := lw.written(); len(written) > 0 {
						t.Fatalf("%s, and it was sent: %v", c.reason, written)
					}
					if !verdict.Stops() || c.why != "" && verdict.Reason != c.why || !strings.Contains(verdict.Message, c.part) {
						t.Errorf("%s: %+v, want %s with %q", c.reason, verdict, c.why, c.part)
					}
				})
			}
		}
	}
}

// TestGuardLinkWritesOfReaders tries to write in the steps that write nothing: an owner check,
// a plan, and an import.
//
//guard:links-write-fenced
func TestGuardLinkWritesOfReaders(t *testing.T) {
	t.Parallel()
	for _, method := range []string{http.MethodPut, http.MethodPatch, http.MethodDelete, http.MethodPost} {
		lw := newLinkWorld(t, atOwnerCheck, method)
		if verdict := lw.step(); len(lw.written()) > 0 || !verdict.Stops() {
			t.Errorf("an owner check sent %s: %+v", method, verdict)
		}
		lw = newLinkWorld(t, atPreCheck, method)
		plan, _ := finish(lw.world, lw.acts.PlanResource, PlanResourceInput{Desired: lw.spec})
		if len(lw.written()) > 0 || lw.failed == nil {
			t.Errorf("a plan sent %s: %+v", method, plan)
		}
		if method != http.MethodPost && !strings.Contains(fmt.Sprint(plan), "an extension would send a "+method) {
			t.Errorf("the plan does not name the %s: %+v", method, plan)
		}
	}
	// An older workflow does not send its time: the fence of the check is not known.
	lw := newLinkWorld(t, atPreCheck, http.MethodPut)
	got := local(lw.world, lw.acts.PreCheck, PreCheckInput{Desired: lw.spec, Observed: []byte(thingBody)}).Verdict
	if len(lw.written()) > 0 || !got.Stops() {
		t.Errorf("without the time of the workflow task: %+v", got)
	}
	// A check that began long ago: the server may start another workflow task.
	lw = newLinkWorld(t, atPreCheck, http.MethodPut)
	started := lw.now()
	lw.advance(7 * time.Second)
	got = local(lw.world, lw.acts.PreCheck, PreCheckInput{Desired: lw.spec, Observed: []byte(thingBody), Now: started}).Verdict
	if len(lw.written()) > 0 || got.Reason != resource.ReasonSuperseded {
		t.Errorf("a check of 7 s ago: %+v", got)
	}
	// A managed resource is deleted by its own workflow.
	lw = newLinkWorld(t, atPreCheck, http.MethodDelete)
	lw.manages(netText, Managed{Policy: resource.PolicyManage, Ready: true})
	if got := lw.step(); len(lw.written()) > 0 || got.Reason != resource.ReasonProtected {
		t.Errorf("an extension deleted a managed resource: %+v", got)
	}
	// An action under observe changes something, too.
	lw = newLinkWorld(t, atPostCheck, http.MethodPost)
	lw.spec.Policy = resource.PolicyObserve
	if got := lw.step(); len(lw.written()) > 0 || got.Reason != resource.ReasonProtected {
		t.Errorf("an extension posted under observe: %+v", got)
	}
}

// TestGuardLinkWritesAreBudgeted counts what links write without a request of a user in the
// put-budget; a try of the same pass is granted again.
//
//guard:links-write-fenced
func TestGuardLinkWritesAreBudgeted(t *testing.T) {
	t.Parallel()
	lw := newLinkWorld(t, atPreCheck, http.MethodPatch, func(s *setup) { s.options.PutBudget = 1 })
	in := PreCheckInput{Desired: lw.spec, PassFacts: PassFacts{Mandate: Mandate{Correction: true}}, Observed: []byte(thingBody), Now: lw.now()}
	if got := local(lw.world, lw.acts.PreCheck, in).Verdict; lw.failed != nil {
		t.Fatalf("within the budget: %+v", got)
	}
	other := newLinkWorld(t, atPreCheck, http.MethodPatch, func(s *setup) { s.options.PutBudget = 1 })
	other.fleet.budgets, other.fleet.spent = lw.fleet.budgets, lw.fleet.spent
	other.link.id = id(t, parentText)
	in.Now = other.now()
	got := local(other.world, other.acts.PreCheck, in).Verdict
	want(t, got, resource.ActionBlock, resource.ReasonHeld, got.Class, "put-budget exhausted", "armature reconcile")
	if len(other.written()) > 0 {
		t.Error("it was sent beyond the budget")
	}
	in.Correction = false
	if local(other.world, other.acts.PreCheck, in); other.failed != nil {
		t.Errorf("a user requested the pass: %v", other.failed)
	}
}
