package extensions

import (
	"errors"
	"fmt"
	"strings"

	"github.com/armature-io/armature/resource"
)

// PreReconcileCheckResult is the answer of an owner check or a pre-check. Make
// it with ProceedWithReconcile, BlockReconcile or SkipReconcile: the zero value
// is no answer and becomes a failed check.
type PreReconcileCheckResult struct {
	verdict  resource.Verdict
	compared bool
}

// Action is Proceed, Block or Skip.
func (r PreReconcileCheckResult) Action() resource.Action { return r.verdict.Action }

// Message is the text for the user.
func (r PreReconcileCheckResult) Message() string { return r.verdict.Message }

// Differences are what the default found, for a link that acts after it.
func (r PreReconcileCheckResult) Differences() []resource.Difference { return r.verdict.Differences }

// Reason returns the reason of a block or a skip.
func (r PreReconcileCheckResult) Reason() resource.Reason { return r.verdict.Reason }

// OnlyDiffersAt reports whether the default requests a PUT because of one path
// alone.
func (r PreReconcileCheckResult) OnlyDiffersAt(path string) bool {
	return r.verdict.Action == resource.ActionProceed && len(r.verdict.Differences) == 1 && r.verdict.More == 0 &&
		strings.EqualFold(r.verdict.Differences[0].Path, path)
}

// WithPrefix returns the result with a text before its message.
func (r PreReconcileCheckResult) WithPrefix(text string) PreReconcileCheckResult {
	r.verdict.Message = text + ": " + r.verdict.Message
	return r
}

// PostReconcileCheckResult is the answer of a post-check. Make it with
// PostReconcileCheckResultSuccess or PostReconcileCheckResultFailure.
type PostReconcileCheckResult struct {
	verdict resource.Verdict
}

// Action is Success or Failure.
func (r PostReconcileCheckResult) Action() resource.Action { return r.verdict.Action }

// Message is the text for the user.
func (r PostReconcileCheckResult) Message() string { return r.verdict.Message }

// Option changes severity, reason or retry class of a result.
type Option func(*resource.Verdict)

// WithSeverity replaces Warning. SeverityError stops the retries until somebody
// acts, unless WithRetry follows.
func WithSeverity(severity resource.Severity) Option {
	return func(v *resource.Verdict) {
		v.Severity = severity
		if severity == resource.SeverityError {
			v.Class = resource.RetryNone
		}
	}
}

// WithReason replaces the reason and takes over its retry class.
func WithReason(reason resource.Reason) Option {
	return func(v *resource.Verdict) {
		v.Reason = reason
		if v.Severity != resource.SeverityError {
			v.Class = reason.Class()
		}
	}
}

// WithRetry replaces the retry class.
func WithRetry(class resource.RetryClass) Option {
	return func(v *resource.Verdict) { v.Class = class }
}

// WithWaitingFor names the resources whose change would lift a block. An owner
// check waits for the owner without it.
func WithWaitingFor(ids ...resource.ID) Option {
	return func(v *resource.Verdict) { v.WaitingFor = append(v.WaitingFor, ids...) }
}

// ProceedWithReconcile lets the pass go on.
func ProceedWithReconcile() PreReconcileCheckResult {
	return PreReconcileCheckResult{verdict: resource.Proceed("")}
}

// BlockReconcile ends the pass; it is tried again in the Slow class. The text
// says why, in words a user understands.
func BlockReconcile(reason string, options ...Option) PreReconcileCheckResult {
	verdict := resource.Block(resource.ReasonReconciliationBlocked, reason)
	for _, option := range options {
		option(&verdict)
	}
	return PreReconcileCheckResult{verdict: verdict}
}

// SkipReconcile passes over the PUT; the post-check runs. Owner checkers may
// not answer it.
func SkipReconcile(reason string, options ...Option) PreReconcileCheckResult {
	verdict := resource.Verdict{Action: resource.ActionSkip, Reason: resource.ReasonInSync, Message: reason}
	for _, option := range options {
		option(&verdict)
	}
	return PreReconcileCheckResult{verdict: verdict}
}

// PostReconcileCheckResultSuccess makes the resource Ready.
func PostReconcileCheckResultSuccess() PostReconcileCheckResult {
	return PostReconcileCheckResult{verdict: resource.Verdict{
		Action: resource.ActionSuccess, Reason: resource.ReasonSucceeded,
	}}
}

// PostReconcileCheckResultFailure means "not ready yet": Ready=False, Warning,
// and a new pass in the Slow class. The text says what is missing.
func PostReconcileCheckResultFailure(reason string, options ...Option) PostReconcileCheckResult {
	verdict := resource.Verdict{
		Action: resource.ActionFailure, Reason: resource.ReasonPostReconciliationFailure,
		Severity: resource.SeverityWarning, Class: resource.RetrySlow, Message: reason,
	}
	for _, option := range options {
		option(&verdict)
	}
	return PostReconcileCheckResult{verdict: verdict}
}

// ImportResult is the answer of an importer: ImportSucceeded or ImportSkipped.
type ImportResult struct {
	skipped bool
	because string
}

// ImportSucceeded takes the resource.
func ImportSucceeded() ImportResult { return ImportResult{} }

// ImportSkipped leaves the resource out and says why.
func ImportSkipped(because string) ImportResult { return ImportResult{skipped: true, because: because} }

// Skipped reports whether the resource is left out, and why.
func (r ImportResult) Skipped() (string, bool) { return r.because, r.skipped }

// ReadyConditionImpactingError is an error that carries the condition it makes.
type ReadyConditionImpactingError struct {
	Cause    error
	Severity resource.Severity
	Reason   resource.Reason
}

// NewReadyConditionImpactingError gives an error a severity and a reason.
// SeverityError means: no further try until somebody acts.
func NewReadyConditionImpactingError(err error, severity resource.Severity, reason resource.Reason) error {
	return &ReadyConditionImpactingError{Cause: err, Severity: severity, Reason: reason}
}

// Error is the text of the cause.
func (e *ReadyConditionImpactingError) Error() string {
	if e.Cause == nil {
		return fmt.Sprintf("resource is not ready: %s", e.Reason)
	}
	return e.Cause.Error()
}

// Unwrap is the cause.
func (e *ReadyConditionImpactingError) Unwrap() error { return e.Cause }

// notYetError is a block from a point that has no result for one.
type notYetError struct{ verdict resource.Verdict }

func (e *notYetError) Error() string { return e.verdict.Message }

// NotYet is the error with which a modifier, a deleter or a handler says "not
// now": the pass ends blocked and is tried again in the Slow class, or as the
// options say. It is how a link waits for something that takes long: it looks,
// starts what has to be started, and never waits itself.
func NotYet(reason string, options ...Option) error {
	return &notYetError{verdict: BlockReconcile(reason, options...).verdict}
}

// VerdictOf is the verdict that an error of a link carries: that of NotYet or of
// NewReadyConditionImpactingError; false for any other error.
func VerdictOf(err error) (resource.Verdict, bool) {
	var later *notYetError
	if errors.As(err, &later) {
		return sane(later.verdict), true
	}
	var impact *ReadyConditionImpactingError
	if !errors.As(err, &impact) {
		return resource.Verdict{}, false
	}
	// The link's own words, without its name.
	text := err.Error()
	if named := (*linkError)(nil); errors.As(err, &named) {
		text = named.err.Error()
	}
	verdict := resource.Fail(impact.Reason, impact.Reason.Class(), text)
	verdict.Severity = impact.Severity
	if impact.Severity == resource.SeverityError {
		verdict.Class = resource.RetryNone
	}
	return sane(verdict), true
}
