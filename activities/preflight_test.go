package activities

import (
	"bytes"
	"context"
	"io"
	"net/http"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"go.temporal.io/sdk/activity"
	"go.temporal.io/sdk/testsuite"

	"github.com/armature-io/armature/armsim"
	"github.com/armature-io/armature/extensions"
	"github.com/armature-io/armature/resource"
)

const (
	askedText   = groupText + "/providers/Microsoft.Storage/storageAccounts/acct1"
	askedBody   = `{"location":"westus2","kind":"StorageV2","sku":{"name":"Standard_LRS"},"properties":{%s}}`
	badProperty = `"minimumTlsVerison":"TLS1_2"`
)

func accountWith(properties string) string { return strings.Replace(askedBody, "%s", properties, 1) }

// validating is a world whose simulator validates bodies.
func validating(s *setup) { s.sim.Validate = true }

// account returns the manifest of a storage account with properties.
func askedAccount(t *testing.T, text, properties string) resource.Desired {
	t.Helper()
	d := desired(t, text, accountWith(properties))
	d.APIVersion = "2023-01-01"
	return d
}

// wantNoWrites fails the test when a PUT, PATCH or DELETE was sent.
func (w *world) wantNoWrites() {
	w.t.Helper()
	counters := w.sim.Counters()
	if n := counters.ByMethod["PUT"] + counters.ByMethod["PATCH"] + counters.ByMethod["DELETE"]; n > 0 || len(w.sim.Writes()) > 0 {
		w.t.Errorf("a preflight sent %v", counters.ByMethod)
	}
}

