package extensiontest

import (
	"bytes"
	"context"
	"fmt"
	"log/slog"
	"reflect"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/armature-io/armature/extensions"
	"github.com/armature-io/armature/internal/extensionhost"
	"github.com/armature-io/armature/resource"
)

// maxCallTime is the time that a step has for all its reads.
const maxCallTime = 3 * time.Second

// outcome is the result of one call of the link.
type outcome struct {
	verdict resource.Verdict
	// calls counts the calls of next, requests are those to ARM.
	calls    int
	requests []string
	// broken is set if the call itself failed the test, so that its result says nothing more.
	broken bool
}

// errorf fails the test with the line of the link, unless a case of the same property failed
// in the same way: one mistake is one failure.
func (r *trial) errorf(t *testing.T, format string, args ...any) {
	t.Helper()
	r.fail(t, r.point.name+r.states.Path+format, fmt.Sprintf(format, args...))
}

// fail fails the test with a text, once for each key.
func (r *trial) fail(t *testing.T, key, text string) {
	t.Helper()
	if r.tally.failures[key]++; r.tally.failures[key] == 1 {
		t.Errorf("%s (%s)", text, r.where())
	}
}

// where returns the link's method with its file and line.
func (r *trial) where() string {
	if named, ok := r.suite.Entry.Link.(extensions.Named); ok {
		return named.ExtensionName()
	}
	text := fmt.Sprintf("%T.%s", r.suite.Entry.Link, r.point.method)
	if at := methodPosition(r.suite.Entry.Link, r.point.method); at != "" {
		text += ", " + at
	}
	return text
}

// check calls the link twice between the registry and the probe, and checks what must
// be true in every case. It returns the first result.
func (r *trial) check(t *testing.T, in input) outcome {
	t.Helper()
	first := r.call(t, in)
	second := r.call(t, in)
	a, b := first.verdict, second.verdict
	switch {
	case first.broken || second.broken:
		first.broken = true
	case !reflect.DeepEqual(a, b):
		r.errorf(t, "a second call with the same input returned %s %s (%s), the first one %s %s (%s): a link has no state",
			b.Action, b.Reason, b.Message, a.Action, a.Reason, a.Message)
	case first.calls != second.calls:
		r.errorf(t, "a second call with the same input called next %d times, the first one %d times: a link has no state", second.calls, first.calls)
	case !reflect.DeepEqual(first.requests, second.requests):
		r.errorf(t, "a second call with the same input made the requests %v, the first one %v: a link has no state", second.requests, first.requests)
	}
	return first
}

// call calls the link once, in the time of a step.
func (r *trial) call(t *testing.T, in input) outcome {
	t.Helper()
	var got outcome
	seen := &probed{object: in.request.Object, owner: in.request.Owner, err: in.nextErr}
	registry, err := extensionhost.New(r.suite.Entry, extensions.Entry{Type: extensions.AllTypes, Link: builtIn{[]any{probe{seen}}}})
	if err != nil {
		t.Fatal(err)
	}
	client := &Client{Resources: in.resources, Lists: r.suite.Lists, Err: in.readErr}
	resolver := &Resolver{Resources: in.resources, Lists: r.suite.Lists, Managed: r.suite.Managed, Err: in.readErr}
	logged := &record{}
	in.request.Client, in.request.Resolver, in.request.Log = client, resolver, logged.logger()
	in.request.Masker = view().Masker()
	before, beforeOwner := fmt.Sprintf("%v", *in.request.Object), fmt.Sprintf("%v", in.request.Owner)
	ctx, cancel := context.WithTimeout(context.WithValue(t.Context(), probeKey{}, seen), maxCallTime)
	defer cancel()
	got.verdict = r.point.run(ctx, registry, in.request)
	if ctx.Err() != nil {
		r.stop(t)
	}
	got.calls, got.requests = seen.count(), client.Calls()
	r.tally.noteReads(len(got.requests), client.reads(), resolver.reads())
	if fmt.Sprintf("%v", *in.request.Object) != before || fmt.Sprintf("%v", in.request.Owner) != beforeOwner {
		r.errorf(t, "the check changed its input")
		got.broken = true
	}
	if message := got.verdict.Message; strings.Contains(message, "changed its input") {
		got.broken = true
		r.fail(t, message, message)
	}
	if strings.Contains(logged.all(), extensionhost.SecretInVerdict) {
		r.fail(t, extensionhost.SecretInVerdict, "its message shows a secret that it read with Get, Find or Post, and that a worker masks: name the property instead")
	}
	got.broken = r.checkPanic(t, got.verdict, logged) || got.broken
	for _, problem := range append(seen.found(), append(client.misuses(), resolver.misuses()...)...) {
		r.fail(t, problem, problem)
	}
	if len(got.requests) > r.suite.Requests {
		r.errorf(t, "the check made the requests %v, want at most %d", got.requests, r.suite.Requests)
	}
	if text := logged.text(); t.Failed() && text != "" {
		t.Logf("the link logged: %s", text)
	}
	return got
}

// stop fails the test for a call that took too long and stops the suite: a link that does
// not return uses up a processor.
func (r *trial) stop(t *testing.T) {
	t.Helper()
	r.tally.stopped = true
	text := "its context ended before it returned"
	if at := stuckPosition(r.suite.Entry.Link); at != "" {
		text = "it is still at " + at
	}
	t.Fatalf("the check did not return in %s, the time of a step: %s; the rest of the suite is not run (%s)", maxCallTime, text, r.where())
}

// checkPanic fails the test for a panic of the link, and reports whether there is one.
func (r *trial) checkPanic(t *testing.T, verdict resource.Verdict, logged *record) bool {
	t.Helper()
	if stack := logged.panicStack(); stack != "" {
		at := framePosition(r.suite.Entry.Link, stack)
		if at == "" {
			at = "an unknown place"
		}
		r.fail(t, "panic at "+at, verdict.Message)
		return true
	}
	return false
}

// record is the log of one call. A link that does not return writes into it after the
// end of the test, when testing.T.Log would panic.
type record struct {
	mu    sync.Mutex
	lines bytes.Buffer
	stack string
}

// logger returns a logger that keeps what is logged, and the stack of a panic apart.
func (r *record) logger() *slog.Logger {
	return slog.New(slog.NewTextHandler(r, &slog.HandlerOptions{Level: slog.LevelDebug, ReplaceAttr: func(groups []string, a slog.Attr) slog.Attr {
		switch {
		case len(groups) == 0 && a.Key == slog.TimeKey:
			return slog.Attr{}
		case len(groups) == 0 && a.Key == "stack":
			r.mu.Lock()
			defer r.mu.Unlock()
			r.stack = a.Value.String()
			return slog.Attr{}
		}
		return a
	}}))
}

// Write appends a line.
func (r *record) Write(line []byte) (int, error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.lines.Write(line)
}

func (r *record) all() string {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.lines.String()
}

// text returns the lines of the link itself: those of a worker about it repeat the verdict.
func (r *record) text() string {
	r.mu.Lock()
	defer r.mu.Unlock()
	var own []string
	for line := range strings.Lines(r.lines.String()) {
		if !strings.Contains(line, `msg="verdict of `) && !strings.Contains(line, `msg="extension `) {
			own = append(own, strings.TrimSpace(line))
		}
	}
	return strings.Join(own, "; ")
}

func (r *record) panicStack() string {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.stack
}
