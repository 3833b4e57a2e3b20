package extensionhost_test

import (
	"context"
	"errors"
	"fmt"
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

// tracer implements every check: it records its calls and returns a given result.
type tracer struct {
	name   string
	trace  *[]string
	answer func() (extensions.PreReconcileCheckResult, error) // nil: call next
}

func (l tracer) PreReconcileOwnerCheck(ctx context.Context, owner *resource.Object, resolver extensions.Resolver,
	client extensions.ARMClient, log *slog.Logger, next extensions.PreReconcileOwnerCheckFunc,
) (extensions.PreReconcileCheckResult, error) {
	*l.trace = append(*l.trace, l.name+" before")
	if l.answer != nil {
		return l.answer()
	}
	result, err := next(ctx, owner, resolver, client, log)
	*l.trace = append(*l.trace, l.name+" after")
	return result, err
}

func (l tracer) PreReconcileCheck(ctx context.Context, obj, owner *resource.Object, resolver extensions.Resolver,
	client extensions.ARMClient, log *slog.Logger, next extensions.PreReconcileCheckFunc,
) (extensions.PreReconcileCheckResult, error) {
	*l.trace = append(*l.trace, l.name+" before")
	if l.answer != nil {
		return l.answer()
	}
	result, err := next(ctx, obj, owner, resolver, client, log)
	*l.trace = append(*l.trace, l.name+" after")
	return result, err
}

func (l tracer) PostReconcileCheck(ctx context.Context, obj, owner *resource.Object, resolver extensions.Resolver,
	client extensions.ARMClient, log *slog.Logger, next extensions.PostReconcileCheckFunc,
) (extensions.PostReconcileCheckResult, error) {
	if l.answer != nil {
		_, err := l.answer()
		return extensions.PostReconcileCheckResult{}, err
	}
	return next(ctx, obj, owner, resolver, client, log)
}

func TestChainOrder(t *testing.T) {
	block := func() (extensions.PreReconcileCheckResult, error) {
		return extensions.BlockReconcile("not now"), nil
	}
	cases := map[string]struct {
		reason string
		second func() (extensions.PreReconcileCheckResult, error)
		want   []string
		action resource.Action
	}{
		"all call next": {"the first entry is the outer link, whatever its type's case", nil,
			[]string{"all before", "first before", "second before", "second after", "first after", "all after"}, resource.ActionSkip},
		"instead": {"a link that does not call next ends the chain", block,
			[]string{"all before", "first before", "second before", "first after", "all after"}, resource.ActionBlock},
	}
	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			var trace []string
			r := registry(t,
				extensions.Entry{Type: extensions.AllTypes, Link: tracer{name: "all", trace: &trace}},
				extensions.Entry{Type: "microsoft.storage/STORAGEACCOUNTS", Link: tracer{name: "first", trace: &trace}},
				extensions.Entry{Type: "Microsoft.Kusto/clusters", Link: tracer{name: "other type", trace: &trace}},
				extensions.Entry{Type: "Microsoft.Storage/storageAccounts", Link: tracer{name: "second", trace: &trace, answer: c.second}},
			)
			verdict := r.PreCheck(t.Context(), extensionhost.Request{Object: object(t, storageID, `{}`, `{}`)})
			if verdict.Action != c.action {
				t.Errorf("%s: got %+v", c.reason, verdict)
			}
			if diff := cmp.Diff(c.want, trace); diff != "" {
				t.Errorf("%s: %s", c.reason, diff)
			}
		})
	}
}

