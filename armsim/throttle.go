package armsim

import (
	"math"
	"net/http"
	"strconv"
	"time"
)

// Bucket is a token bucket; Capacity 0 means no limit.
type Bucket struct {
	Capacity float64 `json:"capacity"`
	// RefillPerSecond in simulated seconds.
	RefillPerSecond float64 `json:"refillPerSecond"`
}

// Throttle holds the buckets of one subscription. ARM's own numbers are 250 and
// 25 for reads, 200 and 10 for writes and deletes.
type Throttle struct {
	Reads   Bucket `json:"reads"`
	Writes  Bucket `json:"writes"`
	Deletes Bucket `json:"deletes"`
}

// bucket is the level of one bucket.
type bucket struct {
	tokens float64
	filled time.Time
}

// verbClass is ARM's operation type of a method.
func verbClass(method string) string {
	switch method {
	case http.MethodGet, http.MethodHead:
		return "reads"
	case http.MethodDelete:
		return "deletes"
	}
	return "writes"
}

func (t Throttle) of(class string) Bucket {
	switch class {
	case "reads":
		return t.Reads
	case "deletes":
		return t.Deletes
	}
	return t.Writes
}

// checkThrottle takes a token or answers 429 with the time until there is one.
func (s *Simulator) checkThrottle(q *request) *answer {
	class := verbClass(q.r.Method)
	limit := s.throttle.of(class)
	if limit.Capacity <= 0 {
		return nil
	}
	b := s.level(key(q.target.subscription), class, limit)
	if b.tokens >= 1 {
		b.tokens--
		return nil
	}
	wait := time.Hour
	if limit.RefillPerSecond > 0 {
		wait = time.Duration((1 - b.tokens) / limit.RefillPerSecond * float64(time.Second))
	}
	a := gatewayError(http.StatusTooManyRequests, "SubscriptionRequestsThrottled",
		"Number of '%s' requests for subscription '%s' actor '00000000-0000-0000-0000-000000000000' exceeded. Please try again after '%d' seconds after additional tokens are available. Refer to https://aka.ms/arm-throttling for additional information.",
		class, q.target.subscription, int(math.Ceil(wait.Seconds())))
	s.clock.setRetryAfter(a.header, wait)
	return a
}

func (s *Simulator) level(subscription, class string, limit Bucket) *bucket {
	name, now := subscription+"|"+class, s.clock.now()
	b := s.buckets[name]
	if b == nil {
		b = &bucket{tokens: limit.Capacity, filled: now}
		s.buckets[name] = b
	}
	b.tokens = math.Min(limit.Capacity, b.tokens+now.Sub(b.filled).Seconds()*limit.RefillPerSecond)
	b.filled = now
	return b
}

// remaining puts ARM's budget headers on an answer.
func (s *Simulator) remaining(h http.Header, q *request) {
	class := verbClass(q.r.Method)
	left := map[string]float64{"reads": 249, "writes": 199, "deletes": 199}[class]
	global := left * 15 // the subscription's budget over all principals
	if limit := s.throttle.of(class); limit.Capacity > 0 {
		left = s.level(key(q.target.subscription), class, limit).tokens
		global = left
	}
	scope := "subscription"
	if q.target.subscription == "" {
		scope = "tenant"
	}
	h.Set("X-Ms-Ratelimit-Remaining-"+scope+"-"+class, strconv.Itoa(int(left)))
	if scope == "subscription" {
		h.Set("X-Ms-Ratelimit-Remaining-Subscription-Global-"+class, strconv.Itoa(int(global)))
	}
}
