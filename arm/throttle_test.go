package arm

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"net/http/httptest"
	"strconv"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/armature-io/armature/armsim"
	"github.com/google/go-cmp/cmp"
)

const otherSubscription = "22222222-2222-2222-2222-222222222222"

// inMemory passes requests to a server without a network, so that the fake time
// of a bubble advances; every request takes some time.
type inMemory struct {
	http.Handler
	latency time.Duration
}

func (m inMemory) Do(request *http.Request) (*http.Response, error) {
	if m.latency > 0 {
		<-time.After(m.latency)
	}
	if request.Body == nil {
		request.Body = http.NoBody
	}
	recorder := httptest.NewRecorder()
	m.ServeHTTP(recorder, request)
	response := recorder.Result()
	response.Request = request
	return response, nil
}

// throttled returns a client with its own Throttle.
func throttled(t *testing.T, server http.Handler) *Client {
	t.Helper()
	return clientFor(t, "http://127.0.0.1:1", func(o *Options) {
		o.Transport = inMemory{server, 50 * time.Millisecond}
		o.Throttle = NewThrottle(ThrottleOptions{})
	})
}

func thingID(subscription string, n int) string {
	return fmt.Sprintf("/subscriptions/%s/resourceGroups/rg1/providers/Contoso.Things/things/t%d", subscription, n)
}

// armBudget is ARM's published budget.
var armBudget = armsim.Throttle{
	Reads: armsim.Bucket{Capacity: 250, RefillPerSecond: 25}, Writes: armsim.Bucket{Capacity: 200, RefillPerSecond: 10},
	Deletes: armsim.Bucket{Capacity: 200, RefillPerSecond: 10},
}

// TestThrottlePacesAStorm: three independent workers create 1,000 resources at once.
// The throttle paces them, and ARM rejects hardly any request.
func TestThrottlePacesAStorm(t *testing.T) {
	const creations, workers = 1000, 3
	synctest.Test(t, func(t *testing.T) {
		sim := armsim.New(armsim.Options{Throttle: armBudget})
		if err := sim.Put("/subscriptions/11111111-1111-1111-1111-111111111111/resourceGroups/rg1", map[string]any{"location": "westus2"}); err != nil {
			t.Fatal(err)
		}
		var clients []*Client
		for range workers {
			clients = append(clients, throttled(t, sim))
		}
		started := time.Now()
		var mu sync.Mutex
		var most, refusals int
		var all sync.WaitGroup
		for n := range creations {
			all.Go(func() {
				tries, refused := create(t, clients[n%workers], n)
				mu.Lock()
				defer mu.Unlock()
				most, refusals = max(most, tries), refusals+refused
			})
		}
		all.Wait()
		took := time.Since(started)
		requests := len(sim.Requests())
		t.Logf("%d creations took %s, %d requests, %d refused by ARM, at most %d tries", creations, took, requests, refusals, most)
		if refusals*10 > requests {
			t.Errorf("%d of %d requests were refused: more than 10 %%", refusals, requests)
		}
		if took > 3*time.Minute {
			t.Errorf("it took %s; the budget alone needs 80 s", took)
		}
		if most > 12 {
			t.Errorf("a creation needed %d tries", most)
		}
	})
}

// create retries like a workflow: after RetryAfter.
func create(t *testing.T, client *Client, n int) (tries, refusals int) {
	for tries = 1; ; tries++ {
		_, err := client.Put(context.Background(), parseID(t, thingID("11111111-1111-1111-1111-111111111111", n)), apiVersion, []byte(`{"location":"westus2"}`), PutOptions{})
		if err == nil {
			return tries, refusals
		}
		var answer *Error
		if !errors.As(err, &answer) || answer.Class != ClassThrottled || answer.RetryAfter <= 0 {
			t.Errorf("creation %d: %v, which is not throttled", n, err)
			return tries, refusals
		}
		if !IsSelfThrottled(err) {
			refusals++
		}
		<-time.After(answer.RetryAfter)
	}
}

