package e2e

import (
	"fmt"
	"math/rand/v2"
	"net/http"
	"os"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/armature-io/armature/armsim"
	"github.com/armature-io/armature/dev/internal/harness"
	"github.com/armature-io/armature/workflows"
)

// chaos is the extent of one run.
type chaos struct {
	resources, kills int
	seed             uint64
	// audits is the folder of the workers' audit trails.
	audits string
	// every is the mean time between two kills.
	every time.Duration
}

// chaosShapes are the shapes of a creation: all that recorded traffic has.
var chaosShapes = map[string]armsim.OperationSpec{
	"sync-201":     {Shape: armsim.ShapeSync, Status: http.StatusCreated},
	"sync-200":     {Shape: armsim.ShapeSync, Status: http.StatusOK},
	"async":        {Shape: armsim.ShapeAsync, Seconds: 240, Polls: 2, RetryAfter: []float64{60, 120}},
	"async-200":    {Shape: armsim.ShapeAsync, Status: http.StatusOK, Seconds: 180, RetryAfter: []float64{60}},
	"location":     {Shape: armsim.ShapeLocation, Status: http.StatusAccepted, Seconds: 240, RetryAfter: []float64{60}},
	"relative":     {Shape: armsim.ShapeLocation, Status: http.StatusAccepted, Seconds: 120, RelativeLocation: true, RetryAfter: []float64{60}},
	"both":         {Shape: armsim.ShapeBoth, Seconds: 240, Polls: 1, RetryAfter: []float64{60}},
	"under":        {Shape: armsim.ShapeAsync, Seconds: 120, UnderResource: true, URLPadding: 3000, RetryAfter: []float64{60}},
	"self":         {Shape: armsim.ShapeSelf},
	"state":        {Shape: armsim.ShapeState, Seconds: 240},
	chaosTraceless: {Shape: armsim.ShapeLocation, Status: http.StatusAccepted, Seconds: 240, HiddenUntilDone: true, RetryAfter: []float64{60}},
}

// chaosTraceless is the shape of which a GET shows nothing until it is done: when
// its token is lost with the worker, no client can distinguish it from a PUT that was
// never accepted.
const chaosTraceless = "traceless"

// TestChaos kills workers at random while resources of all shapes are created
// against an ARM that returns conflicts, throttling, faults and broken
// connections. A short version runs with every test; make chaos runs the long
// one, with another seed each time. CHAOS_SEED repeats the kills of a run.
//
//guard:audit-line-first
func TestChaos(t *testing.T) {
	c := chaos{resources: number(t, "CHAOS_RESOURCES", 20), kills: number(t, "CHAOS_KILLS", 12), every: 900 * time.Millisecond}
	c.audits = t.TempDir()
	c.seed = uint64(number(t, "CHAOS_SEED", 1))
	t.Logf("chaos: %d resources, %d kills, CHAOS_SEED=%d", c.resources, c.kills, c.seed)
	if os.Getenv("CHAOS_KILLS") == "" {
		t.Parallel()
	}
	w := harness.New(t, binaries, harness.Options{Simulator: armsim.Options{Seed: int64(c.seed), MaxRequests: 1_000_000}})
	s := scenarios{w}
	s.putGroup("chaos")
	shapes := c.rules(s)
	c.faults(s)
	c.applyWhileKilling(t, s, shapes)
	s.Sim.Call(http.MethodDelete, "/faults", nil, nil)
	s.StartWorker(auditedOptions(t, c.audits))
	c.check(t, s, shapes)
	checkAudit(t, s, c.audits, "chaos")
}

func number(t *testing.T, name string, fallback int) int {
	t.Helper()
	text := os.Getenv(name)
	if text == "" {
		return fallback
	}
	n, err := strconv.Atoi(text)
	if err != nil || n < 0 {
		t.Fatalf("%s is %q, want a number", name, text)
	}
	return n
}

func chaosThing(i int) thing {
	return thing{group: "chaos", name: fmt.Sprintf("thing%03d", i), interval: "24h"}
}

