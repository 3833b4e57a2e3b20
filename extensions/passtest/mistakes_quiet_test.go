package passtest_test

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/armature-io/armature/extensions"
	"github.com/armature-io/armature/extensions/extensiontest"
	"github.com/armature-io/armature/extensions/passtest"
	"github.com/armature-io/armature/resource"
)

const (
	kusto   = group + "/providers/Microsoft.Kusto/clusters/adx"
	keyBody = `{"properties": {"primaryKey": "hunter2-hunter2", "size": 3}}`
)

// suiteTest is the test of an author with a suite of more than states.
func suiteTest(link any, change func(*extensiontest.Suite)) func(t *testing.T) {
	return func(t *testing.T) {
		suite := extensiontest.Suite{
			Entry: own(link), ID: thing, IgnoresForce: true,
			Self: []extensiontest.States{{Path: "properties.state", Block: []string{"Busy"}, Pass: []string{"Idle"}}},
		}
		change(&suite)
		extensiontest.Run(t, suite)
	}
}

// quietMistakes were green in every tool and wrong in production, when authors outside of the
// project made them, or are like those.
func quietMistakes() map[string]mistake {
	kit := func(says string, link Link, change func(*extensiontest.Suite)) mistake {
		return mistake{by: "test kit", when: inGoTest, says: says, at: methodLine, try: suiteTest(link, change)}
	}
	suite := func(says string, link any, change func(*extensiontest.Suite)) mistake {
		return mistake{by: "test kit", when: inGoTest, says: says, at: `mistakes_(go|quiet)_test\.go:\d+`, try: suiteTest(link, change)}
	}
	registry := func(says string, entry extensions.Entry) mistake {
		return mistake{by: "test kit, and the worker's start", when: inGoTest, says: says, at: `(extension|facts of) \S+`, try: func(t *testing.T) {
			suiteTest(nil, func(s *extensiontest.Suite) { s.Entry, s.ID = entry, kusto })(t)
		}}
	}
	states := func(words ...extensiontest.States) func(*extensiontest.Suite) {
		return func(s *extensiontest.Suite) { s.Self = words }
	}
	published := func(path, word string) func(*extensiontest.Suite) {
		return func(s *extensiontest.Suite) {
			s.Entry.Type, s.ID = "Microsoft.Kusto/clusters", kusto
			s.Self = []extensiontest.States{{Path: path, Block: []string{word}, Pass: []string{"Running"}}}
		}
	}
	needs := func(g given) (float64, bool) { // the mistake: numbers of bodies are json.Number
		value, _ := g.obj.DesiredAt("properties.cores")
		number, ok := value.(float64)
		return number, ok
	}
	byState := func(path string) Link {
		return func(g given) (preResult, error) {
			if text, _ := g.obj.StringAt(path); strings.EqualFold(text, "Stoped") || strings.EqualFold(text, "Busy") {
				return extensions.BlockReconcile("it is " + text), nil
			}
			return g.callNext()
		}
	}
	lists := func(s *extensiontest.Suite) {
		s.Desired, s.Requests = `{"properties":{"cores":8}}`, 1
		s.Lists = map[string][]string{group + "/things": {`{"name":"t0"}`}}
		s.Self = []extensiontest.States{{Path: "properties.state", Pass: []string{"Idle"}}}
	}
	return map[string]mistake{
		"a number is asserted as float64": suite(`no call of passtest_test\.Link listed \S+/things, which Lists has: the check decides without it`, Link(func(g given) (preResult, error) {
			if _, ok := needs(g); ok {
				if _, err := g.client.Find(g.ctx, g.obj.ID.Owner(), "things", "2023-01-01", "", 10); err != nil {
					return preResult{}, err
				}
			}
			return g.callNext()
		}), lists),
		"a check never reads what its suite declares": suite(`no call of passtest_test\.Link read \S+, which Resources has`, Link(given.right), func(s *extensiontest.Suite) {
			s.Resources = map[string]string{peer: `{}`}
		}),
		"a suite declares a request too many": suite(`Requests is 1, and no call of passtest_test\.Link made more than 0`, Link(given.right), func(s *extensiontest.Suite) { s.Requests = 1 }),
		"a suite names a resource of another type": suite(`the ID has the type Contoso\.Things/peers, and the entry is for Contoso\.Things/things`, Link(given.right), func(s *extensiontest.Suite) {
			s.ID = peer
		}),
		"a masked value in a message": kit(`message "the key is [^"]*", want "the key is Busy"`, func(g given) (preResult, error) {
			if text, set := g.obj.StringAt("properties.apiKey"); set && text != "Idle" {
				return extensions.BlockReconcile("the key is " + text), nil
			}
			return g.callNext()
		}, states(extensiontest.States{Path: "properties.apiKey", Block: []string{"Busy"}, Message: "the key is %s", Exact: true})),
		"a masked value is compared": kit(`got Proceed [^\n]*want Block`, byState("properties.apiKey"), states(extensiontest.States{Path: "properties.apiKey", Block: []string{"Busy"}})),
		"an unmasked body in a message": kit(`its message shows a secret that it read with Get, Find or Post`, func(g given) (preResult, error) {
			id, err := resource.ParseID(peer)
			if err != nil {
				return preResult{}, err
			}
			response, err := g.client.Get(g.ctx, id, "2023-01-01")
			if err != nil {
				return preResult{}, err
			}
			if state, _ := g.obj.StringAt("properties.state"); strings.EqualFold(state, "Busy") {
				return extensions.BlockReconcile("see " + string(response.Body)), nil
			}
			return g.callNext()
		}, func(s *extensiontest.Suite) { s.Resources, s.Requests = map[string]string{peer: keyBody}, 1 }),
		"a pre-check waits for a state of an absent resource": kit(`for a resource that does not exist, want Proceed: no PUT would ever create it`, func(g given) (preResult, error) {
			if !g.obj.Exists() || g.obj.ProvisioningState() == "Updating" {
				return extensions.BlockReconcile("it has not succeeded"), nil
			}
			return g.callNext()
		}, states(extensiontest.States{Path: "properties.provisioningState", Block: []string{"Updating"}, Pass: []string{"Succeeded"}, Exact: true})),
		"the time is in a message": kit(`a second call with the same input returned Block`, func(g given) (preResult, error) {
			if result, err := g.right(); err != nil || result.Action() != resource.ActionBlock {
				return result, err
			}
			return extensions.BlockReconcile(fmt.Sprint("busy at ", time.Now().UnixNano())), nil
		}, states(extensiontest.States{Path: "properties.state", Block: []string{"Busy"}})),
		"a block waits for an empty ID": kit(`it returned an empty resource ID in PreReconcileCheck to wait for`, func(g given) (preResult, error) {
			if result, err := g.right(); err != nil || result.Action() != resource.ActionBlock {
				return result, err
			}
			return extensions.BlockReconcile("busy", extensions.WithWaitingFor(resource.ID{})), nil
		}, states(extensiontest.States{Path: "properties.state", Block: []string{"Busy"}})),
		"an index beyond a list": kit(`panicked in PreReconcileCheck`, func(g given) (preResult, error) {
			value, _ := g.obj.At("properties.count")
			if number, isNumber := value.(json.Number); isNumber && []string{"a"}[len(number)] == "" {
				return extensions.BlockReconcile("none"), nil
			}
			return g.callNext()
		}, states(extensiontest.States{Path: "properties.count", Pass: []string{"many"}})),
		"a property that Azure never has":     suite(`Microsoft\.Kusto/clusters has no properties\.stat \(did you mean state\?\)`, byState("properties.stat"), published("properties.stat", "Stopped")),
		"a state word that Azure never has":   suite(`"Stoped" is no published value of properties\.state of Microsoft\.Kusto/clusters \(did you mean Stopped\?\)`, byState("properties.state"), published("properties.state", "Stoped")),
		"a state word of an unpublished type": {by: "nothing: the suite has the author's words", when: never, try: suiteTest(Link(given.right), func(*extensiontest.Suite) {})},
		"a property unlike any of its type": {by: "nothing: Azure may show it unpublished", when: never, try: suiteTest(byState("properties.flavour"), func(s *extensiontest.Suite) {
			published("properties.flavour", "Busy")(s)
		})},
		"a link is registered twice": {by: "test kit, and the worker's start", when: inGoTest, says: `it is registered twice, and would decide and write twice`, at: `extension \S+`, try: twiceTest},
		"a path of Busy is misspelt": registry(`Busy: the type has no properties\.stat \(did you mean state\?\)`, busyFact("properties.stat", "Starting")),
		"a word of Busy is misspelt": registry(`Busy: "Startng" is no published value of properties\.state \(did you mean Starting\?\)`, busyFact("properties.state", "Startng")),
		"a check waits for the wrong resource": {
			by: "whole passes", when: inGoTest, says: `no wake by rg1: the resource waits for p1`, at: `mistakes_quiet_test\.go:\d+`, try: wrongWaitTest,
		},
	}
}

