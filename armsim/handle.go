package armsim

import (
	"io"
	"net/http"
	"regexp"
	"time"
)

// handle runs ARM's own checks in its order, then the method. The lock is held.
func (s *Simulator) handle(q *request) *answer {
	if q.target.kind == kindMetadata {
		return s.metadata(q)
	}
	for _, check := range []func(*request) *answer{
		s.checkAPIVersion, s.checkToken, s.checkSubscription, s.checkProvider, s.checkType, s.checkDenied, s.checkThrottle, s.checkLocks,
	} {
		if a := check(q); a != nil {
			return a
		}
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

func (s *Simulator) handleOperation(q *request) *answer {
	op := s.operations[q.target.action]
	if op == nil {
		return armError(http.StatusNotFound, "OperationNotFound", "The operation '%s' could not be found.", q.target.action)
	}
	if q.r.Method != http.MethodGet {
		return errMethod(q.r.Method)
	}
	return s.pollOperation(op, q)
}

func (s *Simulator) checkAPIVersion(q *request) *answer {
	values, given := q.r.URL.Query()["api-version"]
	if !given || values[0] == "" {
		return gatewayError(http.StatusBadRequest, "MissingApiVersionParameter",
			"The api-version query parameter (?api-version=) is required for all requests.")
	}
	date := values[0]
	form := regexp.MustCompile(`^(\d{4}-\d{2}-\d{2})(-(preview|alpha|beta|rc|privatepreview))?$`).FindStringSubmatch(date)
	if form != nil {
		if _, err := time.Parse(time.DateOnly, form[1]); err == nil {
			return nil
		}
	}
	return gatewayError(http.StatusBadRequest, "InvalidApiVersionParameter",
		"The api-version '%s' is invalid. The supported versions are '2024-11-01,2024-03-01,2022-09-01,2021-04-01,2020-06-01'.", date)
}

func (s *Simulator) checkSubscription(q *request) *answer {
	id := q.target.subscription
	if id == "" {
		return nil
	}
	if !guidPattern().MatchString(id) {
		return errInvalidSubscription(id)
	}
	if !s.knownSubscription(id) {
		return errSubscriptionNotFound(id)
	}
	return nil
}

func (s *Simulator) knownSubscription(id string) bool {
	for _, known := range s.options.Subscriptions {
		if key(known) == key(id) {
			return true
		}
	}
	return len(s.options.Subscriptions) == 0
}

// placed checks that everything above the resource is there.
func (s *Simulator) placed(q *request, verb string) *answer {
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
	return s.blockedByParent(q, verb)
}

func readLimited(w http.ResponseWriter, r *http.Request) ([]byte, error) {
	return io.ReadAll(http.MaxBytesReader(w, r.Body, maxBodyBytes))
}

// headers adds what ARM puts on every answer.
func (s *Simulator) headers(a *answer, q *request) {
	h := a.header
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
	s.remaining(h, q)
}
