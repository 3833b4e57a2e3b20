package arm_test

import (
	"context"
	"encoding/json"
	"encoding/pem"
	"errors"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/armature-io/armature/arm"
	"github.com/armature-io/armature/armsim"
	"github.com/armature-io/armature/resource"
)

const (
	tenant       = "aaaaaaaa-bbbb-cccc-dddd-eeeeeeeeeeee"
	secret       = "a-planted-client-secret"
	subscription = "/subscriptions/11111111-1111-1111-1111-111111111111"
	group        = subscription + "/resourceGroups/RG.(1)"
)

// simulated is the complete client with HTTPS, CA file and client secret, against
// the simulator.
type simulated struct {
	*arm.Client
	t   *testing.T
	sim *armsim.Simulator
	ctx context.Context
}

func newSimulated(t *testing.T, given string, options armsim.Options) *simulated {
	t.Helper()
	options.RequireAuth, options.TenantID, options.ClientID, options.ClientSecret = true, tenant, "client", secret
	sim := armsim.New(options)
	server := httptest.NewTLSServer(sim)
	t.Cleanup(server.Close)
	caFile := filepath.Join(t.TempDir(), "ca.pem")
	if err := os.WriteFile(caFile, pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: server.Certificate().Raw}), 0o600); err != nil {
		t.Fatal(err)
	}
	cloud, err := arm.CloudConfiguration(arm.CloudOptions{Name: arm.CloudCustom, Endpoint: server.URL, AuthorityHost: server.URL})
	if err != nil {
		t.Fatal(err)
	}
	transport, err := arm.NewTransport(arm.TransportOptions{CAFile: caFile})
	if err != nil {
		t.Fatal(err)
	}
	credential, err := arm.NewCredential(arm.CredentialOptions{
		Kind: arm.CredentialClientSecret, TenantID: tenant, ClientID: "client", ClientSecret: given,
		Cloud: cloud, CustomCloud: true, Transport: transport,
	})
	if err != nil {
		t.Fatal(err)
	}
	client, err := arm.NewClient(arm.Options{Cloud: cloud, Credential: credential, Transport: transport})
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithTimeout(context.Background(), 30*time.Second)
	t.Cleanup(cancel)
	return &simulated{client, t, sim, ctx}
}

func (s *simulated) id(text string) resource.ID {
	s.t.Helper()
	id, err := resource.ParseID(text)
	if err != nil {
		s.t.Fatal(err)
	}
	return id
}

// put writes, polls to the end, and returns the outcome and the states on the way.
func (s *simulated) put(text, version, body string) (outcome string, states []string) {
	s.t.Helper()
	op, err := s.Put(s.ctx, s.id(text), version, []byte(body), arm.PutOptions{})
	if err != nil {
		s.t.Fatal(err)
	}
	return s.follow(op)
}

func (s *simulated) follow(op arm.Operation) (outcome string, states []string) {
	s.t.Helper()
	outcome, states = op.Outcome, []string{op.State}
	for token, wait := op.Token, op.RetryAfter; token != ""; {
		s.sim.Advance(max(wait, time.Second))
		poll, err := s.Poll(s.ctx, token)
		if err != nil {
			s.t.Fatal(err)
		}
		outcome, token, wait = poll.Outcome, poll.Token, poll.RetryAfter
		states = append(states, poll.State)
	}
	return outcome, states
}

func (s *simulated) state(text, version string) string {
	s.t.Helper()
	got, err := s.Get(s.ctx, s.id(text), version)
	if err != nil {
		s.t.Fatal(err)
	}
	var body struct {
		Properties struct{ ProvisioningState string }
	}
	if err := json.Unmarshal(got.Body, &body); err != nil {
		s.t.Fatal(err)
	}
	return body.Properties.ProvisioningState
}

func TestAgainstTheSimulator(t *testing.T) {
	s := newSimulated(t, secret, armsim.Options{})
	if outcome, _ := s.put(group, resource.ResourceGroupAPIVersion, `{"location":"westus2"}`); outcome != arm.OutcomeSucceeded {
		t.Fatalf("group: got %s", outcome)
	}
	shapes := map[string]armsim.OperationSpec{
		"async":    {Shape: armsim.ShapeAsync, Polls: 2, Seconds: 5},
		"location": {Shape: armsim.ShapeLocation, Polls: 2, Seconds: 5},
		"both":     {Shape: armsim.ShapeBoth, Polls: 2, Seconds: 5},
		"state":    {Shape: armsim.ShapeState, Polls: 2, Seconds: 5},
		"sync":     {Shape: armsim.ShapeSync},
	}
	for name, spec := range shapes {
		t.Run(name, func(t *testing.T) {
			s := *s
			s.t = t
			text := group + "/providers/Microsoft.Example/widgets/[" + name + "] " + strings.Repeat("n", 300)
			s.sim.AddOperationRule(armsim.OperationRule{ID: text, Spec: spec})
			outcome, states := s.put(text, "2024-01-01", `{"location":"westus2","properties":{"size":1}}`)
			if outcome != arm.OutcomeSucceeded || spec.Polls > 0 && len(states) < spec.Polls+1 {
				t.Errorf("put: got %s by %q", outcome, states)
			}
			if got := s.state(text, "2024-01-01"); got != "Succeeded" && got != "" {
				t.Errorf("got state %q", got)
			}
			op, err := s.Delete(s.ctx, s.id(text), "2024-01-01", arm.DeleteOptions{})
			if err != nil {
				t.Fatal(err)
			}
			if outcome, _ := s.follow(op); outcome == arm.OutcomeUnreadable != (name == "state") {
				t.Errorf("delete: got %s; only a response without a header has no operation to poll", outcome)
			}
			for range 5 {
				s.sim.Advance(time.Minute)
				if _, err = s.Get(s.ctx, s.id(text), "2024-01-01"); err != nil {
					break
				}
			}
			if !arm.IsAbsent(err) {
				t.Errorf("got %v, want absent", err)
			}
			if again, err := s.Delete(s.ctx, s.id(text), "2024-01-01", arm.DeleteOptions{}); err != nil || !again.Done {
				t.Errorf("second delete: got %+v, %v", again, err)
			}
		})
	}
	if items, err := s.List(s.ctx, s.id(group), "resources", resource.ResourceGroupAPIVersion, 10); err != nil || len(items) != 0 {
		t.Errorf("got %d resources, %v", len(items), err)
	}
}

