package activities

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"net/http"
	"regexp"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/armature-io/armature/activities/contents"
	"github.com/armature-io/armature/arm"
	"github.com/armature-io/armature/drift"
	"github.com/armature-io/armature/internal/batching"
	"github.com/armature-io/armature/internal/text"
	"github.com/armature-io/armature/resource"
	"github.com/armature-io/armature/secrets"
)

// PlanDepth is how far a plan goes.
type PlanDepth string

// The depths. The zero value compares with the resource in Azure; PlanPreflight also asks ARM if
// it would accept the PUT.
const (
	PlanCompare   PlanDepth = ""
	PlanPreflight PlanDepth = "preflight"
)

// PreflightOutcome is the outcome of the preflight of one resource.
type PreflightOutcome string

// The outcomes. NoObjection is no proof: ARM does not check everything before a PUT.
const (
	PreflightNoObjection PreflightOutcome = "noObjection"
	PreflightObjected    PreflightOutcome = "objected"
	PreflightNotAsked    PreflightOutcome = "notAsked"
	PreflightUnsupported PreflightOutcome = "unsupported"
)

// Preflight is ARM's judgement of the body of a PUT before it is sent; nothing in it is secret.
type Preflight struct {
	Outcome PreflightOutcome `json:"outcome"`
	// Reason is why ARM was not asked, or does not support the type.
	Reason     string      `json:"reason,omitempty"`
	Objections []Objection `json:"objections,omitempty"`
}

// Objection is one error that ARM names.
type Objection struct {
	Code string `json:"code,omitempty"`
	// Path is the property, "" if ARM names none.
	Path    string `json:"path,omitempty"`
	Message string `json:"message"`
}

// Bounds of a preflight. ARM gives up on a provider after 60 s. Proposals wait a moment for others
// of their group, which one request asks about.
const (
	preflightTimeout  = 70 * time.Second
	preflightCollect  = 200 * time.Millisecond
	maxProposals      = 20
	maxPreflightRunes = 500
)

// preflight asks ARM about the PUT of a plan, and adds the judgement to the plan. ARM gets
// the whole merged body with its secrets, which stay in memory. The error makes Temporal repeat
// the plan once a budget allows it.
func (a *Activities) preflight(ctx context.Context, p *planning, result *PlanResourceResult) error {
	switch result.Action {
	case PlanCreate, PlanUpdate:
	case PlanBlocked, PlanError:
		result.Preflight = new(notAsked("the plan ends before a PUT"))
		return nil
	case PlanReplace:
		result.Preflight = new(notAsked("it is replaced, and ARM would judge a change of the one that exists"))
		return nil
	default:
		return nil
	}
	found, err := a.preflightOf(ctx, p, result.Action == PlanCreate)
	if err != nil {
		return err
	}
	result.Preflight = &found
	if found.Outcome != PreflightObjected {
		return nil
	}
	first := found.Objections[0]
	result.Action, result.Severity = PlanError, resource.SeverityError
	result.Reason = resource.Reason(cmp.Or(first.Code, string(resource.ReasonFailed)))
	result.Message = fmt.Sprintf("ARM would refuse the PUT: %s", objectionCount(len(found.Objections)))
	return nil
}

func objectionCount(n int) string {
	if n == 1 {
		return "1 objection"
	}
	return fmt.Sprintf("%d objections", n)
}

// preflightOf builds the body and asks ARM about it.
func (a *Activities) preflightOf(ctx context.Context, p *planning, creates bool) (Preflight, error) {
	if absent := p.absentReferences(ctx); len(absent) > 0 {
		return notAsked("it refers to %s, which the same plan creates first", contents.NameAll(contents.DisplayNames(absent))), nil
	}
	proposal, values, stop := a.proposal(ctx, p, creates)
	if stop != nil {
		return notAsked("%s", stop.Message), nil
	}
	asking, cancel := context.WithTimeout(ctx, preflightTimeout)
	defer cancel()
	answer, why, err := a.ask(asking, p, proposal)
	clean := func(message string) string { return text.Cut(secrets.Scrub(message, values), maxPreflightRunes) }
	if err != nil {
		if failure, ok := errors.AsType[*arm.Error](err); ok && failure.Class == arm.ClassThrottled {
			wait := resource.Verdict{Action: resource.ActionBlock, RetryAfter: failure.RetryAfter, Message: clean(failure.Error())}
			if retry := p.awaitBudget(p.heartbeat, wait); retry != nil {
				return Preflight{}, retry
			}
		}
		if errors.Is(err, context.DeadlineExceeded) {
			return notAsked("ARM gave no answer in time"), nil
		}
		return notAsked("%s", clean(err.Error())), nil
	}
	switch answer.Verdict {
	case arm.NoObjection:
		return Preflight{Outcome: PreflightNoObjection}, nil
	case arm.Unsupported:
		return Preflight{Outcome: PreflightUnsupported, Reason: clean(why)}, nil
	case arm.Unjudged:
		return notAsked("%s", clean(why)), nil
	}
	found := Preflight{Outcome: PreflightObjected}
	for _, objection := range answer.Objections {
		found.Objections = append(found.Objections, Objection{
			Code: codeWithout(objection.Code, values), Path: clean(propertyOf(p.in.Desired.ID, objection)), Message: clean(objection.Message),
		})
	}
	return found, nil
}

