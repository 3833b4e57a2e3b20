package e2e

import (
	"encoding/json"
	"fmt"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/armature-io/armature/dev/internal/harness"
	"github.com/armature-io/armature/workflows"
)

// oddID is a chain of resources with IDs at the edge of what ARM allows: a
// group, a thing in it, a part of the thing, and a mark on the part.
type oddID struct {
	reason             string
	group, thing, part string
	// length of the longest ID, where that is the point.
	length int
}

// odd is one resource of a chain.
type odd struct{ id, file string }

// TestOddIDs checks that resource IDs of 300 characters, and those with spaces,
// brackets and upper case, work from apply to delete, owners too.
func TestOddIDs(t *testing.T) {
	t.Parallel()
	w := harness.New(t, binaries, harness.Options{})
	cases := map[string]func(*testing.T){}
	for name, tc := range map[string]oddID{
		"long": {
			reason: "ARM allows 90 characters for a group and more than 255 for a whole ID; Temporal's stores do not",
			group:  strings.Repeat("g", 90), thing: strings.Repeat("t", 63), part: strings.Repeat("p", 37), length: 300,
		},
		"odd": {
			reason: "names keep their case and are escaped in URLs",
			group:  "Odd_Grüppe.(1)-X", thing: "Thing One (v2) [x]", part: "Part; A=1, B&C+D @home 'q' $5 ~ü",
		},
	} {
		cases[name] = func(t *testing.T) {
			s := scenarios{w.Branch(t, "odd-"+name, harness.Options{})}
			s.StartWorker(harness.WorkerOptions{})
			s.odd(tc)
		}
	}
	sideBySide(t, len(cases), cases)
}

// chain writes the manifests, each with its owner by ID.
func (s scenarios) chain(tc oddID) []odd {
	groupID := subscription + "/resourceGroups/" + tc.group
	thingID := groupID + "/providers/Microsoft.Example/Things/" + tc.thing
	partID := thingID + "/Parts/" + tc.part
	markID := partID + "/providers/Microsoft.Marks/marks/M 1"
	var chain []odd
	for i, r := range []struct{ kind, name, owner, id string }{
		{"Microsoft.Resources/resourceGroups", tc.group, subscription, groupID},
		{"Microsoft.Example/Things", tc.thing, groupID, thingID},
		{"Microsoft.Example/Things/Parts", tc.part, thingID, partID},
		{"Microsoft.Marks/marks", "M 1", partID + "@2024-01-01", markID},
	} {
		manifest, err := json.Marshal(map[string]any{
			"type": r.kind + "@2024-01-01", "name": r.name, "owner": r.owner, "reconcile": map[string]any{"interval": 0},
			"body": map[string]any{"location": "westus2", "tags": map[string]any{"Team (A)": "x"}},
		})
		if err != nil {
			s.T.Fatal(err)
		}
		chain = append(chain, odd{id: r.id, file: s.Write(fmt.Sprintf("%d.json", i), string(manifest))})
	}
	return chain
}

func (s scenarios) odd(tc oddID) {
	chain := s.chain(tc)
	if length := len(chain[2].id); tc.length > 0 && length < tc.length {
		s.T.Fatalf("%s: the ID has %d characters only", tc.reason, length)
	}
	for _, r := range chain {
		s.MustCLI("apply", "-f", r.file)
	}
	for _, r := range chain {
		s.UntilPhase(40*time.Second, r.id, workflows.PhaseReady)
	}
	s.Sim.Reset()
	for _, r := range chain {
		// The ID in another case is the same resource.
		s.MustCLI("reconcile", strings.ToUpper(r.id), "--wait", "--timeout", "30s")
		if gets, puts := s.Sim.Count(http.MethodGet, r.id), s.Sim.Count(http.MethodPut, r.id); gets == 0 || puts != 0 {
			s.T.Errorf("%s: %d GETs and %d PUTs of %s in sync, want no PUT", tc.reason, gets, puts, r.id)
		}
		s.shows(r)
	}
	for i := len(chain) - 1; i >= 0; i-- {
		s.MustCLI("delete", "--yes", "--wait", "--timeout", "40s", chain[i].id)
		if deletes := s.Sim.Count(http.MethodDelete, chain[i].id); deletes != 1 {
			s.T.Errorf("%s: %d DELETEs of %s, want one", tc.reason, deletes, chain[i].id)
		}
	}
	if left := s.MustCLI("get").Out; strings.Contains(left, tc.thing[:10]) {
		s.T.Errorf("%s: still managed after the deletes:\n%s", tc.reason, left)
	}
}

// shows checks that every command that reads shows the whole ID.
func (s scenarios) shows(r odd) {
	s.T.Helper()
	if page := s.MustCLI("describe", r.id).Out; !strings.Contains(page, "\n"+r.id+"\n") || !strings.Contains(page, "True") {
		s.T.Errorf("describe does not show %s as Ready:\n%s", r.id, page)
	}
	out := s.MustCLI("get", r.id, "-o", "json").Out
	var shown []struct {
		ID    string
		Phase workflows.Phase
	}
	if err := json.Unmarshal([]byte(out), &shown); err != nil || len(shown) != 1 || shown[0].ID != r.id || shown[0].Phase != workflows.PhaseReady {
		s.T.Errorf("get -o json does not show %s as Ready (%v):\n%s", r.id, err, out)
	}
	if id := s.WorkflowID(r.id); len(id) > 200 {
		s.T.Errorf("the workflow ID has %d bytes: %s", len(id), id)
	}
}