// TestPreflight plans a resource and asks ARM about its PUT. Nothing is written.
func TestPreflight(t *testing.T) {
	t.Parallel()
	noPreflight := func(w *world) { w.sim.AnswerType(armsim.AnswerRule{Type: "*", NoPreflight: true}) }
	deny := func(scope, method string) func(*world) {
		return func(w *world) { w.sim.Deny(armsim.Denial{Scope: scope, Method: method}) }
	}
	cases := map[string]struct {
		reason, properties string
		change             []func(*world)
		setup              []func(*setup)
		in                 func(*testing.T, *PlanResourceInput)
		noGroup            bool
		observed           string
		action             PlanAction
		want               *Preflight
		// part is in the reason of an outcome; posts are the validations that were sent.
		part  string
		posts int
	}{
		"Good": {reason: "nothing found is no proof", action: PlanCreate, want: &Preflight{Outcome: PreflightNoObjection}, posts: 1},
		"Bad": {
			reason: "each wrong property has its path", properties: badProperty + `,"supportsHttpsTrafficOnly":"yes"`, action: PlanError, posts: 1,
			want: &Preflight{Outcome: PreflightObjected, Objections: []Objection{{Code: "InvalidRequestContent", Path: "properties.minimumTlsVerison"}, {Code: "InvalidRequestContent", Path: "properties.supportsHttpsTrafficOnly"}}},
		},
		"Update": {
			reason: "the whole merged body is judged", observed: accountWith(`"accessTier":"Hot"`), properties: `"accessTier":"Lukewarm"`, action: PlanError, posts: 1,
			want: &Preflight{Outcome: PreflightObjected, Objections: []Objection{{Code: "InvalidValuesForRequestParameters"}}},
		},
		"Replaced": {
			reason: "ARM would object to the change, not to the new one", observed: strings.Replace(accountWith(""), "westus2", "eastus", 1), action: PlanReplace,
			want: &Preflight{Outcome: PreflightNotAsked}, part: "it is replaced",
		},
		"InSync":  {reason: "without a PUT nothing is asked", observed: accountWith(""), action: PlanNone},
		"Blocked": {reason: "a blocked plan has no body", noGroup: true, action: PlanBlocked, want: &Preflight{Outcome: PreflightNotAsked}, part: "ends before a PUT"},
		"OwnerPlanned": {
			reason: "an owner of the same plan need not exist", noGroup: true, action: PlanCreate, want: &Preflight{Outcome: PreflightNoObjection}, posts: 1,
			in: func(t *testing.T, in *PlanResourceInput) { in.Together = []resource.ID{id(t, groupText)} },
		},
		"UnknownReference": {
			reason: "a value that is not known yet is not made up", properties: `"networkAcls":{"defaultAction":{"$ref":"` + netText + `","path":"properties.count"}}`, action: PlanCreate,
			in: func(t *testing.T, in *PlanResourceInput) {
				in.Together = []resource.ID{id(t, netText)}
				in.Desired.References = []resource.Reference{{ID: id(t, netText), APIVersion: "2023-08-15"}}
			},
			want: &Preflight{Outcome: PreflightNotAsked}, part: "which the same plan creates first",
		},
		"Patch": {
			reason: "ARM judges whole bodies only", observed: accountWith(`"minimumTlsVersion":"TLS1_0"`), properties: `"minimumTlsVersion":"TLS1_2"`, action: PlanUpdate,
			in:   func(_ *testing.T, in *PlanResourceInput) { in.Desired.Put = resource.PutPatch },
			want: &Preflight{Outcome: PreflightNotAsked}, part: "PATCH",
		},
		"NoSecret": {
			reason: "without its secret the body is not complete", properties: `"a":{"$secret":"env:ARMATURE_SECRET_GONE"}`, action: PlanCreate,
			in: func(_ *testing.T, in *PlanResourceInput) {
				in.Desired.SecretRefs = []string{"env:ARMATURE_SECRET_GONE"}
			},
			want: &Preflight{Outcome: PreflightNotAsked}, part: "ARMATURE_SECRET_GONE",
		},
		"Deployment": {reason: "a deployment asks the providers too", change: []func(*world){noPreflight}, properties: badProperty, action: PlanError, posts: 2, want: &Preflight{Outcome: PreflightObjected, Objections: []Objection{{Code: "InvalidRequestContent", Path: "properties.minimumTlsVerison"}}}},
		"DeploymentAbove": {
			reason: "without the group the deployment goes to the subscription", change: []func(*world){noPreflight}, noGroup: true, action: PlanCreate, posts: 2,
			in:   func(t *testing.T, in *PlanResourceInput) { in.Together = []resource.ID{id(t, groupText)} },
			want: &Preflight{Outcome: PreflightNoObjection},
		},
		"ReadOnly": {
			reason: "a read-only worker asks without the right to write", setup: []func(*setup){readOnly}, change: []func(*world){deny("*/storageAccounts/*", "PUT")}, properties: badProperty, action: PlanError, posts: 2,
			want: &Preflight{Outcome: PreflightObjected, Objections: []Objection{{Code: "InvalidRequestContent", Path: "properties.minimumTlsVerison"}}},
		},
		"NoWriteRight": {
			reason: "a worker that writes learns that it may not", change: []func(*world){deny("*/storageAccounts/*", "PUT")}, action: PlanError, posts: 2,
			want: &Preflight{Outcome: PreflightObjected, Objections: []Objection{{Code: "InvalidTemplateDeployment"}}},
		},
		"NoRight": {
			reason: "no right to ask is no error of the manifest", change: []func(*world){deny("*", "POST")}, properties: badProperty, action: PlanCreate, posts: 2,
			want: &Preflight{Outcome: PreflightNotAsked}, part: "AuthorizationFailed",
		},
		"OldCloud": {
			reason: "a cloud without both APIs is no error of the manifest", properties: badProperty, action: PlanCreate,
			setup: []func(*setup){oldCloud}, want: &Preflight{Outcome: PreflightNotAsked}, part: "404",
		},
		"Broken": {
			reason: "a service that failed is no error of the manifest", properties: badProperty, action: PlanCreate, posts: 1,
			change: []func(*world){func(w *world) { w.sim.AddFault(armsim.Fault{Method: "POST", Status: 503}) }},
			want:   &Preflight{Outcome: PreflightNotAsked}, part: "503",
		},
	}
	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w := newWorld(t, append(c.setup, validating)...)
			if !c.noGroup {
				w.put(groupText, `{"location":"westus2"}`)
			}
			if c.observed != "" {
				w.put(askedText, c.observed)
			}
			for _, change := range c.change {
				change(w)
			}
			in := PlanResourceInput{Desired: askedAccount(t, askedText, c.properties), Depth: PlanPreflight}
			if c.in != nil {
				c.in(t, &in)
			}
			w.sim.ResetCounters()
			got, err := run(w, w.acts.PlanResource, in)
			must(t, err)
			if got.Action != c.action {
				t.Errorf("%s: the plan is %s (%s: %s), want %s", c.reason, got.Action, got.Reason, got.Message, c.action)
			}
			found := got.Preflight
			if found != nil {
				if !strings.Contains(found.Reason, c.part) || (c.part == "") != (found.Reason == "") {
					t.Errorf("%s: the reason is %q, want %q in it", c.reason, found.Reason, c.part)
				}
				found.Reason = ""
				for i, objection := range found.Objections {
					if objection.Message == "" {
						t.Errorf("%s: an objection has no message: %+v", c.reason, found)
					}
					found.Objections[i].Message = ""
				}
			}
			if diff := cmp.Diff(c.want, found); diff != "" {
				t.Errorf("%s (-want +got)\n%s", c.reason, diff)
			}
			if posts := w.sim.Counters().ByMethod["POST"]; posts != c.posts {
				t.Errorf("%s: %d validations, want %d", c.reason, posts, c.posts)
			}
			w.wantNoWrites()
		})
	}
}