// gate is a server with the responses of the case; it records requests.
type gate struct {
	mu     sync.Mutex
	answer func(r *http.Request, w http.ResponseWriter) bool
	seen   []string
}

func (g *gate) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	g.mu.Lock()
	defer g.mu.Unlock()
	g.seen = append(g.seen, r.Method+" "+r.URL.Path)
	w.Header().Set("Content-Type", "application/json")
	if g.answer != nil && g.answer(r, w) {
		return
	}
	_, _ = w.Write([]byte(`{"properties":{}}`))
}

func refuse(w http.ResponseWriter, header map[string]string, body string) bool {
	for name, value := range header {
		w.Header().Set(name, value)
	}
	w.WriteHeader(http.StatusTooManyRequests)
	_, _ = w.Write([]byte(body))
	return true
}

// TestThrottleSlowsOnlyTheRefusedBudget: one 429 slows down one budget only.
func TestThrottleSlowsOnlyTheRefusedBudget(t *testing.T) {
	const one, subscriptionBudget = "11111111-1111-1111-1111-111111111111", `{"error":{"code":"SubscriptionRequestsThrottled","message":"m"}}`
	const message = `{"error":{"code":"SubscriptionRequestsThrottled","message":"Please try again after '40' seconds after additional tokens are available."}}`
	fortySeconds := map[string]string{"Retry-After": "40"}
	thing, vault := thingID(one, 1), "/subscriptions/"+one+"/resourceGroups/rg1/providers/Contoso.Vaults/vaults/v1"
	cases := map[string]struct {
		reason string
		header map[string]string
		body   string
		// Whether each of these waits after the PUT of a thing was refused.
		put, get, otherProvider, otherSubscription bool
	}{
		"Subscription": {reason: "(subscription, verb)", header: fortySeconds, body: subscriptionBudget, put: true, otherProvider: true},
		"MessageOnly":  {reason: "the wait is in the message only", body: message, put: true, otherProvider: true},
		"Provider":     {reason: "(subscription, provider, verb)", header: fortySeconds, body: `{"error":{"code":"TooManyRequests","message":"m"}}`, put: true},
		"NoCode":       {reason: "a response without a code", header: fortySeconds, body: ``, put: true},
		"Conflict":     {reason: "a 429 that is a conflict does not slow down", header: fortySeconds, body: `{"error":{"code":"RetryableErrorDueToAnotherOperation","message":"m"}}`},
		"WrappedConflict": {
			reason: "nor does a wrapped one",
			body:   `{"error":{"code":"RetryableError","message":"m","details":[{"code":"ReferencedResourceNotProvisioned"}]}}`,
		},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				server := &gate{answer: func(_ *http.Request, w http.ResponseWriter) bool { return refuse(w, tc.header, tc.body) }}
				client := throttled(t, server)
				_, err := client.Put(t.Context(), parseID(t, thing), apiVersion, []byte(`{}`), PutOptions{})
				if answer := asError(t, err); answer.Status != http.StatusTooManyRequests {
					t.Fatalf("got %v", err)
				}
				server.answer = nil
				put := func(id string) error {
					_, err := client.Put(t.Context(), parseID(t, id), apiVersion, []byte(`{}`), PutOptions{})
					return err
				}
				_, getErr := client.Get(t.Context(), parseID(t, thing), apiVersion)
				for what, got := range map[string]struct {
					err   error
					waits bool
				}{
					"the same":           {put(thing), tc.put},
					"another verb":       {getErr, tc.get},
					"another provider":   {put(vault), tc.otherProvider},
					"other subscription": {put(thingID(otherSubscription, 1)), tc.otherSubscription},
				} {
					if IsSelfThrottled(got.err) != got.waits || !got.waits && got.err != nil {
						t.Errorf("%s: %s: error %v, want held back: %t", tc.reason, what, got.err, got.waits)
					}
					if got.waits && asError(t, got.err).RetryAfter < 39*time.Second {
						t.Errorf("%s: %s is to be retried after %s", tc.reason, what, asError(t, got.err).RetryAfter)
					}
				}
				<-time.After(41 * time.Second)
				if err := put(thing); err != nil {
					t.Errorf("%s: after the wait: %v", tc.reason, err)
				}
			})
		})
	}
}

