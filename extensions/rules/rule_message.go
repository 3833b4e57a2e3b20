package rules

import (
	"slices"
	"strings"

	"github.com/armature-io/armature/extensions"
	"github.com/armature-io/armature/resource"
)

// message returns the field with the message of a check. A rule that only reads needs
// none, because the reads have messages of their own.
func (f *file) message(s *source, at point, conditional bool) field {
	block, fail := s.fields["block"], s.fields["fail"]
	switch {
	case block.node != nil && fail.node != nil:
		f.report(fail.node, "a rule has either block or fail, not both")
	case block.node == nil && fail.node == nil && conditional:
		f.report(s.node, "the rule has no message; add block (not now) or fail (not ready yet)")
	case block.node != nil && at == atPost:
		f.report(block.node, "a rule at post needs fail, not block: the PUT is done")
	case fail.node != nil && (at == atOwner || at == atPre):
		f.report(fail.node, "a rule at %s needs block: fail is for rules at post", at)
	}
	message := block
	if block.node == nil {
		message = fail
	}
	if message.node != nil && strings.TrimSpace(message.text) == "" {
		f.report(message.node, "the message is empty; explain what the resource waits for")
	}
	return message
}

// setOptions sets the severity, reason and retry class, and onlyBeforePut.
func (f *file) setOptions(s *source, compiled *rule) {
	if severity := s.fields["severity"]; severity.node != nil {
		switch resource.Severity(severity.text) {
		case resource.SeverityInfo, resource.SeverityWarning, resource.SeverityError:
			compiled.options = append(compiled.options, extensions.WithSeverity(resource.Severity(severity.text)))
		default:
			f.report(severity.node, "severity must be Info, Warning or Error, not %q", severity.text)
		}
	}
	if reason := s.fields["reason"]; reason.node != nil {
		if !reasonPattern.MatchString(reason.text) {
			f.report(reason.node, "reason must be one word such as ChangeFreeze, not %q", reason.text)
		}
		compiled.reason = resource.Reason(reason.text)
		compiled.options = append(compiled.options, extensions.WithReason(compiled.reason))
	}
	if retry := s.fields["retry"]; retry.node != nil {
		if !slices.Contains(retryClasses(), resource.RetryClass(retry.text)) {
			f.report(retry.node, "retry must be Fast, Slow, VerySlow or None, not %q", retry.text)
		}
		compiled.options = append(compiled.options, extensions.WithRetry(resource.RetryClass(retry.text)))
		compiled.failure.class = resource.RetryClass(retry.text)
	}
	switch s.text("onlyBeforePut") {
	case "", "false":
	case "true":
		compiled.onlyBeforePut = true
		if compiled.at != atPre {
			f.report(s.fields["onlyBeforePut"].node, "onlyBeforePut is only valid at pre, where the PUT is decided")
		}
	default:
		f.report(s.fields["onlyBeforePut"].node, "onlyBeforePut must be true or false")
	}
}

// retryClasses returns the four classes.
func retryClasses() []resource.RetryClass {
	return []resource.RetryClass{resource.RetryFast, resource.RetrySlow, resource.RetryVerySlow, resource.RetryNone}
}
