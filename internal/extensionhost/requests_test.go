package extensionhost_test

import (
	"context"
	"errors"
	"log/slog"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/armature-io/armature/arm"
	"github.com/armature-io/armature/extensions"
	"github.com/armature-io/armature/internal/extensionhost"
	"github.com/armature-io/armature/resource"
)

// worker implements the points that act; mode says how.
type worker struct{ mode string }

func (l worker) fail() error {
	switch l.mode {
	case "panic":
		panic("planted-secret")
	case "error":
		return errors.New("out of order")
	case "notyet":
		return extensions.NotYet("wait for the approval")
	}
	return nil
}

func (l worker) ModifyARMResource(ctx context.Context, payload map[string]any, obj, owner *resource.Object, resolver extensions.Resolver,
	client extensions.ARMClient, log *slog.Logger, next extensions.ARMResourceModifierFunc,
) (map[string]any, error) {
	if err := l.fail(); err != nil || l.mode == "nothing" {
		return nil, err
	}
	payload["trace"], _ = payload["trace"].(string)
	payload["trace"] = payload["trace"].(string) + l.mode
	payload["properties"].(map[string]any)["x"] = "changed"
	return next(ctx, payload, obj, owner, resolver, client, log)
}

func (l worker) ClassifyError(ctx context.Context, err *arm.Error, obj *resource.Object, resolver extensions.Resolver, client extensions.ARMClient,
	log *slog.Logger, next extensions.ErrorClassifierFunc,
) (extensions.ErrorDetails, error) {
	if err := l.fail(); err != nil || l.mode == "nothing" {
		return extensions.ErrorDetails{}, err
	}
	details, failed := next(ctx, err, obj, resolver, client, log)
	if l.mode == "pass" {
		return details, failed
	}
	details.Class = resource.RetryNone
	return details, failed
}

func (l worker) Delete(ctx context.Context, obj *resource.Object, resolver extensions.Resolver, client extensions.ARMClient, log *slog.Logger, next extensions.DeleterFunc) error {
	if err := l.fail(); err != nil || l.mode == "nothing" {
		return err
	}
	return next(ctx, obj, resolver, client, log)
}

func (l worker) Import(ctx context.Context, obj, owner *resource.Object, log *slog.Logger, next extensions.ImporterFunc) (extensions.ImportResult, error) {
	if err := l.fail(); err != nil || l.mode == "nothing" {
		return extensions.ImportSkipped("built in"), err
	}
	return next(ctx, obj, owner, log)
}

func (l worker) HandleSuccess(ctx context.Context, obj, owner *resource.Object, resolver extensions.Resolver, client extensions.ARMClient, log *slog.Logger, next extensions.SuccessHandlerFunc) error {
	if err := l.fail(); err != nil {
		return err
	}
	return next(ctx, obj, owner, resolver, client, log)
}

func with(t *testing.T, modes ...string) *extensionhost.Registry {
	t.Helper()
	var entries []extensions.Entry
	for _, mode := range modes {
		entries = append(entries, extensions.Entry{Type: extensions.AllTypes, Link: worker{mode}})
	}
	return registry(t, entries...)
}

func TestModify(t *testing.T) {
	cases := map[string]struct {
		reason  string
		modes   []string
		want    string
		message string
	}{
		"none":    {reason: "without modifiers the payload stays", want: `{"properties":{"x":"a"}}`},
		"two":     {reason: "modifiers act in order", modes: []string{"1", "2"}, want: `{"properties":{"x":"changed"},"trace":"12"}`},
		"error":   {reason: "an error ends the pass", modes: []string{"error"}, message: "out of order"},
		"nothing": {reason: "no payload is an error, not an empty PUT", modes: []string{"nothing"}, message: "returned no payload"},
		"panic":   {reason: "a panic names the link, and shows no value: it may be a secret", modes: []string{"1", "panic"}, message: "extension extensionhost_test.worker panicked in ModifyARMResource"},
	}
	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			r := with(t, c.modes...)
			log, out := logged()
			payload := mustBody(t, `{"properties":{"x":"a"}}`)
			got, verdict := r.Modify(t.Context(), extensionhost.Request{Object: object(t, storageID, `{}`, `{}`), Log: log}, payload)
			if diff := cmp.Diff(mustBody(t, c.want), got); diff != "" {
				t.Errorf("%s (-want +got)\n%s", c.reason, diff)
			}
			if (verdict != nil) != (c.message != "") || verdict != nil && !strings.Contains(verdict.Message, c.message) {
				t.Errorf("%s: verdict %+v", c.reason, verdict)
			}
			if diff := cmp.Diff(mustBody(t, `{"properties":{"x":"a"}}`), payload); diff != "" {
				t.Errorf("the caller's payload was changed: %s", diff)
			}
			if verdict != nil && strings.Contains(verdict.Message+out.String(), "planted-secret") {
				t.Errorf("the panic's value leaked: %s %s", verdict.Message, out)
			}
			if r.Modifies(storageType) != (len(c.modes) > 0) {
				t.Errorf("Modifies = %v", r.Modifies(storageType))
			}
		})
	}
}

const storageType = "Microsoft.Storage/storageAccounts"