func notAsked(format string, args ...any) Preflight {
	return Preflight{Outcome: PreflightNotAsked, Reason: fmt.Sprintf(format, args...)}
}

// codeWithout returns a code, "" if it contains a secret.
func codeWithout(code string, values []string) string {
	if secrets.Scrub(code, values) != code {
		return ""
	}
	return code
}

// jsonPath matches the place in a message of Json.NET, which ARM and many providers quote
// (Azure/azure-sdk-for-net#3487, Azure/azure-powershell#7556).
var jsonPath = regexp.MustCompile(`Path '((?:[^'\\]|\\.)+)', line \d+, position \d+`)

// propertyOf returns the path in the body that an error names, by its target or by its message.
// Many targets are the name or the ID of the resource.
func propertyOf(id resource.ID, objection arm.Detail) string {
	names := []string{"", id.String(), id.Name(), id.Short(), id.Type()}
	named := slices.ContainsFunc(names, func(name string) bool { return strings.EqualFold(name, objection.Target) })
	if !named && !strings.HasPrefix(objection.Target, "/") {
		return objection.Target
	}
	if found := jsonPath.FindStringSubmatch(objection.Message); found != nil {
		return found[1]
	}
	return ""
}

// absentReferences returns the resources that the body refers to, that do not exist and that the
// same plan creates. ARM would object to them.
func (p *planning) absentReferences(ctx context.Context) []resource.ID {
	var absent []resource.ID
	for _, reference := range p.in.Desired.References {
		if !reference.ID.Equal(p.in.Desired.Owner) && p.isPlanned(reference.ID) && !p.reread(ctx, reference, nil).Exists() {
			absent = append(absent, reference.ID)
		}
	}
	return absent
}

// proposal returns the PUT that a pass would send, and the secret values in it. An existing
// resource is read again, unmasked: the PUT keeps values that the plan may not show.
func (a *Activities) proposal(ctx context.Context, p *planning, creates bool) (proposal arm.Proposal, values []string, stop *resource.Verdict) {
	desired := p.in.Desired
	put := &put{
		requestMaker: p.requestMaker, checks: p.checks, newer: a.newer, patchOnly: &a.patchOnly,
		report: func(_ string, verdict resource.Verdict) resource.Verdict { return verdict },
		in:     PutResourceInput{Desired: desired, Memory: p.memory.Memory},
	}
	if creates {
		put.in.Kind = PutCreation
	}
	failed := func(err error) (arm.Proposal, []string, *resource.Verdict) {
		return arm.Proposal{}, nil, new(resource.Fail(resource.ReasonFailed, resource.RetrySlow, secrets.Scrub(err.Error(), values)))
	}
	if put.request, stop = p.requestWithBodies(ctx, drift.Decode, desired, put.in.shared(), nil, p.memory.Memory); stop != nil {
		return arm.Proposal{}, nil, stop
	}
	if slices.ContainsFunc(put.request.Facts.Switches, func(sw drift.Switch) bool { return sw.Owner }) {
		put.addOwner(ctx, &put.request, desired)
	}
	if !creates {
		response, err := p.client.Get(ctx, desired.ID, desired.APIVersion)
		if err != nil {
			return failed(err)
		}
		if put.request.Object.Observed, err = resource.DecodeBody(response.Body); err != nil {
			return failed(err)
		}
		if put.request.Object.Completed, err = p.complete(ctx, p.target(desired), put.request.Object.Observed); err != nil {
			return failed(err)
		}
		put.addOwners(ctx, &put.request)
	}
	if put.patches() {
		return arm.Proposal{}, nil, new(resource.Proceed("it is changed by a PATCH, and ARM judges whole bodies only"))
	}
	body, values, stop := put.payload(ctx)
	if stop == nil {
		completed, held, err := put.completeSecrets(ctx, body)
		if values, stop = append(values, completed...), held; err != nil {
			return failed(err)
		}
	}
	if stop == nil {
		_, stop = encodePayload(body)
	}
	if stop != nil {
		return arm.Proposal{}, nil, stop
	}
	return arm.Proposal{ID: desired.ID, APIVersion: desired.APIVersion, Body: body}, values, nil
}

