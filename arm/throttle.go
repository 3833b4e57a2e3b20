package arm

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/Azure/azure-sdk-for-go/sdk/azcore/policy"
	"github.com/Azure/azure-sdk-for-go/sdk/azcore/runtime"

	"github.com/armature-io/armature/internal/text"
)

// maxThrottleWait bounds the wait inside a request; a longer one is returned to
// the caller, because a waiting activity occupies a slot of the worker.
const maxThrottleWait = 2 * time.Second

// ThrottleOptions configures a Throttle; the zero value works.
type ThrottleOptions struct {
	// Clock returns the current time; nil means time.Now.
	Clock func() time.Time
	// Share is the part of each budget of a subscription that the requests may use,
	// above 0 and at most 1; 0 is all of it. The rest is left to other clients of the
	// same principal.
	Share float64
}

// Throttle keeps requests within ARM's budgets. ARM counts them per principal,
// subscription, region of ARM and verb (reads, writes, deletes), and each provider
// counts them again; a Throttle has one bucket for either, adjusted by what the
// responses report as remaining. Independent workers thereby share a budget: each
// slows down as it shrinks. The region is the one that sent the last response.
//
// A request waits for at most 2 s. One that would wait longer is not sent and
// fails with an *Error of ClassThrottled and code Throttled, with a staggered
// RetryAfter, so that rejected requests do not return at once.
//
// It is safe for concurrent use.
type Throttle struct {
	now   clock
	share float64

	mu      sync.Mutex
	buckets map[string]*bucket
	// regions are the regions of ARM that sent the last responses, by principal.
	regions map[string]string
}

// NewThrottle returns a Throttle for Options.Throttle.
func NewThrottle(options ThrottleOptions) *Throttle {
	t := &Throttle{now: options.Clock, share: options.Share, buckets: map[string]*bucket{}, regions: map[string]string{}}
	if t.now == nil {
		t.now = time.Now
	}
	if t.share <= 0 || t.share > 1 {
		t.share = 1
	}
	return t
}

// For returns the policy for the requests of one principal, named by any text that
// differs from the names of others.
func (t *Throttle) For(principal string) policy.Policy { return principalThrottle{t, principal} }

// principalThrottle is a Throttle for one principal.
type principalThrottle struct {
	throttle  *Throttle
	principal string
}

// Do sends one request as Throttle.Do does.
func (p principalThrottle) Do(request *policy.Request) (*http.Response, error) {
	return p.throttle.do(request, p.principal)
}

// Do sends one request once the budgets allow it and adjusts them by its response.
func (t *Throttle) Do(request *policy.Request) (*http.Response, error) { return t.do(request, "") }

func (t *Throttle) do(request *policy.Request, principal string) (*http.Response, error) {
	s := scopeOf(request.Raw())
	s.principal = principal
	if err := t.wait(request.Raw().Context(), s); err != nil {
		return nil, err
	}
	response, err := request.Next()
	if err == nil {
		t.update(s, response)
	}
	return response, err
}

type withoutWaitingKey struct{}

// WithoutWaiting lets requests of the context fail, as throttled ones do, instead of waiting for
// the request budget.
func WithoutWaiting(ctx context.Context) context.Context {
	return context.WithValue(ctx, withoutWaitingKey{}, true)
}