func TestClassify(t *testing.T) {
	failure := func(class arm.Class) *arm.Error {
		return &arm.Error{Status: 409, Code: "Busy", Message: "The cluster is busy.", RequestID: "r1", RetryAfter: 7 * time.Second, Class: class}
	}
	verdict := func(class resource.RetryClass, severity resource.Severity) resource.Verdict {
		return resource.Verdict{Action: resource.ActionError, Reason: "Busy", Severity: severity, Class: class,
			Message: "The cluster is busy. (ARM request ID r1)", RequestID: "r1", RetryAfter: 7 * time.Second}
	}
	bare := resource.Verdict{Action: resource.ActionError, Severity: resource.SeverityWarning, Class: resource.RetrySlow}
	throttled, unknown, broken := bare, bare, verdict(resource.RetryFast, resource.SeverityWarning)
	throttled.Reason, throttled.Message = resource.ReasonThrottled, "ARM returned status 429 without a message"
	unknown.Reason, unknown.Message = resource.ReasonUnknownError, "ARM returned status 400 without a message"
	broken.Origin = "extensionhost_test.worker.ClassifyError"
	patched := verdict(resource.RetryNone, resource.SeverityError)
	patched.Origin = "extensionhost_test.worker.ClassifyError"
	broken.Message = "The cluster is busy. (its classifier failed: extension extensionhost_test.worker: out of order) (ARM request ID r1)"
	cases := map[string]struct {
		reason  string
		modes   []string
		failure *arm.Error
		want    resource.Verdict
	}{
		"fast":      {"the table's class", nil, failure(arm.ClassFast), verdict(resource.RetryFast, resource.SeverityWarning)},
		"slow":      {"the table's class", nil, failure(arm.ClassSlow), verdict(resource.RetrySlow, resource.SeverityWarning)},
		"very slow": {"the table's class", nil, failure(arm.ClassVerySlow), verdict(resource.RetryVerySlow, resource.SeverityWarning)},
		"conflict":  {"a conflict is retried", nil, failure(arm.ClassConflict), verdict(resource.RetrySlow, resource.SeverityWarning)},
		"fatal":     {"class None stops the retries", nil, failure(arm.ClassNone), verdict(resource.RetryNone, resource.SeverityError)},
		"patched":   {"the type's classifier replaces the class", []string{"patch"}, failure(arm.ClassSlow), patched},
		"broken":    {"ARM's error is reported, not the classifier's", []string{"error"}, failure(arm.ClassFast), broken},
		"throttled": {"an empty 429 has a reason, too", nil, &arm.Error{Status: 429, Class: arm.ClassThrottled}, throttled},
		"unknown":   {"so has any other empty error", nil, &arm.Error{Status: 400, Class: arm.ClassSlow}, unknown},
	}
	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			got := with(t, c.modes...).Classify(t.Context(), extensionhost.Request{Object: object(t, storageID, "", "")}, c.failure)
			if diff := cmp.Diff(c.want, got); diff != "" {
				t.Errorf("%s (-want +got)\n%s", c.reason, diff)
			}
		})
	}
	for _, mode := range []string{"panic", "nothing"} {
		got := with(t, mode).Classify(t.Context(), extensionhost.Request{Object: object(t, storageID, "", "")}, failure(arm.ClassFast))
		if got.Reason != "Busy" || got.Class != resource.RetryFast || !strings.Contains(got.Message, "extensionhost_test.worker") {
			t.Errorf("%s: got %+v, want ARM's error and the name of the classifier", mode, got)
		}
	}
}

func TestDelete(t *testing.T) {
	cases := map[string]struct {
		reason string
		modes  []string
		calls  int
		want   string
	}{
		"plain":   {"without deleters the DELETE goes out", nil, 1, "gone wrong"},
		"around":  {"a deleter calls next", []string{"1", "2"}, 1, "gone wrong"},
		"instead": {"or does it itself", []string{"nothing"}, 0, ""},
		"error":   {"an error is returned", []string{"error"}, 0, "out of order"},
		"panic":   {"a panic too, with its name", []string{"panic"}, 0, "extension extensionhost_test.worker panicked in Delete"},
	}
	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			calls := 0
			err := with(t, c.modes...).Delete(t.Context(), extensionhost.Request{Object: object(t, storageID, `{}`, `{}`)}, func(context.Context) error {
				calls++
				return errors.New("gone wrong")
			})
			if calls != c.calls || (err == nil) != (c.want == "") || err != nil && !strings.Contains(err.Error(), c.want) {
				t.Errorf("%s: %d calls, err %v", c.reason, calls, err)
			}
		})
	}
}

func TestImportAndSuccess(t *testing.T) {
	req := extensionhost.Request{Object: object(t, storageID, `{}`, `{}`)}
	if result, err := with(t, "").Import(t.Context(), req); err != nil || result != extensions.ImportSucceeded() {
		t.Errorf("import: got %v, %v", result, err)
	}
	result, err := with(t, "", "nothing").Import(t.Context(), req)
	if because, skipped := result.Skipped(); err != nil || !skipped || because != "built in" {
		t.Errorf("import: got %v, %v, want it skipped", result, err)
	}
	if _, err := with(t, "panic").Import(t.Context(), req); err == nil {
		t.Error("import: the panic was lost")
	}
	if verdict := with(t, "").Success(t.Context(), req); verdict != nil {
		t.Errorf("success: got %+v", verdict)
	}
	for _, mode := range []string{"error", "panic"} {
		if verdict := with(t, mode).Success(t.Context(), req); verdict == nil || verdict.Reason != resource.ReasonCheckFailed {
			t.Errorf("success, %s: got %+v", mode, verdict)
		}
	}
}
