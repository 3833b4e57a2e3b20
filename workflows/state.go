package workflows

import (
	"bytes"
	"encoding/json"
	"fmt"
	"time"

	"github.com/armature-io/armature/activities"
	"github.com/armature-io/armature/activities/exporting"
	"github.com/armature-io/armature/resource"
)

// maxDecisions bounds the log of decisions: one screen of describe.
const maxDecisions = 20

// State is the data that survives continue-as-new. It is one serializable struct, so
// that a new run continues where the last one stopped.
type State struct {
	Spec   `json:"spec"`
	Paused bool `json:"paused,omitempty"`
	// Deletion is nil unless the resource is being deleted.
	Deletion *Deletion `json:"deletion,omitempty"`
	// Undo is what is left to do after a deletion was taken back.
	Undo *Undo `json:"undo,omitempty"`
	// Forget ends the management.
	Forget *ForgetInput `json:"forget,omitempty"`

	// Requests are the requests for the next pass, and approvals.
	Requests Requests `json:"requests,omitzero"`
	// Changes are the changes of other resources that the run was notified of, oldest
	// first: readings from before them are too old.
	Changes []activities.Change `json:"changes,omitempty"`

	// Reported is what the feed of changes reported.
	Reported Reported `json:"reported,omitzero"`

	// Known is what is known of the resource in Azure, Ready when it was as the spec wants.
	Known Known `json:"known,omitzero"`
	Ready Ready `json:"ready,omitzero"`
	// Write is the last PUT.
	Write LastWrite `json:"write,omitzero"`
	// Operation is the long-running operation in progress.
	Operation Operation `json:"operation,omitzero"`
	Exports   Exports   `json:"exports,omitzero"`

	Report `json:"report"`
	// Retry is how long the resource has not been Ready, and when the next pass starts.
	Retry Retry `json:"retry,omitzero"`
	// Wait is what the resource waits for.
	Wait Wait `json:"wait,omitzero"`
	// Announced is the state that was last sent to dependents.
	Announced Announced `json:"announced,omitzero"`
	Audit     Audit     `json:"audit,omitzero"`
	// Trace is set once a message came with a trace.
	Trace *Trace `json:"trace,omitempty"`

	// HistoryLimit is the number of events after which the run continues as new, as the
	// run before it decided; 0 for firstHistoryLength.
	HistoryLimit int `json:"historyLimit,omitempty"`
	// Notifications are those that the run before had not ended; set in continue-as-new only.
	Notifications []activities.WakeDependentsInput `json:"notifications,omitempty"`
	// Summary is the last one that was written into the memo.
	Summary *Summary `json:"summary,omitempty"`
}

// Spec is what users want.
type Spec struct {
	// Desired is nil until the first apply or delete.
	Desired    *resource.Desired `json:"desired,omitempty"`
	Generation int64             `json:"generation"`
	// AppliedBy is the user that applied Generation, AppliedRequest the key of that apply
	// in the audit trail.
	AppliedBy      string `json:"appliedBy,omitempty"`
	AppliedRequest string `json:"appliedRequest,omitempty"`
	// ChangedAt is when Desired became Generation, StatedAt when a user last stated it or its
	// deletion: a repeated apply counts too.
	ChangedAt time.Time `json:"changedAt,omitzero"`
	StatedAt  time.Time `json:"statedAt,omitzero"`
	// Once ends the management once the resource is Ready.
	Once bool `json:"once,omitempty"`
}

// Known is what is known of the resource in Azure.
type Known struct {
	// Seen is set once a read showed the resource.
	Seen bool `json:"seen,omitempty"`
	// Leaf is set when a resource of the type never has dependents.
	Leaf bool `json:"leaf,omitempty"`
	// Identity is how Azure identifies the resource wherever it is, as PostCheck found it.
	Identity resource.Identity `json:"identity,omitempty"`
	// Baseline belongs to the activities; it is opaque here.
	Baseline json.RawMessage `json:"baseline,omitempty"`
	activities.Findings
}

// Ready is when the resource was as the spec wants.
type Ready struct {
	// Generation is the last generation that was Ready, Passes the number of passes that
	// ended so.
	Generation int64 `json:"generation,omitempty"`
	Passes     int64 `json:"passes,omitempty"`
}

// Operation is a long-running operation in progress; the zero value is none.
type Operation struct {
	Method string    `json:"method,omitempty"`
	Since  time.Time `json:"since,omitzero"`
}

// Exports are the exports that were compared.
type Exports struct {
	Known []exporting.Exported `json:"known,omitempty"`
	// Generation is the last generation of which all were compared.
	Generation int64 `json:"generation,omitempty"`
}

