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
	// pollFaultsMax consecutive faults of an operation URL make the poll fall
	// back to reading the resource, and those of the resource back to the URL.
	pollFaultsMax = 10
	// pollUnknown is for how many faults a 404 of an operation URL counts: it
	// passes within moments, when the place that was asked is behind, or never.
	pollUnknown = 4
	// pollFaultDelay is the wait after a fault, unless ARM asked for more; it
	// doubles with every further one, up to pollFaultDelayMax.
	pollFaultDelay    = 5 * time.Second
	pollFaultDelayMax = time.Minute
	// pollStatesMax bounds the words kept in the result.
	pollStatesMax = 16
)

// pollProgress is what one poll leaves to the next.
type pollProgress struct {
	seen
	Token string `json:"token,omitempty"`
	// Reading is set when the operation cannot be polled: the resource is.
	Reading bool `json:"reading,omitempty"`
	// Refused is set when the answer that made it unreadable was what the
	// operation ended with.
	Refused bool      `json:"refused,omitempty"`
	Faults  int       `json:"faults,omitempty"`
	Polls   int       `json:"polls"`
	Started time.Time `json:"started"`
	States  []string  `json:"states,omitempty"`
	// Since is when a read of the resource first showed the opposite of what
	// the operation leads to.
	Since time.Time `json:"since,omitzero"`
}

// poll is one attempt of PollOperation.
type poll struct {
	*Activities
	in       PollOperationInput
	progress pollProgress
	// delay is the wait that the last request asked for.
	delay time.Duration
}

// PollOperation waits for a long-running operation. "Still running" is a benign
// error whose delay is what the service asked for: the next poll is another
// attempt, so an operation of any length costs no worker slot and survives any
// crash. Only where the service asks for some seconds are they waited in place.
func (a *Activities) PollOperation(ctx context.Context, in PollOperationInput) (PollOperationResult, error) {
	ctx = as(ctx, in.Credential, in.ID)
	heart := startHeart[pollProgress](ctx)
	defer heart.stop()
	p := &poll{Activities: a, in: in, progress: heart.progress()}
	if p.progress.Started.IsZero() {
		p.progress.Started, p.progress.Token, p.progress.Reading = a.now(), in.Token, in.Token == ""
		result, err := p.again("the first poll waits for as long as ARM asked for", in.RetryAfter)
		if !a.waitInPlace(ctx, p.delay) {
			heart.record(p.progress)
			return result, err
		}
	}
	for {
		result, err := p.request(ctx)
		// A fault is for people to see, and an attempt that failed shows it.
		if err == nil || p.progress.Faults > 0 || !a.waitInPlace(ctx, p.delay) {
			if err != nil {
				heart.record(p.progress)
			} else if in.Expect != ExpectAny && !result.Verdict.Stops() {
				result.Got = p.read(ctx)
			}
			return result, err
		}
		heart.keep(p.progress)
	}
}

// read is the resource after the operation; nil leaves it to GetResource, which
// knows what to do about a read that fails or comes too early.
func (p *poll) read(ctx context.Context) *GetResourceResult {
	in := GetResourceInput{
		ID: p.in.ID, APIVersion: p.in.APIVersion, Credential: p.in.Credential,
		Plain: p.in.Plain, Secret: p.in.Secret, SecretRefs: p.in.SecretRefs,
	}
	result, masked, err := p.readOnce(ctx, in)
	if err != nil || result.Verdict.Stops() || !p.in.Expect.met(result.Exists) {
		return nil
	}
	p.saw(ctx, in, result, masked)
	return &result
}

// request asks once.
func (p *poll) request(ctx context.Context) (PollOperationResult, error) {
	p.progress.Polls++
	ctx, cancel := forARM(ctx)
	defer cancel()
	if p.progress.Reading {
		return p.readResource(ctx)
	}
	return p.pollOnce(ctx)
}