// ask asks validateResources, and a deployment if that judges nothing. why has both refusals if
// neither judges.
func (a *Activities) ask(ctx context.Context, p *planning, proposal arm.Proposal) (answer arm.Answer, why string, err error) {
	first, err := a.proposals.Do(ctx, proposed{ctx, arm.CredentialName(ctx), proposal})
	if err == nil {
		err = first.err
	}
	if err == nil && first.together {
		first.Answer, err = p.client.ValidateResources(ctx, []arm.Proposal{proposal})
	}
	if err != nil || first.Verdict == arm.NoObjection || first.Verdict == arm.Objected {
		return first.Answer, "", err
	}
	options := arm.DeploymentOptions{Level: arm.ValidateAsWriter, GroupAbsent: p.isGroupAbsent(ctx)}
	if a.options.ReadOnly {
		options.Level = arm.ValidateAsReader
	}
	answer, err = p.client.ValidateDeployment(ctx, proposal, options)
	for err == nil && answer.Verdict == "" {
		if !a.options.Pause(ctx, answer.RetryAfter) {
			return answer, "", context.DeadlineExceeded
		}
		answer, err = p.client.PollValidation(ctx, answer.Token)
	}
	if err != nil || answer.Verdict == arm.NoObjection || answer.Verdict == arm.Objected {
		return answer, "", err
	}
	return answer, fmt.Sprintf("validateResources: %s; deployments/validate: %s", refusalOf(first.Answer), refusalOf(answer)), nil
}

// refusalOf returns why ARM did not judge.
func refusalOf(answer arm.Answer) string {
	if answer.Refusal == nil {
		return string(answer.Verdict)
	}
	return answer.Refusal.Error()
}

// isGroupAbsent reports whether the group that the resource is in does not exist, and the same
// plan creates it.
func (p *planning) isGroupAbsent(ctx context.Context) bool {
	at := p.in.Desired.ID.Owner()
	for !at.IsZero() && !at.IsContainer() {
		at = at.Owner()
	}
	group := resource.Reference{ID: at, APIVersion: resource.ContainerAPIVersion(at)}
	return strings.EqualFold(at.Type(), resource.TypeResourceGroup) && p.isPlanned(at) && !p.reread(ctx, group, nil).Exists()
}

// proposed is a proposal that waits for others of its group.
type proposed struct {
	// ctx selects the credential; it does not bound the request that others share.
	ctx        context.Context
	credential string
	arm.Proposal
}

// judged is the answer to a proposal. together is set if ARM rejected several proposals at once:
// its errors do not always name the resource, so each is asked about alone.
type judged struct {
	arm.Answer
	err      error
	together bool
}

// newProposals returns the batcher that asks about proposals by group.
func newProposals(client *arm.Client) *batching.Batcher[proposed, judged] {
	return &batching.Batcher[proposed, judged]{
		Delay: preflightCollect, MaxCalls: maxProposals,
		Run: func(ctx context.Context, calls []proposed) ([]judged, error) {
			return askGroups(ctx, client, calls), nil
		},
	}
}

// askGroups asks ARM about each group of proposals in one request, all groups at once.
func askGroups(ctx context.Context, client *arm.Client, calls []proposed) []judged {
	type group struct {
		arm.ProposalGroup
		credential string
	}
	groups := map[group][]int{}
	for i, call := range calls {
		at := group{call.Group(), call.credential}
		groups[at] = append(groups[at], i)
	}
	answers := make([]judged, len(calls))
	var all sync.WaitGroup
	for _, members := range groups {
		all.Go(func() {
			shared, cancel := context.WithCancel(context.WithoutCancel(calls[members[0]].ctx))
			defer cancel()
			defer context.AfterFunc(ctx, cancel)()
			proposals := make([]arm.Proposal, len(members))
			for i, member := range members {
				proposals[i] = calls[member].Proposal
			}
			answer := judged{}
			answer.Answer, answer.err = client.ValidateResources(shared, proposals)
			tooLarge := answer.Refusal != nil && answer.Refusal.Status == http.StatusRequestEntityTooLarge
			answer.together = len(members) > 1 && (answer.Verdict == arm.Objected || tooLarge)
			for _, member := range members {
				answers[member] = answer
			}
		})
	}
	all.Wait()
	return answers
}