func TestResultsBecomeVerdicts(t *testing.T) {
	type answer = func() (extensions.PreReconcileCheckResult, error)
	failing := func(err error) answer {
		return func() (extensions.PreReconcileCheckResult, error) { return extensions.PreReconcileCheckResult{}, err }
	}
	saying := func(result extensions.PreReconcileCheckResult) answer {
		return func() (extensions.PreReconcileCheckResult, error) { return result, nil }
	}
	var nothing map[string]*resource.Object
	cases := map[string]struct {
		reason  string
		answer  answer
		want    resource.Verdict
		message string // part of it
	}{
		"error": {"an error is a failed check with its text", failing(errors.New("the moon is full")),
			resource.Verdict{Action: resource.ActionError, Reason: resource.ReasonCheckFailed, Severity: resource.SeverityWarning, Class: resource.RetrySlow}, "the moon is full"},
		"error of ARM": {"its request ID and wait are kept", failing(fmt.Errorf("read it: %w", &arm.Error{Status: 429, Message: "slow down", RequestID: "r1", RetryAfter: time.Minute})),
			resource.Verdict{Action: resource.ActionError, Reason: resource.ReasonCheckFailed, Severity: resource.SeverityWarning, Class: resource.RetrySlow, RequestID: "r1", RetryAfter: time.Minute}, "slow down"},
		"fatal": {"severity Error ends the retries", failing(fmt.Errorf("look: %w", extensions.NewReadyConditionImpactingError(errors.New("bad zone"), resource.SeverityError, "BadZone"))),
			resource.Verdict{Action: resource.ActionError, Reason: "BadZone", Severity: resource.SeverityError, Class: resource.RetryNone}, "bad zone"},
		"warning": {"severity and reason are kept", failing(extensions.NewReadyConditionImpactingError(errors.New("no secret"), resource.SeverityInfo, resource.ReasonSecretNotFound)),
			resource.Verdict{Action: resource.ActionError, Reason: resource.ReasonSecretNotFound, Severity: resource.SeverityInfo, Class: resource.RetrySlow}, "no secret"},
		"panic": {"a panic names point and type", func() (extensions.PreReconcileCheckResult, error) { _ = nothing["x"].ID; panic("unreachable") },
			resource.Verdict{Action: resource.ActionError, Reason: resource.ReasonCheckFailed, Severity: resource.SeverityWarning, Class: resource.RetrySlow}, "extension extensionhost_test.tracer panicked in PreReconcile"},
		"no answer": {"the zero value is not a result", saying(extensions.PreReconcileCheckResult{}),
			resource.Verdict{Action: resource.ActionError, Reason: resource.ReasonCheckFailed, Severity: resource.SeverityWarning, Class: resource.RetrySlow}, "extensionhost_test.tracer"},
		"block": {"a block is retried slowly", saying(extensions.BlockReconcile("not now")),
			resource.Verdict{Action: resource.ActionBlock, Reason: resource.ReasonReconciliationBlocked, Severity: resource.SeverityWarning, Class: resource.RetrySlow}, "not now"},
		"block with options": {"options replace severity, reason and class", saying(extensions.BlockReconcile("no", extensions.WithReason("Frozen"), extensions.WithSeverity(resource.SeverityInfo), extensions.WithRetry(resource.RetryVerySlow))),
			resource.Verdict{Action: resource.ActionBlock, Reason: "Frozen", Severity: resource.SeverityInfo, Class: resource.RetryVerySlow}, "no"},
		"block permanently": {"severity Error means class None, in any order of options", saying(extensions.BlockReconcile("no", extensions.WithSeverity(resource.SeverityError), extensions.WithReason("Frozen"))),
			resource.Verdict{Action: resource.ActionBlock, Reason: "Frozen", Severity: resource.SeverityError, Class: resource.RetryNone}, "no"},
	}
	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			var trace []string
			log, out := logged()
			r := registry(t, extensions.Entry{Type: extensions.AllTypes, Link: tracer{trace: &trace, answer: c.answer}})
			req := extensionhost.Request{Object: object(t, storageID, `{}`, `{}`), Log: log}
			for step, got := range map[string]resource.Verdict{"owner": r.CheckOwner(t.Context(), req), "pre": r.PreCheck(t.Context(), req)} {
				if !strings.Contains(got.Message, c.message) {
					t.Errorf("%s check, %s: message %q", step, c.reason, got.Message)
				}
				if want := "extensionhost_test.tracer.PreReconcile"; !strings.HasPrefix(got.Origin, want) {
					t.Errorf("%s check, %s: origin %q, want %s...", step, c.reason, got.Origin, want)
				}
				got.Message, got.Origin = "", ""
				if diff := cmp.Diff(c.want, got); diff != "" {
					t.Errorf("%s check, %s (-want +got)\n%s", step, c.reason, diff)
				}
			}
			if c.want.Action == resource.ActionError {
				if got := r.PostCheck(t.Context(), req); got.Action != resource.ActionError || got.Class != c.want.Class {
					t.Errorf("post check, %s: got %+v", c.reason, got)
				}
			}
			if name == "panic" && !strings.Contains(out.String(), "chain_test.go") {
				t.Errorf("the log lacks the stack: %s", out)
			}
		})
	}
}

