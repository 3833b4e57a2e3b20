package arm

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"strings"
	"sync"
	"time"

	"github.com/Azure/azure-sdk-for-go/sdk/azcore/policy"
	"github.com/Azure/azure-sdk-for-go/sdk/azcore/runtime"

	"github.com/armature-io/armature/internal/text"
)

// throttleWaitMax is how long a request waits for its turn before it is given
// back: an activity must not hold a slot for a budget.
const throttleWaitMax = 2 * time.Second

// ThrottleOptions configures a Throttle; the zero value works.
type ThrottleOptions struct {
	// Clock is the time; nil means time.Now.
	Clock func() time.Time
}

// Throttle keeps the requests of one client within ARM's budgets. They are
// counted per subscription and verb (reads, writes, deletes), and again by each
// provider; there is one bucket for either, fed back by what the answers say is
// left. So workers that know nothing of each other share a budget: each slows
// down as it shrinks.
//
// A request waits for at most 2 s. One that would wait longer is not sent and
// fails with an *Error of ClassThrottled and code Throttled, whose RetryAfter is
// a turn of its own: a storm comes back one after the other, not at once.
//
// A Throttle is for the requests of one credential; it is safe for concurrent
// use.
type Throttle struct {
	now clock

	mu      sync.Mutex
	buckets map[string]*bucket
}

// NewThrottle makes a Throttle for Options.Throttle.
func NewThrottle(options ThrottleOptions) *Throttle {
	t := &Throttle{now: options.Clock, buckets: map[string]*bucket{}}
	if t.now == nil {
		t.now = time.Now
	}
	return t
}

// Do lets one request pass in its turn and learns from its answer.
func (t *Throttle) Do(request *policy.Request) (*http.Response, error) {
	at := scopeOf(request.Raw())
	if err := t.wait(request.Raw().Context(), at); err != nil {
		return nil, err
	}
	response, err := request.Next()
	if err == nil {
		t.learn(at, response)
	}
	return response, err
}

// wait waits for the turn in both buckets.
func (t *Throttle) wait(ctx context.Context, at scope) error {
	delay, refused := t.turn(at)
	if refused != nil {
		return refused
	}
	if delay <= 0 {
		return nil
	}
	timer := time.NewTimer(delay)
	defer timer.Stop()
	select {
	case <-timer.C:
		return nil
	case <-ctx.Done():
		return fmt.Errorf("wait for the request budget: %w", context.Cause(ctx))
	}
}

// turn takes a turn in both buckets, or none when one of them is too long.
func (t *Throttle) turn(at scope) (time.Duration, error) {
	t.mu.Lock()
	defer t.mu.Unlock()
	now := t.now()
	var delay time.Duration
	for _, b := range t.bucketsOf(at) {
		delay = max(delay, b.due(now))
	}
	if delay <= throttleWaitMax {
		for _, b := range t.bucketsOf(at) {
			b.take(now)
		}
		return delay, nil
	}
	for _, b := range t.bucketsOf(at) {
		delay = max(delay, b.promise(now))
	}
	return 0, &Error{
		Status: http.StatusTooManyRequests, Code: CodeThrottled, Class: ClassThrottled, RetryAfter: delay,
		Message: fmt.Sprintf("the budget for %s is used up; the request was not sent and has its turn in %s", at, text.Duration(delay)),
	}
}

// bucketsOf are those of the subscription and of the provider.
func (t *Throttle) bucketsOf(at scope) []*bucket {
	return []*bucket{
		t.bucket(at.subscription+" "+at.verb, func() *bucket { return newBucket(at.verb) }),
		t.bucket(at.subscription+" "+at.provider+" "+at.verb, unlimited),
	}
}

func (t *Throttle) bucket(key string, create func() *bucket) *bucket {
	if t.buckets[key] == nil {
		t.buckets[key] = create()
	}
	return t.buckets[key]
}

// learn feeds the buckets with what an answer tells of the budgets. A 429 that
// is a conflict tells nothing of them.
func (t *Throttle) learn(at scope, answer *http.Response) {
	var refused *Error
	if answer.StatusCode == http.StatusTooManyRequests {
		payload, err := runtime.Payload(answer)
		if err != nil {
			payload = nil
		}
		refused = newError(answer.Request.Method, answer.StatusCode, answer.Header, payload, t.now)
		if refused.Class != ClassThrottled {
			refused = nil
		}
	}
	t.mu.Lock()
	defer t.mu.Unlock()
	now, of := t.now(), t.bucketsOf(at)
	subscription, provider := of[0], of[1]
	switch {
	case refused != nil && ofSubscription(refused):
		subscription.refuse(now, refused.RetryAfter)
	case refused != nil:
		provider.refuse(now, refused.RetryAfter)
	default:
		provider.speedUp(now)
		if left, told := remaining(answer.Header, at.verb); told {
			subscription.adjust(now, left)
		}
		if exhausted(answer.Header) {
			provider.pace(now)
		}
	}
}

// ofSubscription reports whether the subscription's (or the tenant's) budget
// refused, not that of a provider.
func ofSubscription(refused *Error) bool {
	for _, code := range refused.Codes() {
		if strings.EqualFold(code, CodeSubscriptionThrottled) || strings.EqualFold(code, "TenantRequestsThrottled") {
			return true
		}
	}
	return false
}

// IsSelfThrottled reports whether an error is a request that this client did not
// send, to keep within the budget.
func IsSelfThrottled(err error) bool {
	var refused *Error
	return errors.As(err, &refused) && refused.Code == CodeThrottled
}

// scope is where the budgets of a request are.
type scope struct {
	subscription string
	provider     string
	verb         string
}

// String is the scope in words.
func (s scope) String() string {
	if s.subscription == "" {
		return s.verb + " of the tenant"
	}
	return s.verb + " of subscription " + s.subscription
}

// scopeOf reads the scope from the path, which for operation URLs has the same
// form. The provider is the last one: that of an extension resource.
func scopeOf(request *http.Request) scope {
	at := scope{verb: verbOf(request.Method), provider: "microsoft.resources"}
	segments := strings.Split(strings.ToLower(request.URL.Path), "/")
	for i, segment := range segments[:len(segments)-1] {
		switch {
		case segment == "subscriptions" && at.subscription == "":
			at.subscription = segments[i+1]
		case segment == "providers":
			at.provider = segments[i+1]
		}
	}
	return at
}

// verbOf is ARM's operation type of a method.
func verbOf(method string) string {
	switch method {
	case http.MethodGet, http.MethodHead:
		return "reads"
	case http.MethodDelete:
		return "deletes"
	}
	return "writes"
}
