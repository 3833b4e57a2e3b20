package arm

import (
	"context"
	"encoding/json"
	"errors"
	"net/http"
	"strings"

	"github.com/armature-io/armature/resource"
)

// listedMax bounds the list in which a resource is looked for.
const listedMax = 50_000

// existence finds out whether a resource is there when its GET does not say so,
// and gives the error back when that cannot be known.
//
// Some types have no GET (405): existence shows by HEAD, or in the list of the
// owner. Some providers answer 404 with a code of their own, which may mean
// anything: only the list of the owner proves an absence then. Recorded: API
// management's products/apis and products/groups (405); codes such as
// SubscriptionAliasNotFound.
func (c *Client) existence(ctx context.Context, id resource.ID, apiVersion string, refused *Error) (Response, error) {
	if refused.Status != http.StatusMethodNotAllowed {
		return c.listed(ctx, id, apiVersion, refused)
	}
	x := &exchange{call: CallGet, typ: id.Type()}
	target, err := c.url(id, "", apiVersion)
	if err != nil {
		return Response{}, err
	}
	answer, _, err := c.do(ctx, x, http.MethodHead, target, nil, nil)
	switch {
	case err != nil:
		return Response{}, err
	case success(answer.StatusCode):
		return c.present(answer, id), nil
	}
	if headed := newError(http.MethodHead, answer.StatusCode, answer.Header, nil, c.now); passes(headed) {
		return Response{}, headed
	}
	response, err := c.listed(ctx, id, apiVersion, refused)
	if !errors.Is(err, refused) || answer.StatusCode != http.StatusNotFound {
		return response, err
	}
	// A HEAD has no code: its 404 may mean the subscription or the type. It is
	// believed when the owner is there.
	if owner := id.Owner(); id.IsChild() {
		if _, err := c.read(ctx, CallGet, owner.Type(), c.mustURL(owner, apiVersion)); err == nil {
			return Response{}, absent(refused, answer.Header.Get(headerRequestID))
		}
	}
	return Response{}, refused
}

// mustURL is the URL of an owner, whose segments are those of a checked ID; one
// that cannot be is refused by the request.
func (c *Client) mustURL(id resource.ID, apiVersion string) string {
	target, err := c.url(id, "", apiVersion)
	if err != nil {
		return ""
	}
	return target
}

// present is what is known of a resource that has no GET.
func (c *Client) present(answer *http.Response, id resource.ID) Response {
	response := c.lost(answer)
	response.Status, response.ExistenceOnly = http.StatusOK, true
	response.Body, _ = json.Marshal(map[string]string{"id": id.String(), "name": id.Name(), "type": id.Type()}) // strings always encode
	return response
}

// listed looks for a resource in the list of its owner. Without a list that can
// be read, the first error stands.
func (c *Client) listed(ctx context.Context, id resource.ID, apiVersion string, refused *Error) (Response, error) {
	owner := id.Owner()
	if owner.IsZero() || id.IsContainer() {
		return Response{}, refused
	}
	below := strings.Trim(id.String()[len(owner.String()):], "/")
	collection := below[:max(strings.LastIndex(below, "/"), 0)]
	items, err := c.List(ctx, owner, collection, apiVersion, listedMax)
	var answer *Error
	switch {
	case IsAbsent(err):
		return Response{}, absent(refused, refused.RequestID)
	case err != nil && (refused.Status == http.StatusNotFound || errors.As(err, &answer) && !passes(answer)):
		return Response{}, refused
	case err != nil:
		return Response{}, err // asked again, it may say more
	}
	for _, item := range items {
		if names(item, id) {
			if refused.Status == http.StatusNotFound {
				return Response{}, refused // its own GET says something else
			}
			return Response{Status: http.StatusOK, Body: item, RequestID: refused.RequestID, ExistenceOnly: true}, nil
		}
	}
	if len(items) >= listedMax {
		return Response{}, refused
	}
	return Response{}, absent(refused, refused.RequestID)
}

// passes reports whether the same question may be answered soon.
func passes(e *Error) bool { return e.Class == ClassThrottled || e.Transient() }

// names reports whether an item of a list is the resource: by its ID, or by its
// name where the items are those of another collection.
func names(item json.RawMessage, id resource.ID) bool {
	var view struct {
		ID   string `json:"id"`
		Name string `json:"name"`
	}
	if json.Unmarshal(item, &view) != nil {
		return false
	}
	return strings.EqualFold(view.ID, id.String()) || strings.EqualFold(view.Name, id.Name()) ||
		strings.HasSuffix(strings.ToLower(view.Name), "/"+strings.ToLower(id.Name()))
}

// absent is the answer that proved the absence, with what ARM said first.
func absent(refused *Error, requestID string) *Error {
	e := *refused
	e.Status, e.Class, e.Denial, e.RequestID = http.StatusNotFound, ClassAbsent, false, requestID
	return &e
}

// doubtful reports whether an error of a GET leaves open if the resource is
// there: no GET at all, or a 404 whose code is not in the table. A 404 without a
// code is that of something in between, and means nothing.
func (e *Error) doubtful() bool {
	if e.Status == http.StatusMethodNotAllowed {
		return true
	}
	return e.Status == http.StatusNotFound && e.Class != ClassAbsent && e.Code != "" && e.Row().Code == ""
}
