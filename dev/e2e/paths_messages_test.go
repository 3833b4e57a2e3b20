package e2e

import (
	"context"
	"sync/atomic"
	"testing"
	"time"

	enumspb "go.temporal.io/api/enums/v1"
	"go.temporal.io/sdk/client"

	"github.com/armature-io/armature/activities"
	"github.com/armature-io/armature/activities/contents"
	"github.com/armature-io/armature/dev/internal/harness"
	"github.com/armature-io/armature/resource"
	"github.com/armature-io/armature/workflows"
)

// TestRecordMessages plays messages that arrive while a step runs or while a resource waits, with
// the scripted activities of TestRecordPaths, and records the histories.
func TestRecordMessages(t *testing.T) {
	t.Parallel()
	w := harness.New(t, binaries, harness.Options{})
	for name, play := range map[string]func(*played){
		"applied-during-read": pathAppliedDuringRead, "deleted-during-read": pathDeletedDuringRead,
		"forgotten-during-read": pathForgottenDuringRead, "undone-during-read": pathUndoneDuringRead,
		"undone-during-poll": pathUndoneDuringPoll, "forgotten-during-poll": pathForgottenDuringPoll,
		"paused-during-put": pathPausedDuringPut, "applied-while-deleting": pathAppliedWhileDeleting,
		"applied-during-turn": pathAppliedDuringTurn, "applied-during-put": pathAppliedDuringPut, "gone-in-flight": pathGoneInFlight,
		"deleted-in-turn": pathDeletedInTurn, "queued-in-sync": pathQueuedInSync, "queued-deleted": pathQueuedDeleted,
		"queued-forgotten": pathQueuedForgotten, "queued-long": pathQueuedLong, "detached": pathDetached, "released": pathReleased, "replaced-awaited": pathReplaced,
		"audit-unwritten": pathAuditUnwritten, "once-unwritten": pathOnceUnwritten, "freeze-unwritten": pathFreezeUnwritten,
		"reported": pathReported, "feed": pathFeed, "feed-continued": pathFeedContinued,
		"refused-first": pathRefusedFirst, "unnamed": pathUnnamed, "holder-notified": pathHolderNotified,
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			play(newPlayed(t, w, name, nil))
		})
	}
}

// stalled is an activity that waits until it is released, and then returns its result.
type stalled[In, Out any] struct {
	began, released chan struct{}
	calls           atomic.Int64
	out             Out
}

func stall[In, Out any](out Out) *stalled[In, Out] {
	return &stalled[In, Out]{began: make(chan struct{}), released: make(chan struct{}), out: out}
}

func (h *stalled[In, Out]) run(ctx context.Context, _ In) (Out, error) {
	if h.calls.Add(1) == 1 {
		close(h.began)
	}
	select {
	case <-h.released:
	case <-ctx.Done():
	}
	return h.out, nil
}

// callsInTurn returns an activity that is one function after the other, the last one repeatedly.
func callsInTurn[In, Out any](functions ...func(context.Context, In) (Out, error)) func(context.Context, In) (Out, error) {
	var calls atomic.Int64
	return func(ctx context.Context, in In) (Out, error) {
		return functions[min(int(calls.Add(1))-1, len(functions)-1)](ctx, in)
	}
}

type (
	getIn  = activities.GetResourceInput
	getOut = activities.GetResourceResult
)

// reads lets the reads of a resource be ordinary activities: one that finds it, one that is stalled,
// and results.
func (p *played) reads(results ...getOut) *stalled[getIn, getOut] {
	reading := stall[getIn](present())
	p.script["GetResource"] = ordinary(callsInTurn(scripted[getIn](present()), reading.run, inTurn[getIn](results...)))
	p.T.Cleanup(func() { close(reading.released) })
	return reading
}

// ready starts the worker, applies the resource and waits until it is Ready.
func (p *played) ready() {
	p.T.Helper()
	p.work()
	p.apply(workflows.ApplyInput{})
	p.untilReady(1)
}