func TestSimulatedFailures(t *testing.T) {
	s := newSimulated(t, secret, armsim.Options{})
	s.put(group, resource.ResourceGroupAPIVersion, `{"location":"westus2"}`)
	text := group + "/providers/Microsoft.Example/widgets/w1"
	s.sim.AddOperationRule(armsim.OperationRule{ID: text, Spec: armsim.OperationSpec{
		Shape: armsim.ShapeAsync, Polls: 1, Seconds: 1, Outcome: "Failed", ErrorCode: "SkuNotAvailable", ErrorMessage: "none left",
	}})
	op, err := s.Put(s.ctx, s.id(text), "2024-01-01", []byte(`{"location":"westus2"}`), arm.PutOptions{})
	if err != nil || op.Token == "" {
		t.Fatalf("got %+v, %v", op, err)
	}
	// A failed read does not affect the operation.
	s.sim.AddFault(armsim.Fault{On: "operation", Status: 503, Count: 1})
	var answer *arm.Error
	if _, err := s.Poll(s.ctx, op.Token); !errors.As(err, &answer) || answer.Status != 503 {
		t.Errorf("got %v, want 503", err)
	}
	last := arm.Poll{Token: op.Token}
	for last.Token != "" {
		s.sim.Advance(time.Minute)
		if last, err = s.Poll(s.ctx, last.Token); err != nil {
			t.Fatal(err)
		}
	}
	if last.Outcome != arm.OutcomeFailed || last.Err.Code != "SkuNotAvailable" || last.Err.Class != arm.ClassVerySlow || last.RequestID == "" {
		t.Errorf("got %+v", last)
	}
}

func TestSimulatedWrongSubscriptions(t *testing.T) {
	other := armsim.Options{Subscriptions: []string{"22222222-2222-2222-2222-222222222222"}}
	wrongSubscription, wrongSecret := newSimulated(t, secret, other), newSimulated(t, "wrong", armsim.Options{})
	for name, s := range map[string]*simulated{"SubscriptionNotFound": wrongSubscription, arm.CodeAuthenticationFailed: wrongSecret} {
		var answer *arm.Error
		_, err := s.Get(s.ctx, s.id(group), resource.ResourceGroupAPIVersion)
		if !errors.As(err, &answer) || answer.Code != name || arm.IsAbsent(err) {
			t.Errorf("%s: get: got %v", name, err)
		}
		_, err = s.Delete(s.ctx, s.id(group), resource.ResourceGroupAPIVersion, arm.DeleteOptions{})
		if !errors.As(err, &answer) || answer.Code != name {
			t.Errorf("%s: delete: got %v, want no finished delete", name, err)
		}
	}
}

func TestSimulatedLostResponse(t *testing.T) {
	s := newSimulated(t, secret, armsim.Options{})
	s.sim.AddFault(armsim.Fault{Method: "PUT", Reset: true, Applied: true, Count: 1})
	var answer *arm.Error
	_, err := s.Put(s.ctx, s.id(group), resource.ResourceGroupAPIVersion, []byte(`{"location":"westus2"}`), arm.PutOptions{})
	if err == nil || errors.As(err, &answer) {
		t.Errorf("got %v, want a transport error", err)
	}
	if writes := s.sim.Writes(); len(writes) != 1 {
		t.Errorf("got %d writes, want one: the client does not retry", len(writes))
	}
}

// TestGroupCreatedAt checks that a group created again has another time, and one that is not
// listed has none.
func TestGroupCreatedAt(t *testing.T) {
	s := newSimulated(t, secret, armsim.Options{})
	s.put(group, resource.ResourceGroupAPIVersion, `{"location":"westus2"}`)
	first, err := s.GroupCreatedAt(s.ctx, s.id(group))
	if err != nil || first == "" {
		t.Fatalf("the group was created at %q, %v", first, err)
	}
	other, err := s.GroupCreatedAt(s.ctx, s.id(strings.Replace(group, "resourceGroups/", "resourceGroups/no-", 1)))
	if err != nil || other != "" {
		t.Errorf("an absent group was created at %q, %v", other, err)
	}
}
