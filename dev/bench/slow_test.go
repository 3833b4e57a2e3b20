package bench

import (
	"fmt"
	"maps"
	"net/http"
	"regexp"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/armature-io/armature/armsim"
	"github.com/armature-io/armature/dev/internal/harness"
	"github.com/armature-io/armature/dev/temporaldev"
	"github.com/armature-io/armature/resource"
	"github.com/armature-io/armature/workflows"
)

const (
	// slowThings and slowRoutes are created in each case. The routes share a table, so they
	// take turns by updates.
	slowThings, slowRoutes = 8, 4
	// slowWindow is the time from the apply in which all writes should leave.
	slowWindow = 2 * time.Minute
	// slowSideBySide is the number of cases at a time; each mostly waits.
	slowSideBySide = 3
	// maxSlowActions bounds the actions of a case, as a multiple of those without delay.
	maxSlowActions = 1.5
)

// slowMethods returns the methods that a case delays, by its name.
func slowMethods() map[string][]string {
	methods := map[string][]string{
		"none": nil, "describe": {"DescribeWorkflowExecution"}, "heartbeat": {"RecordActivityTaskHeartbeat"},
		"update": {"UpdateWorkflowExecution", "ExecuteMultiOperation"},
	}
	for _, one := range []string{"describe", "heartbeat", "update"} {
		methods["together"] = append(methods["together"], methods[one]...)
	}
	return methods
}

// slowCase is a set of slow methods and what was seen with them.
type slowCase struct {
	name    string
	delay   time.Duration
	stops   bool // Temporal is too slow for writes
	sent    int  // PUTs in slowWindow
	actions int
	words   []string // reasons in lists and logs
}

// TestSlow creates resources while single methods of Temporal are slow. Up to 8 s all writes
// leave within two minutes, and actions stay within one and a half times those of a quick one.
// Beyond the 10 s that an answer may take nothing is written, and the reason is Temporal's.
func TestSlow(t *testing.T) {
	binaries := requireOnlyPart(t, "slow")
	cases := []*slowCase{{name: "none"}}
	for _, name := range []string{"describe", "heartbeat", "update", "together"} {
		for _, delay := range []time.Duration{1500 * time.Millisecond, 2500 * time.Millisecond, 4 * time.Second, 8 * time.Second} {
			cases = append(cases, &slowCase{name: name, delay: delay})
		}
	}
	cases = append(cases, &slowCase{name: "describe", delay: 12 * time.Second, stops: true})
	slots := make(chan struct{}, slowSideBySide)
	var running sync.WaitGroup
	for _, c := range cases {
		running.Go(func() {
			slots <- struct{}{}
			defer func() { <-slots }()
			t.Run(fmt.Sprintf("%s-%s", c.name, c.delay), func(t *testing.T) { c.play(t, binaries) })
		})
	}
	running.Wait()
	const count = slowThings + slowRoutes
	quiet, all := cases[0].actions, figures{}
	fmt.Printf("| slow | delay | writes within %s | actions each | of quiet | words |\n|---|---|---|---|---|---|\n", slowWindow)
	for _, c := range cases {
		ratio := float64(c.actions) / float64(quiet)
		fmt.Printf("| %s | %s | %d of %d | %.1f | %.2f | %s |\n", c.name, c.delay, c.sent, count, float64(c.actions)/count, ratio, strings.Join(c.words, ", "))
		blamed := strings.Join(c.words, " ")
		switch {
		case strings.Contains(blamed, string(resource.ReasonArmUnreachable)) || c.stops != strings.Contains(blamed, string(resource.ReasonTemporalSlow)):
			t.Errorf("%s with %s: %q is blamed", c.name, c.delay, blamed)
		case c.stops:
		case c.sent < count || ratio > maxSlowActions:
			t.Errorf("%s with %s: %d of %d writes left, and %.2f times the actions, want all and at most %g times", c.name, c.delay, c.sent, count, ratio, maxSlowActions)
		}
		key := fmt.Sprintf("slow.%s.%s.", c.name, c.delay)
		all[key+"sent"], all[key+"actions"] = float64(c.sent), float64(c.actions)
	}
	if !t.Failed() {
		all.merge(t)
	}
}

func (c *slowCase) play(t *testing.T, binaries harness.Binaries) {
	counted := &temporaldev.Actions{}
	w := harness.New(t, binaries, harness.Options{Actions: counted, Simulator: armsim.Options{TimeScale: 60}})
	meter := w.Meter()
	worker := w.StartWorker(harness.WorkerOptions{})
	group := benchSubscription + "/resourceGroups/slow"
	table := group + "/providers/Microsoft.Network/routeTables/table"
	for _, id := range []string{group, table} {
		w.Sim.Call(http.MethodPut, "/resources", map[string]any{"id": id, "body": map[string]any{"location": "westus2", "properties": map[string]any{}}}, nil)
	}
	var documents, ids []string
	for i := range slowThings {
		name := fmt.Sprintf("t%d", i)
		documents = append(documents, manifest(thingType+"@2024-01-01", name, group, `{"location":"westus2"}`))
		ids = append(ids, group+"/providers/"+thingType+"/"+name)
	}
	for i := range slowRoutes {
		name := fmt.Sprintf("r%d", i)
		documents = append(documents, manifest("Microsoft.Network/routeTables/routes@2024-01-01", name, table+"@2024-01-01",
			fmt.Sprintf(`{"properties":{"addressPrefix":"10.%d.0.0/16","nextHopType":"VnetLocal"}}`, i)))
		ids = append(ids, table+"/routes/"+name)
	}
	file := w.Write("slow.yaml", join(documents))
	for _, method := range slowMethods()[c.name] {
		meter.Delay(method, c.delay)
	}
	counted.Reset()
	begun := time.Now()
	w.MustCLI("apply", "-f", file)
	words := map[string]bool{}
	for c.sent < len(ids) && time.Since(begun) < slowWindow {
		<-time.After(time.Second)
		c.sent = 0
		for _, id := range ids {
			c.sent += w.Sim.Count(http.MethodPut, id)
		}
		quick := []string{"TEMPORAL_ADDRESS=" + w.Temporal.Address()}
		for _, reason := range reasonWords.FindAllString(w.CLIWith("", quick, "get").Out+w.CLIWith("", quick, "why").Out, -1) {
			words[reason] = true
		}
	}
	for _, id := range ids {
		if !c.stops {
			w.UntilPhase(time.Minute, id, workflows.PhaseReady)
		}
	}
	c.actions = counted.Sum() - counted.Counts()["grpc_QueryWorkflow"] // those of this test
	t.Log(counted.Counts())
	for _, reason := range reasonWords.FindAllString(worker.Log(), -1) {
		words["log: "+reason] = true
	}
	c.words = slices.Sorted(maps.Keys(words))
}

// reasonWords are those that blame Temporal, and Azure.
var reasonWords = regexp.MustCompile(`Temporal(Slow|Unavailable)|ArmUnreachable|Held\b`)
