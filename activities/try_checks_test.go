package activities

import (
	"context"
	"errors"
	"log/slog"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/armature-io/armature/extensions"
	"github.com/armature-io/armature/extensions/rules"
	"github.com/armature-io/armature/resource"
)

// triedRules has a rule of each kind of result.
const triedRules = `rules:
  - name: quota
    type: Contoso.Things/things
    read: {cluster: desired.properties.cluster}
    when: number(cluster.properties.used, 0) >= 4.0
    block: ${cluster.name} is full
    reason: Full
  - name: crowded
    type: Contoso.Things/things
    read: {others: {list: Contoso.Things/things}}
    when: size(others) > 1
    block: crowded
  - name: full-disk
    type: Contoso.Things/things
    at: error
    code: DiskFull
    retry: VerySlow
  - name: large
    type: Contoso.Things/things
    when: observed.properties.size == "large" || observed.properties.accessKey == "x"
    block: large
  - name: tagged
    type: Contoso.Things/things
    at: payload
    when: labels.team != null
    set: {tags.team: labels.team}
  - name: baking
    type: Contoso.Things/things
    busy: [Baking]
    path: properties.power
  - name: other
    type: Contoso.Things/others
    when: "true"
    block: never tried
`

func triedSources() []rules.Source { return []rules.Source{{Name: "r.yaml", Text: []byte(triedRules)}} }

// triedWorld has a managed resource that the rules look at.
func triedWorld(t *testing.T, change ...func(*setup)) (*world, resource.Desired) {
	t.Helper()
	w := newWorld(t, change...)
	w.put(groupText, `{"location":"westus2"}`)
	w.put(clusterText, `{"location":"westus2","properties":{"used":4,"accessKey":"`+planted+`"}}`)
	w.put(thingText, `{"location":"westus2","properties":{"size":"small","power":"Baking","accessKey":"`+planted+`"}}`)
	w.put(strings.Replace(thingText, "t1", "t2", 1), `{"location":"westus2"}`)
	spec := desired(t, thingText, `{"location":"westus2","properties":{"cluster":"`+clusterText+`","size":"small"}}`)
	spec.Labels = map[string]string{"team": "blue"}
	w.fleet.memories = map[string]WorkflowMemory{spec.ID.Key(): {Generation: 3, Desired: &spec}}
	return w, spec
}

// TestTryRules checks that a trial shows each condition with its values, whether it holds or
// not, masks secrets, and sends GET requests only.
func TestTryRules(t *testing.T) {
	t.Parallel()
	w, spec := triedWorld(t)
	got, err := run(w, w.acts.TryChecks, TryChecksInput{ID: spec.ID, Rules: triedSources()})
	must(t, err)
	w.leaks(planted, got)
	lines := got.Lines()
	for i, line := range lines {
		for _, long := range []string{"    observed.properties.accessKey is ", "    others is [{"} {
			if strings.HasPrefix(line, long) {
				lines[i] = long
			}
		}
	}
	want := []string{
		"Contoso.Things/things t1 (2023-08-15), with the manifest of generation 3",
		"rule quota (r.yaml:2) at PreReconcileCheck", "    blocks (Full): c1 is full", "    number(cluster.properties.used, 0) is 4", "    c1 read now",
		"rule crowded (r.yaml:8) at PreReconcileCheck", "    passes", "    others is [{", "    things of rg1 read now",
		"rule full-disk (r.yaml:13) at error", "    not tried: it needs an error of Azure; state one in a test",
		"rule large (r.yaml:18) at PreReconcileCheck", "    passes", `    observed.properties.size is "small"`, "    observed.properties.accessKey is ",
		"rule tagged (r.yaml:22) at ModifyARMResource", "    changes the payload", `    labels.team is "blue"`,
		"rule baking (r.yaml:27) at facts", "    busy",
	}
	if diff := cmp.Diff(want, lines); diff != "" {
		t.Errorf("(-want +got)\n%s", diff)
	}
	for _, request := range w.requests() {
		if !strings.HasPrefix(request, "GET ") {
			t.Errorf("a trial sent %s", request)
		}
	}
	if got.Failed() != 0 {
		t.Errorf("%d failed", got.Failed())
	}
	recordedTestsPass(t, got)
}

