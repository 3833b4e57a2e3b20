package e2e

import (
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"net/http"
	"os"
	"strings"
	"testing"
	"time"

	"github.com/armature-io/armature/armsim"
	"github.com/armature-io/armature/dev/internal/harness"
	"github.com/armature-io/armature/workflows"
)

const chaosSecret = "0ther-t00l-s3cret"

// correction is a kind of resource of which another tool changes what the manifest states,
// and sets what it does not state.
type correction struct {
	typ, version, body string
	// theirs is what the other tool sets, drift what it changes.
	theirs, drift string
	// keeps are parts of the resource, and of the last PUT, at the end.
	keeps []string
}

// corrections are of published types, so that a PUT keeps what others set.
func corrections() []correction {
	return []correction{{
		typ: "Microsoft.Storage/storageAccounts", version: "2023-01-01",
		body:   `{"location":"westus2","kind":"StorageV2","sku":{"name":"Standard_LRS"},"properties":{"accessTier":"Hot"}}`,
		theirs: `{"properties":{"minimumTlsVersion":"TLS1_2","networkAcls":{"defaultAction":"Deny","bypass":"None"}}}`,
		drift:  `{"properties":{"accessTier":"Cool"}}`, keeps: []string{`"TLS1_2"`, `"Deny"`, `"accessTier":"Hot"`},
	}, {
		typ: "Microsoft.App/containerApps", version: "2024-03-01",
		body:   `{"location":"westus2","properties":{"configuration":{"ingress":{"external":true,"targetPort":80}},"template":{"containers":[{"name":"main","image":"nginx"}]}}}`,
		theirs: `{"properties":{"configuration":{"secrets":[{"name":"db","value":"` + chaosSecret + `"}]}}}`,
		drift:  `{"properties":{"configuration":{"ingress":{"external":false}}}}`, keeps: []string{chaosSecret, `"external":true`},
	}, {
		typ: "Microsoft.DocumentDB/databaseAccounts", version: "2023-11-15",
		body:   `{"location":"westus2","properties":{"databaseAccountOfferType":"Standard","locations":[{"locationName":"westus2"}],"enableAutomaticFailover":true}}`,
		theirs: `{"properties":{"ipRules":[{"ipAddressOrRange":"203.0.113.7"}]}}`,
		drift:  `{"properties":{"enableAutomaticFailover":false}}`, keeps: []string{"203.0.113.7", `"enableAutomaticFailover":true`},
	}}
}

func (c correction) id(i int) string {
	return fmt.Sprintf("%s/resourceGroups/chaos/providers/%s/chaos%03d", subscription, c.typ, i)
}

func (c correction) manifest(i int) string {
	return fmt.Sprintf("type: %s@%s\nname: chaos%03d\nowner: %s/resourceGroups/chaos\nbody: %s\nreconcile: {interval: 24h, validation: off}\n",
		c.typ, c.version, i, subscription, c.body)
}

// TestChaosCorrections kills workers at random while they correct resources in which
// another tool has set values and secrets, against the ARM of TestChaos. Each correction
// is one PUT, and everything of the other tool is there afterwards.
//
//guard:settings-of-others
func TestChaosCorrections(t *testing.T) {
	c := chaos{resources: number(t, "CHAOS_RESOURCES", 9), kills: number(t, "CHAOS_KILLS", 6), every: 900 * time.Millisecond}
	c.seed = uint64(number(t, "CHAOS_SEED", 1))
	t.Logf("chaos: %d resources, %d kills, CHAOS_SEED=%d", c.resources, c.kills, c.seed)
	if os.Getenv("CHAOS_KILLS") == "" {
		t.Parallel()
	}
	w := harness.New(t, binaries, harness.Options{Simulator: armsim.Options{Seed: int64(c.seed)}})
	s := scenarios{w}
	s.putGroup("chaos")
	worker := s.StartWorker(harness.WorkerOptions{})
	kinds, apply := corrections(), []string{"apply", "--wait", "--timeout", "4m"}
	for i := range c.resources {
		kind := kinds[i%len(kinds)]
		apply = append(apply, "-f", s.Write(fmt.Sprintf("chaos%03d.yaml", i), kind.manifest(i)))
	}
	s.MustCLI(apply...)
	worker.Kill()
	for i := range c.resources {
		kind := kinds[i%len(kinds)]
		s.Sim.Patch(kind.id(i), fields(t, kind.theirs))
	}
	s.Sim.Reset()
	c.faults(s)
	c.correctWhileKilling(t, s, kinds)
	s.Sim.Call(http.MethodDelete, "/faults", nil, nil)
	s.StartWorker(harness.WorkerOptions{})
	c.checkCorrections(t, s, kinds)
}

