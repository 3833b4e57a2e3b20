package page

import (
	"cmp"
	"context"
	"errors"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"time"

	"github.com/armature-io/armature/activities/exporting"
	"github.com/armature-io/armature/docs"
	"github.com/armature-io/armature/internal/audit"
	"github.com/armature-io/armature/resource"
	"github.com/armature-io/armature/starter/internal/backend"
	"github.com/armature-io/armature/starter/internal/cli"
	"github.com/armature-io/armature/starter/internal/why"
	"github.com/armature-io/armature/workflows"
)

// Bounds of the page of a resource.
const (
	maxNeighbors = 24
	maxEvents    = 100
)

// Resource is the page of one resource.
type Resource struct {
	Frame
	Ref
	ID, Type, APIVersion string
	Condition            Condition
	Next                 Next
	// Worker is why the state may be old, "" if a worker answered.
	Worker string
	Facts  []Fact
	// Chain is what it waits for, nil if nothing blocks it; Roots are the ends of the chain.
	Chain         *ChainLink
	Roots         []Root
	Differences   []Difference
	DifferencesAt time.Time
	// Resolved: the differences were of an earlier pass, and it is Ready since.
	Resolved bool
	Passes   []Pass
	Exports  []exporting.Exported
	Foreign  []string
	// Unverified are the paths that no request shows.
	Unverified []string
	Needs      Neighbors
	NeededBy   Neighbors
	Links      []Link
	Graph      string
	History    string
	// Bodies is the address of both whole bodies, "" if nothing manages it.
	Bodies string
}

// Condition is the condition in words.
type Condition struct {
	Ready   bool
	Reason  string
	Message string
	// By is the extension that decided, "" for Armature itself.
	By    string
	Since time.Time
	// Means, Who and Do are of the documentation of the reason.
	Means string
	Who   string
	Do    []Segment
	// NotReadySince is set if the resource is overdue.
	NotReadySince time.Time
}

// Next is the next try: a time, or words.
type Next struct {
	At    time.Time
	Words string
}

// Fact is a line about the resource.
type Fact struct {
	Label, Text string
	Ref         *Ref
}

// ChainLink is a link in the chain of causes.
type ChainLink struct {
	Ref
	// Verb joins it to the link above.
	Verb    string
	Reason  string
	Message string
	Since   time.Time
	Below   []ChainLink
	More    int
}

// Root is the end of a chain.
type Root struct {
	Subject Ref
	Who     string
	Text    []Segment
}

// Difference is a value that differs, with its owner.
type Difference struct {
	Path, Desired, Observed string
	// Owner is whose value stays: the manifest, Azure, or another owner.
	Owner string
	// Keeps is set if Azure's value stays.
	Keeps bool
	Parts []Difference
}

// Pass is one pass of the timeline.
type Pass struct {
	Number int64
	At     time.Time
	Steps  []Step
	Tone   Tone
}

// Step is a decision of a pass.
type Step struct {
	At      time.Time
	Name    string
	Action  string
	Reason  string
	Message string
	By      string
	Count   int
	Tone    Tone
}

// Neighbors are resources beside this one.
type Neighbors struct {
	Refs []Ref
	More int
}

// resource serves the page of a resource.
func (s *Server) resource(w http.ResponseWriter, r *http.Request) {
	state := s.estate.look(r.Context())
	listed, ok := s.find(w, r, state)
	if !ok {
		return
	}
	view, readAt, err := s.resources.view(r.Context(), listed, state)
	if view.ID.IsZero() {
		view.ID = listed.ID
	}
	if err != nil && readAt.IsZero() {
		s.failed(w, r, err)
		return
	}
	page, buildErr := s.newResource(r.Context(), state, view)
	if buildErr != nil {
		s.failed(w, r, buildErr)
		return
	}
	page.Frame = s.frame(r, state, "")
	page.Title = page.Name
	page.ReadAt, page.Away, page.Refused = readAt, "", false
	if err != nil {
		page.setAway(err)
	}
	s.render(w, r, pageResource, page)
}

// find returns the record of the resource that the address names. Else it writes a page that
// says why there is none.
func (s *Server) find(w http.ResponseWriter, r *http.Request, state *snapshot) (backend.Record, bool) {
	id, err := resource.ParseID(r.URL.Query().Get("id"))
	if err != nil {
		s.notFound(w, r, "The address has no resource ID: "+cli.OneLine(err.Error())+".")
		return backend.Record{}, false
	}
	if listed, known := state.byID[id.WorkflowID()]; known {
		return listed, true
	}
	return backend.RecordOf(id), true
}

