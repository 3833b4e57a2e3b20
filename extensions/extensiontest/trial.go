package extensiontest

import (
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/armature-io/armature/extensions"
	"github.com/armature-io/armature/resource"
)

// trial tests one property at one point.
type trial struct {
	suite  Suite
	point  point
	states States
}

func (r *trial) run(t *testing.T) {
	for _, word := range r.states.Block {
		for _, value := range r.spellings(word) {
			t.Run("block "+value, func(t *testing.T) { r.expectBlock(t, value) })
		}
	}
	for _, word := range r.states.Pass {
		for _, value := range r.spellings(word) {
			t.Run("pass "+value, func(t *testing.T) { r.expectPass(t, r.requestWith(t, value)) })
		}
	}
	for name, value := range map[string]any{"null state": nil, "odd state": []any{7.0, map[string]any{}}, "number as state": 7.0} {
		t.Run(name, func(t *testing.T) { r.expectPass(t, r.requestWith(t, value)) })
	}
	t.Run("absent state", func(t *testing.T) { r.expectPass(t, r.request(t, r.observed(t))) })
	t.Run("empty body", func(t *testing.T) { r.expectPass(t, r.request(t, map[string]any{})) })
	t.Run("no owner", func(t *testing.T) {
		request := r.request(t, r.observed(t))
		request.Owner = nil
		r.expectPass(t, request)
	})
	t.Run("error of the next link", r.expectNextError)
	if r.point.readsOwner && len(r.states.Block) > 0 {
		t.Run("owner of another type", r.expectOtherOwnerPasses)
	}
	if r.point.name == "pre-check" && !r.suite.IgnoresForce && len(r.states.Block) > 0 {
		t.Run("forced", func(t *testing.T) {
			request := r.requestWith(t, r.states.Block[0])
			request.Force = true
			r.expectPass(t, request)
		})
	}
}

// spellings returns a value in several cases of letters, because states are compared
// ignoring case.
func (r *trial) spellings(word string) []string {
	all := []string{word}
	if r.states.Exact {
		return all
	}
	for _, other := range []string{strings.ToLower(word), strings.ToUpper(word)} {
		if other != word {
			all = append(all, other)
		}
	}
	return all
}

// check runs the link between the registry and the probe, whose error is nextErr,
// and checks what must be true in every case. It returns the verdict and how often
// next was called.
func (r *trial) check(t *testing.T, request extensions.Request, nextErr error) (verdict resource.Verdict, calls int) {
	t.Helper()
	registry, err := extensions.New(r.suite.Entry, extensions.Entry{Type: extensions.AllTypes, Link: probe{calls: &calls, err: nextErr}})
	if err != nil {
		t.Fatal(err)
	}
	client := &Client{}
	request.Client, request.Resolver = client, &Resolver{}
	before, beforeOwner := fmt.Sprintf("%v", *request.Object), fmt.Sprintf("%v", request.Owner)
	verdict = r.point.run(registry, t, request)
	if fmt.Sprintf("%v", *request.Object) != before || fmt.Sprintf("%v", request.Owner) != beforeOwner {
		t.Error("the check changed its input")
	}
	if strings.Contains(verdict.Message, "changed its input") {
		t.Error(verdict.Message)
	}
	if got := client.Calls(); len(got) > r.suite.Requests {
		t.Errorf("the check made the requests %v, want at most %d", got, r.suite.Requests)
	}
	return verdict, calls
}

// expectBlock checks the verdict for a blocking value.
func (r *trial) expectBlock(t *testing.T, word string) {
	verdict, calls := r.check(t, r.requestWith(t, word), nil)
	want := r.states.Reason
	if want == "" {
		want = r.point.reason
	}
	severity := r.states.Severity
	if severity == resource.SeverityNone {
		severity = resource.SeverityWarning
	}
	if verdict.Action != r.point.stop || verdict.Reason != want || verdict.Severity != severity {
		t.Errorf("got %s %s %s (%s), want %s %s %s", verdict.Action, verdict.Severity, verdict.Reason, verdict.Message, r.point.stop, severity, want)
	}
	if verdict.Message == "" {
		t.Error("the block has no message")
	}
	if message := r.message(t, word); message != "" && verdict.Message != message {
		t.Errorf("message %q, want %q", verdict.Message, message)
	}
	if calls > 1 {
		t.Errorf("next was called %d times", calls)
	}
	if r.point.readsOwner && (len(verdict.WaitingFor) != 1 || !verdict.WaitingFor[0].Equal(r.owner(t))) {
		t.Errorf("waits for %v, want the owner", verdict.WaitingFor)
	}
}