// rules gives each resource a shape, in turn.
func (c chaos) rules(s scenarios) map[string]string {
	names := []string{
		"sync-201", "sync-200", "async", "async-200", "location", "relative", "both", "under", "self", "state", chaosTraceless,
	}
	shapes := map[string]string{}
	for i := range c.resources {
		r, name := chaosThing(i), names[i%len(names)]
		shapes[r.id()] = name
		s.Sim.Call(http.MethodPost, "/operations", armsim.OperationRule{ID: r.id(), On: "create", Spec: chaosShapes[name]}, nil)
	}
	return shapes
}

// faults adds faults, each of which affects some of the requests.
func (c chaos) faults(s scenarios) {
	things := subscription + "/resourceGroups/chaos/providers/*"
	for _, fault := range []armsim.Fault{
		{Status: http.StatusConflict, Code: "AnotherOperationInProgress", Message: "Another operation is in progress."},
		{Status: http.StatusTooManyRequests, Code: "TooManyRequests", Message: "Too many.", Headers: map[string]string{"Retry-After": "1"}},
		{Status: http.StatusServiceUnavailable, Code: "ServerUnavailable", Message: "Try again."},
		{Reset: true},
		{Applied: true, Reset: true},
		{Applied: true, Status: http.StatusBadGateway, Body: []byte(`"<html>bad gateway</html>"`)},
	} {
		fault.Path, fault.On, fault.Probability = things, "any", 0.04
		s.Sim.Call(http.MethodPost, "/faults", fault, nil)
	}
}

// applyWhileKilling applies the resources in waves and kills, until all kills
// are done, one of two workers at random moments.
func (c chaos) applyWhileKilling(t *testing.T, s scenarios, shapes map[string]string) {
	t.Helper()
	random := rand.New(rand.NewPCG(c.seed, 1))
	workers := []*harness.Worker{s.StartWorker(auditedOptions(t, c.audits)), s.StartWorker(auditedOptions(t, c.audits))}
	applied, killed, deadline := 0, 0, time.Now().Add(10*time.Minute)
	for ; killed < c.kills && time.Now().Before(deadline); killed++ {
		for ; applied < c.resources && applied*c.kills <= killed*c.resources; applied++ {
			r := chaosThing(applied)
			// A worker that is lost before it responds makes the CLI report it; the
			// apply stays valid, and is repeated at the end.
			s.CLI("apply", "-f", s.Write(r.name+".yaml", r.manifest("small")))
		}
		<-time.After(time.Duration(random.Float64() * 2 * float64(c.every)))
		i := random.IntN(len(workers))
		workers[i].Kill()
		options := auditedOptions(t, c.audits)
		options.NotReady = true
		workers[i] = s.StartWorker(options)
	}
	t.Logf("%d of %d workers killed within 10 minutes, %d of %d resources applied meanwhile", killed, c.kills, applied, len(shapes))
}

// check checks that everything is Ready with one accepted PUT each; the traceless
// shape is counted separately.
func (c chaos) check(t *testing.T, s scenarios, shapes map[string]string) {
	t.Helper()
	var files []string
	for i := range c.resources {
		r := chaosThing(i)
		files = append(files, "-f", s.Write(r.name+".yaml", r.manifest("small")))
	}
	s.MustCLI(append([]string{"apply", "--wait", "--timeout", "4m"}, files...)...)
	writes, twice, traceless := s.Sim.Counters().Writes, 0, 0
	for id, shape := range shapes {
		status, err := s.Status(id)
		if err != nil || status.Phase != workflows.PhaseReady {
			t.Errorf("%s (%s) is %s: %+v (%v)", id, shape, status.Phase, status.Condition, err)
		}
		switch accepted := writes[strings.ToLower(id)]; {
		case accepted == 1:
		case shape == chaosTraceless && accepted > 1:
			traceless++
		default:
			twice++
			t.Errorf("ARM accepted %d PUTs of %s (%s), want 1\n%s", accepted, id, shape, s.HistoryLines(id))
		}
	}
	t.Logf("%d resources Ready after %d kills; PUTs accepted more than once: %d; of the shape that leaves no trace: %d",
		len(shapes), c.kills, twice, traceless)
}
