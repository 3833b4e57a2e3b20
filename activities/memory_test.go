package activities

import (
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/armature-io/armature/drift"
	"github.com/armature-io/armature/resource"
	"github.com/armature-io/armature/secrets"
)

// passes runs the two checks of passes over one resource, with the baseline that
// the workflow keeps between them.
type passes struct {
	*world
	desired resource.Desired
	memory  json.RawMessage
	secrets map[string]string
}

func (p *passes) pre(observed string) resource.Verdict {
	return local(p.world, p.acts.PreCheck, PreCheckInput{Desired: p.desired, Observed: json.RawMessage(observed), Memory: p.memory}).Verdict
}

func (p *passes) post(observed string, put bool, reasons []resource.Difference) resource.Verdict {
	got := local(p.world, p.acts.PostCheck, PostCheckInput{
		Desired: p.desired, Observed: json.RawMessage(observed), Memory: p.memory, Put: put, Differences: reasons, Secrets: p.secrets,
	})
	if got.Memory != nil {
		p.memory = got.Memory
	}
	return got.Verdict
}

func newPasses(t *testing.T, body string, change ...func(*setup)) *passes {
	t.Helper()
	return &passes{world: newWorld(t, change...), desired: desired(t, thingText, body)}
}

func TestBaselineOfFirstContact(t *testing.T) {
	t.Parallel()
	p := newPasses(t, `{"properties":{"size":1,"mode":"a"},"tags":{"x":"1"}}`)
	const shown = `{"properties":{"size":1,"mode":"a"},"tags":{"x":"1","theirs":"2"}}`
	want(t, p.pre(shown), resource.ActionSkip, resource.ReasonInSync, "")
	want(t, p.post(shown, false, nil), resource.ActionSuccess, resource.ReasonSucceeded, "")
	if p.memory == nil {
		t.Fatal("a resource that is in sync at first contact gets a new baseline without a PUT")
	}
	before := string(p.memory)
	want(t, p.post(shown, false, nil), resource.ActionSuccess, resource.ReasonSucceeded, "")
	if string(p.memory) != before {
		t.Errorf("a pass in sync changes the baseline from %s to %s", before, p.memory)
	}
	p.desired.Body = json.RawMessage(`{"properties":{"size":1}}`)
	got := p.pre(shown)
	want(t, got, resource.ActionProceed, resource.ReasonDrift, "", "properties.mode")
	if len(got.Differences) != 2 || got.Differences[1].Path != "tags" || got.Differences[0].Rule != "removed" {
		t.Errorf("want the removed value and not the tags of others: %+v", got.Differences)
	}
	want(t, p.post(`{"properties":{"size":1},"tags":{"theirs":"2"}}`, true, got.Differences), resource.ActionSuccess, resource.ReasonSucceeded, "")
	want(t, p.pre(`{"properties":{"size":1},"tags":{"theirs":"2"}}`), resource.ActionSkip, resource.ReasonInSync, "")
}

func TestBaselineOfARemovalThatAzureIgnores(t *testing.T) {
	t.Parallel()
	p := newPasses(t, `{"properties":{"size":1,"mode":"a"}}`)
	const shown = `{"properties":{"size":1,"mode":"a"}}`
	p.post(shown, true, nil)
	p.desired.Body = json.RawMessage(`{"properties":{"size":1}}`)
	got := p.pre(shown)
	want(t, p.post(shown, true, got.Differences), resource.ActionSuccess, resource.ReasonChangeNotTaken, "", "properties.mode")
	want(t, p.pre(shown), resource.ActionSkip, resource.ReasonChangeNotTaken, resource.RetryVerySlow)
}