// fields decodes a JSON object.
func fields(t *testing.T, text string) map[string]any {
	t.Helper()
	var object map[string]any
	if err := json.Unmarshal([]byte(text), &object); err != nil {
		t.Fatalf("decode %s: %v", text, err)
	}
	return object
}

// correctWhileKilling changes the resources in waves, requests their correction, and kills
// one of two workers at random moments.
func (c chaos) correctWhileKilling(t *testing.T, s scenarios, kinds []correction) {
	t.Helper()
	random := rand.New(rand.NewPCG(c.seed, 2))
	workers := []*harness.Worker{s.StartWorker(harness.WorkerOptions{}), s.StartWorker(harness.WorkerOptions{})}
	changed, killed, deadline := 0, 0, time.Now().Add(10*time.Minute)
	change := func() {
		kind := kinds[changed%len(kinds)]
		s.Sim.Patch(kind.id(changed), fields(t, kind.drift))
		s.CLI("reconcile", kind.id(changed)) // repeated at the end
		changed++
	}
	for ; killed < c.kills && time.Now().Before(deadline); killed++ {
		for changed < c.resources && changed*c.kills <= killed*c.resources {
			change()
		}
		<-time.After(time.Duration(random.Float64() * 2 * float64(c.every)))
		i := random.IntN(len(workers))
		workers[i].Kill()
		workers[i] = s.StartWorker(harness.WorkerOptions{NotReady: true})
	}
	t.Logf("%d of %d workers killed within 10 minutes, %d of %d resources changed meanwhile", killed, c.kills, changed, c.resources)
	for changed < c.resources {
		change()
	}
}

// checkCorrections checks that each correction was one PUT and lost nothing.
func (c chaos) checkCorrections(t *testing.T, s scenarios, kinds []correction) {
	t.Helper()
	reconcile := []string{"reconcile", "--wait", "--timeout", "4m"}
	for i := range c.resources {
		reconcile = append(reconcile, kinds[i%len(kinds)].id(i))
	}
	s.MustCLI(reconcile...)
	writes, twice, lost := s.Sim.Counters().Writes, 0, 0
	for i := range c.resources {
		kind := kinds[i%len(kinds)]
		id := kind.id(i)
		if status, err := s.Status(id); err != nil || status.Phase != workflows.PhaseReady {
			t.Errorf("%s is %s: %+v (%v)", id, status.Phase, status.Condition, err)
		}
		if accepted := writes[strings.ToLower(id)]; accepted != 1 {
			twice++
			t.Errorf("ARM accepted %d PUTs of %s, want 1\n%s", accepted, id, s.HistoryLines(id))
		}
		var stored []json.RawMessage // what a GET shows, and the last PUT with its secrets
		s.Sim.Call(http.MethodGet, "/resources?id="+id, nil, &stored)
		for _, part := range kind.keeps {
			if !strings.Contains(fmt.Sprintf("%s", stored), part) {
				lost++
				t.Errorf("%s lost %s: %s", id, part, stored)
			}
		}
	}
	for _, text := range s.Texts() {
		if strings.Contains(text, chaosSecret) {
			t.Errorf("a history has the secret: %.300s", text)
		}
	}
	t.Logf("%d resources corrected during %d kills; corrections with more than one PUT: %d; values of others lost: %d", c.resources, c.kills, twice, lost)
}