// newResource returns the model of a resource.
func (s *Server) newResource(ctx context.Context, state *snapshot, v backend.View) (Resource, error) {
	now := s.options.Now()
	page := Resource{
		Ref: refOf(v.ID, v.PhaseName()), ID: v.ID.String(), Type: v.ID.Type(), APIVersion: v.APIVersion,
		Condition: newCondition(v, now), Next: newNext(v), Worker: workerText(v, s.options.TaskQueue),
		Exports: v.Exports, Foreign: oneLines(v.Foreign), Unverified: oneLines(v.Unverified),
		DifferencesAt: v.DifferencesAt, Resolved: v.Condition.Ready,
		Graph: address("/graph", "of", v.ID.String()), History: address("/resource/history", "id", v.ID.String()),
	}
	if !v.Unmanaged {
		page.Bodies = address("/resource/bodies", "id", v.ID.String())
	}
	if v.Unmanaged && v.Ended == "" {
		page.Condition.Message = "No workflow manages it: it was never applied, or was deleted long ago."
	}
	page.Facts = newFacts(state, v)
	page.Differences = newDifferences(v)
	page.Passes = newPasses(v.Decisions)
	page.addNeighbors(state, v)
	page.addLinks(s.options, v)
	return page, page.addChain(ctx, state, v, now)
}

// newCondition returns the condition in words.
func newCondition(v backend.View, now time.Time) Condition {
	c := v.CurrentCondition(now)
	shown := Condition{
		Ready: c.Ready, Reason: string(c.Reason), Message: cli.OneLine(c.Message), By: cli.OneLine(c.Origin), Since: c.LastTransitionTime,
	}
	if v.Overdue && !v.Unmanaged {
		shown.NotReadySince = v.NotReadySince
	}
	if documented, known := docs.FindReason(string(c.Reason)); known && !c.Ready {
		shown.Means, shown.Who = documented.Means, strings.TrimSuffix(documented.Acts, ".")
		shown.Do = segments(strings.ReplaceAll(documented.Do, "NAME", v.DisplayName()))
	}
	return shown
}

// newNext returns the next try.
func newNext(v backend.View) Next {
	switch {
	case v.Unmanaged:
		return Next{Words: "none: no workflow manages it"}
	case v.Paused && !v.Deleting:
		return Next{Words: "after `armature resume " + v.DisplayName() + "`"}
	case v.Operation != "":
		return Next{Words: "when the operation in Azure ends"}
	case !v.NextTry.IsZero():
		return Next{At: v.NextTry}
	case v.Stale:
		return Next{Words: "not known without a worker"}
	case len(v.WaitingFor) > 0:
		return Next{Words: "when what it waits for changes"}
	}
	return Next{Words: "after apply, reconcile or resume"}
}

// Segments returns the words with their commands.
func (n Next) Segments() []Segment { return segments(n.Words) }

// workerText returns why the state may be old.
func workerText(v backend.View, taskQueue string) string {
	queue := cmp.Or(v.Record.TaskQueue, taskQueue)
	switch {
	case !v.Stale || v.Unmanaged:
		return ""
	case v.Record.Unreadable != "":
		return cli.OneLine(v.Record.Unreadable)
	case v.Record.Stuck != "":
		return v.Record.StuckText(queue)
	case !v.Record.StepSince.IsZero():
		return "A worker runs a step of it and answers after it; the state is from before."
	}
	return "No worker answers on the task queue " + queue + "; the state is as the workflow wrote it before."
}

func oneLines(texts []string) []string {
	lines := make([]string, len(texts))
	for i, text := range texts {
		lines[i] = cli.OneLine(text)
	}
	return lines
}

// newFacts returns the lines about owner, spec and policy.
func newFacts(state *snapshot, v backend.View) []Fact {
	var facts []Fact
	add := func(label, text string) {
		if text != "" {
			facts = append(facts, Fact{Label: label, Text: cli.OneLine(text)})
		}
	}
	if owner := v.ID.Owner(); !owner.IsZero() {
		ref := refOf(owner, state.phaseOf(owner.WorkflowID()))
		facts = append(facts, Fact{Label: "Owner", Ref: &ref})
	}
	policy := string(v.Policy)
	if v.Interval > 0 && policy != "" {
		policy += ", checked every " + cli.Span(v.Interval)
	}
	add("Policy", policy)
	add("Applied by", v.AppliedBy)
	add("Credential", v.Credential)
	add("Labels", strings.Join(v.Record.Labels, ", "))
	if v.Generation > 0 {
		generation := cli.Count(int(v.Generation), "applied spec")
		if v.Condition.ObservedGeneration != v.Generation && !v.Stale {
			generation += "; the newest is not applied to Azure yet"
		}
		add("Generation", generation)
	}
	return facts
}