// oldCloud answers validations as a gateway that does not know them.
func oldCloud(s *setup) {
	s.handler = func(next http.Handler) http.Handler {
		return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			if r.Method == http.MethodPost {
				w.WriteHeader(http.StatusNotFound)
				return
			}
			next.ServeHTTP(w, r)
		})
	}
}

// TestPreflightByDeploymentPolls follows the operation of a validation to its answer.
func TestPreflightByDeploymentPolls(t *testing.T) {
	t.Parallel()
	w := newWorld(t, validating, func(s *setup) {
		s.options.Pause = func(context.Context, time.Duration) bool { return true }
	})
	w.put(groupText, `{"location":"westus2"}`)
	w.sim.AnswerType(armsim.AnswerRule{Type: "*", NoPreflight: true})
	w.sim.AddOperationRule(armsim.OperationRule{Type: "Microsoft.Resources/deployments", Spec: armsim.OperationSpec{Shape: armsim.ShapeLocation, Polls: 3, RetryAfter: []float64{1}}})
	got, err := run(w, w.acts.PlanResource, PlanResourceInput{Desired: askedAccount(t, askedText, badProperty), Depth: PlanPreflight})
	must(t, err)
	if got.Preflight == nil || got.Preflight.Outcome != PreflightObjected || w.sim.Counters().ByKind["operation"]["GET"] < 3 {
		t.Errorf("got %+v after %v", got.Preflight, w.sim.Counters().ByKind)
	}
	w.wantNoWrites()
}

// TestPreflightThrottled checks that a preflight waits for a short budget and gives up on a long one.
func TestPreflightThrottled(t *testing.T) {
	t.Parallel()
	for wait, want := range map[string]PreflightOutcome{"20": PreflightNoObjection, "3000": PreflightNotAsked} {
		w := newWorld(t, validating)
		w.put(groupText, `{"location":"westus2"}`)
		w.sim.AddFault(armsim.Fault{Method: "POST", Status: 429, Code: "SubscriptionRequestsThrottled", Headers: map[string]string{"Retry-After": wait}, Count: 1})
		got, retries := finish(w, w.acts.PlanResource, PlanResourceInput{Desired: askedAccount(t, askedText, ""), Depth: PlanPreflight})
		if got.Preflight == nil || got.Preflight.Outcome != want || (len(retries) > 0) != (want == PreflightNoObjection) {
			t.Errorf("with Retry-After %s: %+v after %v", wait, got.Preflight, retries)
		}
		w.wantNoWrites()
	}
}

// TestPreflightOfBadNetwork checks that a network that breaks or hangs is no error of the manifest,
// and that the plan ends in time.
func TestPreflightOfBadNetwork(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		fault armsim.Fault
		part  string
	}{
		"Broken": {armsim.Fault{Method: "POST", Reset: true}, "reach ARM"},
		"Silent": {armsim.Fault{Method: "POST", Gate: true}, "ARM gave no answer in time"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w := newWorld(t, validating)
			w.put(groupText, `{"location":"westus2"}`)
			w.sim.AddFault(c.fault)
			got, _ := finishWithin(w, 4*time.Second, w.acts.PlanResource, PlanResourceInput{Desired: askedAccount(t, askedText, badProperty), Depth: PlanPreflight})
			if got.Action != PlanCreate || got.Preflight == nil || got.Preflight.Outcome != PreflightNotAsked || !strings.Contains(got.Preflight.Reason, c.part) {
				t.Errorf("got %s with %+v, want %q", got.Action, got.Preflight, c.part)
			}
			w.wantNoWrites()
		})
	}
}