// TestThrottleWaitsAtMostTwoSeconds: a short wait happens inside the request; with a
// longer wait the request is not sent.
func TestThrottleWaitsAtMostTwoSeconds(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		server := &gate{answer: func(_ *http.Request, w http.ResponseWriter) bool {
			w.Header().Set("x-ms-ratelimit-remaining-subscription-writes", "0") // half a request a second
			return false
		}}
		client := throttled(t, server)
		var mu sync.Mutex
		longest, held := time.Duration(0), 0
		put := func(n int) {
			started := time.Now()
			_, err := client.Put(t.Context(), parseID(t, thingID(otherSubscription, n)), apiVersion, []byte(`{}`), PutOptions{})
			mu.Lock()
			defer mu.Unlock()
			longest = max(longest, time.Since(started))
			if IsSelfThrottled(err) {
				held++
			} else if err != nil {
				t.Error(err)
			}
		}
		for n := range 12 { // empties the bucket
			put(n)
		}
		var all sync.WaitGroup
		for n := range 8 {
			all.Go(func() { put(12 + n) })
		}
		all.Wait()
		if longest < time.Second || longest > maxThrottleWait+100*time.Millisecond {
			t.Errorf("the longest request took %s, want about 2 s", longest)
		}
		if held == 0 || held+len(server.seen) != 20 {
			t.Errorf("%d held back and %d sent of 20", held, len(server.seen))
		}
		ctx, cancel := context.WithTimeout(t.Context(), 100*time.Millisecond)
		defer cancel()
		if _, err := client.Put(ctx, parseID(t, thingID(otherSubscription, 99)), apiVersion, []byte(`{}`), PutOptions{}); !errors.Is(err, context.DeadlineExceeded) {
			t.Errorf("got %v, want the context's error", err)
		}
	})
}

// TestThrottledPollKeepsTheOperation: a poll that was not sent does not change the
// operation.
func TestThrottledPollKeepsTheOperation(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		server := &gate{answer: func(r *http.Request, w http.ResponseWriter) bool {
			if r.Method == http.MethodPut {
				w.Header().Set("Azure-AsyncOperation", "http://127.0.0.1:1/subscriptions/"+otherSubscription+"/providers/Contoso.Things/locations/l/operations/1?api-version=1")
				w.WriteHeader(http.StatusAccepted)
				return true
			}
			return refuse(w, map[string]string{"Retry-After": "60"}, ``)
		}}
		client := throttled(t, server)
		op, err := client.Put(t.Context(), parseID(t, thingID(otherSubscription, 1)), apiVersion, []byte(`{}`), PutOptions{})
		if err != nil {
			t.Fatal(err)
		}
		for i, held := range []bool{false, true} {
			poll, err := client.Poll(t.Context(), op.Token)
			if IsSelfThrottled(err) != held || asError(t, err).RetryAfter < 50*time.Second || poll.Outcome != "" {
				t.Errorf("poll %d: got %+v, %v", i, poll, err)
			}
		}
		if len(server.seen) != 2 {
			t.Errorf("requests %v", server.seen)
		}
	})
}