// newDifferences returns what differs, with owners: first what the manifest will correct.
func newDifferences(v backend.View) []Difference {
	var list []Difference
	owner := "manifest"
	if v.Policy == resource.PolicyObserve {
		owner = "reported only (policy observe)"
	}
	for _, d := range v.Differences {
		of := Difference{Path: cli.OneLine(d.Path), Desired: cli.OneLine(d.Desired), Observed: cli.OneLine(d.Observed), Owner: owner}
		for _, part := range d.Parts {
			of.Parts = append(of.Parts, Difference{Path: cli.OneLine(part.Path), Desired: cli.OneLine(part.Desired), Observed: cli.OneLine(part.Observed)})
		}
		list = append(list, of)
	}
	for _, text := range v.Owned {
		path, by, _ := strings.Cut(cli.OneLine(text), " ")
		list = append(list, Difference{Path: path, Owner: strings.TrimPrefix(by, "belongs to "), Keeps: true})
	}
	for _, path := range v.Kept {
		list = append(list, Difference{Path: cli.OneLine(path), Owner: "Azure: it kept its own value after the last PUT", Keeps: true})
	}
	return list
}

// newPasses groups decisions by their pass, the newest first.
func newPasses(decisions []workflows.Decision) []Pass {
	var passes []Pass
	for _, d := range decisions {
		step := Step{
			At: d.At, Name: cli.OneLine(d.Step), Action: string(d.Action), Reason: string(d.Reason), Message: cli.OneLine(d.Message),
			By: cli.OneLine(d.Origin), Count: d.Count, Tone: stepTone(d),
		}
		if n := len(passes); n > 0 && passes[n-1].Number == d.Pass {
			passes[n-1].Steps = append(passes[n-1].Steps, step)
			if d.Action != "" { // a message after the pass is no part of its result
				passes[n-1].At, passes[n-1].Tone = d.At, step.Tone
			}
			continue
		}
		passes = append(passes, Pass{Number: d.Pass, At: d.At, Steps: []Step{step}, Tone: step.Tone})
	}
	slices.Reverse(passes)
	return passes
}

// stepTone returns the tone of a decision.
func stepTone(d workflows.Decision) Tone {
	switch d.Action {
	case resource.ActionSuccess, resource.ActionSkip:
		return ToneGood
	case resource.ActionBlock:
		return ToneWait
	case resource.ActionError, resource.ActionFailure:
		return ToneBad
	case resource.ActionProceed:
		return ToneBusy
	}
	return ToneQuiet
}

// addNeighbors adds what it needs, except the owner, and what needs it.
func (p *Resource) addNeighbors(state *snapshot, v backend.View) {
	owner := v.ID.Owner()
	for _, id := range v.Needs {
		if !id.Equal(owner) {
			p.Needs.add(refOf(id, cmp.Or(state.phaseOf(id.WorkflowID()), "not managed")))
		}
	}
	key := workflows.WaitingKey(v.ID)
	for _, other := range state.records {
		if slices.Contains(other.NeedKeys(), key) {
			p.NeededBy.add(refOf(other.ID, backend.ListedView(other).PhaseName()))
		}
	}
}

func (n *Neighbors) add(ref Ref) {
	if len(n.Refs) == maxNeighbors {
		n.More++
		return
	}
	n.Refs = append(n.Refs, ref)
}

// addLinks adds the pages about it elsewhere.
func (p *Resource) addLinks(options Options, v backend.View) {
	if options.WebUI != "" {
		p.Links = append(p.Links, Link{
			Text: "Temporal Web UI",
			Href: strings.TrimSuffix(options.WebUI, "/") + "/namespaces/" + url.PathEscape(options.Namespace) + "/workflows/" + url.PathEscape(v.Record.WorkflowID),
		})
	}
	if options.Portal != "" {
		p.Links = append(p.Links, Link{Text: "Azure portal", Href: strings.TrimSuffix(options.Portal, "/") + "/#resource" + v.ID.String()})
	}
}

// one answers for a resource with the state of its workflow, and for all others with that of
// the lists.
type one struct {
	*snapshot
	view backend.View
}

