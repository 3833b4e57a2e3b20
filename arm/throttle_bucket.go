package arm

import (
	"net/http"
	"strconv"
	"strings"
	"time"

	"golang.org/x/time/rate"
)

// ARM's budgets (learn.microsoft.com, request limits and throttling): a token
// bucket per principal, subscription, region and verb. Deletes refill as writes.
const (
	readsPerSecond, writesPerSecond = 25, 10
	readsCapacity, writesCapacity   = 250, 200
	// scarceShare is the share of a bucket below which a client slows down.
	scarceShare = 0.25
	// surplusSeconds is the time in which the tokens above the scarce level may be
	// spent.
	surplusSeconds = 10
	// ampleShare is the share above which the surplus may be spent within
	// ampleSeconds: a bucket that stays that full is larger than the published one.
	// 10,000 resources Ready after 525 s (docs/cost.md), with 4 reads each, need 76
	// reads per second; without this a full bucket allows 44.
	ampleShare, ampleSeconds = 0.75, 1
	// minRate is the rate for an empty bucket.
	minRate = rate.Limit(0.5)
	// maxBurst bounds the requests that are sent at once.
	maxBurst = 10
	// defaultRetryAfter is the wait after a 429 that names none.
	defaultRetryAfter = 5 * time.Second
	// maxStagger bounds how far apart the retries of unsent requests are spread.
	// With it a creation of TestThrottlePacesAStorm needs at most 9 tries, without it 19.
	maxStagger = 30 * time.Second
	// A provider that refused a request starts again at providerStartRate, gains
	// providerRateStep with each response, and is unlimited from providerMaxRate.
	providerStartRate, providerRateStep, providerMaxRate = 1.0, 0.1, 30.0
)

// bucket paces the requests of one budget.
type bucket struct {
	limiter *rate.Limiter
	// refill is the tokens per second of the part of the budget that may be used,
	// capacity its size, reserved the tokens that are left to others. All are 0 for a
	// budget of unknown size.
	refill, capacity, reserved float64
	// verb is that of a subscription's bucket, remaining what the last response reported of
	// it, at reportedAt.
	verb       string
	remaining  float64
	reportedAt time.Time
	// blockedUntil is the end of the wait that the last 429 demanded.
	blockedUntil time.Time
	// lastRetry is the time that the last unsent request was given.
	lastRetry time.Time
}

// newSubscriptionBucket returns the bucket of a share of a subscription's budget, which
// is assumed to be full.
func newSubscriptionBucket(verb string, share float64) *bucket {
	refill, capacity := float64(writesPerSecond), float64(writesCapacity)
	if verb == "reads" {
		refill, capacity = readsPerSecond, readsCapacity
	}
	b := &bucket{verb: verb, refill: refill * share, capacity: capacity * share, reserved: capacity * (1 - share)}
	b.limiter = rate.NewLimiter(rate.Limit(b.refill+b.capacity*(1-scarceShare)/surplusSeconds), maxBurst)
	return b
}

// newProviderBucket returns the bucket of a provider: unlimited until it refuses
// a request, because providers do not publish their limits.
func newProviderBucket() *bucket { return &bucket{limiter: rate.NewLimiter(rate.Inf, maxBurst)} }

// rateFor returns the rate for the remaining tokens: the refill plus the surplus
// spread over a while; below the scarce level a share of the refill that shrinks
// with the bucket. Several clients converge where their shares add up to the refill.
func (b *bucket) rateFor(remaining float64) rate.Limit {
	scarce, seconds := b.capacity*scarceShare, float64(surplusSeconds)
	if remaining >= b.capacity*ampleShare {
		seconds = ampleSeconds
	}
	if remaining >= scarce {
		return rate.Limit(b.refill + (remaining-scarce)/seconds)
	}
	return max(minRate, rate.Limit(b.refill*remaining/scarce))
}

// delay returns how long the next request has to wait.
func (b *bucket) delay(now time.Time) time.Duration {
	blocked := max(b.blockedUntil.Sub(now), 0)
	if b.limiter.Limit() == rate.Inf {
		return blocked
	}
	if missing := 1 - b.limiter.TokensAt(now); missing > 0 {
		return max(blocked, b.timeFor(missing))
	}
	return blocked
}

func (b *bucket) timeFor(tokens float64) time.Duration {
	return time.Duration(tokens / float64(b.limiter.Limit()) * float64(time.Second))
}

// take reserves a token.
func (b *bucket) take(now time.Time) { b.limiter.ReserveN(now, 1) }

// stagger returns the wait before the retry of an unsent request, behind the
// retries that were given before. The delay is capped, because the budget may
// recover earlier; a request that comes too soon gets another wait.
func (b *bucket) stagger(now time.Time) time.Duration {
	first := now.Add(b.delay(now))
	retry := b.lastRetry
	if retry.Before(first) || retry.After(first.Add(maxStagger)) {
		retry = first
	}
	if b.limiter.Limit() != rate.Inf {
		b.lastRetry = retry.Add(b.timeFor(1))
	}
	return retry.Sub(now)
}

// adjust sets the rate for the tokens that a response reports as remaining.
func (b *bucket) adjust(now time.Time, remaining float64) {
	b.remaining, b.reportedAt = remaining, now
	b.limiter.SetLimitAt(now, b.rateFor(max(remaining-b.reserved, 0)))
}

// block stops the bucket after a 429; wait is 0 where the response names none.
func (b *bucket) block(now time.Time, wait time.Duration) {
	if wait <= 0 {
		wait = defaultRetryAfter
	}
	if until := now.Add(wait); until.After(b.blockedUntil) {
		b.blockedUntil = until
	}
	if b.refill > 0 {
		b.adjust(now, 0)
		return
	}
	b.limiter.SetLimitAt(now, providerStartRate)
}

// slowDown limits a provider whose budget a response reports as exhausted.
func (b *bucket) slowDown(now time.Time) {
	if b.limiter.Limit() == rate.Inf {
		b.limiter.SetLimitAt(now, providerStartRate)
	}
}

// speedUp raises the rate of a limited provider by one step.
func (b *bucket) speedUp(now time.Time) {
	limit := b.limiter.Limit()
	if limit == rate.Inf {
		return
	}
	if limit += providerRateStep; limit >= providerMaxRate {
		limit = rate.Inf
	}
	b.limiter.SetLimitAt(now, limit)
}

// remainingTokens returns what is left of the scarcest budget for a verb, out of
// the budgets of the principal, the subscription and the tenant; false where the
// headers do not report it.
func remainingTokens(header http.Header, verb string) (tokens float64, reported bool) {
	for name, values := range header {
		name = strings.ToLower(name)
		if !strings.HasPrefix(name, "x-ms-ratelimit-remaining-") || !strings.HasSuffix(name, "-"+verb) || len(values) == 0 {
			continue
		}
		left, err := strconv.ParseFloat(values[0], 64)
		if err == nil && left >= 0 && (!reported || left < tokens) {
			tokens, reported = left, true
		}
	}
	return tokens, reported
}

// providerExhausted reports whether a provider reports one of its own budgets as
// exhausted: x-ms-ratelimit-remaining-resource: Provider/Policy;0,Provider/Other;11.
func providerExhausted(header http.Header) bool {
	for _, value := range header.Values("X-Ms-Ratelimit-Remaining-Resource") {
		for _, part := range strings.Split(value, ",") {
			if _, left, ok := strings.Cut(part, ";"); ok && strings.TrimSpace(left) == "0" {
				return true
			}
		}
	}
	return false
}
