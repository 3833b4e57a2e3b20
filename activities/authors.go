package activities

import (
	"slices"

	"github.com/armature-io/armature/resource"
)

// withAuthor names who made the change that a verdict is about, by what Azure reported: the last
// reported change of one of the differing paths, else the last one of which the source names no
// paths, and for a resource that disappeared the last deletion. Without drift the differences are
// an edit of the manifest, and have no author in Azure.
func (c *comparer) withAuthor(verdict resource.Verdict, in PreCheckInput, drift bool) resource.Verdict {
	var fits func(resource.ReportedChange) bool
	switch {
	case verdict.Create && in.Existed, verdict.Reason == resource.ReasonDisappeared:
		fits = func(c resource.ReportedChange) bool { return c.Kind == resource.ChangeDelete }
	case verdict.Reason == resource.ReasonDrift && drift, verdict.Reason == resource.ReasonDriftDetected,
		verdict.Reason == resource.ReasonContested, verdict.Reason == resource.ReasonHeld:
		fits = func(c resource.ReportedChange) bool { return mayMake(c, verdict) }
	default:
		return verdict
	}
	for _, change := range slices.Backward(in.Reported) {
		if !change.Own && fits(change) {
			verdict.Authorship = resource.Authorship{ChangedBy: change.ReportedAuthor, ChangedAt: change.At}
			return verdict
		}
	}
	verdict.Unreported = c.followers.follow(in.Desired, c.now())
	return verdict
}

// mayMake reports whether a change may have made one of the differences of a verdict.
func mayMake(change resource.ReportedChange, verdict resource.Verdict) bool {
	if change.Kind != resource.ChangeCreate && change.Kind != resource.ChangeUpdate && change.Kind != resource.ChangeAction {
		return false
	}
	return len(change.Paths) == 0 || change.MorePaths > 0 ||
		slices.ContainsFunc(verdict.Differences, func(d resource.Difference) bool { return change.Touches(d.Path) })
}
