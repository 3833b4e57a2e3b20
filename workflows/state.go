package workflows

import (
	"encoding/json"
	"time"

	"github.com/armature-io/armature/activities"
	"github.com/armature-io/armature/resource"
)

// decisionsKept bounds the log of decisions: one screen of describe.
const decisionsKept = 20

// State is what survives continue-as-new. It is one serializable struct, so
// that a second run starts where the first one stopped.
type State struct {
	// Desired is nil until the first apply or delete.
	Desired    *resource.Desired `json:"desired,omitempty"`
	Generation int64             `json:"generation"`
	Once       bool              `json:"once,omitempty"`
	Paused     bool              `json:"paused,omitempty"`
	Delete     *DeleteInput      `json:"delete,omitempty"`

	// DeleteBegun is set by the first pass of a deletion.
	DeleteBegun bool `json:"deleteBegun,omitempty"`

	// Pass counts the finished passes; Attempts those since the last Ready;
	// FailedPuts the accepted PUTs since then that led nowhere; Syncs the
	// passes that ended Ready.
	Pass       int64 `json:"pass"`
	Attempts   int   `json:"attempts,omitempty"`
	FailedPuts int   `json:"failedPuts,omitempty"`
	Syncs      int64 `json:"syncs,omitempty"`
	// Ended is the reason with which the last pass ended, Times the number of
	// passes in a row that ended with it.
	Ended activities.Repeated `json:"ended,omitzero"`

	// Settled is the last generation that was Ready; Wrote is set once a PUT may
	// have been sent.
	Settled int64 `json:"settled,omitempty"`
	Wrote   bool  `json:"wrote,omitempty"`

	// Wanted is set when a message asks for a pass; Force goes with it.
	Wanted bool            `json:"wanted,omitempty"`
	Force  *ReconcileInput `json:"force,omitempty"`
	// PutUnknown is set while it is not known whether ARM accepted the last PUT:
	// the next one reads first.
	PutUnknown bool `json:"putUnknown,omitempty"`
	// Changes are those of other resources of which the run was told, oldest
	// first: readings from before them are too old.
	Changes []activities.Change `json:"changes,omitempty"`
	// Held are the resources for which the owner check blocked last, without those
	// of which the run was told since.
	Held []resource.ID `json:"held,omitempty"`
	// Told is what others last heard; Leaf is set when nobody ever waits for a
	// resource of the type.
	Told Told `json:"told"`
	Leaf bool `json:"leaf,omitempty"`
	// Queued is the parent in whose queue for a turn the resource stands.
	Queued resource.ID `json:"queued,omitzero"`

	Phase        Phase              `json:"phase"`
	Condition    resource.Condition `json:"condition"`
	WaitingFor   []resource.ID      `json:"waitingFor,omitempty"`
	WaitingSince time.Time          `json:"waitingSince,omitzero"`
	// NotReadySince and Overdue are those of Status.
	NotReadySince time.Time `json:"notReadySince,omitzero"`
	Overdue       bool      `json:"overdue,omitempty"`
	// NextTry is an absolute time, so that the next run resumes the wait;
	// Waiting says what for.
	NextTry time.Time `json:"nextTry,omitzero"`
	Waiting string    `json:"waiting,omitempty"`

	Operation      string                `json:"operation,omitempty"`
	OperationSince time.Time             `json:"operationSince,omitzero"`
	Differences    []resource.Difference `json:"differences,omitempty"`
	DifferencesAt  time.Time             `json:"differencesAt,omitzero"`
	Decisions      []Decision            `json:"decisions,omitempty"`
	// Kept are the paths that Azure keeps: the baseline.
	Kept []string `json:"kept,omitempty"`
	// Memory belongs to the activities and is opaque here.
	Memory json.RawMessage `json:"memory,omitempty"`
}

// status returns the state as users see it.
func (s *State) status() Status {
	status := Status{
		Generation: s.Generation, Phase: s.Phase, Condition: s.Condition, Pass: s.Pass, Attempts: s.Attempts,
		WaitingFor: s.WaitingFor, WaitingSince: s.WaitingSince, NextTry: s.nextTry(),
		NotReadySince: s.NotReadySince, Overdue: s.Overdue,
		Paused: s.Paused, Deleting: s.Delete != nil, Deleted: s.gone(),
		Operation: s.Operation, OperationSince: s.OperationSince,
		Kept:        s.Kept,
		Differences: s.Differences, DifferencesAt: s.DifferencesAt, Decisions: s.Decisions,
	}
	if d := s.Desired; d != nil {
		status.ID, status.Name, status.APIVersion, status.Owner = d.ID, d.Name, d.APIVersion, d.Owner
		status.Policy, status.Credential, status.Interval, status.Labels = d.Policy, d.Credential, d.Interval, d.Labels
		status.Needs = d.Needs()
	}
	return status
}

// holds reports whether a pause keeps passes from starting: a deletion works
// while paused.
func (s *State) holds() bool { return s.Paused && s.Delete == nil }

// nextTry is when the next pass starts by itself; zero = only on a message.
func (s *State) nextTry() time.Time {
	if s.holds() {
		return time.Time{}
	}
	return s.NextTry
}

// notReadyFor is how long the resource has not been Ready, 0 while it is.
func (s *State) notReadyFor(now time.Time) time.Duration {
	if s.NotReadySince.IsZero() {
		return 0
	}
	return now.Sub(s.NotReadySince)
}

// gone reports whether a deletion is done. Without a deletion the reason may be
// a word of ARM or of an extension, which ends nothing.
func (s *State) gone() bool {
	return s.Delete != nil && (s.Condition.Reason == resource.ReasonDeleted || s.Condition.Reason == resource.ReasonDetached)
}

// remember appends a decision; one that repeats the last is counted instead.
func (s *State) remember(next Decision) {
	if n := len(s.Decisions); n > 0 {
		last := &s.Decisions[n-1]
		if last.Step == next.Step && last.Action == next.Action && last.Reason == next.Reason && last.Message == next.Message {
			last.Count++
			last.At, last.Pass = next.At, next.Pass
			return
		}
	}
	next.Count = 1
	s.Decisions = append(s.Decisions, next)
	if extra := len(s.Decisions) - decisionsKept; extra > 0 {
		s.Decisions = append([]Decision(nil), s.Decisions[extra:]...)
	}
}
