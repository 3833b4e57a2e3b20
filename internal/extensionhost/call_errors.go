package extensionhost

import (
	"errors"
	"fmt"
	"path/filepath"
	"reflect"
	"runtime"
	"strings"

	"github.com/armature-io/armature/internal/extensionshare"
)

// linkError is an error of one link: the innermost that returned it.
type linkError struct {
	link  any
	point string
	err   error
	// named is set when the text of err contains the name of the link.
	named bool
}

// Error returns the text with the name of the link.
func (e *linkError) Error() string {
	if e.named {
		return e.err.Error()
	}
	return nameOf(e.link) + ": " + e.err.Error()
}

// Unwrap returns the link's own error.
func (e *linkError) Unwrap() error { return e.err }

// panicError is a recovered panic of one link, nil for one of the defaults.
type panicError struct {
	point string
	link  any
	value any
	stack []byte
	// at is the file and line of the panic, "" if unknown.
	at string
}

// Error returns a text that names the link and the line, so that its author can be found;
// the stack goes to the log. It omits the panic value of a modifier, which may contain a
// secret of the payload.
func (e *panicError) Error() string {
	text := "the default panicked in " + e.point
	if e.link != nil {
		text = fmt.Sprintf("%s panicked in %s", nameOf(e.link), e.point)
	}
	if e.at != "" {
		text += " at " + e.at
	}
	if _, harmless := e.value.(runtime.Error); e.point == modifyPoint && !harmless {
		return text
	}
	return fmt.Sprintf("%s: %v", text, e.value)
}

// panicPosition returns the file and line at which a link panicked: the innermost line of
// the link's package, else the line of the panic. It must be called by a deferred function.
func panicPosition(link any) string {
	callers := make([]uintptr, 64)
	frames := runtime.CallersFrames(callers[:runtime.Callers(1, callers)])
	own, first, panicked := packageOf(link), "", false
	for {
		frame, more := frames.Next()
		switch {
		case strings.HasPrefix(frame.Function, "runtime."):
			panicked = panicked || frame.Function == "runtime.gopanic"
		case !panicked:
		default:
			at := fmt.Sprintf("%s:%d", filepath.Base(frame.File), frame.Line)
			if own != "" && strings.HasPrefix(frame.Function, own+".") {
				return at
			}
			if first == "" {
				first = at
			}
		}
		if !more {
			return first
		}
	}
}

// packageOf returns the import path of a link's type as it prefixes the names of its
// functions, "" for a type without one.
func packageOf(link any) string {
	if own := extensionshare.FunctionPackage(link); own != "" {
		return own
	}
	of := reflect.TypeOf(link)
	if of == nil {
		return ""
	}
	if of.Kind() == reflect.Pointer {
		of = of.Elem()
	}
	return of.PkgPath()
}

// isNamed reports whether an error names its link already.
func isNamed(err error) bool {
	_, named := errors.AsType[*linkError](err)
	_, panicked := errors.AsType[*panicError](err)
	return named || panicked
}

// checkCarried returns the error of a link, or what is wrong with the verdict that it
// carries (NotYet, NewReadyConditionImpactingError).
func (l *linkCall) checkCarried(err error) error {
	verdict, carries := carriedVerdict(err)
	if !carries {
		return err
	}
	if problem := checkResult(l.point, verdict); problem != nil {
		return problem
	}
	return err
}