func (r *trial) message(t *testing.T, word string) string {
	switch {
	case r.states.NamesOwner:
		return fmt.Sprintf(r.states.Message, r.owner(t).Name(), word)
	case strings.Contains(r.states.Message, "%"):
		return fmt.Sprintf(r.states.Message, word)
	}
	return r.states.Message
}

// expectPass checks that the pass continues through the next link.
func (r *trial) expectPass(t *testing.T, request extensions.Request) {
	t.Helper()
	verdict, calls := r.check(t, request, nil)
	if verdict.Action != r.point.pass {
		t.Errorf("got %s %s (%s), want %s", verdict.Action, verdict.Reason, verdict.Message, r.point.pass)
	}
	if calls != 1 {
		t.Errorf("next was called %d times, want once: a link that does not decide must call next", calls)
	}
}

// expectNextError checks that an error of the next link is returned.
func (r *trial) expectNextError(t *testing.T) {
	verdict, _ := r.check(t, r.request(t, r.observed(t)), errors.New("the next link broke"))
	if verdict.Action != resource.ActionError || !strings.Contains(verdict.Message, "the next link broke") {
		t.Errorf("got %s (%s), want the error of the next link", verdict.Action, verdict.Message)
	}
}

// expectOtherOwnerPasses checks that an owner of another type is ignored.
func (r *trial) expectOtherOwnerPasses(t *testing.T) {
	request := r.requestWith(t, r.states.Block[0])
	request.Owner.ID = ID(t, "/subscriptions/00000000-0000-0000-0000-000000000001/resourceGroups/rg1/providers/Contoso.Others/others/o1")
	r.expectPass(t, request)
}

func (r *trial) owner(t *testing.T) resource.ID {
	if r.suite.OwnerID != "" {
		return ID(t, r.suite.OwnerID)
	}
	return ID(t, r.suite.ID).Owner()
}

// observed returns the body without the state.
func (r *trial) observed(t *testing.T) map[string]any {
	body, err := resource.DecodeBody([]byte(r.suite.Observed))
	if err != nil {
		t.Fatal(err)
	}
	if body == nil {
		body = map[string]any{}
	}
	return body
}

// requestWith returns a request with a value as the state.
func (r *trial) requestWith(t *testing.T, value any) extensions.Request {
	t.Helper()
	body := r.observed(t)
	path, err := resource.ParsePath(r.states.Path)
	if err != nil {
		t.Fatal(err)
	}
	var at any = body
	for _, step := range path[:len(path)-1] {
		next, ok := step.Get(at)
		if object, isObject := at.(map[string]any); !ok && isObject {
			next = map[string]any{}
			object[step.Name] = next
		}
		at = next
	}
	if object, ok := at.(map[string]any); ok {
		object[path[len(path)-1].Name] = value
		return r.request(t, body)
	}
	t.Fatalf("the path %s does not exist in %v: set Observed", r.states.Path, body)
	return extensions.Request{}
}

// request returns a request with a body that the point reads.
func (r *trial) request(t *testing.T, body map[string]any) extensions.Request {
	t.Helper()
	desired := r.suite.Desired
	if desired == "" {
		desired = `{}`
	}
	request := extensions.Request{
		Object: Object(t, r.suite.ID, desired, ""),
		Owner:  &resource.Object{ID: r.owner(t), APIVersion: "2023-01-01", Observed: map[string]any{}},
	}
	if r.point.readsOwner {
		request.Owner.Observed = body
	} else {
		request.Object.Observed = body
	}
	return request
}