func (p *played) requestPass() {
	p.T.Helper()
	p.send(p.id(), workflows.ReconcileUpdate, workflows.ReconcileInput{By: "test"})
}

func (p *played) delete(in workflows.DeleteInput) {
	p.T.Helper()
	in.By = "test"
	p.send(p.id(), workflows.DeleteUpdate, in)
}

func (p *played) forget() {
	p.T.Helper()
	p.send(p.id(), workflows.ForgetUpdate, workflows.ForgetInput{By: "test"})
}

func (p *played) abort() {
	p.T.Helper()
	p.send(p.id(), workflows.AbortUpdate, workflows.AbortInput{By: "test"})
}

// ends waits for the end of the run without an error.
func (p *played) ends() {
	p.T.Helper()
	if err := p.end(p.id(), p.name); err != nil {
		p.T.Error(err)
	}
}

func (p *played) untilReason(reason resource.Reason) {
	p.T.Helper()
	p.untilStatus("has the reason "+string(reason), func(s workflows.Status) bool { return s.Condition.Reason == reason })
}

// changed is another spec of the resource: its policy is in the memo, its labels in the attributes.
func (p *played) changed() resource.Desired {
	desired := p.desired()
	desired.Policy, desired.Labels = resource.PolicyDetachOnDelete, map[string]string{"team": "a"}
	return desired
}

func pathAppliedDuringRead(p *played) {
	reading := p.reads(present())
	p.ready()
	p.requestPass()
	<-reading.began
	p.send(p.id(), workflows.ApplyUpdate, workflows.ApplyInput{Desired: p.changed(), By: "test"})
	p.untilReady(3)
	p.record(p.id())
}

func pathDeletedDuringRead(p *played) {
	reading := p.reads(absent())
	p.ready()
	p.requestPass()
	<-reading.began
	p.delete(workflows.DeleteInput{})
	p.ends()
}

func pathForgottenDuringRead(p *played) {
	reading := p.reads(present())
	p.ready()
	p.requestPass()
	<-reading.began
	p.forget()
	p.ends()
}

func pathUndoneDuringRead(p *played) {
	looking := stall[contents.Request](activities.CheckContentsResult{Verdict: proceeds})
	p.script["CheckContents"] = looking.run
	p.T.Cleanup(func() { close(looking.released) })
	p.ready()
	p.delete(workflows.DeleteInput{})
	<-looking.began
	p.abort()
	p.untilReady(3)
	p.record(p.id())
}

// polls lets an operation be in flight until it is released.
func (p *played) polls() *stalled[activities.PollOperationInput, activities.PollOperationResult] {
	polling := stall[activities.PollOperationInput](activities.PollOperationResult{Verdict: succeeds})
	p.script["PollOperation"] = polling.run
	p.T.Cleanup(func() { close(polling.released) })
	return polling
}

func pathUndoneDuringPoll(p *played) {
	creating := present()
	creating.InFlight, creating.State = "Creating", "Creating"
	p.script["GetResource"] = inTurn[getIn](present(), creating, present())
	polling := p.polls()
	p.ready()
	p.delete(workflows.DeleteInput{})
	<-polling.began
	p.abort()
	p.untilReady(3)
	p.record(p.id())
}

func pathForgottenDuringPoll(p *played) {
	p.script["PreCheck"] = scripted[activities.PreCheckInput](activities.PreCheckResult{Verdict: creates})
	p.script["PutResource"] = scripted[activities.PutResourceInput](activities.PutResourceResult{Verdict: resource.Proceed("accepted"), Sent: true, Token: "t"})
	polling := p.polls()
	p.work()
	p.apply(workflows.ApplyInput{})
	<-polling.began
	p.forget()
	p.ends()
}

