package e2e

import (
	"encoding/base64"
	"path/filepath"
	"strings"
	"testing"

	"github.com/armature-io/armature/dev/internal/harness"
	"github.com/armature-io/armature/dev/internal/testworker/codec"
	"github.com/armature-io/armature/dev/internal/testworker/policy"
	"github.com/armature-io/armature/internal/testonly/issuer"
)

// TestGuardSenders runs a worker that allows messages by the tokens of their senders. The
// CLI sends them encrypted, and only encrypted.
//
//guard:the-hook-of-an-embedder
func TestGuardSenders(t *testing.T) {
	t.Parallel()
	company, other := issuer.Start(t), issuer.Start(t)
	encryption := []string{
		"ARMATURE_ENCRYPTION_KEYS=one=env:TEST_KEY", "ARMATURE_ENCRYPTION_WRITE_KEY=one",
		"TEST_KEY=" + base64.StdEncoding.EncodeToString([]byte(strings.Repeat("k", 32))),
	}
	w := harness.New(t, binaries, harness.Options{})
	worker := w.StartWorker(harness.WorkerOptions{
		Binary: buildTestWorker(t), Env: append([]string{policy.IssuerVariable + "=" + company.URL}, encryption...),
	})
	s := scenarios{w}
	s.putGroup("senders")
	r := thing{group: "senders", name: "sent", interval: "1h"}
	manifest := s.Write("sent.yaml", r.manifest("small"))
	owner := company.Token(policy.Audience, "ann", map[string]any{"groups": []string{"owners"}})
	as := func(token string, args ...string) harness.Result {
		return s.CLIWith("", append([]string{"ARMATURE_TOKEN=" + token}, encryption...), args...)
	}
	deletion := []string{"delete", r.id(), "--yes", "--with-data"}
	for _, c := range []struct {
		reason, token string
		args          []string
		code          int
		want          string
	}{
		{"a user of the company", company.Token(policy.Audience, "bob", nil), []string{"apply", "-f", manifest, "--wait", "--timeout", "60s"}, 0, ""},
		{"no owner", company.Token(policy.Audience, "bob", nil), deletion, 1, "delete of sent is not allowed: bob is not in the group owners"},
		{"no token", "", deletion, 1, "send a token of the company in ARMATURE_TOKEN"},
		{"another issuer", other.Token(policy.Audience, "ann", map[string]any{"groups": []string{"owners"}}), deletion, 1, "token refused"},
		{"the audience of another program", company.Token("api://other", "ann", map[string]any{"groups": []string{"owners"}}), deletion, 1, "token refused: its audience is"},
		{"expired", company.Token(policy.Audience, "ann", map[string]any{"groups": []string{"owners"}, "exp": 1}), deletion, 1, "token refused: it expired at"},
		{"algorithm none", company.Unsigned(company.Claims(policy.Audience, "ann", map[string]any{"groups": []string{"owners"}})), deletion, 1, "token refused"},
		{"an owner", owner, append(deletion, "--wait", "--timeout", "60s"), 0, ""},
	} {
		if result := as(c.token, c.args...); result.Code != c.code || !strings.Contains(result.Out+result.Err, c.want) {
			t.Errorf("%s: want exit code %d and %q:\n%s", c.reason, c.code, c.want, result)
		}
	}
	if log := worker.Log(); !strings.Contains(log, `"subject":"ann"`) || strings.Contains(log, owner) {
		t.Errorf("the log does not name the verified sender, or contains its token:\n%s", log)
	}
	inClear := s.CLIWith("", []string{"ARMATURE_TOKEN=" + owner}, "apply", "-f", manifest)
	if inClear.Code == 0 || !strings.Contains(inClear.Err, "a token is sent with encrypted payloads only") {
		t.Errorf("a token was sent in clear:\n%s", inClear)
	}
	for _, text := range s.Texts() {
		if strings.Contains(text, owner) || strings.Contains(text, strings.Split(owner, ".")[2]) {
			t.Fatalf("Temporal stores a token in clear: %.200s", text)
		}
	}
}

// TestEmbedder runs a worker and a CLI with the payload codec of an embedder: all that
// Temporal stores is encoded by it, and histories from before it stay readable.
func TestEmbedder(t *testing.T) {
	t.Parallel()
	w := harness.New(t, binaries, harness.Options{})
	plain := w.StartWorker(harness.WorkerOptions{})
	s := scenarios{w}
	before := s.start(t, "embedder", "1h")
	plain.Kill()
	embedder := buildTestWorker(t)
	w.StartWorker(harness.WorkerOptions{Binary: embedder, Env: []string{codec.Variable + "=1"}})
	root, err := harness.Root(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	w.Binaries.CLI = filepath.Join(t.TempDir(), "company-armature")
	if err := harness.BuildProgram(t.Context(), filepath.Join(root, "dev"), "./internal/testcli", w.Binaries.CLI); err != nil {
		t.Fatal(err)
	}
	result := s.MustCLI("reconcile", before.id(), "--wait", "--timeout", "60s")
	if !strings.Contains(result.Err, "plugin configures ") || strings.Count(result.Err, "plugin configures") != 1 {
		t.Errorf("the plugin does not configure the client once:\n%s", result)
	}
	after := thing{group: "embedder", name: "after", interval: "1h"}
	s.MustCLI("apply", "-f", s.Write("after.yaml", after.manifest("planted-size")), "--wait", "--timeout", "60s")
	for _, id := range []string{before.id(), after.id()} {
		if shown := s.MustCLI("describe", id); !strings.Contains(shown.Out, "Ready") {
			t.Errorf("describe prints\n%s", shown.Out)
		}
		if result := s.Replay(embedder, []string{codec.Variable + "=1"}, id); result.Code != 0 {
			t.Errorf("the embedder's worker does not replay what it wrote: %s", result)
		}
	}
	for _, text := range s.Texts() {
		if strings.Contains(text, "planted-size") {
			t.Errorf("Temporal stores what the codec did not encode: %.300s", text)
		}
	}
	if version := s.MustCLI("version"); !strings.Contains(version.Out, "armature test ") {
		t.Errorf("version prints %s", version.Out)
	}
}