// recordedTestsPass checks that what a trial records passes as tests of the same rules.
func recordedTestsPass(t *testing.T, got TryChecksResult) {
	t.Helper()
	recording := rules.Recording{ID: got.ID, Labels: got.Labels, Desired: got.Desired, Observed: got.Observed, Owner: got.Owner, Now: got.Now}
	trials := make([]rules.Trial, len(got.Trials))
	for i, trial := range got.Trials {
		trials[i] = trial.Trial
	}
	text, count, err := recording.Tests(trials)
	must(t, err)
	folder := t.TempDir()
	must(t, os.WriteFile(filepath.Join(folder, "r.yaml"), []byte(triedRules), 0o600))
	must(t, os.WriteFile(filepath.Join(folder, "tests.yaml"), text, 0o600))
	outcomes, _, err := rules.Test(t.Context(), folder)
	must(t, err)
	if len(outcomes) != count || count != 5 {
		t.Errorf("recorded %d tests, %d ran, want 5:\n%s", count, len(outcomes), text)
	}
	for _, outcome := range outcomes {
		if outcome.Failure != "" {
			t.Errorf("%s: %s\n%s", outcome.Case.Name, outcome.Failure, text)
		}
	}
	if strings.Contains(string(text), planted) {
		t.Errorf("a recorded test has a secret:\n%s", text)
	}
}

// TestTryWithoutManifest checks the trial of a resource that Armature does not manage, and of
// one that is absent.
func TestTryWithoutManifest(t *testing.T) {
	t.Parallel()
	w, spec := triedWorld(t)
	w.fleet.memories = nil
	got, err := run(w, w.acts.TryChecks, TryChecksInput{ID: spec.ID, APIVersion: "2023-08-15", Rules: triedSources()})
	must(t, err)
	if got.Generation != 0 || got.Desired != nil || len(got.Trials) != 6 || got.Trials[0].outcome() != "passes" {
		t.Errorf("got %+v", got)
	}
	absent := id(t, strings.Replace(thingText, "t1", "t9", 1))
	got, err = run(w, w.acts.TryChecks, TryChecksInput{ID: absent, APIVersion: "2023-08-15", Rules: triedSources()})
	must(t, err)
	if got.Verdict.Stops() || got.Observed != nil || !strings.Contains(got.Lines()[0], "absent in Azure") {
		t.Errorf("an absent resource: %v", got.Lines())
	}
	got, err = run(w, w.acts.TryChecks, TryChecksInput{ID: spec.ID, APIVersion: "2023-08-15", Rules: []rules.Source{{Name: "r.yaml", Text: []byte("rules: [{name: x}]")}}})
	must(t, err)
	want(t, got.Verdict, resource.ActionError, resource.ReasonCheckFailed, resource.RetryNone, "r.yaml:1")
}

// keyLister is a check that reads the owner, and then calls a list action.
type keyLister struct{}

func (keyLister) PreReconcileCheck(
	ctx context.Context, obj, owner *resource.Object, resolver extensions.Resolver, client extensions.ARMClient, log *slog.Logger,
	next extensions.PreReconcileCheckFunc,
) (extensions.PreReconcileCheckResult, error) {
	if _, err := resolver.Resolve(ctx, resource.Reference{ID: obj.ID.Owner()}); err != nil {
		return extensions.PreReconcileCheckResult{}, err
	}
	if _, err := client.Post(ctx, obj.ID, "listKeys", obj.APIVersion, nil); err != nil {
		return extensions.PreReconcileCheckResult{}, err
	}
	return next(ctx, obj, owner, resolver, client, log)
}

