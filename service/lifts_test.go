package service

import (
	"crypto/ed25519"
	"errors"
	"log/slog"
	"strings"
	"testing"
	"time"

	"github.com/armature-io/armature/internal/signing"
	"github.com/armature-io/armature/workflows"
	"go.temporal.io/sdk/client"
	"go.temporal.io/sdk/interceptor"
	sdklog "go.temporal.io/sdk/log"
	"go.temporal.io/sdk/temporal"
	"go.temporal.io/sdk/testsuite"
	"go.temporal.io/sdk/worker"
)

// TestLifts checks that a freeze needs no proof, and that an unfreeze needs the signature of
// exactly the freeze that is in force, where the worker has public keys.
//
//guard:signed-specs
func TestLifts(t *testing.T) {
	t.Parallel()
	now := time.Date(2026, 11, 21, 12, 0, 0, 0, time.UTC)
	held := workflows.Freeze{Selector: "stack=prod", By: "ada@host", Since: now.Add(-time.Hour)}
	keys := map[string]ed25519.PrivateKey{}
	for i, name := range []string{"ours", "theirs"} {
		keys[name] = ed25519.NewKeyFromSeed([]byte(strings.Repeat(string(rune('a'+i)), ed25519.SeedSize)))
	}
	signed := func(key, namespace string, at, since time.Time, in workflows.Freeze) workflows.Freeze {
		t.Helper()
		var err error
		in.Since = since
		if in.Signature, err = signing.NewSigner(keys[key], namespace, func() time.Time { return at }).Unfreeze(in.Selector, since); err != nil {
			t.Fatal(err)
		}
		return in
	}
	prod := workflows.Freeze{Selector: held.Selector}
	other := signed("ours", "n", now, held.Since, workflows.Freeze{Selector: "stack=dev"})
	other.Selector = held.Selector
	cases := map[string]struct {
		reason string
		update string
		in     workflows.Freeze
		keys   []string
		warn   bool
		want   string
	}{
		"freeze":          {"a freeze needs no proof", workflows.FreezeUpdate, workflows.Freeze{Selector: "stack=dev"}, []string{"ours"}, false, ""},
		"signed":          {"it is the freeze in force", workflows.UnfreezeUpdate, signed("ours", "n", now, held.Since, prod), []string{"ours"}, false, ""},
		"not signed":      {"anybody can send it", workflows.UnfreezeUpdate, prod, []string{"ours"}, false, "not signed"},
		"without keys":    {"nothing is signed in this fleet", workflows.UnfreezeUpdate, prod, nil, false, ""},
		"warn":            {"signatures are being introduced", workflows.UnfreezeUpdate, prod, []string{"ours"}, true, ""},
		"other key":       {"the worker does not accept it", workflows.UnfreezeUpdate, signed("theirs", "n", now, held.Since, prod), []string{"ours"}, false, "does not accept"},
		"other namespace": {"it was signed for another fleet", workflows.UnfreezeUpdate, signed("ours", "m", now, held.Since, prod), []string{"ours"}, false, "does not fit"},
		"other selector":  {"it was signed for another freeze", workflows.UnfreezeUpdate, other, []string{"ours"}, false, "does not fit"},
		"other freeze":    {"it lifted an earlier freeze with the selector", workflows.UnfreezeUpdate, signed("ours", "n", now, held.Since.Add(-time.Hour), prod), []string{"ours"}, false, "was frozen again"},
		"any freeze":      {"it would lift each later one too", workflows.UnfreezeUpdate, signed("ours", "n", now, time.Time{}, prod), []string{"ours"}, false, "does not name the freeze"},
		"old":             {"it was kept for later", workflows.UnfreezeUpdate, signed("ours", "n", now.Add(-time.Hour), held.Since, prod), []string{"ours"}, false, "more than 10m0s ago"},
	}
	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			l := &lifts{log: slog.New(slog.DiscardHandler), warn: c.warn}
			if len(c.keys) > 0 {
				l.verifier = signing.NewVerifier([]ed25519.PublicKey{keys["ours"].Public().(ed25519.PublicKey)}, "n", func() time.Time { return now })
			}
			var suite testsuite.WorkflowTestSuite
			suite.SetLogger(sdklog.NewStructuredLogger(slog.New(slog.DiscardHandler)))
			env := suite.NewTestWorkflowEnvironment()
			env.SetWorkerOptions(worker.Options{Interceptors: []interceptor.WorkerInterceptor{l}})
			env.SetStartWorkflowOptions(client.StartWorkflowOptions{ID: workflows.FreezeWorkflowID})
			workflows.Register(env)
			var refused error
			env.RegisterDelayedCallback(func() {
				env.UpdateWorkflow(c.update, "", &testsuite.TestUpdateCallback{
					OnReject: func(err error) { refused = err }, OnAccept: func() {},
					OnComplete: func(_ any, err error) { refused = errors.Join(refused, err) },
				}, c.in)
			}, time.Minute)
			env.RegisterDelayedCallback(env.CancelWorkflow, time.Hour)
			env.ExecuteWorkflow(workflows.HoldFreezeWorkflow, workflows.HoldFreezeInput{Frozen: []workflows.Freeze{held}})
			if c.want == "" {
				if refused != nil {
					t.Errorf("%s, and it was refused: %v", c.reason, refused)
				}
				return
			}
			if application, ok := errors.AsType[*temporal.ApplicationError](refused); !ok || !strings.Contains(application.Message(), c.want) {
				t.Errorf("%s: got %v, want a refusal with %q", c.reason, refused, c.want)
			}
		})
	}
}