// busyFact is an entry with a fact in Go.
func busyFact(path, word string) extensions.Entry {
	return extensions.Entry{Type: "Microsoft.Kusto/clusters", Facts: extensions.Facts{Busy: []extensions.BlockingState{{Path: path, States: []string{word}}}}}
}

// twiceTest registers a link in the list of a worker that has it already.
func twiceTest(t *testing.T) {
	passtest.Run(t, own(ownerGate{}), passtest.Script{Manifest: manifest(1), More: []extensions.Entry{own(ownerGate{})}})
}

// wrongWaitTest expects that the owner ends a wait that names another resource.
func wrongWaitTest(t *testing.T) {
	id, err := resource.ParseID(peer)
	if err != nil {
		t.Fatal(err)
	}
	result := passtest.Run(t, own(ownerGate{waits: id}), passtest.Script{
		Manifest: manifest(1), Azure: map[string]string{group: `{"location": "westus2", "tags": {"quota": "1"}}`},
		Events: []passtest.Event{{After: 10 * time.Minute, ID: group, Patch: `{"tags": {"quota": "20"}}`, Wakes: true}},
	})
	if at, ready := result.ReadyAfter(); !ready || at > 11*time.Minute {
		t.Errorf("Ready after %s (%v):\n%s", at, ready, result)
	}
}