func TestOwnerCheckCannotSkip(t *testing.T) {
	var trace []string
	r := registry(t, extensions.Entry{Type: extensions.AllTypes, Link: tracer{trace: &trace, answer: func() (extensions.PreReconcileCheckResult, error) {
		return extensions.SkipReconcile("enough"), nil
	}}})
	req := extensionhost.Request{Object: object(t, storageID, `{}`, `{}`)}
	if got := r.CheckOwner(t.Context(), req); got.Action != resource.ActionError || !strings.Contains(got.Message, "tracer") {
		t.Errorf("owner check: got %+v, want an error that names the link", got)
	}
	if got := r.PreCheck(t.Context(), req); got.Action != resource.ActionSkip || got.Message != "enough" {
		t.Errorf("pre-check: got %+v, want the skip", got)
	}
}

func TestProceedWithoutComparison(t *testing.T) {
	var trace []string
	r := registry(t, extensions.Entry{Type: extensions.AllTypes, Link: tracer{trace: &trace, answer: func() (extensions.PreReconcileCheckResult, error) {
		return extensions.ProceedWithReconcile(), nil
	}}})
	for _, observed := range []string{``, `{}`} {
		got := r.PreCheck(t.Context(), extensionhost.Request{Object: object(t, storageID, `{}`, observed)})
		if got.Action != resource.ActionProceed || got.Create != (observed == "") || got.Message == "" {
			t.Errorf("observed %q: got %+v", observed, got)
		}
	}
}

func TestNewRefuses(t *testing.T) {
	cases := map[string]extensions.Entry{
		"no type":  {Link: tracer{}},
		"no slash": {Type: "clusters", Link: tracer{}},
		"no point": {Type: storageType, Link: struct{}{}},
		"no link":  {Type: storageType},
	}
	for name, entry := range cases {
		if _, err := extensionhost.New(entry); err == nil {
			t.Errorf("%s: accepted, want a refusal", name)
		}
	}
}

func TestOwnerToRead(t *testing.T) {
	const subscription = "/subscriptions/00000000-0000-0000-0000-000000000001"
	vault := groupID + "/providers/Microsoft.RecoveryServices/vaults/v"
	cases := map[string]string{
		subscription: "",
		groupID:      "", storageID: groupID, databaseID: mustID(t, databaseID).Owner().String(), roleID: mustID(t, roleID).Owner().String(),
		subscription + "/providers/Microsoft.Authorization/roleAssignments/r":                                      "",
		"/providers/Microsoft.Management/managementGroups/m":                                                       "",
		"/providers/Microsoft.Management/managementGroups/m/providers/Microsoft.Authorization/policyAssignments/p": "",
		subscription + "/providers/Microsoft.HybridCompute/locations/westus2/publishers/p":                         "",
		subscription + "/providers/Contoso.Things/locations/westus2/things/t":                                      "",
		groupID + "/providers/Microsoft.Security/locations/westus2/jitNetworkAccessPolicies/j":                     groupID,
		vault + "/backupFabrics/Azure/protectionContainers/c":                                                      vault,
		groupID + "/providers/Contoso.Things/things/t/parts/p":                                                     groupID + "/providers/Contoso.Things/things/t",
		groupID + "/providers/Microsoft.ContainerRegistry/registries/r/packages/p/archives/a":                      groupID + "/providers/Microsoft.ContainerRegistry/registries/r",
	}
	for id, want := range cases {
		if got := registry(t).OwnerToRead(mustID(t, id)).String(); got != want {
			t.Errorf("%s: reads %q, want %q", id, got, want)
		}
	}
}