func (o one) Status(ctx context.Context, workflowID string) (workflows.Status, error) {
	if workflowID != o.view.Record.WorkflowID {
		return o.snapshot.Status(ctx, workflowID)
	}
	if o.view.Stale {
		return workflows.Status{}, &backend.NoWorkerError{TaskQueue: o.view.Record.TaskQueue, StepSince: o.view.Record.StepSince}
	}
	return o.view.Status, nil
}

func (o one) Record(ctx context.Context, workflowID string) (backend.Record, error) {
	if workflowID != o.view.Record.WorkflowID {
		return o.snapshot.Record(ctx, workflowID)
	}
	if o.view.Unmanaged && o.view.Ended == "" {
		return backend.Record{}, backend.ErrNotManaged
	}
	return o.view.Record, nil
}

// addChain adds the chain of causes of a resource that is not Ready.
func (p *Resource) addChain(ctx context.Context, state *snapshot, v backend.View, now time.Time) error {
	if p.Condition.Ready || v.Unmanaged {
		return nil
	}
	chain, err := state.engine(one{snapshot: state, view: v}, now).Chain(ctx, v.ID.String())
	if err != nil || chain.Link == nil || chain.Clear || len(chain.WaitsFor) == 0 {
		return err
	}
	first := newChainLink(chain.Link, "")
	p.Chain = &first
	for _, root := range chain.Roots {
		p.Roots = append(p.Roots, Root{Subject: refOf(root.ID, root.State), Who: whoActs(root.Link), Text: advice(root.Link)})
	}
	return nil
}

func newChainLink(l *why.Link, verb string) ChainLink {
	shown := ChainLink{
		Ref: refOf(l.ID, l.State), Verb: verb, Reason: string(l.Reason), Message: cmp.Or(l.Message, l.WaiterMessage, l.Cut), Since: l.Since, More: l.More,
	}
	if len(l.Cycle) > 0 {
		shown.Message = "a cycle: they wait for each other"
	}
	for _, next := range l.WaitsFor {
		shown.Below = append(shown.Below, newChainLink(next, l.Verb()))
	}
	return shown
}

// Event is a request of a user or a write to Azure.
type Event struct {
	At     time.Time
	What   string
	Result string
	Tone   Tone
	By     string
	Reason string
	// Message is the rest of the reason.
	Message     string
	Differences []Difference
	More        int
}

// History is the part of the page of a resource with requests and writes.
type History struct {
	Frame
	Ref
	Events []Event
	More   int
	Begin  string
	// Problem is why there is no history, "" if there is one.
	Problem string
}

// history serves the requests and writes of a resource. Histories are read only for it.
func (s *Server) history(w http.ResponseWriter, r *http.Request) {
	state := s.estate.look(r.Context())
	listed, ok := s.find(w, r, state)
	if !ok {
		return
	}
	page := History{Frame: s.frame(r, state, ""), Ref: refOf(listed.ID, state.phaseOf(listed.WorkflowID))}
	page.Title = page.Name + ": requests and writes"
	records, begin, err := s.resources.history(r.Context(), listed, state)
	switch {
	case errors.Is(err, context.Canceled):
		return
	case err != nil:
		page.Problem = cli.OneLine(err.Error())
	}
	page.Begin = begin
	for _, record := range slices.Backward(records) {
		if len(page.Events) == maxEvents {
			page.More = len(records) - maxEvents
			break
		}
		page.Events = append(page.Events, newEvent(record))
	}
	s.render(w, r, pageHistory, page)
}

// newEvent returns the model of an audit record.
func newEvent(record audit.Record) Event {
	e := Event{
		At: record.Time, What: cmp.Or(record.Method, string(record.Event)), Result: string(record.Result), Tone: resultTone(record.Result),
		Reason: cli.OneLine(record.Reason), Message: cli.OneLine(record.Message), More: record.MoreDifferences,
	}
	if record.By != nil {
		e.By = cli.OneLine(record.By.String())
	}
	for _, d := range record.Differences {
		e.Differences = append(e.Differences, Difference{Path: cli.OneLine(d.Path), Desired: cli.OneLine(d.Desired), Observed: cli.OneLine(d.Observed)})
	}
	return e
}

func resultTone(result audit.Result) Tone {
	switch result {
	case audit.ResultAccepted:
		return ToneGood
	case audit.ResultRefused, audit.ResultNotSent:
		return ToneBad
	case audit.ResultSending, audit.ResultUnknown:
		return ToneWait
	}
	return ToneQuiet
}