func TestBaselineUnderAnotherAPIVersion(t *testing.T) {
	t.Parallel()
	p := newPasses(t, `{"properties":{"size":1,"mode":"a"}}`)
	p.post(`{"properties":{"size":1,"mode":"a"}}`, true, nil)
	p.desired.APIVersion = "2024-01-01"
	const shown = `{"properties":{"size":1}}`
	want(t, p.pre(shown), resource.ActionSkip, resource.ReasonInSync, "")
	want(t, p.post(shown, false, nil), resource.ActionSuccess, resource.ReasonSucceeded, "")
	var memory drift.Baseline
	must(t, json.Unmarshal(p.memory, &memory))
	if memory.APIVersion != "2024-01-01" || len(memory.Differences) != 1 {
		t.Errorf("want the baseline of the new api-version: %s", p.memory)
	}
	want(t, p.pre(shown), resource.ActionSkip, resource.ReasonInSync, "")
	want(t, p.pre(`{"properties":{"size":2}}`), resource.ActionProceed, resource.ReasonDrift, "", "properties.size")
}

func TestBaselineOfAContestedPath(t *testing.T) {
	t.Parallel()
	p := newPasses(t, thingBody)
	const foreign = `{"location":"westus2","properties":{"size":7},"systemData":{"lastModifiedBy":"policy"}}`
	p.post(thingBody, true, nil)
	for range drift.ContestedAfter {
		got := p.pre(foreign)
		want(t, got, resource.ActionProceed, resource.ReasonDrift, "")
		p.post(thingBody, true, got.Differences)
		want(t, p.pre(thingBody), resource.ActionSkip, resource.ReasonInSync, "")
		p.post(thingBody, false, nil)
		p.advance(time.Hour)
	}
	want(t, p.pre(foreign), resource.ActionBlock, resource.ReasonContested, resource.RetryVerySlow, "properties.size", "3 times", "policy")
	want(t, p.pre(strings.Replace(foreign, "7", "8", 1)), resource.ActionBlock, resource.ReasonContested, resource.RetryVerySlow, "properties.size")
	p.desired.Body = json.RawMessage(strings.Replace(thingBody, `"size":1`, `"size":2`, 1))
	want(t, p.pre(foreign), resource.ActionProceed, resource.ReasonDrift, "")
	p.desired.Body = json.RawMessage(thingBody)
	p.advance(30 * 24 * time.Hour)
	want(t, p.pre(foreign), resource.ActionProceed, resource.ReasonDrift, "")
}

// A skip that an extension decides does not change the baseline.
func TestBaselineExcludesSkippedDifferences(t *testing.T) {
	t.Parallel()
	p := newPasses(t, thingBody)
	const foreign = `{"location":"westus2","properties":{"size":7}}`
	p.post(foreign, false, nil)
	if p.memory != nil {
		t.Errorf("a difference at first contact is in the baseline: %s", p.memory)
	}
	p.post(thingBody, true, nil)
	before := string(p.memory)
	p.post(foreign, false, nil)
	if string(p.memory) != before {
		t.Errorf("a difference without a PUT is in the baseline: %s", p.memory)
	}
	want(t, p.pre(foreign), resource.ActionProceed, resource.ReasonDrift, "", "properties.size")
}

// --force sends the PUT that a contested path stops.
func TestPutResourceForcesAContestedPath(t *testing.T) {
	t.Parallel()
	const foreign = `{"location":"westus2","properties":{"size":7}}`
	for name, force := range map[string]bool{"forced": true, "not forced": false} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w, in := putWorld(t)
			p := &passes{world: w, desired: in.Desired}
			p.post(thingBody, true, nil)
			for range drift.ContestedAfter {
				p.post(thingBody, true, p.pre(foreign).Differences)
			}
			w.put(thingText, foreign)
			in.Kind, in.Force, in.Memory = PutChange, force, p.memory
			got, err := run(w, w.acts.PutResource, in)
			must(t, err)
			if got.Sent != force {
				t.Errorf("got %+v", got)
			}
		})
	}
}

