package extensionhost_test

import (
	"context"
	"fmt"
	"log/slog"
	"strings"
	"testing"
	"time"

	"github.com/armature-io/armature/extensions"
	"github.com/armature-io/armature/internal/extensionhost"
	"github.com/armature-io/armature/resource"
)

// A link that does not return does not delay the step, is named in the error, and
// is not called again after a few times.
func TestHangingLink(t *testing.T) {
	release := make(chan struct{})
	hangs := preLink(func(*resource.Object, *resource.Object, given) (extensions.PreReconcileCheckResult, error) {
		<-release // heeds no context
		return extensions.ProceedWithReconcile(), nil
	})
	outer := preLinkOuter(func(_, _ *resource.Object, w given) (extensions.PreReconcileCheckResult, error) { return w.next() })
	r := registry(t,
		extensions.Entry{Type: "Contoso.Things/parents", Link: outer},
		extensions.Entry{Type: "Contoso.Things/parents", Link: hangs})
	check := func(id string) (resource.Verdict, time.Duration) {
		ctx, cancel := context.WithTimeout(t.Context(), 20*time.Millisecond)
		defer cancel()
		started := time.Now()
		return r.PreCheck(ctx, extensionhost.Request{Object: object(t, id, `{}`, `{}`)}), time.Since(started)
	}
	const name = "extension extensionhost_test.preLink did not return from PreReconcileCheck in time"
	for i := range 4 {
		got, took := check(parentID)
		if got.Action != errs || got.Reason != resource.ReasonCheckFailed || !strings.Contains(got.Message, name) || took > 2*time.Second {
			t.Fatalf("call %d: got %s %q after %s, want the name of the inner link", i, got.Action, got.Message, took)
		}
	}
	if got, _ := check(parentID); !strings.Contains(got.Message, "4 earlier calls of it have not returned") {
		t.Errorf("a fifth call: got %q", got.Message)
	}
	if got, _ := check(storageID); got.Action != skips {
		t.Errorf("another type: got %+v", got)
	}
	close(release)
	deadline := time.Now().Add(5 * time.Second)
	for {
		got, _ := check(parentID)
		if got.Action == proceed {
			break
		}
		if time.Now().After(deadline) {
			t.Fatalf("when it comes back it is called again: %q", got.Message)
		}
	}
}

// preLinkOuter is another Go type than preLink, so that names tell them apart.
type preLinkOuter preLink

// PreReconcileCheck implements extensions.PreReconciliationChecker.
func (f preLinkOuter) PreReconcileCheck(ctx context.Context, obj, owner *resource.Object, resolver extensions.Resolver,
	client extensions.ARMClient, log *slog.Logger, next extensions.PreReconcileCheckFunc,
) (extensions.PreReconcileCheckResult, error) {
	return preLink(f).PreReconcileCheck(ctx, obj, owner, resolver, client, log, next)
}

// A link that changes its input is named, and the change is undone.
func TestChangedInputs(t *testing.T) {
	cases := map[string]func(obj, owner *resource.Object){
		"observed": func(obj, _ *resource.Object) { obj.Observed["properties"].(map[string]any)["x"] = "changed" },
		"desired":  func(obj, _ *resource.Object) { obj.Desired["new"] = true },
		"owner":    func(_, owner *resource.Object) { delete(owner.Observed, "properties") },
		"fields":   func(obj, _ *resource.Object) { obj.Observed = nil },
	}
	for name, change := range cases {
		t.Run(name, func(t *testing.T) {
			r := registry(t, extensions.Entry{Type: extensions.AllTypes, Link: preLink(func(obj, owner *resource.Object, w given) (extensions.PreReconcileCheckResult, error) {
				change(obj, owner)
				return w.next()
			})})
			obj, owner := object(t, childID, `{"a":1}`, `{"properties":{"x":"y"}}`), object(t, parentID, "", `{"properties":{}}`)
			before := fmt.Sprint(*obj, *owner)
			got := r.PreCheck(t.Context(), extensionhost.Request{Object: obj, Owner: owner})
			if got.Action != errs || !strings.Contains(got.Message, "extension extensionhost_test.preLink changed its input in PreReconcileCheck") {
				t.Errorf("got %s %q", got.Action, got.Message)
			}
			if fmt.Sprint(*obj, *owner) != before {
				t.Errorf("the change stayed: %v %v", *obj, *owner)
			}
		})
	}
}

// A link that still runs after its call timed out cannot change shared objects.
func TestLinksHaveCopies(t *testing.T) {
	var kept []map[string]any
	r := registry(t, extensions.Entry{Type: extensions.AllTypes, Link: preLink(func(obj, owner *resource.Object, w given) (extensions.PreReconcileCheckResult, error) {
		kept = append(kept, obj.Desired, obj.Observed, owner.Observed)
		return w.next()
	})})
	obj, owner := object(t, childID, `{"a":1}`, `{"properties":{"x":"y"}}`), object(t, parentID, "", `{"properties":{}}`)
	before := fmt.Sprint(*obj, *owner)
	r.PreCheck(t.Context(), extensionhost.Request{Object: obj, Owner: owner})
	for _, body := range kept {
		body["late"] = true
	}
	if len(kept) != 3 || fmt.Sprint(*obj, *owner) != before {
		t.Errorf("%d bodies were given, and the change came through: %v %v", len(kept), *obj, *owner)
	}
}

// The result of an extension is cut to the limits of histories and search
// attributes.
func TestGarbage(t *testing.T) {
	say := func(result extensions.PreReconcileCheckResult) resource.Verdict {
		r := registry(t, extensions.Entry{Type: extensions.AllTypes, Link: preLink(func(*resource.Object, *resource.Object, given) (extensions.PreReconcileCheckResult, error) {
			return result, nil
		})})
		return r.PreCheck(t.Context(), extensionhost.Request{Object: object(t, childID, `{}`, `{}`)})
	}
	got := say(extensions.BlockReconcile(strings.Repeat("é", 10_000)+"\xff", extensions.WithReason("not one word"), extensions.WithSeverity("Odd"), extensions.WithRetry("Sometimes")))
	if len([]rune(got.Message)) != 2000 || got.Reason != resource.ReasonCheckFailed || got.Severity != resource.SeverityWarning || got.Class != resource.RetrySlow {
		t.Errorf("got %d runes, %q %q %q", len([]rune(got.Message)), got.Reason, got.Severity, got.Class)
	}
	if got = say(extensions.BlockReconcile("bad \xff byte", extensions.WithReason(resource.Reason(strings.Repeat("x", 300))))); !strings.HasSuffix(got.Message, "its message was: bad ? byte") || got.Reason != resource.ReasonCheckFailed {
		t.Errorf("got %q %q", got.Message, got.Reason)
	}
	if got = say(extensions.PreReconcileCheckResult{}); got.Action != errs || !strings.Contains(got.Message, "extension extensionhost_test.preLink: it returned no result") {
		t.Errorf("no answer: got %s %q", got.Action, got.Message)
	}
}
