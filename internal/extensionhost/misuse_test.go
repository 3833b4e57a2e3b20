package extensionhost_test

import (
	"context"
	"log/slog"
	"strings"
	"testing"

	"github.com/armature-io/armature/arm"
	"github.com/armature-io/armature/extensions"
	"github.com/armature-io/armature/internal/extensionhost"
	"github.com/armature-io/armature/resource"
)

// nexter is a pre-check, a deleter and a modifier that call next in a wrong way.
type nexter struct {
	// obj replaces the resource, if set.
	replace bool
	obj     *resource.Object
	twice   bool
	set     map[string]any
}

func (l nexter) PreReconcileCheck(ctx context.Context, obj, owner *resource.Object, resolver extensions.Resolver,
	client extensions.ARMClient, log *slog.Logger, next extensions.PreReconcileCheckFunc,
) (extensions.PreReconcileCheckResult, error) {
	if l.replace {
		obj = l.obj
	}
	if l.twice {
		if result, err := next(ctx, obj, owner, resolver, client, log); err != nil {
			return result, err
		}
	}
	result, _ := next(ctx, obj, owner, resolver, client, log) // the author ignores the error
	if l.replace {
		return extensions.ProceedWithReconcile(), nil
	}
	return result, nil
}

func (l nexter) ModifyARMResource(ctx context.Context, payload map[string]any, obj, owner *resource.Object, resolver extensions.Resolver,
	client extensions.ARMClient, log *slog.Logger, next extensions.ARMResourceModifierFunc,
) (map[string]any, error) {
	for key, value := range l.set {
		payload[key] = value
	}
	return next(ctx, payload, obj, owner, resolver, client, log)
}

func (l nexter) Delete(ctx context.Context, obj *resource.Object, resolver extensions.Resolver, client extensions.ARMClient, log *slog.Logger, next extensions.DeleterFunc) error {
	if l.replace {
		obj = l.obj
	}
	return next(ctx, obj, resolver, client, log)
}

// A link that passes nil or another resource to next gets no decision about it, even if it
// ignores the error of next.
func TestNextWithAnotherObject(t *testing.T) {
	same := object(t, storageID, `{"a":1}`, `{"a":1}`)
	cases := map[string]struct {
		reason string
		link   nexter
		want   string // of the message, "" for an accepted call
	}{
		"nil":          {"a nil resource would be created", nexter{replace: true}, "extension extensionhost_test.nexter: it called next in PreReconcileCheck with nil instead of s1"},
		"another":      {"the default would compare another resource", nexter{replace: true, obj: object(t, clusterID, `{}`, `{}`)}, "with " + clusterID + " instead of s1"},
		"no ID":        {"it names no resource", nexter{replace: true, obj: &resource.Object{}}, "with an object without an ID instead of s1"},
		"a copy":       {"a link may pass on a copy, for example a normalised one", nexter{replace: true, obj: same}, ""},
		"what it got":  {"the usual call", nexter{}, ""},
		"called twice": {"a second call is only noted", nexter{twice: true}, ""},
	}
	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			log, out := logged()
			r := registry(t, extensions.Entry{Type: extensions.AllTypes, Link: c.link})
			req := extensionhost.Request{Object: object(t, storageID, `{"a":1}`, `{"a":1}`), Log: log}
			got := r.PreCheck(t.Context(), req)
			if refused := got.Action == resource.ActionError; refused != (c.want != "") || !strings.Contains(got.Message, c.want) {
				t.Errorf("%s: got %s %q, want %q", c.reason, got.Action, got.Message, c.want)
			}
			r.PreCheck(t.Context(), req)
			notes := strings.Count(out.String(), "extension called next more than once")
			if want := map[bool]int{true: 1}[c.link.twice]; notes != want {
				t.Errorf("%s: the log has %d notes, want %d: %s", c.reason, notes, want, out)
			}
		})
	}
}

