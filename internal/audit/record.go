package audit

import (
	"encoding/json"
	"fmt"
	"time"

	"github.com/armature-io/armature/internal/text"
	"github.com/armature-io/armature/resource"
)

// Schema is the version of the records. New members may be added to it; none is renamed
// or changes its meaning.
const Schema = "armature.audit.v1"

// Event is what a record describes.
type Event string

// The events. A write is one request that could change something in Azure, a refusal a
// write that Armature itself did not send; the others are requests of users.
const (
	EventWrite    Event = "write"
	EventRefusal  Event = "refusal"
	EventApply    Event = "apply"
	EventForce    Event = "force"
	EventApproval Event = "approval"
	EventPause    Event = "pause"
	EventResume   Event = "resume"
	EventDelete   Event = "delete"
	EventAbort    Event = "abort"
	EventForget   Event = "forget"
	EventFreeze   Event = "freeze"
	EventUnfreeze Event = "unfreeze"
)

// Result is how an event ended.
type Result string

// The results. Sending is written before a request leaves: where no other line with its
// key follows, the worker was lost, and Azure may have received the request. Unknown
// means the same, with an answer that proves nothing. Received is written when a request of
// a user arrives whose sender was verified; Requested once it has an effect.
const (
	ResultSending   Result = "sending"
	ResultAccepted  Result = "accepted"
	ResultRefused   Result = "refused"
	ResultUnknown   Result = "unknown"
	ResultNotSent   Result = "not-sent"
	ResultReceived  Result = "received"
	ResultRequested Result = "requested"
)

// IsOpen reports whether the result leaves open if Azure received the request.
func (r Result) IsOpen() bool { return r == ResultSending || r == ResultUnknown }

// Subject is the origin of a request.
type Subject struct {
	// Name is the verified subject, else what the client stated: user@host.
	Name string `json:"name,omitempty"`
	// Verified is set when Name was proven; Method is how, Issuer by which authority.
	Verified bool   `json:"verified"`
	Method   string `json:"method,omitempty"`
	Issuer   string `json:"issuer,omitempty"`
	// Stated is the unproven name beside a verified one.
	Stated string `json:"stated,omitempty"`
}

// The methods by which a subject is verified.
const (
	// MethodSignature is the key that signed the spec or the deletion.
	MethodSignature = "signature"
	// MethodOIDC is the subject of an identity token.
	MethodOIDC = "oidc"
)

// String returns the name, with "(unverified)" where that is so.
func (s Subject) String() string {
	switch {
	case s.Name == "":
		return ""
	case s.Verified:
		return fmt.Sprintf("%s (verified: %s)", s.Name, s.Method)
	}
	return s.Name + " (unverified)"
}

// Difference is one difference that a write removes. Values of secrets are masked.
type Difference struct {
	Path     string `json:"path"`
	Desired  string `json:"desired"`
	Observed string `json:"observed"`
}

// Differences returns the differences of a verdict in the form of a record.
func Differences(found []resource.Difference) []Difference {
	var list []Difference
	for _, d := range found {
		list = append(list, Difference{Path: d.Path, Desired: text.Cut(d.Desired, maxValueRunes), Observed: text.Cut(d.Observed, maxValueRunes)})
	}
	return list
}

const (
	maxValueRunes   = 500
	maxMessageRunes = 2000
)

// Record is one event.
type Record struct {
	Schema string `json:"schema"`
	// Key is the same in all lines about one event, also after retries and restarts.
	Key    string    `json:"key"`
	Time   time.Time `json:"time"`
	Event  Event     `json:"event"`
	Result Result    `json:"result"`
	// Method and Action are those of a request: PUT, PATCH, DELETE, or POST with an action.
	Method string `json:"method,omitempty"`
	Action string `json:"action,omitempty"`
	// ID is the ARM resource ID, the URL of a secret or blob, or the selector of a freeze.
	ID         string `json:"id"`
	Type       string `json:"type,omitempty"`
	APIVersion string `json:"apiVersion,omitempty"`
	// Status is that of the response, 0 without one.
	Status int `json:"status,omitempty"`
	// Reason is one word for why: a reason of Armature, or ARM's error code.
	Reason  string `json:"reason,omitempty"`
	Message string `json:"message,omitempty"`
	// Differences are what a write changes, at most resource.MaxDifferences;
	// MoreDifferences counts the rest.
	Differences     []Difference `json:"differences,omitempty"`
	MoreDifferences int          `json:"moreDifferences,omitempty"`
	Generation      int64        `json:"generation,omitempty"`
	By              *Subject     `json:"by,omitempty"`
	// Request is the key of the request of a user that caused a write or its refusal, ""
	// where no user named in By requested it.
	Request string `json:"request,omitempty"`
	// CorrelationID is the correlation ID in Azure's activity log, RequestID ARM's
	// x-ms-request-id. ARM receives Key as x-ms-client-request-id.
	CorrelationID string `json:"correlationId,omitempty"`
	RequestID     string `json:"requestId,omitempty"`
	// WorkflowID to Attempt name the step in Temporal.
	WorkflowID string `json:"workflowId,omitempty"`
	RunID      string `json:"runId,omitempty"`
	Activity   string `json:"activity,omitempty"`
	ActivityID string `json:"activityId,omitempty"`
	Attempt    int    `json:"attempt,omitempty"`
	// Missed counts requests of users before this one that the workflow could not keep
	// until a worker wrote them; they are in its history only.
	Missed int `json:"missed,omitempty"`
}

// Line is a record with its JSON, without a line break.
type Line struct {
	Record
	JSON []byte
}

// newLine completes a record and encodes it.
func newLine(r Record, now time.Time) (Line, error) {
	r.Schema = Schema
	if r.Time.IsZero() {
		r.Time = now
	}
	r.Time, r.Message = r.Time.UTC(), text.Cut(r.Message, maxMessageRunes)
	encoded, err := json.Marshal(r)
	if err != nil {
		return Line{}, fmt.Errorf("encode audit record: %w", err)
	}
	return Line{Record: r, JSON: encoded}, nil
}

// Deduplicate returns one record for each key, in the order of the first lines. The last
// record of a key counts, except that one with an outcome outlasts one without, and that a
// verified subject outlasts one that is not.
func Deduplicate(records []Record) []Record {
	at := map[string]int{}
	var list []Record
	for _, r := range records {
		i, known := at[r.Key]
		if !known {
			at[r.Key] = len(list)
			list = append(list, r)
			continue
		}
		by := r.By
		if first := list[i].By; by == nil || first != nil && first.Verified && !by.Verified {
			by = first
		}
		if r.Result != ResultSending && r.Result != ResultReceived {
			list[i] = r
		}
		list[i].By = by
	}
	return list
}
