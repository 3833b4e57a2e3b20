package activities

import (
	"context"
	"fmt"
	"strings"
	"time"

	"github.com/armature-io/armature/arm"
	"github.com/armature-io/armature/internal/text"
	"github.com/armature-io/armature/resource"
)

// Bounds of a poll.
const (
	// maxPollErrors consecutive errors of an operation URL make the poll fall back
	// to reading the resource, and errors of the resource back to the URL.
	maxPollErrors = 10
	// notFoundWeight is the number of errors that a 404 of an operation URL counts
	// for: it ends within moments, when one replica lags, or never.
	notFoundWeight = 4
	// pollErrorDelay is the wait after an error, unless ARM requested more; it
	// doubles with every further one, up to maxPollErrorDelay.
	pollErrorDelay    = 5 * time.Second
	maxPollErrorDelay = time.Minute
	// maxPollStates bounds the states in the result.
	maxPollStates = 16
)

// PollOperationInput is the operation to wait for.
type PollOperationInput struct {
	// Target is the resource; its secrets are scrubbed from what ARM reports of a
	// failed operation.
	resource.Target
	Token string `json:"token,omitempty"`
	// RetryAfter is the wait before the first request.
	RetryAfter time.Duration `json:"retryAfter,omitempty"`
	// Delete is set when the operation ends in the resource's absence.
	Delete bool `json:"delete,omitempty"`
	// Expect requests a read of the resource after an operation that succeeded; Replaced is
	// as in GetResourceInput.
	Expect   Expectation `json:"expect,omitempty"`
	Replaced *Replaced   `json:"replaced,omitempty"`
	Repeated Repeated    `json:"repeated,omitzero"`
	// Waiters requests Unawaited.
	Waiters bool `json:"waiters,omitempty"`
	// Short requests Progress once the operation outlasts it; 0 requests the end. Progress is
	// that of the PollOperation before.
	Short    time.Duration `json:"short,omitempty"`
	Progress *pollProgress `json:"progress,omitempty"`
}

// PollOperationResult is how the operation ended.
type PollOperationResult struct {
	// Verdict is a Success, or an Error with ARM's code and message.
	Verdict resource.Verdict `json:"verdict"`
	// Polls counts the requests, Duration is from the first to the last.
	Polls    int           `json:"polls"`
	Duration time.Duration `json:"duration"`
	// States are the states that the service reported, in order, without repeats.
	States []string `json:"states,omitempty"`
	// Refusal is set where the operation of a PUT failed because of what its body says.
	Refusal *OperationRefusal `json:"refusal,omitempty"`
	// Got is the result of the requested read; nil where the resource is to be read
	// again, because the read failed or contradicted the expectation.
	Got *GetResourceResult `json:"got,omitempty"`
	// Progress is set instead of the verdict if the operation outlasts the Short of the input:
	// another PollOperation waits for the end.
	Progress *pollProgress `json:"progress,omitempty"`
	// Unawaited is set where a list, made while the operation ran, had no workflow that
	// waits for the resource.
	Unawaited bool `json:"unawaited,omitempty"`
}

// pollProgress is what one poll records for the next one. It is opaque to the workflow.
type pollProgress struct {
	lastAnswer
	Token string `json:"token,omitempty"`
	// Reading is set when the operation cannot be polled: the resource is read.
	Reading bool `json:"reading,omitempty"`
	// Refused is set when the response that made the operation unreadable was the
	// operation's result.
	Refused         bool      `json:"refused,omitempty"`
	TransientErrors int       `json:"transientErrors,omitempty"`
	Polls           int       `json:"polls"`
	Started         time.Time `json:"started"`
	States          []string  `json:"states,omitempty"`
	// Since is when a read of the resource first contradicted the operation.
	Since time.Time `json:"since,omitzero"`
}

// poll is one attempt of PollOperation.
type poll struct {
	*resourceReader
	fleet                      Fleet
	readInterval, absentWindow time.Duration

	in       PollOperationInput
	progress pollProgress
	// delay is the wait that the last request asked for.
	delay time.Duration
}