// TestPreflightSecrets checks that ARM gets the secret and that nothing else does, also if ARM
// repeats it.
func TestPreflightSecrets(t *testing.T) {
	t.Setenv("ARMATURE_SECRET_ACTIVITIES", planted)
	var mu sync.Mutex
	sent := false
	w := newWorld(t, validating, func(s *setup) {
		s.handler = func(next http.Handler) http.Handler {
			return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
				raw, _ := io.ReadAll(r.Body)
				r.Body = io.NopCloser(bytes.NewReader(raw))
				if r.Method == http.MethodPost {
					mu.Lock()
					sent = sent || bytes.Contains(raw, []byte(planted))
					mu.Unlock()
				}
				next.ServeHTTP(w, r)
			})
		}
	})
	w.put(groupText, `{"location":"westus2"}`)
	d := askedAccount(t, askedText, `"supportsHttpsTrafficOnly":{"$secret":"env:ARMATURE_SECRET_ACTIVITIES"}`)
	d.SecretRefs, d.Secret = []string{"env:ARMATURE_SECRET_ACTIVITIES"}, []string{"properties.supportsHttpsTrafficOnly"}
	got, err := run(w, w.acts.PlanResource, PlanResourceInput{Desired: d, Depth: PlanPreflight})
	must(t, err)
	if !sent || got.Preflight == nil || len(got.Preflight.Objections) != 1 || !strings.Contains(got.Preflight.Objections[0].Message, "supportsHttpsTrafficOnly") {
		t.Errorf("the secret was sent: %t; got %+v", sent, got.Preflight)
	}
	w.leaks(planted, got)
}

// TestPreflightTogether checks that resources of one type, location and scope are one request, and
// that each gets its own answer if ARM objects to one of them.
func TestPreflightTogether(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		reason, bad string
		maxPosts    int
	}{
		"Good":   {"one request is enough for all", "", 2},
		"OneBad": {"after an objection each is asked about alone", badProperty, 8},
	} {
		w := newWorld(t, validating)
		w.put(groupText, `{"location":"westus2"}`)
		var all sync.WaitGroup
		results := make([]PlanResourceResult, 6)
		for i := range results {
			all.Go(func() {
				properties := ""
				if i == 3 {
					properties = c.bad
				}
				var suite testsuite.WorkflowTestSuite
				suite.SetLogger(quiet{})
				env := suite.NewTestActivityEnvironment()
				env.RegisterActivityWithOptions(w.acts.PlanResource, activity.RegisterOptions{Name: "PlanResource"})
				d := askedAccount(t, askedText+string(rune('a'+i)), properties)
				if encoded, err := env.ExecuteActivity("PlanResource", PlanResourceInput{Desired: d, Depth: PlanPreflight}); err != nil || encoded.Get(&results[i]) != nil {
					t.Errorf("%s: resource %d: %v", name, i, err)
				}
			})
		}
		all.Wait()
		for i, got := range results {
			want := PreflightNoObjection
			if i == 3 && c.bad != "" {
				want = PreflightObjected
			}
			if got.Preflight == nil || got.Preflight.Outcome != want {
				t.Errorf("%s: %s: resource %d: %+v", name, c.reason, i, got.Preflight)
			}
		}
		if posts := w.sim.Counters().ByMethod["POST"]; posts > c.maxPosts {
			t.Errorf("%s: %s: %d requests, want at most %d", name, c.reason, posts, c.maxPosts)
		}
		w.wantNoWrites()
	}
}

// TestPreflightOfWritingExtension checks that a modifier that writes does not write in a plan.
func TestPreflightOfWritingExtension(t *testing.T) {
	t.Parallel()
	var failed error
	w := newWorld(t, validating, func(s *setup) {
		link := &writingLink{at: atModifier, method: http.MethodPut, id: id(t, netText), failed: &failed}
		s.entries = append(s.entries, extensions.Entry{Type: "Microsoft.Storage/storageAccounts", Link: link})
	})
	w.put(groupText, `{"location":"westus2"}`)
	w.put(netText, `{"location":"westus2","properties":{}}`)
	w.sim.ResetCounters()
	got, err := run(w, w.acts.PlanResource, PlanResourceInput{Desired: askedAccount(t, askedText, ""), Depth: PlanPreflight})
	must(t, err)
	if got.Preflight == nil || got.Preflight.Outcome != PreflightNotAsked || !strings.Contains(got.Preflight.Reason, "send nothing that writes") {
		t.Errorf("got %+v", got.Preflight)
	}
	w.wantNoWrites()
}
