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

// checkExistence determines whether a resource exists when its GET leaves that open:
// a type without GET (405), or a 404 that proves nothing by itself. Where it cannot be
// determined it returns the refusal with its Doubt.
func (c *Client) checkExistence(ctx context.Context, id resource.ID, apiVersion string, refusal *Error) (Response, error) {
	if refusal.Status == http.StatusMethodNotAllowed {
		return c.readWithoutGet(ctx, id, apiVersion, refusal)
	}
	return Response{}, c.proveAbsence(ctx, id, apiVersion, refusal, c.inOwnersList(ctx, id, apiVersion))
}

// readWithoutGet reads a resource whose type has no GET: by the action that returns it,
// else its existence by HEAD or by the list of its owner. Recorded: API management's
// products/apis and products/groups. App settings have an action.
func (c *Client) readWithoutGet(ctx context.Context, id resource.ID, apiVersion string, refusal *Error) (Response, error) {
	response, tried, err := c.readByAction(ctx, id, apiVersion)
	if tried {
		return response, err
	}
	head, err := c.head(ctx, id, apiVersion)
	switch {
	case err != nil:
		return Response{}, err
	case success(head.StatusCode):
		return c.existenceOnly(head, id), nil
	}
	item, found, err := c.findInList(ctx, id, apiVersion)
	switch {
	case err != nil:
		return Response{}, err
	case found == listed:
		return Response{Status: http.StatusOK, Body: item, RequestID: refusal.RequestID, ExistenceOnly: true}, nil
	case head.StatusCode == http.StatusNotFound:
		// A HEAD has no code: its 404 may mean the subscription or the type.
		refusal = newError(http.MethodHead, head.StatusCode, head.Header, nil, c.now)
	case found != listEmpty && found != notListed, namesAreFixed(id, apiVersion):
		return Response{}, refusal.inDoubt(id, DoubtOpen, "its type has no GET, and neither HEAD nor a list shows it")
	}
	return Response{}, c.proveAbsence(ctx, id, apiVersion, refusal, func() (listing, error) { return found, nil })
}

// head sends a HEAD. Throttling and failures of the service are errors.
func (c *Client) head(ctx context.Context, id resource.ID, apiVersion string) (*http.Response, error) {
	c, err := c.For(ctx, id)
	if err != nil {
		return nil, err
	}
	target, err := c.url(id, "", apiVersion)
	if err != nil {
		return nil, err
	}
	response, _, err := c.do(ctx, &roundTrip{call: CallGet, typ: id.Type()}, http.MethodHead, target, nil, nil)
	if err != nil {
		return nil, err
	}
	if e := newError(http.MethodHead, response.StatusCode, response.Header, nil, c.now); isTransient(e) {
		return nil, e
	}
	return response, nil
}

// existenceOnly returns what is known of a resource that has no GET.
func (c *Client) existenceOnly(head *http.Response, id resource.ID) Response {
	response := c.withoutBody(head)
	response.Status, response.ExistenceOnly = http.StatusOK, true
	response.Body, _ = json.Marshal(map[string]string{"id": id.String(), "name": id.Name(), "type": id.Type()}) // strings always encode
	return response
}

// listing is what the list of an owner says about a resource.
type listing int

// The results. listMissing is a list that does not exist (404, 405); listRefused is one
// that cannot be read, or that is longer than maxListed; listEmpty has no items at all.
const (
	listMissing listing = iota
	listRefused
	listed
	notListed
	listEmpty
)

// findInList looks for a resource in the list of its owner. Its error is transient: a
// later try may succeed.
func (c *Client) findInList(ctx context.Context, id resource.ID, apiVersion string) (json.RawMessage, listing, error) {
	owner := id.Owner()
	if owner.IsZero() || id.IsContainer() {
		return nil, listMissing, nil
	}
	below := strings.Trim(id.String()[len(owner.String()):], "/")
	items, err := c.find(ctx, owner, below[:max(strings.LastIndex(below, "/"), 0)], apiVersion, "", maxListed)
	return searchList(items, err, id)
}

// searchList looks for a resource in the items of a list, or in the error of reading it.
func searchList(items []json.RawMessage, err error, id resource.ID) (json.RawMessage, listing, error) {
	if err != nil {
		e, isResponse := errors.AsType[*Error](err)
		switch {
		case !isResponse || isTransient(e):
			return nil, listRefused, err
		case e.Status == http.StatusNotFound || e.Status == http.StatusMethodNotAllowed:
			return nil, listMissing, nil
		}
		return nil, listRefused, nil
	}
	for _, item := range items {
		if isItem(item, id) {
			return item, listed, nil
		}
	}
	switch {
	case len(items) >= maxListed:
		return nil, listRefused, nil
	case len(items) == 0:
		return nil, listEmpty, nil
	}
	return nil, notListed, nil
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
