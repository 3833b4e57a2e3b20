package arm

import (
	"context"
	"encoding/json"
	"errors"
	"net/http"
	"strings"

	"github.com/armature-io/armature/resource"
)

// maxListed bounds the list that is searched for a resource.
const maxListed = 50_000

// checkExistence determines whether a resource exists when its GET leaves that
// open, and returns refusal where it cannot be determined.
//
// Some types have no GET (405): HEAD or the owner's list shows the existence. Some
// providers respond 404 with a code of their own, which may mean anything: only the
// owner's list proves an absence then. Recorded: API management's products/apis and
// products/groups (405); codes such as SubscriptionAliasNotFound.
func (c *Client) checkExistence(ctx context.Context, id resource.ID, apiVersion string, refusal *Error) (Response, error) {
	if refusal.Status != http.StatusMethodNotAllowed {
		return c.findInList(ctx, id, apiVersion, refusal)
	}
	c, err := c.For(ctx, id)
	if err != nil {
		return Response{}, err
	}
	target, err := c.url(id, "", apiVersion)
	if err != nil {
		return Response{}, err
	}
	trip := &roundTrip{call: CallGet, typ: id.Type()}
	head, _, err := c.do(ctx, trip, http.MethodHead, target, nil, nil)
	switch {
	case err != nil:
		return Response{}, err
	case success(head.StatusCode):
		return c.existenceOnly(head, id), nil
	}
	if e := newError(http.MethodHead, head.StatusCode, head.Header, nil, c.now); isTransient(e) {
		return Response{}, e
	}
	response, err := c.findInList(ctx, id, apiVersion, refusal)
	if !errors.Is(err, refusal) || head.StatusCode != http.StatusNotFound {
		return response, err
	}
	// A HEAD has no code: its 404 may mean the subscription or the type. It counts
	// when the owner exists.
	if id.IsChild() {
		if _, err := c.readCollection(ctx, id.Owner(), "", id.Owner().Type(), apiVersion); err == nil {
			return Response{}, absentError(refusal, head.Header.Get(headerRequestID))
		}
	}
	return Response{}, refusal
}

// existenceOnly returns what is known of a resource that has no GET.
func (c *Client) existenceOnly(head *http.Response, id resource.ID) Response {
	response := c.withoutBody(head)
	response.Status, response.ExistenceOnly = http.StatusOK, true
	response.Body, _ = json.Marshal(map[string]string{"id": id.String(), "name": id.Name(), "type": id.Type()}) // strings always encode
	return response
}

// findInList looks for a resource in the list of its owner. It returns refusal
// where the list cannot be read.
func (c *Client) findInList(ctx context.Context, id resource.ID, apiVersion string, refusal *Error) (Response, error) {
	owner := id.Owner()
	if owner.IsZero() || id.IsContainer() {
		return Response{}, refusal
	}
	below := strings.Trim(id.String()[len(owner.String()):], "/")
	collection := below[:max(strings.LastIndex(below, "/"), 0)]
	items, err := c.List(ctx, owner, collection, apiVersion, maxListed)
	listError, isResponse := errors.AsType[*Error](err)
	switch {
	case IsAbsent(err):
		return Response{}, absentError(refusal, refusal.RequestID)
	case err != nil && (refusal.Status == http.StatusNotFound || isResponse && !isTransient(listError)):
		return Response{}, refusal
	case err != nil:
		return Response{}, err // a later try may succeed
	}
	for _, item := range items {
		if isItem(item, id) {
			if refusal.Status == http.StatusNotFound {
				return Response{}, refusal // its own GET contradicts the list
			}
			return Response{Status: http.StatusOK, Body: item, RequestID: refusal.RequestID, ExistenceOnly: true}, nil
		}
	}
	if len(items) >= maxListed {
		return Response{}, refusal
	}
	return Response{}, absentError(refusal, refusal.RequestID)
}

// isTransient reports whether the error is likely to clear soon.
func isTransient(e *Error) bool { return e.Class == ClassThrottled || e.Transient() }

// isItem reports whether an item of a list is the resource: by its ID, or by its
// name where the items belong to another collection.
func isItem(item json.RawMessage, id resource.ID) bool {
	view := decodeView[struct {
		ID   string `json:"id"`
		Name string `json:"name"`
	}](item)
	return strings.EqualFold(view.ID, id.String()) || strings.EqualFold(view.Name, id.Name()) ||
		strings.HasSuffix(strings.ToLower(view.Name), "/"+strings.ToLower(id.Name()))
}

// absentError returns the proof of an absence, with what ARM reported first.
func absentError(refusal *Error, requestID string) *Error {
	e := *refusal
	e.Status, e.Class, e.Denial, e.RequestID = http.StatusNotFound, ClassAbsent, false, requestID
	return &e
}

// existenceUnclear reports whether the error of a GET leaves open whether the
// resource exists: no GET at all, or a 404 with a code outside the table. A 404
// without a code comes from something in between, and proves nothing.
func (e *Error) existenceUnclear() bool {
	if e.Status == http.StatusMethodNotAllowed {
		return true
	}
	return e.Status == http.StatusNotFound && e.Class != ClassAbsent && e.Code != "" && e.Row().Code == ""
}