// pathAppliedDuringTurn applies another spec while a changed resource requests its turn.
func pathAppliedDuringTurn(p *played) {
	p.script["PreCheck"] = inTurn[activities.PreCheckInput](
		activities.PreCheckResult{Verdict: creates, Turn: p.desired().Owner}, activities.PreCheckResult{Verdict: unchanged})
	taking := stall[activities.TakeTurnInput](activities.TakeTurnResult{Verdict: proceeds})
	p.script["TakeTurn"] = ordinary(taking.run)
	p.T.Cleanup(func() { close(taking.released) })
	p.work()
	p.apply(workflows.ApplyInput{})
	<-taking.began
	p.send(p.id(), workflows.ApplyUpdate, workflows.ApplyInput{Desired: p.changed(), By: "test"})
	p.untilReady(2)
	p.record(p.id())
}

// pathAppliedDuringPut applies another spec while a PUT is in flight.
func pathAppliedDuringPut(p *played) {
	p.script["GetResource"] = inTurn[getIn](absent(), present())
	p.script["PreCheck"] = inTurn[activities.PreCheckInput](activities.PreCheckResult{Verdict: creates}, activities.PreCheckResult{Verdict: unchanged})
	putting := stall[activities.PutResourceInput](activities.PutResourceResult{Verdict: resource.Proceed("accepted"), Sent: true, Done: true})
	p.script["PutResource"] = putting.run
	p.work()
	p.apply(workflows.ApplyInput{})
	<-putting.began
	p.send(p.id(), workflows.ApplyUpdate, workflows.ApplyInput{Desired: p.changed(), By: "test"})
	close(putting.released)
	p.untilReady(2)
	p.record(p.id())
}

// pathGoneInFlight deletes a resource that the operation of another tool deletes.
func pathGoneInFlight(p *played) {
	deleting := present()
	deleting.InFlight = "Deleting"
	p.script["GetResource"] = inTurn[getIn](present(), deleting, absent())
	p.ready()
	p.delete(workflows.DeleteInput{})
	p.ends()
}

func pathPausedDuringPut(p *played) {
	p.script["GetResource"] = inTurn[getIn](absent(), present())
	p.script["PreCheck"] = inTurn[activities.PreCheckInput](activities.PreCheckResult{Verdict: creates}, activities.PreCheckResult{Verdict: unchanged})
	putting := stall[activities.PutResourceInput](activities.PutResourceResult{Verdict: resource.Proceed("accepted"), Sent: true, Done: true})
	p.script["PutResource"] = putting.run
	p.work()
	p.apply(workflows.ApplyInput{})
	<-putting.began
	p.send(p.id(), workflows.PauseUpdate, workflows.PauseInput{By: "test"})
	close(putting.released)
	p.untilStatus("is paused", func(s workflows.Status) bool { return s.Phase == workflows.PhasePaused })
	p.send(p.id(), workflows.ResumeUpdate, workflows.PauseInput{By: "test"})
	p.untilReady(2)
	p.record(p.id())
}

func pathAppliedWhileDeleting(p *played) {
	p.script["CheckDependents"] = scripted[activities.CheckDependentsInput](activities.CheckDependentsResult{Verdict: resource.Block(resource.ReasonWaitingForDependents, "1 resource")})
	p.ready()
	p.delete(workflows.DeleteInput{})
	p.untilReason(resource.ReasonWaitingForDependents)
	p.send(p.id(), workflows.ApplyUpdate, workflows.ApplyInput{Desired: p.desired(), By: "test"})
	p.untilReady(3)
	p.record(p.id())
}

func pathDeletedInTurn(p *played) {
	p.script["GetResource"] = inTurn[getIn](present(), present(), absent())
	p.script["CheckContents"] = scripted[contents.Request](activities.CheckContentsResult{Verdict: proceeds, Turn: p.desired().Owner})
	p.ready()
	p.delete(workflows.DeleteInput{})
	p.ends()
}