// PostReconcileCheck names what it compared.
func (keyLister) PostReconcileCheck(
	ctx context.Context, obj, owner *resource.Object, resolver extensions.Resolver, client extensions.ARMClient, log *slog.Logger,
	next extensions.PostReconcileCheckFunc,
) (extensions.PostReconcileCheckResult, error) {
	if size, _ := obj.StringAt("properties.size"); size != "" {
		return extensions.PostReconcileCheckResultFailure("too small", extensions.WithValues("size is "+size)), nil
	}
	return next(ctx, obj, owner, resolver, client, log)
}

// TestTryChecksOfWorker checks that a trial without rules runs the checks of the worker, each
// at its points, and that a list action is not sent.
func TestTryChecksOfWorker(t *testing.T) {
	t.Parallel()
	w, spec := triedWorld(t, func(s *setup) {
		s.entries = append(s.entries, extensions.Entry{Type: "Contoso.Things/things", Link: keyLister{}})
	})
	got, err := run(w, w.acts.TryChecks, TryChecksInput{ID: spec.ID})
	must(t, err)
	trials := slices.DeleteFunc(slices.Clone(got.Trials), func(trial CheckTrial) bool { return !strings.Contains(trial.Link, "keyLister") })
	if len(trials) != 2 || trials[0].Verdict.Action != resource.ActionBlock || !strings.Contains(trials[0].outcome(), "POST") {
		t.Fatalf("got %+v", trials)
	}
	if trials[0].Ages != "rg1 read now" || trials[1].Ages != "" {
		t.Errorf("ages %q and %q, want that of the resource that the first check read", trials[0].Ages, trials[1].Ages)
	}
	if trials[1].outcome() != "not Ready (PostReconciliationFailure): too small" || trials[1].Verdict.Seen != "size is small" {
		t.Errorf("got %+v", trials[1])
	}
	for _, request := range w.requests() {
		if strings.HasPrefix(request, "POST") {
			t.Errorf("a trial sent %s", request)
		}
	}
}

// TestTryWithoutMemory checks that nothing is tried while the workflow of the resource cannot
// be asked: its spec is unknown, and with it the names of its secrets.
func TestTryWithoutMemory(t *testing.T) {
	t.Parallel()
	w, spec := triedWorld(t)
	w.fleet.err = errors.New("no worker answers the query")
	got, _ := finish(w, w.acts.TryChecks, TryChecksInput{ID: spec.ID, APIVersion: spec.APIVersion, Rules: triedSources()})
	if got.Verdict.Reason != resource.ReasonCheckFailed || got.Observed != nil || len(got.Trials) != 0 {
		t.Errorf("got %+v", got)
	}
}

// waiting is a check that does not end.
type waiting struct{}

func (waiting) PreReconcileCheck(
	ctx context.Context, _, _ *resource.Object, _ extensions.Resolver, _ extensions.ARMClient, _ *slog.Logger, _ extensions.PreReconcileCheckFunc,
) (extensions.PreReconcileCheckResult, error) {
	<-ctx.Done()
	return extensions.PreReconcileCheckResult{}, ctx.Err()
}

// TestTryEndsEachCheck checks that a check that does not end costs its own result alone.
func TestTryEndsEachCheck(t *testing.T) {
	t.Parallel()
	w, spec := triedWorld(t, func(s *setup) {
		for _, link := range []any{waiting{}, keyLister{}} {
			s.entries = append(s.entries, extensions.Entry{Type: "Contoso.Things/things", Link: link})
		}
	})
	got, err := run(w, w.acts.TryChecks, TryChecksInput{ID: spec.ID})
	must(t, err)
	if lines := strings.Join(got.Lines(), "\n"); got.Failed() != 1 || !strings.Contains(lines, "deadline exceeded") || !strings.Contains(lines, "too small") {
		t.Errorf("%d failed:\n%s", got.Failed(), lines)
	}
}
