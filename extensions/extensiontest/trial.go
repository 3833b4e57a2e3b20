package extensiontest

import (
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"slices"
	"strings"
	"testing"

	"github.com/armature-io/armature/arm"
	"github.com/armature-io/armature/resource"
	"github.com/armature-io/armature/types"
)

// trial tests one property at one point.
type trial struct {
	suite  Suite
	point  point
	states States
	tally  *tally
}

// sub runs a case, unless the suite is stopped.
func (r *trial) sub(t *testing.T, name string, run func(*testing.T)) {
	t.Helper()
	if !r.tally.stopped {
		t.Run(name, run)
	}
}

func (r *trial) run(t *testing.T) {
	t.Helper()
	if r.states.AbsentBlocks && len(r.states.Pass) == 0 {
		t.Fatal("AbsentBlocks needs a value in Pass: with which one does the wait end?")
	}
	r.checkWords(t)
	for _, word := range r.states.Block {
		for _, value := range r.spellings(word) {
			r.sub(t, "block "+value, func(t *testing.T) { t.Helper(); r.expectBlock(t, r.with(t, value), value) })
		}
	}
	for _, word := range r.states.Pass {
		for _, value := range r.spellings(word) {
			r.sub(t, "pass "+value, func(t *testing.T) { t.Helper(); r.expectPass(t, r.with(t, value)) })
		}
	}
	r.runAbsent(t)
	r.sub(t, "no owner", func(t *testing.T) {
		t.Helper()
		in := r.passing(t)
		in.request.Owner = nil
		r.expectPass(t, in)
	})
	if r.point.name == prePoint.name {
		r.sub(t, "resource that does not exist", func(t *testing.T) { t.Helper(); r.expectCreation(t) })
	}
	r.sub(t, "error of the next link", func(t *testing.T) { t.Helper(); r.expectNextError(t) })
	if blocking := r.blocking(t); blocking != nil {
		r.runBlocking(t, *blocking)
	}
	if len(r.suite.Resources) > 0 || len(r.suite.Lists) > 0 || r.suite.Requests > 0 {
		r.runReads(t)
	}
}

// checkWords fails the test for a path or a word that the published type nearly has: Azure never
// shows it.
func (r *trial) checkWords(t *testing.T) {
	t.Helper()
	of, path := r.suite.ID, r.path(t)
	switch {
	case r.states.Of != "":
		of = r.states.Of
	case r.point.readsOwner:
		of = r.owner(t).String()
	}
	resourceType := ID(t, of).Type()
	if missing := types.Missing(resourceType, path); strings.Contains(missing, "did you mean") {
		t.Errorf("%s has no %s", resourceType, missing)
		return
	}
	published := types.Words(resourceType, path)
	for _, word := range slices.Concat(r.states.Block, r.states.Pass) {
		if match := types.NearWord(word, published); match != "" {
			t.Errorf("%q is no published value of %s of %s (did you mean %s?)", word, r.states.Path, resourceType, match)
		}
	}
}

// runAbsent tests what is not a value of the property.
func (r *trial) runAbsent(t *testing.T) {
	t.Helper()
	for _, odd := range []struct {
		name  string
		value any
	}{{"odd state", []any{json.Number("7"), map[string]any{}}}, {"number as state", json.Number("7")}} {
		r.sub(t, odd.name, func(t *testing.T) {
			t.Helper()
			if r.states.AbsentBlocks {
				r.expectEither(t, r.with(t, odd.value))
				return
			}
			r.expectPass(t, r.with(t, odd.value))
		})
	}
	for _, absent := range []struct {
		name string
		in   func() input
	}{
		{"null state", func() input { return r.with(t, nil) }},
		{"absent state", func() input { return r.of(t, r.body(t)) }},
		{"empty body", func() input { return r.of(t, map[string]any{}) }},
	} {
		r.sub(t, absent.name, func(t *testing.T) {
			t.Helper()
			if r.states.AbsentBlocks {
				r.expectBlock(t, absent.in(), "")
				return
			}
			r.expectPass(t, absent.in())
		})
	}
}

// runBlocking tests what lifts a block.
func (r *trial) runBlocking(t *testing.T, blocking input) {
	t.Helper()
	if r.point.readsOwner && r.states.Of == "" {
		r.sub(t, "owner of another type", func(t *testing.T) {
			t.Helper()
			in := blocking
			owner := *in.request.Owner
			owner.ID = ID(t, "/subscriptions/00000000-0000-0000-0000-000000000001/resourceGroups/rg1/providers/Contoso.Others/others/o1")
			in.request.Owner = &owner
			r.expectPass(t, in)
		})
	}
	if r.point.name == prePoint.name && !r.suite.IgnoresForce {
		r.sub(t, "forced", func(t *testing.T) {
			t.Helper()
			in := blocking
			in.request.Force = true
			r.expectPass(t, in)
		})
	}
}