func TestDeleterPassesTheResourceOn(t *testing.T) {
	deleted := 0
	remove := func(context.Context) error { deleted++; return nil }
	req := extensionhost.Request{Object: object(t, storageID, `{}`, `{}`)}
	r := registry(t, extensions.Entry{Type: extensions.AllTypes, Link: nexter{replace: true, obj: object(t, clusterID, `{}`, `{}`)}})
	if err := r.Delete(t.Context(), req, remove); err == nil || deleted != 0 || !strings.Contains(err.Error(), "nexter") {
		t.Errorf("another resource: %d deletes, error %v; want none, and an error that names the link", deleted, err)
	}
	r = registry(t, extensions.Entry{Type: extensions.AllTypes, Link: nexter{}})
	if err := r.Delete(t.Context(), req, remove); err != nil || deleted != 1 {
		t.Errorf("the resource itself: %d deletes, error %v", deleted, err)
	}
}

func TestPayloadKeepsItsAddress(t *testing.T) {
	cases := map[string]struct {
		reason string
		set    map[string]any
		want   string
	}{
		"another id":  {"ARM takes the ID from the URL", map[string]any{"id": clusterID}, "extension extensionhost_test.nexter: it set id of the payload in ModifyARMResource"},
		"no text":     {"an id that is no text is wrong too", map[string]any{"id": 7}, "it set id of the payload"},
		"other type":  {"so is the type", map[string]any{"type": "Microsoft.Kusto/clusters"}, "it set type of the payload"},
		"own id":      {"the ID of the resource itself is harmless", map[string]any{"id": strings.ToUpper(storageID), "name": "s1"}, ""},
		"as before":   {"what the manifest states is not the modifier's", map[string]any{"name": "stated"}, ""},
		"a property":  {"properties are free", map[string]any{"tags": map[string]any{"id": "x"}}, ""},
		"taken out":   {"removing it is fine", map[string]any{"name": nil}, ""},
		"other  name": {"so is the name", map[string]any{"name": "other"}, "it set name of the payload"},
	}
	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			r := registry(t, extensions.Entry{Type: extensions.AllTypes, Link: nexter{set: c.set}})
			_, verdict := r.Modify(t.Context(), extensionhost.Request{Object: object(t, storageID, `{}`, `{}`)}, map[string]any{"name": "stated"})
			if (verdict != nil) != (c.want != "") || verdict != nil && !strings.Contains(verdict.Message, c.want) {
				t.Errorf("%s: got %+v, want %q", c.reason, verdict, c.want)
			}
		})
	}
}

// An option that Armature cannot act on is refused with the link's name.
func TestInvalidOptions(t *testing.T) {
	cases := map[string]struct {
		reason string
		result extensions.PreReconcileCheckResult
		want   string
	}{
		"reason":   {"two words are no reason", extensions.BlockReconcile("the quota is used up", extensions.WithReason("Quota Exceeded")), `it returned the invalid reason "Quota Exceeded" in PreReconcileCheck; use one word of at most 100 bytes, such as QuotaExceeded; its message was: the quota is used up`},
		"severity": {"there are four severities", extensions.BlockReconcile("x", extensions.WithSeverity("Fatal")), `the invalid severity "Fatal"`},
		"retry":    {"there are four classes", extensions.BlockReconcile("x", extensions.WithRetry("Sometimes")), `the invalid retry class "Sometimes"`},
		"empty":    {"a block explains itself", extensions.BlockReconcile(" "), "it returned a block without a message in PreReconcileCheck; state what the resource waits for"},
		"skip":     {"a skip has a reason too", extensions.SkipReconcile("x", extensions.WithReason("a b")), `the invalid reason "a b"`},
	}
	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			r := registry(t, extensions.Entry{Type: extensions.AllTypes, Link: preLink(func(_, _ *resource.Object, _ given) (extensions.PreReconcileCheckResult, error) {
				return c.result, nil
			})})
			got := r.PreCheck(t.Context(), extensionhost.Request{Object: object(t, storageID, `{}`, `{}`)})
			if got.Reason != resource.ReasonCheckFailed || !strings.Contains(got.Message, "extension extensionhost_test.preLink: it returned") || !strings.Contains(got.Message, c.want) {
				t.Errorf("%s: got %s %q, want %q", c.reason, got.Reason, got.Message, c.want)
			}
		})
	}
	t.Run("of an error", func(t *testing.T) {
		r := registry(t, extensions.Entry{Type: extensions.AllTypes, Link: preLink(func(_, _ *resource.Object, _ given) (extensions.PreReconcileCheckResult, error) {
			return extensions.PreReconcileCheckResult{}, extensions.NotYet("wait", extensions.WithReason("two words"))
		})})
		if got := r.PreCheck(t.Context(), extensionhost.Request{Object: object(t, storageID, `{}`, `{}`)}); got.Reason != resource.ReasonCheckFailed || !strings.Contains(got.Message, `"two words"`) {
			t.Errorf("got %s %q", got.Reason, got.Message)
		}
	})
}