// queued lets the first PUT wait for its turn.
func (p *played) queued(next ...activities.PreCheckResult) {
	p.T.Helper()
	first := activities.PreCheckResult{Verdict: creates, Turn: p.desired().Owner}
	p.script["PreCheck"] = inTurn[activities.PreCheckInput](append([]activities.PreCheckResult{first}, next...)...)
	p.script["TakeTurn"] = scripted[activities.TakeTurnInput](activities.TakeTurnResult{Verdict: resource.Block(resource.ReasonWaitingForSibling, "a sibling has the turn")})
	p.work()
	p.apply(workflows.ApplyInput{})
	p.untilReason(resource.ReasonWaitingForSibling)
}

func pathQueuedInSync(p *played) {
	p.queued(activities.PreCheckResult{Verdict: unchanged})
	p.requestPass()
	p.untilReady(2)
	p.record(p.id())
}

func pathQueuedDeleted(p *played) {
	p.script["CheckOwner"] = func(_ context.Context, in activities.CheckOwnerInput) (activities.CheckOwnerResult, error) {
		return activities.CheckOwnerResult{Verdict: proceeds, OwnerAbsent: in.Deleting}, nil
	}
	p.queued()
	p.delete(workflows.DeleteInput{})
	p.ends()
}

// pathQueuedLong grants a turn after the reading of the pass has become too old.
func pathQueuedLong(p *played) {
	p.queued()
	queuedAt := time.Now()
	p.Until(time.Minute, "the reading is too old", func() (bool, string) {
		age := time.Since(queuedAt)
		return age > activities.MaxObservationAge+time.Second, age.String()
	})
	if err := p.Client.SignalWorkflow(p.T.Context(), p.id(), "", workflows.WakeSignal, workflows.WakeInput{
		ID: p.desired().ID, State: "next", At: time.Now(),
	}); err != nil {
		p.T.Fatal(err)
	}
	p.untilReady(2)
	p.record(p.id())
}

// pathQueuedForgotten forgets a resource that waits for its turn and then for what it contains.
func pathQueuedForgotten(p *played) {
	p.script["CheckDependents"] = scripted[activities.CheckDependentsInput](activities.CheckDependentsResult{Verdict: resource.Block(resource.ReasonWaitingForDependents, "1 resource")})
	p.queued()
	p.delete(workflows.DeleteInput{Cascade: true})
	p.untilReason(resource.ReasonWaitingForDependents)
	p.forget()
	p.ends()
}

func pathDetached(p *played) {
	p.ready()
	p.send(p.id(), workflows.ApplyUpdate, workflows.ApplyInput{Desired: p.changed(), By: "test"})
	p.untilReady(2)
	p.delete(workflows.DeleteInput{})
	p.ends()
}

func pathReleased(p *played) {
	p.script["DeleteResource"] = scripted[activities.DeleteResourceInput](activities.DeleteResourceResult{
		Verdict: resource.Block(resource.ReasonWaitingForOwnerDelete, "Azure deletes it with its owner"), Unsent: true,
	})
	p.ready()
	p.delete(workflows.DeleteInput{})
	p.untilReason(resource.ReasonWaitingForOwnerDelete)
	p.record(p.id())
}

