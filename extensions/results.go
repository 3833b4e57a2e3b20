package extensions

import (
	"fmt"
	"strings"

	"github.com/armature-io/armature/internal/extensionshare"
	"github.com/armature-io/armature/internal/text"
	"github.com/armature-io/armature/resource"
)

// PreReconcileCheckResult is the result of an owner check or a pre-check. Use
// ProceedWithReconcile, BlockReconcile or SkipReconcile to make one: the zero value
// is invalid and becomes a failed check.
type PreReconcileCheckResult extensionshare.Result

func (r PreReconcileCheckResult) verdict() resource.Verdict {
	return extensionshare.Result(r).Verdict()
}

// Action returns Proceed, Block or Skip.
func (r PreReconcileCheckResult) Action() resource.Action { return r.verdict().Action }

// Message returns the text for the user.
func (r PreReconcileCheckResult) Message() string { return r.verdict().Message }

// Differences returns those that the default found, for a link that acts after it.
func (r PreReconcileCheckResult) Differences() []resource.Difference { return r.verdict().Differences }

// Reason returns the reason of a block or a skip.
func (r PreReconcileCheckResult) Reason() resource.Reason { return r.verdict().Reason }

// OnlyDiffersAt reports whether the default requests a PUT because of one path
// alone.
func (r PreReconcileCheckResult) OnlyDiffersAt(path string) bool {
	verdict := r.verdict()
	return verdict.Action == resource.ActionProceed && len(verdict.Differences) == 1 && verdict.More == 0 &&
		strings.EqualFold(verdict.Differences[0].Path, path)
}

// WithPrefix returns the result with a text before its message.
func (r PreReconcileCheckResult) WithPrefix(text string) PreReconcileCheckResult {
	verdict := r.verdict()
	verdict.Message = text + ": " + verdict.Message
	return PreReconcileCheckResult(extensionshare.Result(r).With(verdict))
}

// PostReconcileCheckResult is the result of a post-check. Use
// PostReconcileCheckResultSuccess or PostReconcileCheckResultFailure to make one.
type PostReconcileCheckResult extensionshare.Result

func (r PostReconcileCheckResult) verdict() resource.Verdict {
	return extensionshare.Result(r).Verdict()
}

// Action returns Success or Failure.
func (r PostReconcileCheckResult) Action() resource.Action { return r.verdict().Action }

// Message returns the text for the user.
func (r PostReconcileCheckResult) Message() string { return r.verdict().Message }

// Option changes a part of a result: severity, reason, retry class, what it waits for, or what it
// shows. The With functions make one; the zero value changes nothing.
type Option struct{ set func(*resource.Verdict) }

// WithSeverity replaces Warning. SeverityError ends the retries of the backoff, unless
// WithRetry follows: the checks are made again once per interval, at a user's apply,
// reconcile or resume, and when a resource of WithWaitingFor changes.
func WithSeverity(severity resource.Severity) Option {
	return Option{func(v *resource.Verdict) {
		v.Severity = severity
		if severity == resource.SeverityError {
			v.Class = resource.RetryNone
		}
	}}
}

// WithReason replaces the reason and sets the retry class of that reason.
func WithReason(reason resource.Reason) Option {
	return Option{func(v *resource.Verdict) {
		v.Reason = reason
		if v.Severity != resource.SeverityError {
			v.Class = reason.Class()
		}
	}}
}

// WithRetry replaces the retry class.
func WithRetry(class resource.RetryClass) Option {
	return Option{func(v *resource.Verdict) { v.Class = class }}
}

// WithActor names who has to act before the check can pass, for example "the owner of
// the target": a wait ends with that instead of a timeout.
func WithActor(actor string) Option {
	return Option{func(v *resource.Verdict) { v.Actor = actor }}
}

// WithWaitingFor adds resources; a change of one of them ends the block. Without it a check
// waits for the owner that it got.
func WithWaitingFor(ids ...resource.ID) Option {
	return Option{func(v *resource.Verdict) { v.WaitingFor = append(v.WaitingFor, ids...) }}
}

const (
	// maxValues bounds the values that a verdict shows, maxValuesRunes their text.
	maxValues      = 4
	maxValuesRunes = 300
)

