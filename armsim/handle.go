package armsim

import (
	"cmp"
	"io"
	"net/http"
	"time"
)

// dispatch runs ARM's own checks in ARM's order, then the method. The caller holds the
// lock.
func (s *Simulator) dispatch(q *request) *response {
	if q.target.kind == kindMetadata {
		return s.cloudMetadata(q)
	}
	for _, check := range []func(*request) *response{
		s.checkAPIVersion, s.checkToken, s.checkSubscription, s.checkProvider, s.checkType, s.checkDenied, s.checkDenyAssignments, s.checkThrottle, s.checkLocks, s.checkMoves,
	} {
		if resp := check(q); resp != nil {
			return resp
		}
	}
	if resp := s.handleDeleted(q); resp != nil {
		return resp
	}
	switch q.target.kind {
	case kindOperation:
		return s.handleOperation(q)
	case kindSubscriptions, kindSubscription:
		return s.handleSubscription(q)
	case kindProvider, kindProviders, kindProviderAction:
		return s.handleProvider(q)
	case kindCollection, kindGroups, kindResources:
		return s.handleList(q)
	case kindAction:
		return s.handleAction(q)
	case kindMove:
		return s.handleMove(q)
	}
	switch q.r.Method {
	case http.MethodGet, http.MethodHead:
		return s.handleGet(q)
	case http.MethodPut:
		return s.handlePut(q)
	case http.MethodPatch:
		return s.handlePatch(q)
	case http.MethodDelete:
		return s.handleDelete(q)
	}
	return errMethod(q.r.Method)
}

func (s *Simulator) handleOperation(q *request) *response {
	op := s.operations[q.target.action]
	if op == nil {
		return armError(http.StatusNotFound, "OperationNotFound", "The operation '%s' could not be found.", q.target.action)
	}
	if q.r.Method != http.MethodGet {
		return errMethod(q.r.Method)
	}
	return s.pollOperation(op, q)
}

func (s *Simulator) checkAPIVersion(q *request) *response {
	values, given := q.r.URL.Query()["api-version"]
	if !given || values[0] == "" {
		return gatewayError(http.StatusBadRequest, "MissingApiVersionParameter",
			"The api-version query parameter (?api-version=) is required for all requests.")
	}
	date := values[0]
	form := versionPattern.FindStringSubmatch(date)
	if form != nil {
		if _, err := time.Parse(time.DateOnly, form[1]); err == nil {
			return nil
		}
	}
	return gatewayError(http.StatusBadRequest, "InvalidApiVersionParameter",
		"The api-version '%s' is invalid. The supported versions are '2024-11-01,2024-03-01,2022-09-01,2021-04-01,2020-06-01'.", date)
}

func (s *Simulator) checkSubscription(q *request) *response {
	id := q.target.subscription
	if id == "" {
		return nil
	}
	if !guidPattern.MatchString(id) {
		return errInvalidSubscription(id)
	}
	if !s.knownSubscription(id) {
		return errSubscriptionNotFound(id)
	}
	return nil
}

func (s *Simulator) knownSubscription(id string) bool {
	return len(s.options.Subscriptions) == 0 || containsFold(s.options.Subscriptions, id)
}

// checkParents refuses a request when a resource above the target is absent or is being
// deleted.
func (s *Simulator) checkParents(q *request, verb string) *response {
	t := q.target
	if t.group != "" && t.kind != kindGroup {
		group := s.find("/subscriptions/" + t.subscription + "/resourceGroups/" + t.group)
		if group == nil {
			return errGroupNotFound(t.group)
		}
		if verb == "write" && group.op != nil && group.op.verb == "delete" {
			return errGroupDeleting(t.group)
		}
	}
	if t.kind == kindGroup || t.kind == kindResources || t.kind == kindGroups {
		return nil
	}
	if parent := t.parentID(); !s.exists(parent) {
		if len(t.types) > 1 {
			return errParentNotFound(verb, t)
		}
		if segments, ok := splitID(parent); ok {
			if p, ok := parseTarget(segments); ok && p.kind == kindResource {
				return errNotFound(p)
			}
		}
		return errNotFound(t)
	}
	if parent := s.find(t.parentID()); verb == "write" && parent != nil && parent.op != nil && parent.op.verb == "delete" {
		return errBusy(q.origin() + parent.op.async)
	}
	return s.checkParentState(q, verb)
}

func readRequestBody(w http.ResponseWriter, r *http.Request) ([]byte, error) {
	return io.ReadAll(http.MaxBytesReader(w, r.Body, maxBodyBytes))
}

// setCommonHeaders sets the headers that ARM sends with every response.
func (s *Simulator) setCommonHeaders(resp *response, q *request) {
	h := resp.header
	h.Set("Date", s.options.Clock().UTC().Format(http.TimeFormat))
	h.Set("X-Ms-Request-Id", q.requestID)
	h.Set("X-Ms-Correlation-Request-Id", q.correlationID)
	h.Set("X-Ms-Routing-Request-Id", "SIMULATED:"+q.started.UTC().Format("20060102T150405Z")+":"+q.requestID)
	h.Set("Strict-Transport-Security", "max-age=31536000; includeSubDomains")
	h.Set("X-Content-Type-Options", "nosniff")
	h.Set("Cache-Control", "no-cache")
	h.Set("Pragma", "no-cache")
	if id := q.r.Header.Get("x-ms-client-request-id"); id != "" && q.r.Header.Get("x-ms-return-client-request-id") == "true" {
		h.Set("X-Ms-Client-Request-Id", id)
	}
	if code := errorCode(resp); code != "" {
		h.Set("X-Ms-Error-Code", code)
	}
	s.setBudgetHeaders(h, q)
}

// errorCode returns the code in the body of a provider's error, which providers repeat in a
// header (Azure/ARO-HCP, radius-project/radius); "" for the errors of ARM's front door.
func errorCode(resp *response) string {
	body, _ := resp.body.(object)
	if resp.gateway || resp.status < http.StatusBadRequest {
		return ""
	}
	return cmp.Or(text(body, "error.code"), text(body, "code"))
}