// pollOnce asks the operation URL.
func (p *poll) pollOnce(ctx context.Context) (PollOperationResult, error) {
	answer, err := p.Client.Poll(ctx, p.progress.Token)
	if err != nil {
		return p.faulted(ctx, err)
	}
	p.progress.Faults = 0
	p.said(answer.State)
	switch {
	case answer.Outcome == arm.OutcomeUnreadable:
		p.progress.Reading, p.progress.Token = true, ""
		return p.again(p.unreadable(ctx, answer), answer.RetryAfter)
	case !answer.Done:
		p.progress.Token = answer.Token
		return p.again("the operation goes on"+stated(answer.State), answer.RetryAfter)
	case answer.Outcome == arm.OutcomeSucceeded:
		return p.ended(resource.Verdict{Action: resource.ActionSuccess, RequestID: answer.RequestID})
	}
	return p.ended(p.failed(ctx, answer))
}

// stated is the part of a message that names a state.
func stated(state string) string {
	if state == "" {
		return ""
	}
	return ": " + state
}

// readResource takes the resource's own state for the operation's.
func (p *poll) readResource(ctx context.Context) (PollOperationResult, error) {
	response, err := p.Client.Get(ctx, p.in.ID, p.in.APIVersion)
	switch {
	case arm.IsAbsent(err) && p.in.Delete:
		return p.ended(resource.Verdict{Action: resource.ActionSuccess})
	case arm.IsAbsent(err):
		return p.absent()
	case err != nil:
		return p.faulted(ctx, err)
	}
	body, err := resource.DecodeBody(response.Body)
	if err != nil {
		return p.faulted(ctx, err)
	}
	p.progress.Faults = 0
	object := resource.Object{Observed: body}
	state := object.ProvisioningState()
	p.said(state)
	switch {
	case p.Registry.InFlight(p.in.ID.Type(), state):
		p.progress.Since = time.Time{}
		return p.again("the resource is "+state, max(response.RetryAfter, p.options.ReadInterval))
	case resource.Broken(state):
		return p.ended(p.broken(fmt.Sprintf("the operation ended and left the resource in provisioning state %q", state)))
	case p.in.Delete:
		return p.opposite("the DELETE, and still shows the resource")
	}
	return p.ended(resource.Verdict{Action: resource.ActionSuccess})
}

// absent is an accepted creation that does not show yet, or a resource that
// somebody else deleted.
func (p *poll) absent() (PollOperationResult, error) {
	p.progress.Faults = 0
	if n := len(p.progress.States); n > 0 && strings.EqualFold(p.progress.States[n-1], "Deleting") {
		return p.ended(p.broken("the resource was deleted while Armature waited for its operation"))
	}
	return p.opposite("the PUT, and does not show the resource yet")
}

// opposite reads on while the resource shows the opposite of what ARM accepted,
// for a while.
func (p *poll) opposite(what string) (PollOperationResult, error) {
	if p.progress.Since.IsZero() {
		p.progress.Since = p.now()
	}
	if p.now().Sub(p.progress.Since) < p.options.AbsentWindow {
		return p.again("ARM accepted "+what, p.options.ReadInterval)
	}
	return p.ended(p.broken(fmt.Sprintf("ARM accepted %s after %s", what, p.options.AbsentWindow)))
}

// again asks for another poll.
func (p *poll) again(message string, delay time.Duration) (PollOperationResult, error) {
	p.delay = max(delay, time.Second)
	return PollOperationResult{}, notYet(message, p.delay)
}

// ended is the result.
func (p *poll) ended(verdict resource.Verdict) (PollOperationResult, error) {
	duration := p.now().Sub(p.progress.Started)
	if verdict.Message == "" {
		verdict.Message = fmt.Sprintf("the operation ended after %s; polls: %d", text.Duration(duration), p.progress.Polls)
	}
	return PollOperationResult{
		Verdict: p.observed("PollOperation", verdict), Polls: p.progress.Polls, Duration: duration, States: p.progress.States,
	}, nil
}

// said keeps the words of the service, in order, without repeats.
func (p *poll) said(state string) {
	if n := len(p.progress.States); state == "" || n >= pollStatesMax || n > 0 && p.progress.States[n-1] == state {
		return
	}
	p.progress.States = append(p.progress.States, state)
}
