package arm

import (
	"context"
	"errors"
	"net/http"
	"strings"

	"github.com/armature-io/armature/resource"
	"github.com/armature-io/armature/types"
)

// readAction is the action that returns a resource of a type without GET.
const readAction = "list"

// readByAction reads a resource by the published action that returns it: list of the
// type itself (the settings of a web site), or an action of its owner that is named
// after it (listAppSettings of a static site). It reports whether there is one that the
// service has.
func (c *Client) readByAction(ctx context.Context, id resource.ID, apiVersion string) (Response, bool, error) {
	at, action := id, ""
	if shape := types.Lookup(id.Type(), apiVersion); shape != nil {
		action = findAction(shape, readAction)
	}
	if owner := id.Owner(); action == "" && id.IsChild() {
		if shape := types.Lookup(owner.Type(), apiVersion); shape != nil {
			at, action = owner, findAction(shape, readAction+id.Name())
		}
	}
	if action == "" {
		return Response{}, false, nil
	}
	operation, err := c.post(ctx, writeRequest{id: at, action: action, apiVersion: apiVersion, reads: true})
	failure, isResponse := errors.AsType[*Error](err)
	switch {
	case IsAbsent(err):
		return Response{}, true, err
	case isResponse && (failure.Status == http.StatusNotFound || failure.Status == http.StatusMethodNotAllowed):
		return Response{}, false, nil
	case err != nil:
		return Response{}, true, err
	case operation.Body == nil:
		e := &Error{Status: operation.Status, Code: CodeInvalidAnswer, RequestID: operation.RequestID}
		e.Message = "unusable response: action " + action + " returned no JSON object"
		e.classify(http.MethodGet)
		return Response{}, true, e
	}
	return operation.Response, true, nil
}

// findAction returns the published spelling of an action without input, "" if there is
// none.
func findAction(shape *types.Shape, name string) string {
	for _, action := range shape.Actions {
		if action.Input == nil && strings.EqualFold(action.Name, name) {
			return action.Name
		}
	}
	return ""
}