// runReads tests that the check survives what its reads may return.
func (r *trial) runReads(t *testing.T) {
	t.Helper()
	r.sub(t, "resources that do not exist", func(t *testing.T) {
		t.Helper()
		in := r.passing(t)
		in.resources = nil
		r.expectEither(t, in)
	})
	r.sub(t, "reads that fail", func(t *testing.T) {
		t.Helper()
		in := r.passing(t)
		in.readErr = &arm.Error{Status: http.StatusForbidden, Code: "AuthorizationFailed", Message: "The client does not have authorization."}
		r.expectEither(t, in)
	})
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

// expectBlock checks the verdict for a blocking value, "" for an absent one.
func (r *trial) expectBlock(t *testing.T, in input, word string) {
	t.Helper()
	got := r.check(t, in)
	if got.broken {
		return
	}
	want := r.states.Reason
	if want == "" {
		want = r.point.reason
	}
	severity := r.states.Severity
	if severity == resource.SeverityNone {
		severity = resource.SeverityWarning
	}
	if v := got.verdict; v.Action != r.point.stop || v.Reason != want || v.Severity != severity {
		r.errorf(t, "got %s %s %s (%s), want %s %s %s", v.Action, v.Severity, v.Reason, v.Message, r.point.stop, severity, want)
	}
	if message := r.message(t, word); message != "" && got.verdict.Message != message {
		r.errorf(t, "message %q, want %q", got.verdict.Message, message)
	}
	r.checkStop(t, got)
	if got.calls > 1 {
		r.errorf(t, "next was called %d times", got.calls)
	}
}

// checkStop checks what every block has.
func (r *trial) checkStop(t *testing.T, got outcome) {
	t.Helper()
	if got.verdict.Message == "" {
		r.errorf(t, "the block has no message")
	}
	waiting := func(id resource.ID) bool { return slices.ContainsFunc(got.verdict.WaitingFor, id.Equal) }
	switch {
	case r.states.Of != "":
		if of := ID(t, r.states.Of); !waiting(of) {
			r.errorf(t, "waits for %v, want %s: with extensions.WithWaitingFor a change of it ends the block at once", got.verdict.WaitingFor, of)
		}
	case r.point.readsOwner && (len(got.verdict.WaitingFor) != 1 || !waiting(r.owner(t))):
		r.errorf(t, "waits for %v, want the owner", got.verdict.WaitingFor)
	}
}

// message returns the text of the block for a value, "" for any text. A text with the
// value is not that for an absent one.
func (r *trial) message(t *testing.T, word string) string {
	t.Helper()
	text := r.states.Message
	switch {
	case word == "" && (r.states.NamesOwner || strings.Contains(text, "%")):
		return ""
	case r.states.NamesOwner:
		return fmt.Sprintf(text, r.owner(t).Name(), word)
	case strings.Contains(text, "%"):
		return fmt.Sprintf(text, word)
	}
	return text
}

// expectPass checks that the pass continues through the next link.
func (r *trial) expectPass(t *testing.T, in input) {
	t.Helper()
	got := r.check(t, in)
	if got.broken {
		return
	}
	if v := got.verdict; v.Action != r.point.pass {
		r.errorf(t, "got %s %s (%s), want %s", v.Action, v.Reason, v.Message, r.point.pass)
	}
	if got.calls != 1 {
		r.errorf(t, "next was called %d times, want once: a link that does not decide must call next", got.calls)
	}
}

// expectCreation checks that a resource that does not exist yet can be created: a pre-check that
// waits for a state of it would wait for ever.
func (r *trial) expectCreation(t *testing.T) {
	t.Helper()
	in := r.passing(t)
	in.request.Object.Observed = nil
	if got := r.check(t, in); !got.broken && got.verdict.Action != r.point.pass {
		r.errorf(t, "got %s %s (%s) for a resource that does not exist, want %s: no PUT would ever create it; check obj.Exists() first",
			got.verdict.Action, got.verdict.Reason, got.verdict.Message, r.point.pass)
	}
}

// expectEither checks that the check decides, or calls next once, or returns an error
// of its own: that is no panic.
func (r *trial) expectEither(t *testing.T, in input) {
	t.Helper()
	got := r.check(t, in)
	switch {
	case got.broken:
	case got.verdict.Action == r.point.pass && got.calls != 1, got.calls > 1:
		r.errorf(t, "next was called %d times", got.calls)
	case got.verdict.Action == r.point.stop && got.verdict.Message == "":
		r.errorf(t, "the block has no message")
	}
}

// expectNextError checks that an error of the next link is returned.
func (r *trial) expectNextError(t *testing.T) {
	t.Helper()
	in := r.passing(t)
	in.nextErr = errors.New("the next link broke")
	got := r.check(t, in)
	if !got.broken && (got.verdict.Action != resource.ActionError || !strings.Contains(got.verdict.Message, in.nextErr.Error())) {
		r.errorf(t, "got %s (%s), want the error of the next link", got.verdict.Action, got.verdict.Message)
	}
}
