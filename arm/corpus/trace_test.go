package corpus

import (
	"fmt"
	"io"
	"net/http"
	"strconv"
	"strings"
	"time"
)

// trace is one recorded long-running operation.
type trace struct {
	Cassette, Method, Type, APIVersion, Shape, Outcome string
	Index                                              int
	Initial                                            struct {
		Status                        int
		AzureAsyncOperation, Location string
		RetryAfter, AsyncAPIVersion   string
		ProvisioningState             string
		BodyEmpty                     bool
		LocationIsResource            bool
		AsyncOperationIsResource      bool
	}
	Polls []recordedPoll
}

type recordedPoll struct {
	Via, BodyStatus, ProvisioningState, RetryAfter, ErrorCode string
	Status, Repeat                                            int
	EmptyBody                                                 bool
	Headers                                                   []string
}

// The kinds of requests in a replay.
const (
	toAsync    = "azure-asyncoperation"
	toLocation = "location"
	toResource = "resource"
)

// stage plays a trace: every URL returns its recorded responses, in
// order, then what followed from the outcome.
type stage struct {
	trace    *trace
	path     string
	url      string
	now      func() time.Time
	recorded map[string][]recordedPoll
	played   map[string]int
	// notBefore is when the next request may come, by the Retry-After of the
	// last response.
	notBefore time.Time
	early     int
	writes    int
}

func newStage(t *trace, path, url string, now func() time.Time) *stage {
	s := &stage{trace: t, path: path, url: url, now: now, recorded: map[string][]recordedPoll{}, played: map[string]int{}}
	for _, poll := range t.Polls {
		for range max(poll.Repeat, 1) {
			s.recorded[poll.Via] = append(s.recorded[poll.Via], poll)
		}
	}
	return s
}

// followed returns what the server names to poll.
func (s *stage) followed() string {
	switch initial := s.trace.Initial; {
	case initial.AzureAsyncOperation != "":
		return toAsync
	case initial.Location != "" && !initial.LocationIsResource:
		return toLocation
	}
	return toResource
}

// needed returns the number of responses until the server reports the end.
func (s *stage) needed() int {
	initial, via := s.trace.Initial, s.followed()
	if s.trace.Method == http.MethodPut && initial.Status != http.StatusAccepted &&
		(strings.EqualFold(initial.ProvisioningState, "Succeeded") || via == toResource && !moving(initial.ProvisioningState)) {
		return 0
	}
	for i, poll := range s.recorded[via] {
		if ends(via, poll) {
			return i + 1
		}
	}
	return len(s.recorded[via])
}

// ends reports whether a response ends the operation.
func ends(via string, poll recordedPoll) bool {
	switch via {
	case toAsync:
		return terminal(poll.BodyStatus)
	case toLocation:
		return poll.Status != http.StatusAccepted && poll.Status < 300
	}
	return poll.Status == http.StatusOK && !moving(poll.ProvisioningState)
}

func terminal(word string) bool {
	switch strings.ToLower(word) {
	case "succeeded", "failed", "canceled", "cancelled":
		return true
	}
	return false
}

// moving reports whether a state is a word for progress; another state may be a
// stable one.
func moving(state string) bool {
	state = strings.ToLower(state)
	return state == "accepted" || strings.HasSuffix(state, "ing") && state != "running" && state != "registeringdns" || state == "inprogress"
}

func (s *stage) operationURL(pattern, kind string) string {
	pattern = strings.ReplaceAll(pattern, "/subscriptions/{}", "/subscriptions/00000000-0000-0000-0000-000000000000") // that of idOf
	path := strings.ReplaceAll(pattern, "{}", "x")
	if kind == toAsync && s.trace.Initial.AsyncOperationIsResource {
		path = s.path
	}
	return fmt.Sprintf("%s%s?api-version=%s&op=%s", s.url, path, s.trace.Initial.AsyncAPIVersion, kind)
}

func (s *stage) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	_, _ = io.Copy(io.Discard, r.Body)
	if r.Method != http.MethodGet && r.Method != http.MethodHead {
		s.writes++
		s.begin(w)
		return
	}
	via := r.URL.Query().Get("op")
	if via == "" {
		via = toResource
	}
	if s.now().Before(s.notBefore) {
		s.early++
	}
	n := s.played[via]
	s.played[via]++
	if recorded := s.recorded[via]; n < len(recorded) {
		s.answer(w, recorded[n])
		return
	}
	s.answer(w, s.afterwards(via))
}

