package backend

import (
	"cmp"
	"slices"
	"time"

	historypb "go.temporal.io/api/history/v1"
	"go.temporal.io/sdk/converter"

	"github.com/armature-io/armature/activities"
	"github.com/armature-io/armature/resource"
)

// ObservedResource is what Armature would have written for a resource in a period in which it
// only observed it.
type ObservedResource struct {
	ID resource.ID `json:"id"`
	// Observed is why it was only observed at the last comparison: "policy observe", or the
	// setting of the worker.
	Observed string `json:"observed,omitempty"`
	// Comparisons counts the comparisons while it was only observed, the last one at LastCompared.
	// Enforced counts those after which a correction was sent if one was due.
	Comparisons  int       `json:"comparisons"`
	LastCompared time.Time `json:"lastCompared,omitzero"`
	Enforced     int       `json:"enforced,omitempty"`
	// Corrections are those that were not sent. MoreCorrections counts the paths beyond the bound
	// of a comparison (resource.MaxDifferences), of the comparison with the most.
	Corrections     []Correction `json:"corrections"`
	MoreCorrections int          `json:"moreCorrections,omitempty"`
	// Reason and Message are set if the last comparison was not decided, as while a user has to
	// approve what a PUT removes; without any comparison, Reason is that of the resource.
	Reason  resource.Reason `json:"reason,omitempty"`
	Message string          `json:"message,omitempty"`
	// Since is when its histories in Temporal begin, zero if they reach back to the begin of the
	// period or to the begin of the workflow.
	Since time.Time `json:"historySince,omitzero"`
}

// CorrectionKind is what a correction would have done at its path.
type CorrectionKind string

// The kinds: a value of the manifest in place of another one, the removal of a value of another
// tool, and the creation of the resource, which has no path.
const (
	CorrectionUpdate CorrectionKind = "update"
	CorrectionRemove CorrectionKind = "remove"
	CorrectionCreate CorrectionKind = "create"
)

// Correction is a value that Armature would have written. Values are as in resource.Difference.
type Correction struct {
	Kind     CorrectionKind `json:"kind"`
	Path     string         `json:"path,omitempty"`
	Desired  string         `json:"desired,omitempty"`
	Observed string         `json:"observed,omitempty"`
	// Found counts the comparisons that found it, between First and Last. Open is set if the last
	// comparison of the period was one of them.
	Found int       `json:"found"`
	First time.Time `json:"first"`
	Last  time.Time `json:"last"`
	Open  bool      `json:"open,omitempty"`
	// Authorship is that of the last change that Azure reported and that fits the comparison.
	resource.Authorship
}

// value identifies a correction among those of a resource.
type value struct {
	kind                    CorrectionKind
	path, desired, observed string
}

// ObservedIn returns what the pre-checks in the histories of a resource found since a time.
func ObservedIn(decode converter.DataConverter, id resource.ID, runs []HistoryRun, since time.Time) ObservedResource {
	found := ObservedResource{ID: id, Corrections: []Correction{}}
	known := map[value]*Correction{}
	for _, run := range runs {
		for _, event := range run.Events {
			at := event.GetEventTime().AsTime()
			if at.Before(since) {
				continue
			}
			if result, ok := preCheckOf(decode, event); ok {
				found.add(known, result, at)
			}
		}
	}
	for _, correction := range known {
		correction.Open = correction.Last.Equal(found.LastCompared)
		found.Corrections = append(found.Corrections, *correction)
	}
	slices.SortFunc(found.Corrections, func(a, b Correction) int {
		return cmp.Or(cmp.Compare(a.Path, b.Path), a.First.Compare(b.First),
			cmp.Compare(a.Kind, b.Kind), cmp.Compare(a.Observed, b.Observed), cmp.Compare(a.Desired, b.Desired))
	})
	if len(runs) > 0 && runs[0].Started.After(since) && runs[0].Continued() != "" {
		found.Since = runs[0].Started
	}
	return found
}

// add adds the result of a pre-check.
func (r *ObservedResource) add(known map[value]*Correction, result activities.PreCheckResult, at time.Time) {
	if result.Observed == "" {
		r.Enforced++
		return
	}
	verdict := result.Verdict
	r.Comparisons++
	r.Observed, r.LastCompared, r.Reason, r.Message = result.Observed, at, "", ""
	if verdict.Reason != resource.ReasonDriftDetected {
		if verdict.Stops() {
			r.Reason, r.Message = verdict.Reason, verdict.Message
		}
		return
	}
	r.MoreCorrections = max(r.MoreCorrections, verdict.More+verdict.MoreDrops)
	for _, v := range valuesOf(verdict) {
		correction := known[v]
		if correction == nil {
			correction = &Correction{Kind: v.kind, Path: v.path, Desired: v.desired, Observed: v.observed, First: at}
			known[v] = correction
		}
		correction.Found++
		correction.Last = at
		if verdict.AuthorKnown() {
			correction.Authorship = verdict.Authorship
		}
	}
}

// valuesOf returns what the write would have changed that a verdict reports.
func valuesOf(verdict resource.Verdict) []value {
	var values []value
	if verdict.Create {
		values = append(values, value{kind: CorrectionCreate})
	}
	for _, d := range verdict.Differences {
		values = append(values, value{CorrectionUpdate, d.Path, d.Desired, d.Observed})
	}
	for _, path := range verdict.Drops {
		values = append(values, value{kind: CorrectionRemove, path: path})
	}
	return values
}

// preCheckOf returns the result of a pre-check, a local activity, and false for another event.
func preCheckOf(decode converter.DataConverter, event *historypb.HistoryEvent) (activities.PreCheckResult, bool) {
	var result activities.PreCheckResult
	details := event.GetMarkerRecordedEventAttributes().GetDetails()
	var local struct{ ActivityType string }
	if first(details["data"]) == nil || decode.FromPayload(first(details["data"]), &local) != nil || local.ActivityType != preCheck {
		return result, false
	}
	return result, first(details["result"]) != nil && decode.FromPayload(first(details["result"]), &result) == nil
}
