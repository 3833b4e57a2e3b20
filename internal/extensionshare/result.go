// Package extensionshare has the parts that extensions and their host share and that authors of
// links cannot reach: the content of results, the error of extensions.NotYet, Force and the
// purpose in a context, and the patterns of types.
package extensionshare

import "github.com/armature-io/armature/resource"

// Result is the content of the result of a check. The types in package extensions are
// defined by it, so that the host converts them.
type Result struct {
	verdict resource.Verdict
	claimed bool
}

// New returns a result that is not claimed yet.
func New(verdict resource.Verdict) Result { return Result{verdict: verdict} }

// Verdict returns the verdict.
func (r Result) Verdict() resource.Verdict { return r.verdict }

// With returns the result with another verdict.
func (r Result) With(verdict resource.Verdict) Result {
	r.verdict = verdict
	return r
}

// Claim sets the origin of the verdict, unless an inner link or the default made the result,
// and reports whether it did. The default at the end of a chain claims with "".
func (r *Result) Claim(origin string) bool {
	if r.claimed {
		return false
	}
	r.claimed, r.verdict.Origin = true, origin
	return true
}

// NotYet is the error of extensions.NotYet.
type NotYet struct{ Verdict resource.Verdict }

// Error returns the text for the user.
func (e *NotYet) Error() string { return e.Verdict.Message }