// Report is what the passes found.
type Report struct {
	// Pass counts the finished passes.
	Pass      int64              `json:"pass"`
	Phase     Phase              `json:"phase"`
	Condition resource.Condition `json:"condition"`
	// Freshness is the part of the message of the condition with values and the age of the readings.
	Freshness string `json:"freshness,omitempty"`
	// Differences are those of the last pass that found any, at DifferencesAt.
	Differences   []resource.Difference `json:"differences,omitempty"`
	DifferencesAt time.Time             `json:"differencesAt,omitzero"`
	// Decisions are the last ones, oldest first.
	Decisions []Decision `json:"decisions,omitempty"`
}

// status returns the state as users see it.
func (s *State) status() *Status {
	status := &Status{
		Generation: s.Generation, AppliedBy: s.AppliedBy, Phase: s.Phase, Condition: s.Condition, Pass: s.Pass, Attempts: s.Retry.Attempts,
		WaitingFor: s.Wait.For, WaitingSince: s.Wait.Since, NextTry: s.nextTry(),
		NotReadySince: s.Retry.NotReadySince, Overdue: s.Retry.Overdue,
		Paused: s.Paused, Deleting: s.Deletion != nil, Deleted: s.deleted(),
		Operation: s.Operation.Method, OperationSince: s.Operation.Since,
		Abortable: s.canAbort(), Cascade: s.Deletion != nil && s.Deletion.Cascade,
		Findings: s.Known.Findings, Exports: s.exports(),
		Differences: s.Differences, DifferencesAt: s.DifferencesAt, Decisions: s.Decisions,
	}
	if d := s.Desired; d != nil {
		status.ID, status.Name, status.APIVersion, status.Owner = d.ID, d.Name, d.APIVersion, d.Owner
		status.Policy, status.Credential, status.Interval, status.Labels = d.Policy, d.Credential, d.Interval, d.Labels
		status.Needs = d.Needs()
		if !d.Deletion.IsZero() {
			status.Deletion = &d.Deletion
		}
	}
	return status
}

// pauseBlocks reports whether a pause prevents passes. A deletion runs while paused.
func (s *State) pauseBlocks() bool { return s.Paused && s.Deletion == nil }

// nextTry returns when the next pass starts by itself; zero means only on a message.
func (s *State) nextTry() time.Time {
	if s.pauseBlocks() {
		return time.Time{}
	}
	return s.Retry.NextTry
}

// applied reports whether this workflow wrote the resource or found it Ready.
func (s *State) applied() bool { return s.Write.Sent || s.Ready.Generation > 0 }

// existed reports whether a read of this workflow showed the resource: then its absence
// means that it was deleted.
func (s *State) existed() bool {
	return s.Known.Seen || s.Ready.Generation > 0 || len(s.Known.Baseline) > 0
}

// newerThan returns the generation of the spec if it is newer than that of a pass, else 0.
func (s *Spec) newerThan(generation int64) int64 {
	if s.Generation > generation {
		return s.Generation
	}
	return 0
}

// replaceSpec stores the next spec. An accepted PUT of the same body still waits for its
// post-check; one of another body does not.
func (s *State) replaceSpec(next resource.Desired) {
	if last := s.Desired; last != nil && (!bytes.Equal(last.Body, next.Body) || last.APIVersion != next.APIVersion) {
		s.Write.replaceBody()
	}
	s.Desired = &next
	s.Generation++
	if s.Write.Accepted != nil {
		s.Write.Accepted.Generation = s.Generation
	}
}

// writeToken returns the name of the write that is due: the same one in all passes until
// ARM accepted a PUT or the resource was Ready.
func (s *State) writeToken() string {
	return fmt.Sprintf("%d.%d.%d", s.Generation, s.Ready.Passes, s.Retry.FailedPuts)
}

// deleted reports whether a requested deletion is done. Without a deletion the same
// reason may come from ARM or from an extension, and ends nothing.
func (s *State) deleted() bool {
	return s.Deletion != nil && (s.Condition.Reason == resource.ReasonDeleted || s.Condition.Reason == resource.ReasonDetached)
}

// addDecision appends a decision. One that repeats the last only increases its count.
func (s *Report) addDecision(next Decision) {
	if n := len(s.Decisions); n > 0 {
		last := &s.Decisions[n-1]
		if last.Step == next.Step && last.Action == next.Action && last.Reason == next.Reason && last.Message == next.Message && last.Origin == next.Origin {
			last.Count++
			last.At, last.Pass = next.At, next.Pass
			return
		}
	}
	next.Count = 1
	s.Decisions = append(s.Decisions, next)
	if extra := len(s.Decisions) - maxDecisions; extra > 0 {
		s.Decisions = append([]Decision(nil), s.Decisions[extra:]...)
	}
}
