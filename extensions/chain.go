package extensions

import (
	"fmt"
	"runtime"
	"runtime/debug"
)

// chain folds the links of type L around the innermost function of type F: the
// first link is the outermost, each one gets the rest as its next. bind turns a
// link and its next into one function.
func chain[L, F any](links []L, innermost F, bind func(link L, next F) F) F {
	for i := len(links) - 1; i >= 0; i-- {
		innermost = bind(links[i], innermost)
	}
	return innermost
}

// implementing picks the links that implement the point L, in order.
func implementing[L any](links []any) []L {
	var found []L
	for _, link := range links {
		if point, ok := link.(L); ok {
			found = append(found, point)
		}
	}
	return found
}

// Named is a link that messages call by another name than its Go type: a rule of
// a file.
type Named interface {
	ExtensionName() string
}

// nameOf is how messages call a link.
func nameOf(link any) string {
	if named, ok := link.(Named); ok {
		return named.ExtensionName()
	}
	return fmt.Sprintf("extension %T", link)
}

// panicError is a panic of one link, caught.
type panicError struct {
	point string
	link  any
	value any
	stack []byte
}

// Error names the link, so that its author is found; the stack goes to the log.
// What a modifier said in its panic may hold a secret of the payload.
func (e *panicError) Error() string {
	if _, harmless := e.value.(runtime.Error); e.point == modifyPoint && !harmless {
		return fmt.Sprintf("%s panicked in %s", nameOf(e.link), e.point)
	}
	return fmt.Sprintf("%s panicked in %s: %v", nameOf(e.link), e.point, e.value)
}

// guard catches a panic of the link and hands it on as an error. It is deferred
// around every link on its own, so the innermost guard names the right one.
func guard(point string, link any, err *error) {
	if value := recover(); value != nil {
		*err = &panicError{point: point, link: link, value: value, stack: debug.Stack()}
	}
}
