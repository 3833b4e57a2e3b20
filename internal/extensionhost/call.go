package extensionhost

import (
	"context"
	"fmt"
	"maps"
	"reflect"
	"runtime/debug"
	"slices"
	"sync"
	"time"

	"github.com/armature-io/armature/internal/jsontree"
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
	// calledTwice reports whether a link calls next twice for the first time.
	calledTwice func(link any) bool
	mu          sync.Mutex
	// running are the links that were called and have not returned, the innermost
	// last.
	running []any
	// classifiedBy is the classifier that changed the class or the text of an error.
	classifiedBy any
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
	// nexts counts the calls of next, misuse is the first one with wrong objects.
	nexts  int
	misuse error
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
		*err = &panicError{point: l.point, link: l.link, value: value, stack: debug.Stack(), at: panicPosition(l.link)}
	}
	changed := l.restoreInputs()
	l.mu.Lock()
	defer l.mu.Unlock()
	switch {
	case l.misuse != nil:
		*err = l.misuse
	case *err == nil && changed != nil:
		*err = &linkError{link: l.link, point: l.point, err: changed, named: true}
	case *err != nil && !isNamed(*err):
		*err = &linkError{link: l.link, point: l.point, err: l.checkCarried(*err)}
	}
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
	object.Desired, object.Observed = jsontree.Clone(object.Desired), jsontree.Clone(object.Observed)
	object.Labels = maps.Clone(object.Labels)
	if object.Managed != nil {
		object.Managed = new(*object.Managed)
	}
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
	// doubles has the links that called next twice in one call.
	doubles map[string]bool
}

// firstDouble records that a link called next twice and reports whether that is new.
func (h *hangingCalls) firstDouble(link any) bool {
	h.mu.Lock()
	defer h.mu.Unlock()
	name := nameOf(link)
	if h.doubles[name] {
		return false
	}
	h.doubles[name] = true
	return true
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
	c := &call{point: point, calledTwice: r.hanging.firstDouble}
	if len(links) == 0 {
		return run(ctx, c)
	}
	var zero T
	for _, link := range links {
		if name := nameOf(link); r.hanging.tooMany(name) {
			return zero, &linkError{link: link, point: point, named: true,
				err: fmt.Errorf("%s is not called in %s: %d earlier calls of it have not returned", name, point, maxHangingCalls)}
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
				got.err = &panicError{point: point, value: value, stack: debug.Stack(), at: panicPosition(nil)}
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
	return zero, &linkError{link: link, point: point, named: true, err: fmt.Errorf("%s did not return from %s in time: %w", name, point, ctx.Err())}
}
