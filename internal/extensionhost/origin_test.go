package extensionhost_test

import (
	"errors"
	"strings"
	"testing"

	"github.com/armature-io/armature/arm"
	"github.com/armature-io/armature/extensions"
	"github.com/armature-io/armature/internal/extensionhost"
	"github.com/armature-io/armature/resource"
)

// namedLink is a link with a name of its own, as rules have.
type namedLink struct{ preLink }

func (namedLink) ExtensionName() string { return "rule busy (busy.yaml:4)" }

// A verdict names the link that made it, which is not always the outermost one.
func TestOrigin(t *testing.T) {
	type pre = func(obj, owner *resource.Object, w given) (extensions.PreReconcileCheckResult, error)
	passes := func(_, _ *resource.Object, w given) (extensions.PreReconcileCheckResult, error) { return w.next() }
	blocks := func(_, _ *resource.Object, _ given) (extensions.PreReconcileCheckResult, error) {
		return extensions.BlockReconcile("not now"), nil
	}
	const outer, inner = "extensionhost_test.preLinkOuter.PreReconcileCheck", "extensionhost_test.preLink.PreReconcileCheck"
	cases := map[string]struct {
		reason       string
		outer, inner pre
		named        bool
		want         string
	}{
		"default":     {reason: "Armature's own comparison has no origin", outer: passes, inner: passes, want: ""},
		"inner":       {reason: "the outer link only passes the result on", outer: passes, inner: blocks, want: inner},
		"rule":        {reason: "a rule has its file and line", outer: passes, inner: blocks, named: true, want: "rule busy (busy.yaml:4)"},
		"outer alone": {reason: "it does not call next", outer: blocks, inner: blocks, want: outer},
		"outer after next": {reason: "it replaces the result of next", want: outer, inner: blocks, outer: func(_, _ *resource.Object, w given) (extensions.PreReconcileCheckResult, error) {
			if _, err := w.next(); err != nil {
				return extensions.PreReconcileCheckResult{}, err
			}
			return extensions.SkipReconcile("enough"), nil
		}},
		"prefix": {reason: "the result is still the inner link's", want: inner, inner: blocks, outer: func(_, _ *resource.Object, w given) (extensions.PreReconcileCheckResult, error) {
			result, err := w.next()
			return result.WithPrefix("outer"), err
		}},
		"error": {reason: "an error names the innermost link that returned it", want: inner, outer: passes, inner: func(_, _ *resource.Object, _ given) (extensions.PreReconcileCheckResult, error) {
			return extensions.PreReconcileCheckResult{}, errors.New("broken")
		}},
		"condition": {reason: "an error with a condition has an origin too", want: inner, outer: passes, inner: func(_, _ *resource.Object, _ given) (extensions.PreReconcileCheckResult, error) {
			return extensions.PreReconcileCheckResult{}, extensions.NewReadyConditionImpactingError(errors.New("bad zone"), resource.SeverityError, "BadZone")
		}},
		"panic": {reason: "so does a panic", want: inner, outer: passes, inner: func(_, _ *resource.Object, _ given) (extensions.PreReconcileCheckResult, error) {
			panic("lost")
		}},
		"changed input": {reason: "so does a changed input", want: outer, inner: passes, outer: func(obj, _ *resource.Object, w given) (extensions.PreReconcileCheckResult, error) {
			obj.Desired["x"] = 1
			return w.next()
		}},
	}
	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			link := any(preLink(c.inner))
			if c.named {
				link = namedLink{preLink(c.inner)}
			}
			r := registry(t, extensions.Entry{Type: extensions.AllTypes, Link: preLinkOuter(c.outer)}, extensions.Entry{Type: extensions.AllTypes, Link: link})
			log, out := logged()
			got := r.PreCheck(t.Context(), extensionhost.Request{Object: object(t, storageID, `{}`, `{}`), Log: log})
			if got.Origin != c.want {
				t.Errorf("%s: origin %q, want %q (%s)", c.reason, got.Origin, c.want, got.Message)
			}
			if got.Action == resource.ActionBlock && !strings.Contains(out.String(), c.want) {
				t.Errorf("the log at info lacks the origin: %s", out)
			}
		})
	}
}

func TestOriginIsBounded(t *testing.T) {
	r := registry(t, extensions.Entry{Type: extensions.AllTypes, Link: longName{preLink(func(_, _ *resource.Object, _ given) (extensions.PreReconcileCheckResult, error) {
		return extensions.BlockReconcile("not now"), nil
	})}})
	if got := r.PreCheck(t.Context(), extensionhost.Request{Object: object(t, storageID, `{}`, `{}`)}); len(got.Origin) != 200 {
		t.Errorf("got an origin of %d bytes, want 200", len(got.Origin))
	}
}

// longName is a link whose name is longer than histories should store.
type longName struct{ preLink }

func (longName) ExtensionName() string { return strings.Repeat("x", 1000) }

// The origin of other points: a NotYet of a modifier, and the classifier that changed an
// error; one that only passes on what next returned is no origin.
func TestOriginOfOtherPoints(t *testing.T) {
	_, verdict := with(t, "notyet").Modify(t.Context(), extensionhost.Request{Object: object(t, storageID, `{}`, `{}`)}, map[string]any{})
	if want := "extensionhost_test.worker.ModifyARMResource"; verdict == nil || verdict.Origin != want {
		t.Errorf("modifier: got %+v, want the origin %s", verdict, want)
	}
	failure := &arm.Error{Status: 409, Code: "Busy", Message: "The cluster is busy.", Class: arm.ClassSlow}
	if got := with(t, "pass").Classify(t.Context(), extensionhost.Request{Object: object(t, storageID, "", "")}, failure); got.Origin != "" {
		t.Errorf("a classifier that changed nothing: got origin %q", got.Origin)
	}
	if got := with(t, "patch", "pass").Classify(t.Context(), extensionhost.Request{Object: object(t, storageID, "", "")}, failure); got.Origin != "extensionhost_test.worker.ClassifyError" {
		t.Errorf("a classifier that changed the class: got origin %q", got.Origin)
	}
}
