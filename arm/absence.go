package arm

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"slices"
	"strings"

	"github.com/armature-io/armature/resource"
	"github.com/armature-io/armature/types"
)

// proveAbsence returns an absent error where ARM proves that a resource does not exist,
// although the 404 of its GET does not. Otherwise it returns the refusal with its Doubt,
// or a transient error of one of its own requests.
//
// The proof is the provider's own list of children, below an owner that the same
// credential reads and that is neither busy nor stopped, for a type and an api-version
// that the provider offers. Without such a list, or if the owner is disabled, the same 404
// has to come again (DoubtRepeatable). Lists above subscriptions are filtered by rights and prove nothing
// alone. look reads the list.
func (c *Client) proveAbsence(ctx context.Context, id resource.ID, apiVersion string, refusal *Error, look func() (listing, error)) error {
	if id.IsContainer() || ownerToRead(id).IsZero() {
		return c.proveRootAbsence(ctx, id, apiVersion, refusal)
	}
	owner := ownerToRead(id)
	response, err := c.get(ctx, owner, ownerVersion(id, owner, apiVersion))
	failure, isResponse := errors.AsType[*Error](err)
	switch {
	case IsAbsent(err):
		return refusal.absent("its owner " + nameOf(owner) + " does not exist")
	case err != nil && (!isResponse || isTransient(failure)):
		return proofError(err, owner.String())
	case err != nil && failure.Doubt == DoubtRepeatable:
		look = func() (listing, error) { return listMissing, nil } // absent if its owner is
	case err != nil:
		return refusal.inDoubt(id, DoubtOpen, fmt.Sprintf("its owner %s is not readable (%s)", nameOf(owner), failure.Answer()))
	}
	state := noWitness(response.Body)
	disabled := strings.Contains(strings.ToLower(state), "disabled")
	if state != "" && !disabled {
		return refusal.inDoubt(id, DoubtBusy, fmt.Sprintf("its owner %s is %s and may hide what it contains", nameOf(owner), state))
	}
	if why, err := c.notOffered(ctx, id, apiVersion); err != nil || why != "" {
		if err != nil {
			return proofError(err, providerPath(id))
		}
		return refusal.inDoubt(id, DoubtOpen, why)
	}
	found, err := look()
	if err != nil {
		return proofError(err, id.String()[:strings.LastIndex(id.String(), "/")])
	}
	// A disabled owner may stay so for ever, as a topic with SendDisabled does.
	if disabled && found != listed && refusal.RequestID != "" {
		return refusal.inDoubt(id, DoubtRepeatable, fmt.Sprintf("its owner %s is %s and may hide what it contains; the same response of ARM counts when it comes again", nameOf(owner), state))
	}
	return refusal.judgeList(id, found, id.Subscription() == "" || found == notListed && namesAreFixed(id, apiVersion))
}

// proofError says of an error of a request that a proof of absence needed which request it was:
// it is no error of the resource.
func proofError(err error, path string) error {
	failure, isResponse := errors.AsType[*Error](err)
	if !isResponse {
		return fmt.Errorf("proof of absence: GET %s: %w", path, err)
	}
	named := *failure
	named.Message = fmt.Sprintf("proof of absence: GET %s: %s: %s", path, failure.Answer(), failure.Message)
	return &named
}

// inOwnersList returns a function that looks for a resource in the list of its owner.
func (c *Client) inOwnersList(ctx context.Context, id resource.ID, apiVersion string) func() (listing, error) {
	return func() (listing, error) {
		_, found, err := c.findInList(ctx, id, apiVersion)
		return found, err
	}
}

// judgeList returns the proof, or the doubt that a list leaves. A partial list may lack a
// resource that exists.
func (e *Error) judgeList(id resource.ID, found listing, partial bool) error {
	switch {
	case found == listed:
		return e.inDoubt(id, DoubtOpen, "the list of its owner contains it")
	case found == listRefused:
		return e.inDoubt(id, DoubtOpen, "the list of its owner cannot be read")
	case (found == notListed || found == listEmpty) && !partial:
		return e.absent("the list of its owner does not contain it")
	case e.RequestID == "":
		return e.inDoubt(id, DoubtOpen, "the response has no x-ms-request-id, so a proxy may have sent it")
	case e.hasCode(codeSubscriptionNotFound) && !ownsSubscriptions(id.Provider()):
		return e.inDoubt(id, DoubtOpen, "it names the subscription")
	}
	return e.inDoubt(id, DoubtRepeatable, "no list proves it; the same response counts when it comes again")
}

// ownerToRead returns the nearest owner that is a resource or a container: a location of
// a provider is neither.
func ownerToRead(id resource.ID) resource.ID {
	owner := id.Owner()
	for !owner.IsZero() && strings.HasSuffix(strings.ToLower(owner.Type()), "/locations") {
		owner = owner.Owner()
	}
	return owner
}

