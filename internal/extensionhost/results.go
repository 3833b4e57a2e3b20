package extensionhost

import (
	"errors"

	"github.com/armature-io/armature/extensions"
	"github.com/armature-io/armature/internal/extensionshare"
	"github.com/armature-io/armature/resource"
)

// VerdictOf returns the verdict that an error of a link carries, from NotYet or
// NewReadyConditionImpactingError, with its origin; false for any other error.
func VerdictOf(err error) (resource.Verdict, bool) {
	verdict, ok := carriedVerdict(err)
	if !ok {
		return resource.Verdict{}, false
	}
	verdict.Origin = errorOrigin(err)
	return sanitize(verdict), true
}

// carriedVerdict returns the verdict that an error of a link carries as the link made it.
func carriedVerdict(err error) (resource.Verdict, bool) {
	if later, ok := errors.AsType[*extensionshare.NotYet](err); ok {
		return later.Verdict, true
	}
	impact, ok := errors.AsType[*extensions.ReadyConditionImpactingError](err)
	if !ok {
		return resource.Verdict{}, false
	}
	// The link's own text, without its name.
	text := err.Error()
	if named, ok := errors.AsType[*linkError](err); ok {
		text = named.err.Error()
	}
	verdict := resource.Fail(impact.Reason, impact.Reason.Class(), text)
	verdict.Severity = impact.Severity
	if impact.Severity == resource.SeverityError {
		verdict.Class = resource.RetryNone
	}
	return verdict, true
}
