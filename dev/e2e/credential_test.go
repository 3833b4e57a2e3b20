package e2e

import (
	"fmt"
	"net/http"
	"net/url"
	"strings"
	"testing"
	"time"

	"github.com/armature-io/armature/armsim"
	"github.com/armature-io/armature/dev/internal/harness"
	"github.com/armature-io/armature/resource"
	"github.com/armature-io/armature/workflows"
)

// refusal is a way in which ARM refuses all requests. It is no evidence that a
// resource does not exist.
type refusal struct {
	reason resource.Reason
	// message is part of the condition's message.
	message string
	// spoil starts the refusal and returns the function that ends it.
	spoil func(*refusalScene) (mend func())
	// slow is set where the next try is an hour away, so that recovery needs a
	// reconcile.
	slow bool
}

// TestRefusals checks that a wrong subscription or credential leads to no create and
// to no completed delete, and that all resources continue once it is corrected.
func TestRefusals(t *testing.T) {
	t.Parallel()
	w := harness.New(t, binaries, harness.Options{})
	cases := map[string]func(*testing.T){}
	for name, tc := range map[string]refusal{
		"wrong-secret": {
			reason: "AuthenticationFailed", message: "AADSTS7000215", spoil: (*refusalScene).wrongSecret,
		},
		"refused-token": {
			reason: "InvalidAuthenticationToken", message: "The access token is invalid.",
			spoil: func(s *refusalScene) func() {
				return s.respond(http.StatusUnauthorized, "InvalidAuthenticationToken", "The access token is invalid.")
			},
		},
		"denied": {
			reason: "AuthorizationFailed", message: "does not have authorization to perform action",
			spoil: func(s *refusalScene) func() { return s.deny("*") },
		},
		"denied-writes": {
			reason: "AuthorizationFailed", message: "does not have authorization to perform action",
			spoil: func(s *refusalScene) func() { return s.deny("PUT", "DELETE") },
		},
		"wrong-subscription": {
			reason: "SubscriptionNotFound", message: "could not be found", slow: true,
			spoil: func(s *refusalScene) func() {
				return s.respond(http.StatusNotFound, "SubscriptionNotFound", "The subscription could not be found.")
			},
		},
	} {
		cases[name] = func(t *testing.T) { newRefusalScene(t, w, name).play(tc) }
	}
	sideBySide(t, len(cases), cases)
}

// refusalScene has a simulator that requires tokens, two resources to create, two
// managed ones to delete, and an unmanaged one that a delete names by its manifest.
type refusalScene struct {
	scenarios
	worker             *harness.Worker
	create, old, stray []refused
}

// refused is a resource with its manifest file.
type refused struct{ id, file string }

func newRefusalScene(t *testing.T, w *harness.World, name string) *refusalScene {
	t.Helper()
	s := &refusalScene{scenarios: scenarios{w.Branch(t, name, harness.Options{TLS: true})}}
	s.putGroup(name)
	s.create = []refused{s.thing(name, "new"), s.group(name + "-new")}
	s.old = []refused{s.thing(name, "old"), s.group(name + "-old")}
	s.stray = []refused{s.thing(name, "stray")}
	s.worker = s.StartWorker(harness.WorkerOptions{})
	for _, r := range s.old {
		s.MustCLI("apply", "-f", r.file)
	}
	for _, r := range s.old {
		s.UntilPhase(30*time.Second, r.id, workflows.PhaseReady)
	}
	s.Sim.Call(http.MethodPut, "/resources", map[string]any{"id": s.stray[0].id, "body": map[string]any{"location": "westus2"}}, nil)
	return s
}

func (s *refusalScene) thing(group, name string) refused {
	r := thing{group: group, name: name, interval: "0"}
	return refused{id: r.id(), file: s.Write(name+".yaml", r.manifest("small"))}
}

func (s *refusalScene) group(name string) refused {
	return refused{id: subscription + "/resourceGroups/" + name, file: s.Write(name+".yaml", groupManifest(name))}
}

func (s *refusalScene) play(tc refusal) {
	mend := tc.spoil(s)
	for _, r := range s.create {
		s.MustCLI("apply", "-f", r.file)
	}
	for _, r := range s.old {
		s.RequestDelete(r.id, workflows.DeleteInput{})
	}
	for _, r := range s.stray {
		s.RequestDeletes(r.file)
	}
	deleting := append(append([]refused(nil), s.old...), s.stray...)
	for _, r := range s.create {
		s.blocked(r, tc, workflows.PhaseNotReady)
		if writes := s.writes(r.id, http.MethodPut); len(writes) > 0 {
			s.T.Errorf("%s was created: %v", r.id, writes)
		}
	}
	for _, r := range deleting {
		s.blocked(r, tc, workflows.PhaseDeleting)
		if writes := s.writes(r.id, http.MethodDelete); len(writes) > 0 || !s.stored(r.id) {
			s.T.Errorf("%s was deleted: %v", r.id, writes)
		}
	}
	mend()
	for _, r := range s.create {
		s.nudge(r, tc)
		s.UntilPhase(45*time.Second, r.id, workflows.PhaseReady)
		if writes := s.writes(r.id, http.MethodPut); len(writes) != 1 {
			s.T.Errorf("%d PUTs of %s, want one", len(writes), r.id)
		}
	}
	for _, r := range deleting {
		s.nudge(r, tc)
		if result := s.CLI("wait", r.id, "--for", "deleted", "--timeout", "45s"); result.Code != 0 || s.stored(r.id) {
			s.T.Errorf("not deleted after the correction: %s", result)
		}
	}
}