// ownerVersion returns the api-version to read an owner with: the resource's own one
// where the owner's type is published in it.
func ownerVersion(id, owner resource.ID, apiVersion string) string {
	if version := resource.ContainerAPIVersion(owner); version != "" {
		return version
	}
	versions := types.Versions(owner.Type())
	if len(versions) == 0 || strings.EqualFold(owner.Provider(), id.Provider()) && slices.Contains(versions, strings.ToLower(apiVersion)) {
		return apiVersion
	}
	return types.Newest(owner.Type())
}

// witnessPaths are the properties with the states of a resource.
var witnessPaths = []string{"properties.provisioningState", "properties.state", "properties.status", "properties.powerState.code", "properties.powerState", "properties.operationalState"}

// restingWords are parts of the states, in lower case, in which a service may not show
// what a resource contains.
var restingWords = []string{"stop", "paus", "suspend", "deallocat", "disabled", "offline", "hibernat"}

// noWitness returns the state in which an owner proves nothing about its children, "" for
// an owner that is neither busy nor stopped.
func noWitness(body []byte) string {
	observed, err := resource.DecodeBody(body)
	if err != nil {
		return ""
	}
	object := resource.Object{Observed: observed}
	for _, path := range witnessPaths {
		state, _ := object.StringAt(path)
		lower := strings.ToLower(state)
		if resource.InFlight(state) || slices.ContainsFunc(restingWords, func(word string) bool { return strings.Contains(lower, word) }) {
			return state
		}
	}
	return ""
}

// namesAreFixed reports whether the names of a type are published and closed, or it is
// read by an action: a list that shows another one of them is no proof of absence.
func namesAreFixed(id resource.ID, apiVersion string) bool {
	shape := types.Lookup(id.Type(), apiVersion)
	if shape == nil {
		return false
	}
	_, open := shape.PublishedNames()
	return !open || findAction(shape, readAction) != ""
}

// ownsSubscriptions reports whether a provider has resources that it calls subscriptions,
// as Service Bus has below a topic.
func ownsSubscriptions(provider string) bool {
	prefix := strings.ToLower(provider) + "/"
	return slices.ContainsFunc(types.Names(false), func(name string) bool {
		lower := strings.ToLower(name)
		return strings.HasPrefix(lower, prefix) && strings.HasSuffix(lower, "subscriptions")
	})
}

// proveRootAbsence is proveAbsence for what has no owner to read: resources of the
// tenant, and containers. The list of a tenant is filtered by rights.
func (c *Client) proveRootAbsence(ctx context.Context, id resource.ID, apiVersion string, refusal *Error) error {
	switch {
	case strings.EqualFold(id.Type(), resource.TypeManagementGroup):
		return c.checkGroupName(ctx, id, refusal)
	case id.IsContainer(), strings.EqualFold(id.Type(), "Microsoft.Subscription/aliases"):
		return refusal.inDoubt(id, DoubtOpen, "no list proves it")
	}
	if why, err := c.notOffered(ctx, id, apiVersion); err != nil || why != "" {
		if err != nil {
			return proofError(err, providerPath(id))
		}
		return refusal.inDoubt(id, DoubtOpen, why)
	}
	at, err := c.For(ctx, id)
	if err != nil {
		return err
	}
	target, err := at.path(id.String()[:strings.LastIndex(id.String(), "/")], apiVersion)
	if err != nil {
		return err
	}
	items, err := at.pages(ctx, id.Type(), target, maxListed)
	_, found, err := searchList(items, err, id)
	switch {
	case err != nil:
		return err
	case found == listMissing:
		found = listRefused // nothing readable is a witness then
	}
	return refusal.judgeList(id, found, true)
}

// checkGroupName asks whether the name of a management group is free in the tenant: the
// GET of an absent one is 403 (Azure/azure-rest-api-specs#9549).
func (c *Client) checkGroupName(ctx context.Context, id resource.ID, refusal *Error) error {
	c, err := c.For(ctx, id)
	if err != nil {
		return err
	}
	target, err := c.path("/providers/Microsoft.Management/checkNameAvailability", resource.ManagementGroupAPIVersion)
	if err != nil {
		return err
	}
	body := fmt.Appendf(nil, `{"name":%q,"type":%q}`, id.Name(), resource.TypeManagementGroup)
	resp, payload, err := c.do(ctx, &roundTrip{call: CallGet, typ: id.Type(), reads: true}, http.MethodPost, target, body, nil)
	if err != nil {
		return err
	}
	if !success(resp.StatusCode) {
		if e := newError(http.MethodPost, resp.StatusCode, resp.Header, payload, c.now); isTransient(e) {
			return e
		}
		return refusal.inDoubt(id, DoubtOpen, "whether its name is free cannot be asked")
	}
	if available := decodeView[struct {
		NameAvailable *bool `json:"nameAvailable"`
	}](payload).NameAvailable; available == nil || !*available {
		return refusal.inDoubt(id, DoubtOpen, "its name is taken in the tenant: it may be hidden from this credential")
	}
	return refusal.absent("its name is free in the tenant")
}
