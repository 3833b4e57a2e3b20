package passtest

import (
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/armature-io/armature/armsim"
	"github.com/armature-io/armature/internal/text"
	"github.com/armature-io/armature/resource"
	"github.com/armature-io/armature/workflows"
)

// Result is what happened in a script.
type Result struct {
	// Passes are the passes in order.
	Passes []Pass
	// Requests are all requests that the simulator received, polls included; Writes are
	// the accepted ones that change something, with their bodies as sent. Their times
	// are those of the virtual clock, from Start on.
	Requests []armsim.Request
	Writes   []armsim.Write
	// Start is the time of the first apply.
	Start time.Time
	// NotWoken are the events with Wakes that woke nothing.
	NotWoken []NotWoken
	// Status is what armature describe shows at the end.
	Status workflows.Status
	// Log is what the worker logged, at level info and above.
	Log string
}

// NotWoken is a change of a managed resource that the one under test does not wait for: a
// worker sends no signal, and the next try follows by its timer. A check names what it rests
// on with extensions.WithWaitingFor.
type NotWoken struct {
	// At is the time of the event, since the first apply.
	At time.Duration
	ID resource.ID
	// WaitsFor are the resources that it waited for instead.
	WaitsFor []resource.ID
}

// String returns one line of the timeline.
func (n NotWoken) String() string {
	waits := "nothing"
	if len(n.WaitsFor) > 0 {
		waits = n.WaitsFor[0].Short()
		if more := len(n.WaitsFor) - 1; more > 0 {
			waits += fmt.Sprintf(" and %d more", more)
		}
	}
	return fmt.Sprintf("%s no wake by %s: the resource waits for %s", text.Duration(n.At), n.ID.Short(), waits)
}

// Pass is one pass.
type Pass struct {
	// At is when it began, since the first apply.
	At time.Duration
	// Verdicts are those of its steps, in order.
	Verdicts []Verdict
	// Phase and Condition are those after it.
	Phase     workflows.Phase
	Condition resource.Condition
	// Wait is the time from its end to the next try. Zero means that only a message
	// starts a pass, or that the script ended before.
	Wait time.Duration
}

// Verdict is the verdict of one step.
type Verdict struct {
	// Step is CheckOwner, GetResource, PreCheck, PutResource, PollOperation or PostCheck;
	// a deletion has others.
	Step string
	resource.Verdict
}

// Of returns the last verdict of a step of the pass, the zero verdict where the pass
// ended before it.
func (p Pass) Of(step string) resource.Verdict {
	for _, v := range slices.Backward(p.Verdicts) {
		if v.Step == step {
			return v.Verdict
		}
	}
	return resource.Verdict{}
}

// Last returns the last pass, the zero pass without one.
func (r *Result) Last() Pass {
	if len(r.Passes) == 0 {
		return Pass{}
	}
	return r.Passes[len(r.Passes)-1]
}

// ReadyAfter returns when the pass began after which the resource was Ready for the first
// time, since the first apply; false if it never was.
func (r *Result) ReadyAfter() (time.Duration, bool) {
	for _, p := range r.Passes {
		if p.Condition.Ready {
			return p.At, true
		}
	}
	return 0, false
}

// Waits returns the waits after the passes, in order.
func (r *Result) Waits() []time.Duration {
	waits := make([]time.Duration, 0, len(r.Passes))
	for _, p := range r.Passes {
		waits = append(waits, p.Wait)
	}
	return waits
}

// Methods returns the methods of the requests to a resource, in order, without the polls
// of its operations.
func (r *Result) Methods(id string) []string {
	methods := []string{}
	for _, q := range r.Requests {
		if strings.EqualFold(q.ID, id) && !strings.Contains(strings.ToLower(q.Kind), "operation") {
			methods = append(methods, q.Method)
		}
	}
	return methods
}

// Bodies returns the bodies of the accepted PUTs and PATCHes of a resource, as sent.
func (r *Result) Bodies(id string) []map[string]any {
	bodies := []map[string]any{}
	for _, w := range r.Writes {
		if strings.EqualFold(w.ID, id) && w.Body != nil {
			bodies = append(bodies, w.Body)
		}
	}
	return bodies
}

// String returns the timeline: for each pass its verdicts, the requests, the condition and
// the next try.
func (r *Result) String() string {
	var b strings.Builder
	requests, silent := r.Requests, r.NotWoken
	for i, p := range r.Passes {
		for ; len(silent) > 0 && silent[0].At < p.At; silent = silent[1:] {
			fmt.Fprintln(&b, silent[0])
		}
		fmt.Fprintf(&b, "%s pass %d\n", text.Duration(p.At), i+1)
		for _, v := range p.Verdicts {
			origin := ""
			if v.Origin != "" {
				origin = "(by " + v.Origin + ")"
			}
			fmt.Fprintf(&b, "  %s\n", words(v.Step, string(v.Action), string(v.Reason), v.Text(), origin))
		}
		for len(requests) > 0 && (i+1 == len(r.Passes) || requests[0].Time.Sub(r.Start) < r.Passes[i+1].At) {
			q := requests[0]
			fmt.Fprintf(&b, "    %s\n", words(q.Method, shortPath(q.Path), strconv.Itoa(q.Status), q.Code))
			requests = requests[1:]
		}
		next := "no next try"
		if p.Wait > 0 {
			next = "next try in " + text.Duration(p.Wait)
		}
		fmt.Fprintf(&b, "  -> %s; %s\n", words(string(p.Phase), string(p.Condition.Severity), string(p.Condition.Reason), p.Condition.Message), next)
	}
	for _, n := range silent {
		fmt.Fprintln(&b, n)
	}
	return b.String()
}

// words joins the words that are not empty.
func words(all ...string) string {
	return strings.Join(slices.DeleteFunc(all, func(word string) bool { return word == "" }), " ")
}

// shortPath returns the last two segments of a path: the type and the name.
func shortPath(path string) string {
	segments := strings.Split(path, "/")
	return strings.Join(segments[max(0, len(segments)-2):], "/")
}