// PollOperation waits for a long-running operation. "Still running" is a benign
// error with the service's Retry-After as its delay: the next poll is another
// attempt, so an operation of any length uses no worker slot and survives any
// crash. Only waits of some seconds are made in the slot.
func (a *Activities) PollOperation(ctx context.Context, in PollOperationInput) (PollOperationResult, error) {
	ctx = withCredential(ctx, in.Credential, in.ID)
	heartbeat := startHeartbeat[pollProgress](ctx)
	defer heartbeat.stop()
	p := &poll{
		resourceReader: a.resourceReader.startedAt(a.options.StartTime(ctx)), fleet: a.Fleet, readInterval: a.options.ReadInterval, absentWindow: a.options.AbsentWindow,
		in: in, progress: heartbeat.progress(),
	}
	if in.Progress != nil && p.progress.Started.IsZero() {
		p.progress = *in.Progress
	}
	unawaited := func() bool { return false }
	if p.progress.Started.IsZero() {
		unawaited = a.findWaiters(ctx, in)
		p.progress.Started, p.progress.Token, p.progress.Reading = p.now(), in.Token, in.Token == ""
		result, err := p.pollLater("waiting before the first poll, as ARM requested", in.RetryAfter)
		if !a.waitInSlot(ctx, p.delay) {
			heartbeat.send(p.progress)
			return result, err
		}
	}
	for {
		result, err := p.request(ctx)
		switch {
		case err == nil:
			if in.Expect != ExpectAny && !result.Verdict.Stops() {
				result.Got = p.read(ctx)
			}
			result.Unawaited = unawaited()
			return result, nil
		case p.outlasts(in.Short):
			return PollOperationResult{Progress: &p.progress}, nil
		// An error ends the attempt, so that users see it as a failed attempt.
		case p.progress.TransientErrors > 0 || !a.waitInSlot(ctx, p.delay):
			heartbeat.send(p.progress)
			return result, err
		}
		heartbeat.set(p.progress)
	}
}

// outlasts reports whether the operation still runs at a time after its start; false for 0.
func (p *poll) outlasts(short time.Duration) bool {
	return short > 0 && p.progress.TransientErrors == 0 && p.now().Sub(p.progress.Started)+p.delay > short
}

// read returns the resource after the operation, nil where a read that failed or
// came too early is left to GetResource.
func (p *poll) read(ctx context.Context) *GetResourceResult {
	result, masked, err := p.readOnce(ctx, p.in.Target)
	if err != nil || result.Verdict.Stops() || p.olderThanWrite(p.in.Expect, p.in.Replaced, result, masked) != "" {
		return nil
	}
	p.cacheReading(ctx, p.in.Target, result, masked)
	return &result
}

func (p *poll) request(ctx context.Context) (PollOperationResult, error) {
	p.progress.Polls++
	ctx, cancel := requestContext(ctx)
	defer cancel()
	if p.progress.Reading {
		return p.pollResource(ctx)
	}
	return p.pollURL(ctx)
}

// pollURL makes one request to the operation URL.
func (p *poll) pollURL(ctx context.Context) (PollOperationResult, error) {
	answer, err := p.client.Poll(ctx, p.progress.Token)
	if err != nil {
		return p.pollFailed(ctx, err)
	}
	p.progress.TransientErrors = 0
	p.noteState(answer.State)
	switch {
	case answer.Outcome == arm.OutcomeUnreadable:
		p.progress.Reading, p.progress.Token = true, ""
		return p.pollLater(p.fallBackToResource(ctx, answer), answer.RetryAfter)
	case !answer.Done:
		p.progress.Token = answer.Token
		message := "operation in progress"
		if answer.State != "" {
			message += ": " + answer.State
		}
		return p.pollLater(message, answer.RetryAfter)
	case answer.Outcome == arm.OutcomeSucceeded:
		return p.finish(resource.Verdict{Action: resource.ActionSuccess, RequestID: answer.RequestID})
	}
	verdict := p.failedVerdict(ctx, answer)
	result, err := p.finish(verdict)
	if answer.Err != nil && !p.in.Delete {
		result.Refusal = operationRefusal(answer.Err, verdict.Message, func(target string) string { return p.scrubSecrets(ctx, target, p.in.SecretRefs) })
	}
	return result, err
}

