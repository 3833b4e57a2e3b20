package arm

import (
	"net/http"
	"strconv"
	"strings"
	"time"

	"golang.org/x/time/rate"
)

// ARM's budgets (learn.microsoft.com, request limits and throttling): a token
// bucket per principal, subscription, region and verb.
const (
	// readsPerSecond and writesPerSecond are what is filled in; deletes are as
	// writes.
	readsPerSecond, writesPerSecond = 25, 10
	// scarcePart is the part of a bucket below which a client slows down: it
	// holds 25 s (reads) or 20 s (writes) of what is filled in.
	readsFull, writesFull = 250, 200
	scarcePart            = 0.25
	// surplusSeconds is the time in which what is left above that may be spent.
	surplusSeconds = 10
	// amplePart is the part of a bucket above which the surplus is spent faster,
	// by hasteGrowth with every answer, up to hasteMax.
	amplePart             = 0.75
	hasteGrowth, hasteMax = 1.02, 40
	// slowest is the rate that an empty bucket leaves.
	slowest = rate.Limit(0.5)
	// burst is what may be sent at once.
	burst = 10
	// refusedWait is the wait after a 429 that names none.
	refusedWait = 5 * time.Second
	// promiseMax is how far the turns of requests that were not sent may lie
	// apart.
	promiseMax = 30 * time.Second
	// providerPace is the rate after a provider refused; it grows by
	// providerGrowth with every answer, and is no limit any more at providerFree.
	providerPace, providerGrowth, providerFree = 1.0, 0.1, 30.0
)

// bucket paces the requests of one budget.
type bucket struct {
	limiter *rate.Limiter
	// fill and scarce are the budget's: tokens a second, and the level below
	// which it is scarce. Both are 0 for a budget of which nothing is known.
	fill, scarce float64
	// haste is by how much faster than usual the surplus is spent: it grows while
	// the budget stays nearly full, for then it is larger than the published one.
	haste float64
	// until is when the next request may be sent, by the last 429.
	until time.Time
	// promised is the last turn that was given to a request that was not sent.
	promised time.Time
}

// newBucket is the bucket of a subscription, which is taken for full.
func newBucket(verb string) *bucket {
	fill, full := float64(writesPerSecond), float64(writesFull)
	if verb == "reads" {
		fill, full = readsPerSecond, readsFull
	}
	b := &bucket{fill: fill, scarce: full * scarcePart, haste: 1}
	b.limiter = rate.NewLimiter(b.limit(full), burst)
	return b
}

// unlimited is the bucket of a provider, whose limits nobody publishes whole.
func unlimited() *bucket { return &bucket{limiter: rate.NewLimiter(rate.Inf, burst)} }

// limit is the rate for what is left of the budget: all of the surplus within a
// while and what is filled in; below the scarce level a share that shrinks with
// it. Several clients meet where their shares are what is filled in.
func (b *bucket) limit(left float64) rate.Limit {
	if left >= b.scarce {
		return rate.Limit(b.fill + b.haste*(left-b.scarce)/surplusSeconds)
	}
	return max(slowest, rate.Limit(b.fill*left/b.scarce))
}

// due is how long the next request would wait.
func (b *bucket) due(now time.Time) time.Duration {
	hold := max(b.until.Sub(now), 0)
	if b.limiter.Limit() == rate.Inf {
		return hold
	}
	if missing := 1 - b.limiter.TokensAt(now); missing > 0 {
		return max(hold, b.seconds(missing))
	}
	return hold
}

func (b *bucket) seconds(tokens float64) time.Duration {
	return time.Duration(tokens / float64(b.limiter.Limit()) * float64(time.Second))
}

// take reserves a token.
func (b *bucket) take(now time.Time) { b.limiter.ReserveN(now, 1) }

// promise gives a turn behind those that were promised before. Turns lie within
// a while, for the rate changes and nobody should sleep through a budget that is
// free again: who comes too soon gets another turn.
func (b *bucket) promise(now time.Time) time.Duration {
	first := now.Add(b.due(now))
	turn := b.promised
	if turn.Before(first) || turn.After(first.Add(promiseMax)) {
		turn = first
	}
	if b.limiter.Limit() != rate.Inf {
		b.promised = turn.Add(b.seconds(1))
	}
	return turn.Sub(now)
}

// adjust sets the rate by what an answer says is left.
func (b *bucket) adjust(now time.Time, left float64) {
	b.haste = min(b.haste*hasteGrowth, hasteMax)
	if left < b.scarce/scarcePart*amplePart {
		b.haste = 1
	}
	b.limiter.SetLimitAt(now, b.limit(left))
}

// refuse holds the bucket after a 429.
func (b *bucket) refuse(now time.Time, wait time.Duration) {
	if wait <= 0 {
		wait = refusedWait
	}
	if until := now.Add(wait); until.After(b.until) {
		b.until = until
	}
	if b.fill > 0 {
		b.adjust(now, 0)
		return
	}
	b.limiter.SetLimitAt(now, providerPace)
}

// pace slows a provider down whose budget an answer calls used up.
func (b *bucket) pace(now time.Time) {
	if b.limiter.Limit() == rate.Inf {
		b.limiter.SetLimitAt(now, providerPace)
	}
}

// speedUp speeds a provider up again, answer by answer.
func (b *bucket) speedUp(now time.Time) {
	limit := b.limiter.Limit()
	if limit == rate.Inf {
		return
	}
	if limit += providerGrowth; limit >= providerFree {
		limit = rate.Inf
	}
	b.limiter.SetLimitAt(now, limit)
}

// remaining is what is left of the scarcest budget for a verb: those of the
// principal, of the subscription as a whole, of the tenant.
func remaining(header http.Header, verb string) (float64, bool) {
	least, told := 0.0, false
	for name, values := range header {
		name = strings.ToLower(name)
		if !strings.HasPrefix(name, "x-ms-ratelimit-remaining-") || !strings.HasSuffix(name, "-"+verb) || len(values) == 0 {
			continue
		}
		left, err := strconv.ParseFloat(values[0], 64)
		if err != nil || left < 0 {
			continue
		}
		if !told || left < least {
			least, told = left, true
		}
	}
	return least, told
}

// exhausted reports whether a provider says that one of its own budgets is used
// up: x-ms-ratelimit-remaining-resource: Provider/Policy;0,Provider/Other;11.
func exhausted(header http.Header) bool {
	for _, value := range header.Values("X-Ms-Ratelimit-Remaining-Resource") {
		for _, part := range strings.Split(value, ",") {
			if _, left, ok := strings.Cut(part, ";"); ok && strings.TrimSpace(left) == "0" {
				return true
			}
		}
	}
	return false
}
