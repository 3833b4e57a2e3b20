package extensions

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"reflect"
	"runtime"
	"runtime/debug"
	"slices"
	"sync"
	"time"

	"github.com/armature-io/armature/drift"
	"github.com/armature-io/armature/resource"
)

// Time limits of the points, unless the caller sets a shorter one. Checks have the
// budget of their local activity.
const (
	maxClassifyTime = 2 * time.Second
	maxModifyTime   = 20 * time.Second
	maxSuccessTime  = 5 * time.Second
	// maxDeleteTime covers what a deleter does before the DELETE and the DELETE.
	maxDeleteTime = 55 * time.Second
	maxImportTime = 20 * time.Second
	// maxHangingCalls is the number of unreturned calls after which a link is no
	// longer called, until one returns. It keeps a broken link from using up the
	// worker.
	maxHangingCalls = 4
	// cancelGrace is how long a link may take to return after its context ends.
	cancelGrace = 200 * time.Millisecond
)

// call is one run of a chain. It records which link is running, so that an error
// can name one that does not return.
type call struct {
	point string
	mu    sync.Mutex
	// running are the links that were called and have not returned, the innermost
	// last.
	running []any
}

// innermost returns the innermost running link, nil for none.
func (c *call) innermost() any {
	c.mu.Lock()
	defer c.mu.Unlock()
	if len(c.running) == 0 {
		return nil
	}
	return c.running[len(c.running)-1]
}

// linkCall is the call of one link of a chain.
type linkCall struct {
	*call
	link any
	// objects are the inputs of the link, before are copies of them.
	objects []*resource.Object
	before  []resource.Object
}

// enter records that a link starts with some inputs; nil inputs are ignored. The
// caller must defer finish of the result.
func (c *call) enter(link any, objects ...*resource.Object) *linkCall {
	l := &linkCall{call: c, link: link}
	for _, object := range objects {
		if object != nil && !slices.Contains(l.objects, object) {
			l.objects, l.before = append(l.objects, object), append(l.before, clone(*object))
		}
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	c.running = append(c.running, link)
	return l
}

// finish ends the call of a link: it turns a panic or a changed input into an
// error and adds the name of the link to an error. It must be deferred itself,
// because it recovers.
func (l *linkCall) finish(err *error) {
	if value := recover(); value != nil {
		*err = &panicError{point: l.point, link: l.link, value: value, stack: debug.Stack()}
	}
	changed := l.restoreInputs()
	switch {
	case *err == nil && changed != nil:
		*err = &linkError{link: nil, err: changed}
	case *err != nil && !isNamed(*err):
		*err = &linkError{link: l.link, err: *err}
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	l.running = l.running[:len(l.running)-1]
}

// restoreInputs undoes changes of the inputs and returns an error that names the
// link if there were any.
func (l *linkCall) restoreInputs() error {
	var err error
	for i, object := range l.objects {
		if !reflect.DeepEqual(*object, l.before[i]) {
			err = fmt.Errorf("%s changed its input in %s: a link must not change %s", nameOf(l.link), l.point, l.before[i].ID.Short())
			*object = l.before[i]
		}
	}
	return err
}

// clone returns a copy of an object that shares only its ID.
func clone(object resource.Object) resource.Object {
	object.Desired, object.Observed = drift.Clone(object.Desired), drift.Clone(object.Observed)
	object.Labels = maps.Clone(object.Labels)
	return object
}

// cloneForLinks returns a private copy of an object, because cached objects are
// shared. Without links it returns the object: the default changes nothing.
func cloneForLinks[L any](links []L, object *resource.Object) *resource.Object {
	if object == nil || len(links) == 0 {
		return object
	}
	own := clone(*object)
	return &own
}

// hangingCalls counts, by the name of a link, the calls that timed out and have
// not returned yet.
type hangingCalls struct {
	mu    sync.Mutex
	calls map[string]int
}

func (h *hangingCalls) add(name string, n int) {
	h.mu.Lock()
	defer h.mu.Unlock()
	if h.calls[name] += n; h.calls[name] == 0 {
		delete(h.calls, name)
	}
}

func (h *hangingCalls) tooMany(name string) bool {
	h.mu.Lock()
	defer h.mu.Unlock()
	return h.calls[name] >= maxHangingCalls
}

// runChain calls run, which runs the chain of links at a point. Links run in a
// goroutine of their own, so that one that ignores its context cannot delay the
// step; the error then names it. The default alone is called directly.
func runChain[L, T any](ctx context.Context, r *Registry, point string, links []L, run func(context.Context, *call) (T, error)) (T, error) {
	c := &call{point: point}
	if len(links) == 0 {
		return run(ctx, c)
	}
	var zero T
	for _, link := range links {
		if name := nameOf(link); r.hanging.tooMany(name) {
			return zero, fmt.Errorf("%s is not called in %s: %d earlier calls of it have not returned", name, point, maxHangingCalls)
		}
	}
	type result struct {
		value T
		err   error
	}
	done := make(chan result, 1)
	go func() {
		var got result
		defer func() { done <- got }()
		// Each link has its own recovery; this one is for the defaults.
		defer func() {
			if value := recover(); value != nil {
				got.err = &panicError{point: point, link: c, value: value, stack: debug.Stack()}
			}
		}()
		got.value, got.err = run(ctx, c)
	}()
	select {
	case got := <-done:
		return got.value, got.err
	case <-ctx.Done():
	}
	select {
	case got := <-done: // the links respect the context
		return got.value, got.err
	case <-time.After(cancelGrace):
	}
	link := c.innermost()
	if link == nil {
		return zero, fmt.Errorf("%s timed out: %w", point, ctx.Err())
	}
	name := nameOf(link)
	r.hanging.add(name, 1)
	go func() {
		<-done
		r.hanging.add(name, -1)
	}()
	return zero, fmt.Errorf("%s did not return from %s in time: %w", name, point, ctx.Err())
}

// linkError is an error of one link: the innermost that returned it.
type linkError struct {
	link any
	err  error
}

// Error returns the text with the name of the link.
func (e *linkError) Error() string {
	if e.link == nil {
		return e.err.Error() // it names the link itself
	}
	return nameOf(e.link) + ": " + e.err.Error()
}

// Unwrap returns the link's own error.
func (e *linkError) Unwrap() error { return e.err }

// panicError is a recovered panic of one link.
type panicError struct {
	point string
	link  any
	value any
	stack []byte
}

// Error returns a text that names the link, so that its author can be found; the
// stack goes to the log. It omits the panic value of a modifier, which may contain
// a secret of the payload.
func (e *panicError) Error() string {
	if _, harmless := e.value.(runtime.Error); e.point == modifyPoint && !harmless {
		return fmt.Sprintf("%s panicked in %s", nameOf(e.link), e.point)
	}
	return fmt.Sprintf("%s panicked in %s: %v", nameOf(e.link), e.point, e.value)
}

// isNamed reports whether an error names its link already.
func isNamed(err error) bool {
	_, named := errors.AsType[*linkError](err)
	_, panicked := errors.AsType[*panicError](err)
	return named || panicked
}
