package armsim

import (
	"maps"
	"slices"
	"strings"
	"time"
)

// Request is one entry of the request log. It does not contain bodies, nor of the query
// more than the api-version.
type Request struct {
	Seq           int       `json:"seq"`
	Time          time.Time `json:"time"` // simulated
	Kind          string    `json:"kind"`
	Method        string    `json:"method"`
	Path          string    `json:"path"` // unescaped
	ID            string    `json:"id,omitempty"`
	Type          string    `json:"type,omitempty"`
	APIVersion    string    `json:"apiVersion,omitempty"`
	Status        int       `json:"status"`
	Code          string    `json:"code,omitempty"`
	Fault         string    `json:"fault,omitempty"`
	RequestID     string    `json:"requestId"`
	CorrelationID string    `json:"correlationId"`
	// ClientRequestID is x-ms-client-request-id, "" where the client sent none.
	ClientRequestID string `json:"clientRequestId,omitempty"`
}

// Write is one accepted PUT, PATCH or DELETE.
type Write struct {
	Seq           int       `json:"seq"`
	Time          time.Time `json:"time"` // simulated
	Method        string    `json:"method"`
	Verb          string    `json:"verb"` // create, update or delete
	ID            string    `json:"id"`
	Type          string    `json:"type"`
	Status        int       `json:"status"`
	Generation    int       `json:"generation"` // of the resource: its number of accepted PUTs and PATCHes
	CorrelationID string    `json:"correlationId"`
	Body          object    `json:"body,omitempty"` // as sent, with its secrets
}

// Counters counts requests since the start or the last reset. ByMethod, ByType and ByID
// do not include polls of operation URLs, token requests and requests to key vaults and queues; ByKind does. Keys of types
// and IDs are lower-cased.
type Counters struct {
	Total    int                       `json:"total"`
	ByMethod map[string]int            `json:"byMethod"`
	ByKind   map[string]map[string]int `json:"byKind"`
	ByType   map[string]map[string]int `json:"byType"`
	ByID     map[string]map[string]int `json:"byId"`
	ByStatus map[int]int               `json:"byStatus"`
	// SiblingRefusals counts the writes that were refused because another member of
	// their family was in flight, by type of the parent.
	SiblingRefusals map[string]int `json:"siblingRefusals"`
	// Writes is the number of accepted PUTs and PATCHes by ID.
	Writes map[string]int `json:"writes"`
}

// requestLog contains what the control API reports. The simulator's lock guards it.
type requestLog struct {
	max      int
	seq      int
	requests []Request
	writes   []Write
	counters Counters
	secrets  map[string]bool
}

func newRequestLog(maxEntries int) *requestLog {
	r := &requestLog{max: maxEntries, secrets: map[string]bool{}}
	r.reset()
	return r
}

// reset clears requests, writes and counters; secrets stay.
func (r *requestLog) reset() {
	r.requests, r.writes = nil, nil
	r.counters = Counters{
		ByMethod: map[string]int{}, ByKind: map[string]map[string]int{}, ByType: map[string]map[string]int{},
		ByID: map[string]map[string]int{}, ByStatus: map[int]int{}, Writes: map[string]int{}, SiblingRefusals: map[string]int{},
	}
}

func (r *requestLog) addRequest(now time.Time, q *request, resp *response) {
	r.seq++
	entry := Request{
		Seq: r.seq, Time: now, Kind: string(q.target.kind), Method: q.r.Method, Path: q.r.URL.Path,
		ID: q.target.id, Type: q.resourceType, APIVersion: q.apiVersion, Status: resp.status, Code: resp.code, Fault: q.fault,
		RequestID: q.requestID, CorrelationID: q.correlationID, ClientRequestID: q.r.Header.Get("x-ms-client-request-id"),
	}
	r.requests = bounded(append(r.requests, entry), r.max)
	c := &r.counters
	c.Total++
	c.ByStatus[resp.status]++
	count(c.ByKind, entry.Kind, entry.Method)
	if q.target.kind == kindOperation || q.target.kind == kindToken || q.target.kind == kindVault || q.target.kind == kindQueue {
		return
	}
	c.ByMethod[entry.Method]++
	if entry.Type != "" {
		count(c.ByType, strings.ToLower(entry.Type), entry.Method)
	}
	if entry.ID != "" {
		count(c.ByID, key(entry.ID), entry.Method)
	}
}

func count(m map[string]map[string]int, outer, inner string) {
	if m[outer] == nil {
		m[outer] = map[string]int{}
	}
	m[outer][inner]++
}

func (r *requestLog) addWrite(now time.Time, q *request, res *resource, verb string, status int, body object) {
	r.seq++
	r.writes = bounded(append(r.writes, Write{
		Seq: r.seq, Time: now, Method: q.r.Method, Verb: verb, ID: res.id, Type: res.typ, Status: status,
		Generation: res.generation, CorrelationID: q.correlationID, Body: body,
	}), r.max)
	if verb != "delete" {
		r.counters.Writes[key(res.id)]++
	}
}

// countSiblingRefusal counts a refusal by the type of the parent.
func (r *requestLog) countSiblingRefusal(parent string) {
	if t, ok := parseID(parent); ok {
		r.counters.SiblingRefusals[strings.ToLower(t.resourceType())]++
	}
}

func (r *requestLog) addSecrets(values []string) {
	for _, value := range values {
		if value != "" {
			r.secrets[value] = true
		}
	}
}

// bounded drops the oldest entries. It keeps up to twice the limit, so that it rarely
// copies.
func bounded[T any](list []T, limit int) []T {
	if len(list) <= 2*limit {
		return list
	}
	return slices.Clone(list[len(list)-limit:])
}

// Requests returns the request log, oldest first.
func (s *Simulator) Requests() []Request {
	s.mu.Lock()
	defer s.mu.Unlock()
	return append([]Request{}, s.log.requests[max(0, len(s.log.requests)-s.log.max):]...)
}

// Writes returns the log of accepted writes, oldest first.
func (s *Simulator) Writes() []Write {
	s.mu.Lock()
	defer s.mu.Unlock()
	return append([]Write{}, s.log.writes[max(0, len(s.log.writes)-s.log.max):]...)
}

// Counters returns a copy of the counters.
func (s *Simulator) Counters() Counters {
	s.mu.Lock()
	defer s.mu.Unlock()
	c := s.log.counters // shares its maps
	for _, flat := range []*map[string]int{&c.ByMethod, &c.Writes, &c.SiblingRefusals} {
		*flat = maps.Clone(*flat)
	}
	for _, nested := range []*map[string]map[string]int{&c.ByKind, &c.ByType, &c.ByID} {
		*nested = maps.Clone(*nested)
		for k, v := range *nested {
			(*nested)[k] = maps.Clone(v)
		}
	}
	c.ByStatus = maps.Clone(c.ByStatus)
	return c
}

// ResetCounters clears requests, writes and counters.
func (s *Simulator) ResetCounters() {
	s.resetState(false)
}