func TestScopeOf(t *testing.T) {
	cases := map[string]struct {
		reason, method, path string
		want                 scope
	}{
		"Resource":  {"its provider", "PUT", "/subscriptions/S1/resourceGroups/g/providers/Contoso.Things/things/t", scope{"", "s1", "contoso.things", "writes"}},
		"Extension": {"the provider of the extension counts", "DELETE", "/subscriptions/s1/resourceGroups/g/providers/A.B/c/d/providers/Contoso.Locks/locks/l", scope{"", "s1", "contoso.locks", "deletes"}},
		"Group":     {"ARM itself", "HEAD", "/subscriptions/s1/resourceGroups/g", scope{"", "s1", "microsoft.resources", "reads"}},
		"Operation": {"a poll is a read of its provider", "GET", "/subscriptions/s1/providers/Contoso.Things/locations/l/operations/1", scope{"", "s1", "contoso.things", "reads"}},
		"Tenant":    {"no subscription", "POST", "/providers/Microsoft.Management/managementGroups/m", scope{"", "", "microsoft.management", "writes"}},
		"Cut":       {"a path that ends too soon", "GET", "/subscriptions", scope{"", "", "microsoft.resources", "reads"}},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			request := httptest.NewRequest(tc.method, "http://127.0.0.1:1"+tc.path, nil)
			if got := scopeOf(request); got != tc.want {
				t.Errorf("%s: got %+v, want %+v", tc.reason, got, tc.want)
			}
		})
	}
}

func TestBudgetHeaders(t *testing.T) {
	header := http.Header{}
	header.Set("x-ms-ratelimit-remaining-subscription-writes", "120")
	header.Set("x-ms-ratelimit-remaining-subscription-global-writes", "90")
	header.Set("x-ms-ratelimit-remaining-subscription-reads", "3")
	header.Set("x-ms-ratelimit-remaining-tenant-writes", "no number")
	if left, reported := remainingTokens(header, "writes"); !reported || left != 90 {
		t.Errorf("got %v, %t, want the smallest of the write budgets", left, reported)
	}
	if _, reported := remainingTokens(header, "deletes"); reported {
		t.Error("a budget without a header was reported")
	}
	header.Set("x-ms-ratelimit-remaining-resource", "Microsoft.Compute/PutVM;3,Microsoft.Compute/PutVMResource;11")
	if providerExhausted(header) {
		t.Error("3 and 11 are not exhausted")
	}
	header.Add("x-ms-ratelimit-remaining-resource", "Microsoft.Compute/PutVM30Min;0")
	if !providerExhausted(header) {
		t.Error("0 is exhausted")
	}
}

// The scarcest budget counts, and only while its report is fresh.
func TestRemaining(t *testing.T) {
	now := time.Date(2026, 11, 20, 12, 0, 0, 0, time.UTC)
	throttle := NewThrottle(ThrottleOptions{Clock: func() time.Time { return now }})
	for i, left := range []float64{120, 40} {
		subscription, provider := throttle.bucketsFor(scope{subscription: strconv.Itoa(i), verb: "reads", provider: "p"})
		subscription.adjust(now, left)
		provider.slowDown(now)
	}
	blocked, _ := throttle.bucketsFor(scope{subscription: "0", verb: "writes"})
	blocked.block(now, time.Second)
	throttle.bucketsFor(scope{subscription: "0", verb: "deletes"})
	if diff := cmp.Diff(map[string]float64{"reads": 40, "writes": 0}, throttle.Remaining()); diff != "" {
		t.Errorf("remaining (-want +got):\n%s", diff)
	}
	now = now.Add(maxReportAge + time.Second)
	if got := throttle.Remaining(); len(got) > 0 {
		t.Errorf("remaining %v from reports that are too old", got)
	}
}

