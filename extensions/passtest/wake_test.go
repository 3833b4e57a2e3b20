package passtest_test

import (
	"context"
	"log/slog"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/armature-io/armature/extensions"
	"github.com/armature-io/armature/extensions/passtest"
	"github.com/armature-io/armature/extensions/rules"
	"github.com/armature-io/armature/resource"
)

// ownerGate refuses things while the tag quota of their owner is 1, and names what it waits for
// if an ID is set.
type ownerGate struct{ waits resource.ID }

func (g ownerGate) PreReconcileCheck(ctx context.Context, obj, owner *resource.Object, resolver extensions.Resolver,
	client extensions.ARMClient, log *slog.Logger, next extensions.PreReconcileCheckFunc,
) (extensions.PreReconcileCheckResult, error) {
	if quota, _ := owner.StringAt("tags.quota"); quota == "1" {
		options := []extensions.Option{extensions.WithSeverity(resource.SeverityError)}
		if !g.waits.IsZero() {
			options = append(options, extensions.WithWaitingFor(g.waits))
		}
		return extensions.BlockReconcile("The quota is 1", options...), nil
	}
	return next(ctx, obj, owner, resolver, client, log)
}

// rulesOf returns an entry with rules.
func rulesOf(t *testing.T, text string) extensions.Entry {
	t.Helper()
	path := filepath.Join(t.TempDir(), "r.yaml")
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	set, _, err := rules.Load(path)
	if err != nil {
		t.Fatal(err)
	}
	return set.Entry()
}

// TestOwnerWakesAPreCheck holds that a verdict that rests on the owner ends with the owner's
// change, also one that is otherwise repeated once per interval, and that the kit wakes
// nothing that a worker would not.
func TestOwnerWakesAPreCheck(t *testing.T) {
	const (
		ownerRule = "rules:\n  - name: r\n    type: " + thingType + "\n    at: pre\n    severity: Error\n    block: The quota is 1\n"
		reads     = ownerRule + "    when: text(owner, 'tags.quota') == '1'\n"
	)
	other, err := resource.ParseID(peer)
	if err != nil {
		t.Fatal(err)
	}
	// The rule below blocks until the clock of the simulator is past 9:59, and reads no owner.
	clock := strings.Replace(reads, "text(owner, 'tags.quota') == '1'", "now < timestamp('2026-01-01T00:09:59Z')", 1)
	peered := strings.Replace(reads, "    when", "    read: {peer: {id: '${ownerID}/providers/Contoso.Things/peers/p1', waitFor: nothing, apiVersion: '2023-01-01'}}\n    when", 1)
	cases := map[string]struct {
		reason string
		entry  extensions.Entry
		woken  bool
	}{
		"a link that names nothing":    {reason: "it got the owner", entry: own(ownerGate{}), woken: true},
		"a link that names another":    {reason: "it states what it rests on", entry: own(ownerGate{waits: other})},
		"a rule that reads its owner":  {reason: "its condition rests on it", entry: rulesOf(t, reads), woken: true},
		"a rule that reads a peer too": {reason: "it rests on both", entry: rulesOf(t, peered), woken: true},
		"a rule that reads no owner":   {reason: "no change of the owner ends it", entry: rulesOf(t, clock)},
	}
	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			result := passtest.Run(t, c.entry, passtest.Script{
				Manifest: manifest(1), Azure: map[string]string{group: `{"location": "westus2", "tags": {"quota": "1"}}`},
				Events: []passtest.Event{{After: 10 * time.Minute, ID: group, Patch: `{"tags": {"quota": "20"}}`, Wakes: true}},
			})
			if c := result.Passes[0].Condition; c.Severity != resource.SeverityError || !strings.HasPrefix(c.Message, "The quota is 1") {
				t.Fatalf("the first pass ended with %+v", c)
			}
			at, ready := result.ReadyAfter()
			if woken := ready && at == 10*time.Minute; woken != c.woken || (len(result.NotWoken) == 0) != c.woken {
				t.Errorf("Ready after %s (%v), not woken %v, want that the owner wakes it is %v: %s\n%s", at, ready, result.NotWoken, c.woken, c.reason, result)
			}
			if !c.woken && !strings.Contains(result.String(), "no wake by rg1: the resource waits for ") {
				t.Errorf("the timeline lacks the wake that was not sent:\n%s", result)
			}
		})
	}
}

// TestSiblingWakesARule holds that a rule that lists its siblings is woken by a change of one of
// them, and then lists them again.
func TestSiblingWakesARule(t *testing.T) {
	const other = group + "/providers/Contoso.Things/things/t2"
	entry := rulesOf(t, "rules:\n  - name: r\n    type: "+thingType+"\n    at: pre\n    severity: Error\n"+
		"    read: {things: {list: "+thingType+", apiVersion: '2023-01-01'}}\n    when: things.exists(o, text(o, 'properties.state') == 'Big')\n    block: 'Too big: ${things.map(o, o.name)}'\n")
	for _, wakes := range []bool{true, false} {
		result := passtest.Run(t, entry, passtest.Script{
			Manifest: manifest(1), Azure: map[string]string{other: `{"location": "westus2", "properties": {"state": "Big"}}`},
			Events: []passtest.Event{{After: 10 * time.Minute, ID: other, Patch: `{"properties": {"state": "Small"}}`, Wakes: wakes}},
		})
		if c := result.Passes[0].Condition; !strings.HasPrefix(c.Message, `Too big: ["t2"]`) {
			t.Fatalf("the first pass ended with %+v", c)
		}
		if at, ready := result.ReadyAfter(); wakes != (ready && at == 10*time.Minute) {
			t.Errorf("Ready after %s (%v), want that the sibling wakes it is %v\n%s", at, ready, wakes, result)
		}
	}
}