// blocked waits until a resource reports the refusal, and checks that its workflow
// has a next try and that describe shows the message.
func (s *refusalScene) blocked(r refused, tc refusal, phase workflows.Phase) {
	s.T.Helper()
	status := s.UntilStatus(30*time.Second, r.id, "has reason "+string(tc.reason), func(status workflows.Status) bool {
		return status.Phase == phase && status.Condition.Reason == tc.reason && strings.Contains(status.Condition.Message, tc.message)
	})
	if status.Condition.Ready || status.Deleted || !status.NextTry.After(time.Now().Add(-time.Minute)) {
		s.T.Errorf("%s: condition %+v, next try %s; want a next try", r.id, status.Condition, status.NextTry)
	}
	if slow := time.Until(status.NextTry) > 30*time.Minute; slow != tc.slow {
		s.T.Errorf("%s is tried again at %s; very slowly: %v, want %v", r.id, status.NextTry, slow, tc.slow)
	}
	page := s.MustCLI("describe", r.id).Out
	for _, want := range []string{"False  Warning  " + string(tc.reason), tc.message} {
		if !strings.Contains(page, want) {
			s.T.Errorf("describe lacks %q:\n%s", want, page)
		}
	}
}

// nudge requests passes where the next one is an hour away. The first one may use the
// owner cache, which keeps refusals too.
func (s *refusalScene) nudge(r refused, tc refusal) {
	s.T.Helper()
	if !tc.slow {
		return
	}
	s.Until(45*time.Second, r.id+" is no longer refused", func() (bool, string) {
		result := s.CLI("reconcile", r.id, "--wait", "--timeout", "4s")
		status, err := s.Status(r.id)
		return err != nil || status.Condition.Reason != tc.reason, result.String()
	})
}

// writes returns the writes that ARM accepted.
func (s *refusalScene) writes(id, method string) []armsim.Write {
	s.T.Helper()
	var all, some []armsim.Write
	s.Sim.Call(http.MethodGet, "/writes?id="+url.QueryEscape(id), nil, &all)
	for _, write := range all {
		if write.Method == method {
			some = append(some, write)
		}
	}
	return some
}

func (s *refusalScene) stored(id string) bool {
	s.T.Helper()
	var stored []armsim.StoredResource
	s.Sim.Call(http.MethodGet, "/resources?id="+url.QueryEscape(id), nil, &stored)
	return len(stored) > 0
}

// respond makes ARM return one response to all requests.
func (s *refusalScene) respond(status int, code, message string) (mend func()) {
	s.Sim.Call(http.MethodPost, "/faults", armsim.Fault{ID: code, Status: status, Code: code, Message: message}, nil)
	return func() { s.Sim.Call(http.MethodDelete, "/faults/"+code, nil, nil) }
}

func (s *refusalScene) deny(methods ...string) (mend func()) {
	for _, method := range methods {
		s.Sim.Call(http.MethodPost, "/deny", armsim.Denial{Scope: "*", Method: method}, nil)
	}
	return func() { s.Sim.Call(http.MethodDelete, "/deny", nil, nil) }
}

// wrongSecret replaces the worker by one with a wrong client secret. Such a worker
// does not start while ARM is reachable, so it starts while ARM is not.
func (s *refusalScene) wrongSecret() (mend func()) {
	s.worker.Kill()
	line := newWireToURL(s.T, s.Sim.URL())
	arm := "https://" + line.address()
	wrong := s.StartWorker(harness.WorkerOptions{NotReady: true, Env: []string{
		"ARMATURE_AZURE_ENDPOINT=" + arm, "ARMATURE_AZURE_AUTHORITY_HOST=" + arm, "AZURE_CLIENT_SECRET=" + wrongSecret,
	}})
	s.Until(30*time.Second, "a worker that cannot reach ARM", func() (bool, string) {
		code, body := wrong.Get("/readyz")
		return strings.Contains(body, "ArmUnreachable"), fmt.Sprint(code, body)
	})
	line.mend()
	return func() {
		for _, text := range append(s.Texts(), wrong.Log()) {
			if strings.Contains(text, wrongSecret) {
				s.T.Errorf("the wrong secret is published: %.300s", text)
			}
		}
		wrong.Kill()
		s.StartWorker(harness.WorkerOptions{})
	}
}