// WithValues names what the check compared, for example "cores is 4": describe, why and the log
// show the first four beside the message, with secrets masked. Values that a user has to know
// belong into the message.
func WithValues(values ...string) Option {
	named := strings.Join(values[:min(len(values), maxValues)], ", ")
	if more := len(values) - maxValues; more > 0 {
		named += fmt.Sprintf(" and %d more", more)
	}
	return Option{func(v *resource.Verdict) { v.Seen = text.Cut(named, maxValuesRunes) }}
}

// ProceedWithReconcile returns a result with which the pass continues.
func ProceedWithReconcile() PreReconcileCheckResult {
	return PreReconcileCheckResult(extensionshare.New(resource.Proceed("")))
}

// BlockReconcile returns a result that ends the pass. The next one follows in the
// Slow class. The text explains the block to a user.
func BlockReconcile(reason string, options ...Option) PreReconcileCheckResult {
	return PreReconcileCheckResult(withOptions(resource.Block(resource.ReasonReconciliationBlocked, reason), options))
}

// SkipReconcile returns a result that skips the PUT; the post-check runs. An owner
// checker must not return it.
func SkipReconcile(reason string, options ...Option) PreReconcileCheckResult {
	return PreReconcileCheckResult(withOptions(resource.Verdict{
		Action: resource.ActionSkip, Reason: resource.ReasonInSync, Message: reason,
	}, options))
}

// PostReconcileCheckResultSuccess returns a result that makes the resource Ready.
func PostReconcileCheckResultSuccess() PostReconcileCheckResult {
	return PostReconcileCheckResult(extensionshare.New(resource.Verdict{
		Action: resource.ActionSuccess, Reason: resource.ReasonSucceeded,
	}))
}

// PostReconcileCheckResultFailure returns "not ready yet": Ready=False, Warning,
// and a new pass in the Slow class. The text names what is missing.
func PostReconcileCheckResultFailure(reason string, options ...Option) PostReconcileCheckResult {
	return PostReconcileCheckResult(withOptions(resource.Verdict{
		Action: resource.ActionFailure, Reason: resource.ReasonPostReconciliationFailure,
		Severity: resource.SeverityWarning, Class: resource.RetrySlow, Message: reason,
	}, options))
}

func withOptions(verdict resource.Verdict, options []Option) extensionshare.Result {
	for _, option := range options {
		if option.set != nil {
			option.set(&verdict)
		}
	}
	return extensionshare.New(verdict)
}

// ImportResult is the result of an importer: ImportSucceeded or ImportSkipped.
type ImportResult struct {
	skipped bool
	because string
}

// ImportSucceeded returns a result that imports the resource.
func ImportSucceeded() ImportResult { return ImportResult{} }

// ImportSkipped returns a result that leaves the resource out for a reason.
func ImportSkipped(because string) ImportResult { return ImportResult{skipped: true, because: because} }

// Skipped returns why the resource is left out, and whether it is.
func (r ImportResult) Skipped() (string, bool) { return r.because, r.skipped }

// ReadyConditionImpactingError is an error that carries the condition it results
// in.
type ReadyConditionImpactingError struct {
	Cause    error
	Severity resource.Severity
	Reason   resource.Reason
}

// NewReadyConditionImpactingError returns an error with a severity and a reason.
// SeverityError is as in WithSeverity.
func NewReadyConditionImpactingError(err error, severity resource.Severity, reason resource.Reason) error {
	return &ReadyConditionImpactingError{Cause: err, Severity: severity, Reason: reason}
}

// Error returns the text of the cause.
func (e *ReadyConditionImpactingError) Error() string {
	if e.Cause == nil {
		return fmt.Sprintf("resource is not ready: %s", e.Reason)
	}
	return e.Cause.Error()
}

// Unwrap returns the cause.
func (e *ReadyConditionImpactingError) Unwrap() error { return e.Cause }

// NotYet returns an error by which a modifier, a deleter or a handler blocks: the
// pass ends and the next one follows in the Slow class, or as the options request.
// A link that needs something slow starts it, returns NotYet and checks again in
// the next pass. It never waits itself.
func NotYet(reason string, options ...Option) error {
	return &extensionshare.NotYet{Verdict: BlockReconcile(reason, options...).verdict()}
}
