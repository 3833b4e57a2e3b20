package extensions

import (
	"context"
	"errors"
	"fmt"
	"reflect"
	"runtime/debug"
	"slices"
	"sync"
	"time"

	"github.com/armature-io/armature/drift"
	"github.com/armature-io/armature/resource"
)

// Bounds of the points whose caller sets no shorter one. Checks have the budget
// of their local activity.
const (
	classifyLimit = 2 * time.Second
	modifyLimit   = 20 * time.Second
	successLimit  = 5 * time.Second
	// deleteLimit holds what a deleter does before the DELETE and the DELETE.
	deleteLimit = 55 * time.Second
	importLimit = 20 * time.Second
	// hangingMax calls of one link that never came back are enough: it is not
	// called again until one does, so that it cannot eat the worker.
	hangingMax = 4
)

// call is one run of a chain. It knows which link is at work, so that one that
// does not come back is named.
type call struct {
	point string
	mu    sync.Mutex
	// inside are the links that were entered and not left, the innermost last.
	inside []any
}

// enter notes that a link begins; the answer is to be called when it ends.
func (c *call) enter(link any) (leave func()) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.inside = append(c.inside, link)
	return func() {
		c.mu.Lock()
		defer c.mu.Unlock()
		c.inside = c.inside[:len(c.inside)-1]
	}
}

// at is the link at work, nil for none.
func (c *call) at() any {
	c.mu.Lock()
	defer c.mu.Unlock()
	if len(c.inside) == 0 {
		return nil
	}
	return c.inside[len(c.inside)-1]
}

// hanging counts, by the name of a link, the calls that nobody waits for any
// more.
type hanging struct {
	mu    sync.Mutex
	calls map[string]int
}

func (h *hanging) add(name string, n int) {
	h.mu.Lock()
	defer h.mu.Unlock()
	if h.calls[name] += n; h.calls[name] == 0 {
		delete(h.calls, name)
	}
}

func (h *hanging) tooMany(name string) bool {
	h.mu.Lock()
	defer h.mu.Unlock()
	return h.calls[name] >= hangingMax
}

// within runs a chain until it ends or the context does: a link that ignores its
// context must not hold the step, and its name must not be lost. links are those
// of the chain.
func within[T any](ctx context.Context, h *hanging, c *call, links []any, run func(ctx context.Context) (T, error)) (T, error) {
	var none T
	for _, link := range links {
		if name := nameOf(link); h.tooMany(name) {
			return none, fmt.Errorf("%s is not called in %s: %d earlier calls of it never came back", name, c.point, hangingMax)
		}
	}
	type answer struct {
		value T
		err   error
	}
	done := make(chan answer, 1)
	go func() {
		var got answer
		defer func() { done <- got }()
		// The links have guards of their own; this one is for the defaults.
		defer guard(c.point, c, &got.err)
		got.value, got.err = run(ctx)
	}()
	select {
	case got := <-done:
		return got.value, got.err
	case <-ctx.Done():
	}
	// Who heeds the context ends now.
	select {
	case got := <-done:
		return got.value, got.err
	case <-time.After(heedTime):
	}
	culprit := c.at()
	if culprit == nil {
		return none, fmt.Errorf("%s did not end in time: %w", c.point, ctx.Err())
	}
	name := nameOf(culprit)
	h.add(name, 1)
	go func() {
		<-done
		h.add(name, -1)
	}()
	return none, fmt.Errorf("%s did not answer in %s in time: %w", name, c.point, ctx.Err())
}

// heedTime is how long a link may take to heed the end of its context.
const heedTime = 200 * time.Millisecond

// inputs remembers what a link got, to see whether it changed it.
type inputs struct {
	objects []*resource.Object
	before  []resource.Object
}

func remember(objects ...*resource.Object) inputs {
	in := inputs{}
	for _, object := range objects {
		if object != nil && !slices.Contains(in.objects, object) {
			in.objects, in.before = append(in.objects, object), append(in.before, copied(*object))
		}
	}
	return in
}

// unchanged puts back what a link changed and says so in an error.
func (in inputs) unchanged(point string, link any) error {
	var err error
	for i, object := range in.objects {
		if !reflect.DeepEqual(*object, in.before[i]) {
			err = fmt.Errorf("%s changed its input in %s: a check looks at %s and never changes it", nameOf(link), point, in.before[i].ID.Short())
			*object = in.before[i]
		}
	}
	return err
}

// copied shares nothing with the object but its ID.
func copied(object resource.Object) resource.Object {
	object.Desired, object.Observed = drift.Clone(object.Desired), drift.Clone(object.Observed)
	return object
}

// apart is a copy for the links of a chain: what others read comes from caches. The
// default alone changes nothing and gets the object itself.
func apart[L any](links []L, object *resource.Object) *resource.Object {
	if object == nil || len(links) == 0 {
		return object
	}
	own := copied(*object)
	return &own
}

// linkError is an error of one link: the innermost that returned it.
type linkError struct {
	link any
	err  error
}

func (e *linkError) Error() string {
	if e.link == nil {
		return e.err.Error() // it names the link itself
	}
	return nameOf(e.link) + ": " + e.err.Error()
}

func (e *linkError) Unwrap() error { return e.err }

// left is what every link's call ends with: a panic is caught, a changed input
// told, an error gets the name of its link.
func (c *call) left(link any, in inputs, panicking any, err *error) {
	if panicking != nil {
		*err = &panicError{point: c.point, link: link, value: panicking, stack: debug.Stack()}
	}
	changed := in.unchanged(c.point, link)
	var (
		named    *linkError
		panicked *panicError
	)
	switch {
	case *err == nil && changed != nil:
		*err = &linkError{link: nil, err: changed}
	case *err != nil && !errors.As(*err, &named) && !errors.As(*err, &panicked):
		*err = &linkError{link: link, err: *err}
	}
}