// pollResource uses the resource's state as the state of the operation.
func (p *poll) pollResource(ctx context.Context) (PollOperationResult, error) {
	response, err := p.client.Get(ctx, p.in.ID, p.in.APIVersion)
	absent := arm.IsAbsent(err) || mayBeAbsent(err) // ARM accepted the request
	switch {
	case absent && p.in.Delete:
		return p.finish(resource.Verdict{Action: resource.ActionSuccess})
	case absent:
		return p.absent()
	case err != nil:
		return p.pollFailed(ctx, err)
	}
	body, err := resource.DecodeBody(response.Body)
	if err != nil {
		return p.pollFailed(ctx, err)
	}
	p.progress.TransientErrors = 0
	object := resource.Object{Observed: body}
	state := object.ProvisioningState()
	p.noteState(state)
	switch {
	case p.registry.InFlight(p.in.ID.Type(), state):
		p.progress.Since = time.Time{}
		return p.pollLater("the resource is "+state, max(response.RetryAfter, p.readInterval))
	case resource.Broken(state):
		return p.finish(p.brokenVerdict(fmt.Sprintf("the operation ended and left the resource in provisioning state %q", state)))
	case p.in.Delete:
		return p.contradiction("the DELETE, and still shows the resource")
	}
	return p.finish(resource.Verdict{Action: resource.ActionSuccess})
}

// absent handles an accepted creation that ARM does not show yet, and a resource
// that was deleted outside Armature.
func (p *poll) absent() (PollOperationResult, error) {
	p.progress.TransientErrors = 0
	if n := len(p.progress.States); n > 0 && strings.EqualFold(p.progress.States[n-1], "Deleting") {
		return p.finish(p.brokenVerdict("the resource was deleted while Armature waited for its operation"))
	}
	return p.contradiction("the PUT, and does not show the resource yet")
}

// contradiction keeps reading for AbsentWindow while the resource contradicts what
// ARM accepted.
func (p *poll) contradiction(what string) (PollOperationResult, error) {
	if p.progress.Since.IsZero() {
		p.progress.Since = p.now()
	}
	if p.now().Sub(p.progress.Since) < p.absentWindow {
		return p.pollLater("ARM accepted "+what, p.readInterval)
	}
	return p.finish(p.brokenVerdict(fmt.Sprintf("ARM accepted %s after %s", what, text.Duration(p.absentWindow))))
}

// pollLater returns the error that makes Temporal poll again after a delay.
func (p *poll) pollLater(message string, delay time.Duration) (PollOperationResult, error) {
	p.delay = max(delay, time.Second)
	return PollOperationResult{}, notYet(message, p.delay)
}

// finish returns the result of an operation that ended.
func (p *poll) finish(verdict resource.Verdict) (PollOperationResult, error) {
	duration := p.now().Sub(p.progress.Started)
	if verdict.Message == "" {
		verdict.Message = fmt.Sprintf("the operation ended after %s; polls: %d", text.Duration(duration), p.progress.Polls)
	}
	return PollOperationResult{
		Verdict: p.report("PollOperation", verdict), Polls: p.progress.Polls, Duration: duration, States: p.progress.States,
	}, nil
}

// noteState records a state of the service, in order and without repeats.
func (p *poll) noteState(state string) {
	if n := len(p.progress.States); state == "" || n >= maxPollStates || n > 0 && p.progress.States[n-1] == state {
		return
	}
	p.progress.States = append(p.progress.States, state)
}