// wait blocks until both buckets allow a request, for at most maxThrottleWait.
func (t *Throttle) wait(ctx context.Context, s scope) error {
	longest := maxThrottleWait
	if ctx.Value(withoutWaitingKey{}) != nil {
		longest = 0
	}
	delay, err := t.reserve(s, longest)
	if err != nil || delay <= 0 {
		return err
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

// reserve takes a token of both buckets and returns the delay until it is valid.
// Where the delay is too long it takes none and returns an *Error.
func (t *Throttle) reserve(s scope, longest time.Duration) (time.Duration, error) {
	t.mu.Lock()
	defer t.mu.Unlock()
	now := t.now()
	subscription, provider := t.bucketsFor(s)
	delay := max(subscription.delay(now), provider.delay(now))
	if delay <= longest {
		subscription.take(now)
		provider.take(now)
		return delay, nil
	}
	delay = max(subscription.stagger(now), provider.stagger(now))
	return 0, &Error{
		Status: http.StatusTooManyRequests, Code: CodeThrottled, Class: ClassThrottled, RetryAfter: delay,
		Message: fmt.Sprintf("%s exhausted; request not sent, retrying in %s", s.budget(), text.Duration(delay)),
	}
}

// bucketsFor returns the buckets of the subscription and of the provider, and
// creates missing ones. The caller holds the lock.
func (t *Throttle) bucketsFor(s scope) (subscription, provider *bucket) {
	prefix := s.principal + "\n" + t.regions[s.principal] + "\n" + s.subscription
	key := prefix + " " + s.verb
	if subscription = t.buckets[key]; subscription == nil {
		subscription = newSubscriptionBucket(s.verb, t.share)
		t.buckets[key] = subscription
	}
	key = prefix + " " + s.provider + " " + s.verb
	if provider = t.buckets[key]; provider == nil {
		provider = newProviderBucket()
		t.buckets[key] = provider
	}
	return subscription, provider
}

// update adjusts the buckets by what a response reports of the budgets. A 429
// that is a conflict changes neither.
func (t *Throttle) update(s scope, response *http.Response) {
	var refusal *Error
	if response.StatusCode == http.StatusTooManyRequests {
		payload, err := runtime.Payload(response)
		if err != nil {
			payload = nil
		}
		refusal = newError(response.Request.Method, response.StatusCode, response.Header, payload, t.now)
		if refusal.Class != ClassThrottled {
			refusal = nil
		}
	}
	t.mu.Lock()
	defer t.mu.Unlock()
	now := t.now()
	if region := regionOf(response.Header); region != "" {
		t.regions[s.principal] = region
	}
	subscription, provider := t.bucketsFor(s)
	switch {
	case refusal != nil && isSubscriptionBudget(refusal):
		subscription.block(now, refusal.RetryAfter)
	case refusal != nil:
		provider.block(now, refusal.RetryAfter)
	default:
		provider.speedUp(now)
		if tokens, reported := remainingTokens(response.Header, s.verb); reported {
			subscription.adjust(now, tokens)
		}
		if providerExhausted(response.Header) {
			provider.slowDown(now)
		}
	}
}

// isSubscriptionBudget reports whether the budget of the subscription or the
// tenant is exhausted, not the budget of a provider.
func isSubscriptionBudget(refusal *Error) bool {
	return slices.ContainsFunc(refusal.Codes(), func(code string) bool {
		return strings.EqualFold(code, CodeSubscriptionThrottled) || strings.EqualFold(code, "TenantRequestsThrottled")
	})
}

// IsSelfThrottled reports whether an error means that this client did not send
// the request, to keep within the budget.
func IsSelfThrottled(err error) bool {
	refusal, ok := errors.AsType[*Error](err)
	return ok && refusal.Code == CodeThrottled
}

// scope identifies the budgets that count a request.
type scope struct {
	principal    string
	subscription string
	provider     string
	verb         string
}

// budget names the subscription's budget for messages.
func (s scope) budget() string {
	name := strings.TrimSuffix(s.verb, "s") + " budget of "
	if s.subscription == "" {
		return name + "the tenant"
	}
	return name + "subscription " + s.subscription
}

// scopeOf returns the scope of a request by its path; operation URLs have the
// same form. The last provider counts: an extension resource has its own.
func scopeOf(request *http.Request) scope {
	s := scope{verb: verbOf(request.Method), provider: "microsoft.resources", subscription: subscriptionOf(request.URL)}
	segments := strings.Split(strings.ToLower(request.URL.Path), "/")
	for i, segment := range segments[:len(segments)-1] {
		if segment == "providers" {
			s.provider = segments[i+1]
		}
	}
	return s
}

// subscriptionOf returns the subscription in the path of a URL in lower case, "" for none.
func subscriptionOf(at *url.URL) string {
	_, rest, _ := strings.Cut(strings.ToLower(at.Path)+"/", "/subscriptions/")
	subscription, _, _ := strings.Cut(rest, "/")
	return subscription
}

// regionOf returns the region of ARM that sent a response, in lower case, "" where the
// response does not name it: it is the first part of x-ms-routing-request-id.
func regionOf(header http.Header) string {
	region, _, found := strings.Cut(header.Get("X-Ms-Routing-Request-Id"), ":")
	if !found {
		return ""
	}
	return strings.ToLower(region)
}

// verbOf returns ARM's operation type of a method.
func verbOf(method string) string {
	switch method {
	case http.MethodGet, http.MethodHead:
		return "reads"
	case http.MethodDelete:
		return "deletes"
	}
	return "writes"
}
