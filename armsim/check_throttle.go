package armsim

import (
	"math"
	"net/http"
	"strconv"
	"strings"
	"time"
)

// Bucket is a token bucket; Capacity 0 means no limit.
type Bucket struct {
	Capacity float64 `json:"capacity"`
	// RefillPerSecond is in tokens per simulated second.
	RefillPerSecond float64 `json:"refillPerSecond"`
}

// Throttle configures ARM's buckets for one principal in one subscription, and the
// buckets of providers. The zero value throttles nothing.
type Throttle struct {
	Reads   Bucket `json:"reads"`
	Writes  Bucket `json:"writes"`
	Deletes Bucket `json:"deletes"`
	// Global is the size of the subscription's buckets over all principals, as a
	// multiple of one principal's; 0 means 15, ARM's value.
	Global float64 `json:"global,omitempty"`
	// Providers limit the requests to one provider in a subscription, in addition to
	// ARM's own buckets.
	Providers []ProviderLimit `json:"providers,omitempty"`
}

// ProviderLimit configures the buckets of a provider (429 ResourceRequestsThrottled).
type ProviderLimit struct {
	Namespace string `json:"namespace"` // glob
	Reads     Bucket `json:"reads"`
	Writes    Bucket `json:"writes"`
	Deletes   Bucket `json:"deletes"`
}

// ARMThrottle returns ARM's published limits: 250 reads, 200 writes and 200 deletes,
// refilled by 25, 10 and 10 per second.
func ARMThrottle() Throttle {
	return Throttle{Reads: Bucket{250, 25}, Writes: Bucket{200, 10}, Deletes: Bucket{200, 10}}
}

// bucket is the level of one bucket.
type bucket struct {
	tokens float64
	filled time.Time
}

// verbClass returns ARM's operation type of a method.
func verbClass(method string) string {
	switch method {
	case http.MethodGet, http.MethodHead:
		return "reads"
	case http.MethodDelete:
		return "deletes"
	}
	return "writes"
}

// bucketFor returns the bucket of a class.
func bucketFor(class string, reads, writes, deletes Bucket) Bucket {
	switch class {
	case "reads":
		return reads
	case "deletes":
		return deletes
	}
	return writes
}

// budget is one bucket from which a request takes a token.
type budget struct {
	key   string // of the bucket's level
	limit Bucket
	// provider is the namespace of a provider's own limit, "" for ARM's.
	provider string
}

// budgets returns the budgets of a request: the principal's, the subscription's and the
// provider's.
func (s *Simulator) budgets(q *request) []budget {
	class := verbClass(q.r.Method)
	subscription := key(q.target.subscription)
	var out []budget
	if limit := bucketFor(class, s.throttle.Reads, s.throttle.Writes, s.throttle.Deletes); limit.Capacity > 0 {
		global := s.throttle.Global
		if global == 0 {
			global = 15
		}
		out = append(out, budget{key: subscription + "|" + class + "|" + q.principal(), limit: limit},
			budget{key: subscription + "|" + class, limit: Bucket{limit.Capacity * global, limit.RefillPerSecond * global}})
	}
	for _, p := range s.throttle.Providers {
		if limit := bucketFor(class, p.Reads, p.Writes, p.Deletes); limit.Capacity > 0 && q.target.namespace != "" && globMatch(p.Namespace, q.target.namespace) {
			out = append(out, budget{key: subscription + "|" + class + "|" + strings.ToLower(p.Namespace) + "|", limit: limit, provider: p.Namespace})
		}
	}
	return out
}

// checkThrottle takes a token from every budget. If one is empty, it takes none and
// returns 429 with the time until the next token.
func (s *Simulator) checkThrottle(q *request) *response {
	budgets := s.budgets(q)
	for _, b := range budgets {
		level := s.refilled(b)
		if level.tokens >= 1 {
			continue
		}
		wait := time.Hour
		if b.limit.RefillPerSecond > 0 {
			wait = time.Duration((1 - level.tokens) / b.limit.RefillPerSecond * float64(time.Second))
		}
		resp := s.errThrottled(q, b, wait)
		s.clock.setRetryAfter(resp.header, wait)
		return resp
	}
	for _, b := range budgets {
		s.refilled(b).tokens--
	}
	return nil
}

func (s *Simulator) errThrottled(q *request, b budget, wait time.Duration) *response {
	class := verbClass(q.r.Method)
	if b.provider != "" {
		resp := armError(http.StatusTooManyRequests, "ResourceRequestsThrottled",
			"Number of %s for provider '%s' in subscription '%s' exceeded its limit. Please try again after '%d' seconds.",
			class, q.target.namespace, q.target.subscription, int(math.Ceil(wait.Seconds())))
		resp.header.Set("X-Ms-Failure-Cause", "service")
		return resp
	}
	return gatewayError(http.StatusTooManyRequests, "SubscriptionRequestsThrottled",
		"Number of '%s' requests for subscription '%s' actor '%s' exceeded. Please try again after '%d' seconds after additional tokens are available. Refer to https://aka.ms/arm-throttling for additional information.",
		class, q.target.subscription, q.principal(), int(math.Ceil(wait.Seconds())))
}

func (s *Simulator) refilled(from budget) *bucket {
	now := s.clock.now()
	b := s.buckets[from.key]
	if b == nil {
		b = &bucket{tokens: from.limit.Capacity, filled: now}
		s.buckets[from.key] = b
	}
	b.tokens = math.Min(from.limit.Capacity, b.tokens+now.Sub(b.filled).Seconds()*from.limit.RefillPerSecond)
	b.filled = now
	return b
}

// setBudgetHeaders sets ARM's headers for the remaining budgets.
func (s *Simulator) setBudgetHeaders(h http.Header, q *request) {
	class := verbClass(q.r.Method)
	remaining := map[string]float64{"reads": 249, "writes": 199, "deletes": 199}[class]
	global := remaining * 15 // the subscription's budget over all principals
	for i, b := range s.budgets(q) {
		level := s.refilled(b).tokens
		switch {
		case b.provider != "":
			h.Add("X-Ms-Ratelimit-Remaining-Resource", q.target.namespace+"/"+class+";"+strconv.Itoa(int(level)))
		case i == 0:
			remaining = level
		default:
			global = level
		}
	}
	scope := "subscription"
	if q.target.subscription == "" {
		scope = "tenant"
	}
	h.Set("X-Ms-Ratelimit-Remaining-"+scope+"-"+class, strconv.Itoa(int(remaining)))
	if scope == "subscription" {
		h.Set("X-Ms-Ratelimit-Remaining-Subscription-Global-"+class, strconv.Itoa(int(global)))
	}
}

// SetThrottle replaces the token buckets; they start full.
func (s *Simulator) SetThrottle(t Throttle) {
	s.locked(func() { s.throttle, s.buckets = t, map[string]*bucket{} })
}