// pathReplaced replaces a resource whose DELETE has an operation, and with it a resource in it.
func pathReplaced(p *played) {
	differs := resource.Verdict{Action: resource.ActionProceed, Message: "it differs", Differences: []resource.Difference{{Path: "properties.size", Desired: "1", Observed: "2"}}}
	p.script["GetResource"] = inTurn[getIn](present(), present(), absent(), present())
	p.script["PreCheck"] = inTurn[activities.PreCheckInput](activities.PreCheckResult{Verdict: unchanged},
		activities.PreCheckResult{Verdict: differs}, activities.PreCheckResult{Verdict: creates}, activities.PreCheckResult{Verdict: unchanged})
	p.script["PutResource"] = inTurn[activities.PutResourceInput](
		activities.PutResourceResult{Verdict: resource.Fail(resource.ReasonOperationFailed, resource.RetryNone, "cannot be changed"), Replace: true},
		activities.PutResourceResult{Verdict: resource.Proceed("accepted"), Sent: true, Done: true})
	p.script["CheckDependents"] = scripted[activities.CheckDependentsInput](activities.CheckDependentsResult{Verdict: proceeds, Falling: []resource.ID{p.desired().Owner}})
	p.script["DeleteResource"] = scripted[activities.DeleteResourceInput](activities.DeleteResourceResult{Verdict: resource.Proceed("accepted"), Accepted: true, Token: "t"})
	p.ready()
	p.send(p.id(), workflows.ReconcileUpdate, workflows.ReconcileInput{By: "test", Recreate: true, Reason: "test"})
	p.untilReady(3)
	p.record(p.id())
}

// unwritten lets workers keep an audit trail to which they can write nothing.
func (p *played) unwritten() {
	p.script["CheckOwner"] = scripted[activities.CheckOwnerInput](activities.CheckOwnerResult{Verdict: proceeds, Audits: true})
	p.script["CheckDependents"] = scripted[activities.CheckDependentsInput](activities.CheckDependentsResult{
		Verdict: resource.Block(resource.ReasonWaitingForDependents, "1 resource"), Audits: true,
	})
	p.script["RecordRequests"] = scripted[activities.RecordRequestsInput](activities.RecordRequestsResult{})
}

func pathAuditUnwritten(p *played) {
	p.unwritten()
	p.ready()
	p.delete(workflows.DeleteInput{})
	p.untilReason(resource.ReasonWaitingForDependents)
	p.forget()
	p.ends()
}

func pathOnceUnwritten(p *played) {
	p.unwritten()
	p.work()
	p.apply(workflows.ApplyInput{Once: true})
	p.ends()
}

func pathFreezeUnwritten(p *played) {
	p.unwritten()
	p.work()
	p.freeze(workflows.FreezeUpdate, workflows.Freeze{})
	p.freeze(workflows.FreezeUpdate, workflows.Freeze{Selector: "a=b"})
	p.Until(time.Minute, "the freezes are recorded again", func() (bool, string) {
		fired := false
		for _, event := range p.history(p.freezes()).GetEvents() {
			fired = fired || event.GetEventType() == enumspb.EVENT_TYPE_TIMER_FIRED
		}
		return fired, "no timer fired"
	})
	p.record(p.freezes())
}

// pathRefusedFirst starts workflows whose first message is refused, so that none arrives.
func pathRefusedFirst(p *played) {
	p.work()
	for scenario, run := range map[string]struct {
		workflow string
		input    any
	}{
		"refused-apply":  {workflows.ReconcileResourceWorkflow, workflows.ReconcileResourceInput{}},
		"refused-freeze": {workflows.HoldFreezeWorkflow, workflows.HoldFreezeInput{}},
		"refused-budget": {workflows.HoldBudgetsWorkflow, workflows.HoldBudgetsInput{}},
	} {
		options := client.StartWorkflowOptions{ID: scenario, TaskQueue: p.name}
		if _, err := p.Client.ExecuteWorkflow(p.T.Context(), options, run.workflow, run.input); err != nil {
			p.T.Fatal(err)
		}
		if err := p.end(scenario, scenario); err != nil {
			p.T.Error(err)
		}
	}
}

// pathUnnamed requests a deletion from a workflow that was started without search attributes.
func pathUnnamed(p *played) {
	p.script["CheckDependents"] = scripted[activities.CheckDependentsInput](activities.CheckDependentsResult{Verdict: resource.Block(resource.ReasonWaitingForDependents, "1 resource")})
	p.work()
	desired := p.changed()
	desired.Policy = resource.PolicyManage
	p.start(client.StartWorkflowOptions{ID: p.id(), TaskQueue: p.name}, workflows.ReconcileResourceWorkflow, workflows.ReconcileResourceInput{},
		workflows.DeleteUpdate, workflows.DeleteInput{Desired: &desired, APIVersion: desired.APIVersion, By: "test"})
	p.untilReason(resource.ReasonWaitingForDependents)
	p.record(p.id())
}