// changingClassifier changes the error instead of the details.
type changingClassifier struct{}

func (changingClassifier) ClassifyError(ctx context.Context, err *arm.Error, obj *resource.Object, resolver extensions.Resolver, client extensions.ARMClient,
	log *slog.Logger, next extensions.ErrorClassifierFunc,
) (extensions.ErrorDetails, error) {
	err.Code = "MyCode"
	return next(ctx, err, obj, resolver, client, log)
}

func TestClassifierChangesTheError(t *testing.T) {
	failure := &arm.Error{Status: 409, Code: "Busy", Message: "The cluster is busy.", Class: arm.ClassSlow}
	got := registry(t, extensions.Entry{Type: extensions.AllTypes, Link: changingClassifier{}}).Classify(t.Context(), extensionhost.Request{Object: object(t, storageID, "", "")}, failure)
	if got.Reason != "Busy" || failure.Code != "Busy" || !strings.Contains(got.Message, "extension extensionhost_test.changingClassifier: it changed the error in ClassifyError") {
		t.Errorf("got %s %q, code %s; want ARM's code and the name of the classifier", got.Reason, got.Message, failure.Code)
	}
}

// A link that proceeds by itself is named, with whether it called next.
func TestProceedNamesTheLink(t *testing.T) {
	for want, link := range map[string]preLink{
		"extension extensionhost_test.preLink requested a PUT without a comparison: it did not call next": func(_, _ *resource.Object, _ given) (extensions.PreReconcileCheckResult, error) {
			return extensions.ProceedWithReconcile(), nil
		},
		"extension extensionhost_test.preLink requested a PUT without a comparison": func(_, _ *resource.Object, w given) (extensions.PreReconcileCheckResult, error) {
			if result, err := w.next(); err != nil {
				return result, err
			}
			return extensions.ProceedWithReconcile(), nil
		},
	} {
		got := registry(t, extensions.Entry{Type: extensions.AllTypes, Link: link}).PreCheck(t.Context(), extensionhost.Request{Object: object(t, storageID, `{}`, `{}`)})
		if got.Message != want || got.Origin != "extensionhost_test.preLink.PreReconcileCheck" {
			t.Errorf("got %q of %q, want %q", got.Message, got.Origin, want)
		}
	}
}

// A panic is reported with the line of the author's code, not of a library.
func TestPanicPosition(t *testing.T) {
	r := registry(t, extensions.Entry{Type: extensions.AllTypes, Link: preLink(func(_, owner *resource.Object, _ given) (extensions.PreReconcileCheckResult, error) {
		return extensions.BlockReconcile(strings.Repeat(owner.APIVersion, 2)), nil // owner is nil
	})})
	log, out := logged()
	got := r.PreCheck(t.Context(), extensionhost.Request{Object: object(t, storageID, `{}`, `{}`), Log: log})
	if !strings.Contains(got.Message, "panicked in PreReconcileCheck at misuse_test.go:") || !strings.Contains(out.String(), storageID) {
		t.Errorf("got %q, log %s; want the line, and the ID in the log", got.Message, out)
	}
	r = registry(t, extensions.Entry{Type: extensions.AllTypes, Link: preLink(func(_, _ *resource.Object, _ given) (extensions.PreReconcileCheckResult, error) {
		return extensions.BlockReconcile(strings.Repeat("x", -1)), nil // panics in package strings
	})})
	if got := r.PreCheck(t.Context(), extensionhost.Request{Object: object(t, storageID, `{}`, `{}`)}); !strings.Contains(got.Message, "at misuse_test.go:") {
		t.Errorf("a panic inside a library: got %q", got.Message)
	}
}