// begin responds to the request that starts the operation.
func (s *stage) begin(w http.ResponseWriter) {
	initial := s.trace.Initial
	if initial.AzureAsyncOperation != "" {
		w.Header().Set("Azure-AsyncOperation", s.operationURL(initial.AzureAsyncOperation, toAsync))
	}
	if initial.Location != "" {
		location := s.operationURL(initial.Location, toLocation)
		if initial.LocationIsResource {
			location = s.url + s.path + "?api-version=" + s.trace.APIVersion
		}
		w.Header().Set("Location", location)
	}
	first := recordedPoll{Status: initial.Status, ProvisioningState: initial.ProvisioningState, RetryAfter: initial.RetryAfter, EmptyBody: initial.BodyEmpty}
	s.answer(w, first)
}

// afterwards returns the response of a URL after the end of the recording.
func (s *stage) afterwards(via string) recordedPoll {
	outcome := s.trace.Outcome
	if via != toResource {
		recorded := s.recorded[via]
		switch n := len(recorded); {
		case n > 0 && ends(via, recorded[n-1]):
			return recorded[n-1]
		case outcome == "succeeded" && via == toAsync:
			return recordedPoll{Status: http.StatusOK, BodyStatus: "Succeeded"}
		case outcome == "succeeded":
			return recordedPoll{Status: http.StatusOK, EmptyBody: true}
		}
		return recordedPoll{Status: http.StatusNotFound, ErrorCode: "OperationNotFound"}
	}
	gone := s.trace.Method == http.MethodDelete
	switch {
	case outcome == "failed" && len(s.recorded[toResource]) == 0:
		return recordedPoll{Status: http.StatusOK, ProvisioningState: "Failed"}
	case outcome == "canceled" && len(s.recorded[toResource]) == 0:
		return recordedPoll{Status: http.StatusOK, ProvisioningState: "Canceled"}
	case gone && outcome != "failed":
		return recordedPoll{Status: http.StatusNotFound, ErrorCode: "ResourceNotFound"}
	}
	if recorded := s.recorded[toResource]; len(recorded) > 0 && !moving(recorded[len(recorded)-1].ProvisioningState) {
		return recorded[len(recorded)-1]
	}
	return recordedPoll{Status: http.StatusOK, ProvisioningState: "Succeeded"}
}

func (s *stage) answer(w http.ResponseWriter, poll recordedPoll) {
	for _, name := range poll.Headers {
		switch {
		case strings.EqualFold(name, "Azure-AsyncOperation") && s.trace.Initial.AzureAsyncOperation != "":
			w.Header().Set(name, s.operationURL(s.trace.Initial.AzureAsyncOperation, toAsync))
		case strings.EqualFold(name, "Location") && s.trace.Initial.Location != "" && !s.trace.Initial.LocationIsResource:
			w.Header().Set(name, s.operationURL(s.trace.Initial.Location, toLocation))
		}
	}
	s.notBefore = time.Time{}
	if seconds, err := strconv.Atoi(poll.RetryAfter); err == nil {
		w.Header().Set("Retry-After", poll.RetryAfter)
		s.notBefore = s.now().Add(time.Duration(seconds) * time.Second)
	}
	if poll.Status >= 500 {
		w.Header().Set("Content-Type", "text/html")
		w.WriteHeader(poll.Status)
		_, _ = io.WriteString(w, "<html><body>Service Unavailable</body></html>")
		return
	}
	w.Header().Set("Content-Type", "application/json")
	w.WriteHeader(poll.Status)
	if !poll.EmptyBody && poll.Status != http.StatusNoContent {
		_, _ = io.WriteString(w, poll.body())
	}
}

func (p recordedPoll) body() string {
	code := p.ErrorCode
	if code == "" && p.Status == http.StatusNotFound {
		code = "ResourceNotFound"
	}
	if code != "" {
		return fmt.Sprintf(`{"status":%q,"error":{"code":%q,"message":"as recorded"}}`, p.BodyStatus, code)
	}
	var parts []string
	if p.BodyStatus != "" {
		parts = append(parts, fmt.Sprintf(`"status":%q`, p.BodyStatus))
	}
	if p.ProvisioningState != "" {
		parts = append(parts, fmt.Sprintf(`"properties":{"provisioningState":%q}`, p.ProvisioningState))
	}
	return "{" + strings.Join(parts, ",") + "}"
}