// pathHolderNotified starts a queue whose run before may have ended before it notified the holder.
func pathHolderNotified(p *played) {
	p.ready()
	s := newSiblings(p)
	input := workflows.SerializeSiblingsInput{Holder: &workflows.HeldTurn{Turn: s.turn(p.name)}}
	s.begin(s.queue, workflows.SerializeSiblingsWorkflow, input, workflows.TakeTurnUpdate, []activities.Turn{s.turn("a")})
	s.take(p.name)
	p.record(s.queue)
}

// pathReported reports changes to a resource with a long interval: of another writer, twice, of its
// own run before it was visible, and that the feed does not follow.
func pathReported(p *played) {
	p.script["PostCheck"] = scripted[activities.PostCheckInput](activities.PostCheckResult{Verdict: succeeds, Interval: 24 * time.Hour})
	p.ready()
	report := func(reports activities.Reports) {
		p.T.Helper()
		reports.RereadWindow = 2 * time.Second
		if err := p.Client.SignalWorkflow(p.T.Context(), p.id(), "", workflows.ReportSignal, reports); err != nil {
			p.T.Fatal(err)
		}
	}
	change := resource.ReportedChange{At: time.Now().Add(-time.Minute), Kind: resource.ChangeUpdate, Correlation: "another"}
	report(activities.Reports{Changes: []resource.ReportedChange{change}})
	p.untilReady(2)
	report(activities.Reports{Changes: []resource.ReportedChange{change}})
	own := change
	own.At, own.Correlation = time.Now(), p.runID(p.id())
	report(activities.Reports{Changes: []resource.ReportedChange{own}})
	p.untilReady(3)
	report(activities.Reports{Unfollowed: true})
	p.record(p.id())
}

// feed starts the workflow of a feed and waits for its end.
func (p *played) feed(results ...activities.FollowChangesResult) {
	p.script["FollowChanges"] = inTurn[activities.FollowChangesInput](results...)
	p.script["ReportUnfollowed"] = failing[activities.ReportUnfollowedInput, activities.ReportUnfollowedResult]
	p.work()
	options := client.StartWorkflowOptions{ID: workflows.FollowChangesWorkflowID(p.name, "default"), TaskQueue: p.name}
	if _, err := p.Client.ExecuteWorkflow(p.T.Context(), options, workflows.FollowChangesWorkflow, activities.FollowChangesInput{Credential: "default"}); err != nil {
		p.T.Fatal(err)
	}
}

// pathFeed follows a feed that stops to follow, and ends once the workers have no source.
func pathFeed(p *played) {
	p.feed(
		activities.FollowChangesResult{State: activities.FeedState{Source: "s", Following: true}},
		activities.FollowChangesResult{State: activities.FeedState{Source: "s", Following: true}},
		activities.FollowChangesResult{State: activities.FeedState{Source: "s", Refused: "no right"}, Unfollowed: true},
		activities.FollowChangesResult{Off: true},
	)
	if err := p.end(workflows.FollowChangesWorkflowID(p.name, "default"), p.name); err != nil {
		p.T.Error(err)
	}
}

// pathFeedContinued follows a feed until its run continues as new.
func pathFeedContinued(p *played) {
	p.feed(activities.FollowChangesResult{State: activities.FeedState{Source: "s", Following: true}})
	id := workflows.FollowChangesWorkflowID(p.name, "default")
	p.untilContinued(id, p.runID(id), p.name)
	if err := p.Client.TerminateWorkflow(p.T.Context(), id, "", "recorded"); err != nil {
		p.T.Error(err)
	}
}