func TestBaselineOfSecrets(t *testing.T) {
	t.Parallel()
	const body = `{"properties":{"size":1,"adminPassword":{"$secret":"file:password"}}}`
	const shown = `{"properties":{"size":1,"adminPassword":"(masked) 0011223344556677"}}`
	for name, keyed := range map[string]bool{"with a key": true, "without a key": false} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			folder := t.TempDir()
			file := filepath.Join(folder, "password")
			p := newPasses(t, body, func(s *setup) { s.options.Rotation = keyed })
			p.acts.resolver = secrets.New(secrets.Options{Dir: folder})
			p.desired.SecretRefs, p.desired.Secret = []string{"file:password"}, []string{"properties.adminPassword"}
			must(t, os.WriteFile(file, []byte(planted), 0o600))
			p.post(shown, true, nil)
			want(t, p.pre(shown), resource.ActionSkip, resource.ReasonInSync, "")

			must(t, os.WriteFile(file, []byte(planted+"-rotated"), 0o600))
			got := p.pre(strings.ReplaceAll(shown, "00", "ff"))
			p.leaks(planted, got, p.memory)
			if !keyed {
				want(t, got, resource.ActionSkip, resource.ReasonInSync, "", "rotated secrets are not detected", "no mask-key")
				return
			}
			want(t, got, resource.ActionProceed, resource.ReasonDrift, "", "properties.adminPassword")
			if got.Differences[0].Rule != "rotated" {
				t.Errorf("want the reason of the rule: %+v", got.Differences)
			}
			p.post(shown, true, got.Differences)
			want(t, p.pre(shown), resource.ActionSkip, resource.ReasonInSync, "")
			must(t, os.Remove(file))
			want(t, p.pre(shown), resource.ActionSkip, resource.ReasonInSync, "")
		})
	}
}

// A secret that is rotated while its PUT is in progress was not sent: the baseline
// has what was sent, and the next pass sends the new value.
func TestBaselineOfASecretRotatedDuringPut(t *testing.T) {
	t.Parallel()
	const shown, rotated = `{"location":"westus2","properties":{"size":1}}`, planted + "-rotated"
	folder := t.TempDir()
	p := newPasses(t, `{"location":"westus2","properties":{"size":1,"adminPassword":{"$secret":"file:password"}}}`, func(s *setup) { s.options.Rotation = true })
	p.put(groupText, `{"location":"westus2"}`)
	p.acts.resolver = secrets.New(secrets.Options{Dir: folder})
	p.desired.SecretRefs, p.desired.Secret = []string{"file:password"}, []string{"properties.adminPassword"}
	is := func(value string) { must(t, os.WriteFile(filepath.Join(folder, "password"), []byte(value), 0o600)) }
	send := func(kind PutKind) PutResourceResult {
		t.Helper()
		got, err := run(p.world, p.acts.PutResource, PutResourceInput{Desired: p.desired, Kind: kind, ObservedAt: p.now()})
		must(t, err)
		p.leaks(planted, got)
		if !got.Sent || len(got.Secrets) != 1 {
			t.Fatalf("no PUT: %+v", got)
		}
		return got
	}
	is(planted)
	first := send(PutCreationAgain)
	is(rotated)
	p.secrets = first.Secrets
	p.post(shown, true, nil)
	got := p.pre(shown)
	want(t, got, resource.ActionProceed, resource.ReasonDrift, "", "properties.adminPassword")

	p.secrets = send(PutUncompared).Secrets
	p.post(shown, true, got.Differences)
	want(t, p.pre(shown), resource.ActionSkip, resource.ReasonInSync, "")
}

func TestPreCheckRefusesInvalidBodies(t *testing.T) {
	t.Parallel()
	cases := map[string]struct{ reason, body, observed, part string }{
		"desired list":   {"a body is an object", `[1]`, `{}`, "desired body: it is a list"},
		"observed text":  {"the response to a GET is an object too", `{}`, `"x"`, "observed body: it is a string"},
		"stated twice":   {"the choice between them would be arbitrary", `{"properties":{"size":1,"size":2}}`, `{}`, `"properties.size" is stated twice`},
		"observed depth": {"no response of ARM is that deep", `{}`, `{"a":` + strings.Repeat("[", 1000) + strings.Repeat("]", 1000) + `}`, "more than 100 levels"},
	}
	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			p := newPasses(t, c.body)
			want(t, p.pre(c.observed), resource.ActionError, resource.ReasonFailed, resource.RetrySlow, c.part)
		})
	}
}