// TestBuckets: a bucket slows down as it empties; a provider that refused a request
// recovers.
func TestBuckets(t *testing.T) {
	now := time.Date(2026, 11, 20, 12, 0, 0, 0, time.UTC)
	b := newSubscriptionBucket("writes", 1)
	last := 1e9
	for _, left := range []float64{199, 100, 50, 25, 5, 0} {
		b.adjust(now, left)
		if got := float64(b.limiter.Limit()); got >= last || got < float64(minRate) {
			t.Errorf("%v left: %v requests a second, after %v", left, got, last)
		} else {
			last = got
		}
	}
	if b.adjust(now, 199); b.limiter.Limit() < 150 {
		t.Errorf("a budget that stays full allows %v requests per second", b.limiter.Limit())
	}
	if b.adjust(now, 149); b.limiter.Limit() > 25 {
		t.Errorf("a shrinking budget allows %v requests per second", b.limiter.Limit())
	}
	p := newProviderBucket()
	if p.delay(now) != 0 {
		t.Error("an unknown provider is limited")
	}
	p.block(now, 0)
	if got := p.delay(now); got != defaultRetryAfter {
		t.Errorf("a refusal without a wait blocks for %s", got)
	}
	later := now.Add(time.Minute)
	for range maxBurst {
		p.take(later)
	}
	if p.delay(later) == 0 {
		t.Error("a provider that refused a request is not limited")
	}
	for range 400 {
		p.speedUp(later)
	}
	if p.delay(later) != 0 {
		t.Error("a provider that keeps responding stays slow")
	}
	p.slowDown(later)
	if p.limiter.Limit() != providerStartRate {
		t.Error("an exhausted budget has no effect")
	}
}

func TestRetryAfterInMessages(t *testing.T) {
	for message, want := range map[string]time.Duration{
		"Please try again after '7' seconds after additional tokens are available.": 7 * time.Second,
		"Try again in 2 minutes.":          2 * time.Minute,
		"Please retry after 30 second(s).": 30 * time.Second,
		"Please try again later.":          0,
		"5 seconds have passed":            0,
	} {
		if got := retryAfterIn(message); got != want {
			t.Errorf("%q: got %s, want %s", message, got, want)
		}
	}
}

// TestThrottleKeys checks that the budgets of principals, and of the regions of ARM,
// are counted apart.
func TestThrottleKeys(t *testing.T) {
	cases := map[string]struct {
		reason  string
		second  string
		region  string
		allowed bool
	}{
		"same principal":    {"one budget", "p1", "", false},
		"another principal": {"ARM has a bucket for each principal", "p2", "", true},
		"another region":    {"and for each of its own regions", "p1", "northeurope", true},
	}
	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			throttle := NewThrottle(ThrottleOptions{Clock: func() time.Time { return time.Date(2026, 11, 20, 12, 0, 0, 0, time.UTC) }})
			answer := func(principal string, header http.Header) {
				request := httptest.NewRequest(http.MethodGet, "http://127.0.0.1:1"+thingID(otherSubscription, 1), http.NoBody)
				s := scopeOf(request)
				s.principal = principal
				throttle.update(s, &http.Response{StatusCode: http.StatusTooManyRequests, Header: header, Body: http.NoBody, Request: request})
			}
			answer("p1", http.Header{"Retry-After": {"60"}, "X-Ms-Routing-Request-Id": {"WESTEUROPE:20261120T120000Z:1"}})
			if c.region != "" {
				throttle.regions["p1"] = c.region
			}
			request := httptest.NewRequest(http.MethodGet, "http://127.0.0.1:1"+thingID(otherSubscription, 2), http.NoBody)
			s := scopeOf(request)
			s.principal = c.second
			if _, err := throttle.reserve(s, maxThrottleWait); (err == nil) != c.allowed {
				t.Errorf("%s: got %v, want allowed %t", c.reason, err, c.allowed)
			}
		})
	}
}

// TestThrottleShare checks that a share leaves the rest of a budget to others.
func TestThrottleShare(t *testing.T) {
	now := time.Date(2026, 11, 20, 12, 0, 0, 0, time.UTC)
	whole, fifth := newSubscriptionBucket("reads", 1), newSubscriptionBucket("reads", 0.2)
	for _, remaining := range []float64{250, 240, 220, 210} {
		whole.adjust(now, remaining)
		fifth.adjust(now, remaining)
		if got, most := float64(fifth.limiter.Limit()), float64(whole.limiter.Limit())*0.2; got > most+0.5 {
			t.Errorf("with %v tokens left the share allows %.1f requests a second, want at most %.1f", remaining, got, most)
		}
	}
	if fifth.adjust(now, 200); fifth.limiter.Limit() > minRate {
		t.Errorf("the share is used up, and it allows %v requests a second", fifth.limiter.Limit())
	}
}
