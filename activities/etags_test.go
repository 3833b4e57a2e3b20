package activities

import (
	"fmt"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/armature-io/armature/armsim"
	"github.com/armature-io/armature/resource"
)

// headersOf records If-Match of each write, and calls change before the n-th one of a
// method.
func headersOf(headers *[]string, change func(method string, n int)) func(http.Handler) http.Handler {
	return func(next http.Handler) http.Handler {
		return http.HandlerFunc(func(answer http.ResponseWriter, r *http.Request) {
			if r.Method != http.MethodGet {
				*headers = append(*headers, r.Method+" "+r.Header.Get("If-Match"))
				change(r.Method, len(*headers))
			}
			next.ServeHTTP(answer, r)
		})
	}
}

// changingETags shows another ETag in each response to a GET, and takes none of them.
func changingETags(next http.Handler) http.Handler {
	reads := 0
	return http.HandlerFunc(func(answer http.ResponseWriter, r *http.Request) {
		if r.Method != http.MethodGet {
			if r.Header.Get("If-Match") != "" {
				answer.Header().Set("Content-Type", "application/json")
				answer.WriteHeader(http.StatusPreconditionFailed)
				_, _ = answer.Write([]byte(`{"error":{"code":"PreconditionFailed","message":"The condition is not met."}}`))
				return
			}
			next.ServeHTTP(answer, r)
			return
		}
		reads++
		recorded := httptest.NewRecorder()
		next.ServeHTTP(recorded, r)
		answer.Header().Set("Content-Type", "application/json")
		answer.Header().Set("ETag", fmt.Sprintf("\"%d\"", reads))
		answer.WriteHeader(recorded.Code)
		_, _ = answer.Write(recorded.Body.Bytes())
	})
}

// TestGuardETagOfEveryRead writes a resource without tags of others, lists and ignored
// paths, so nothing is merged. What changed since the read is not overwritten.
//
//guard:etag-of-every-read
func TestGuardETagOfEveryRead(t *testing.T) {
	t.Parallel()
	for name, mode := range map[string]resource.Put{"PUT": resource.PutReplace, "PATCH": resource.PutPatch} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			var w *world
			var headers []string
			w = newWorld(t, func(s *setup) {
				s.handler = headersOf(&headers, func(_ string, n int) {
					if n == 1 {
						w.put(thingText, `{"location":"westus2","properties":{"size":3}}`)
					}
				})
			})
			w.put(groupText, `{"location":"westus2"}`)
			w.put(thingText, `{"location":"westus2","properties":{"size":1}}`)
			d := desired(t, thingText, `{"location":"westus2","properties":{"size":2}}`)
			d.Put = mode
			got, _ := finish(w, w.acts.PutResource, PutResourceInput{Desired: d, ObservedAt: w.now()})
			if !got.Sent || len(headers) != 2 || headers[0] == name+" " || headers[0] == headers[1] {
				t.Errorf("%+v with %q, want a write under the first ETag, refused, and one under that of another read", got.Verdict, headers)
			}
			reads := slices.DeleteFunc(w.requests(), func(r string) bool { return r != "GET t1" })
			if len(reads) != 2 {
				t.Errorf("%d reads, want a new decision after the refusal", len(reads))
			}
		})
	}
}

// TestChangingETags writes a type whose ETag is another one in each GET.
//
//guard:etag-of-every-read
func TestChangingETags(t *testing.T) {
	t.Parallel()
	w := newWorld(t, func(s *setup) { s.handler = changingETags })
	w.put(groupText, `{"location":"westus2"}`)
	w.put(thingText, `{"location":"westus2","properties":{"size":1}}`)
	for size := 2; size < 4; size++ {
		got, _ := finish(w, w.acts.PutResource, PutResourceInput{Desired: desired(t, thingText, fmt.Sprintf(`{"location":"westus2","properties":{"size":%d}}`, size)), ObservedAt: w.now()})
		if !got.Sent || w.puts(thingText) != size-1 {
			t.Errorf("PUT %d: %+v after %d accepted", size-1, got.Verdict, w.puts(thingText))
		}
	}
	if !w.acts.etags.ignoresETags(http.MethodPut, "Contoso.Things/things") {
		t.Error("the type is not remembered")
	}
}

// TestGuardDeleteETag deletes under the ETag of the read that looked for contents.
//
//guard:etag-of-every-read
func TestGuardDeleteETag(t *testing.T) {
	t.Parallel()
	cases := map[string]struct {
		reason   string
		sim      armsim.Options
		changing bool
		// before changes the resource between the read and the DELETE.
		before   func(w *world)
		requests []string
		gone     bool
		verdict  resource.Reason
		again    []string
	}{
		"Unchanged": {reason: "what was looked at is deleted", requests: []string{"DELETE t1"}, gone: true},
		"Changed": {
			reason:   "another tool changed it, so what it contains is looked at again",
			before:   func(w *world) { w.put(thingText, `{"location":"westus2","properties":{"size":9}}`) },
			requests: []string{"DELETE t1", "GET t1", "GET t1"}, verdict: "PreconditionFailed",
		},
		"Recreated": {
			reason: "what was created again is another resource",
			before: func(w *world) {
				w.sim.Delete(thingText)
				w.put(thingText, `{"location":"westus2","properties":{"size":1}}`)
			},
			requests: []string{"DELETE t1", "GET t1", "GET t1"}, verdict: "PreconditionFailed",
		},
		"Gone":    {reason: "an absent resource is deleted", before: func(w *world) { w.sim.Delete(thingText) }, requests: []string{"DELETE t1", "GET t1"}, gone: true},
		"Refused": {reason: "a service that refuses its own ETag gets a DELETE without one", sim: armsim.Options{RefusedETags: []string{"Contoso.Things/things"}}, requests: []string{"DELETE t1", "GET t1", "DELETE t1"}, gone: true},
		"Changing": {
			reason: "an ETag that differs in each read proves nothing: the next DELETE goes without", changing: true,
			requests: []string{"GET t1", "GET t1"}, verdict: "PreconditionFailed", again: []string{"DELETE t1"},
		},
	}
	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w := newWorld(t, func(s *setup) {
				s.sim.RefusedETags = c.sim.RefusedETags
				if c.changing {
					s.handler = changingETags
				}
			})
			w.put(groupText, `{"location":"westus2"}`)
			w.put(thingText, `{"location":"westus2","properties":{"size":1}}`)
			d := desired(t, thingText, `{"location":"westus2"}`)
			read, _ := finish(w, w.acts.GetResource, GetResourceInput{Target: d.Target(), WithoutBody: true})
			if read.ETag == "" {
				t.Fatal("the read of a deletion has no ETag")
			}
			if w.advance(time.Second); c.before != nil {
				c.before(w)
			}
			seen := len(w.requests())
			got, _ := finish(w, w.acts.DeleteResource, DeleteResourceInput{Desired: d, ETag: read.ETag})
			if diff := cmp.Diff(c.requests, w.requests()[seen:]); diff != "" {
				t.Errorf("requests (-want +got): %s\n%s", c.reason, diff)
			}
			if c.verdict != "" && (got.Verdict.Reason != c.verdict || got.Verdict.Action != resource.ActionBlock || !got.Unsent) {
				t.Errorf("%+v unsent %t, want a block with %s: %s", got.Verdict, got.Unsent, c.verdict, c.reason)
			}
			if gone := len(w.sim.Resources(thingText, "")) == 0; gone != c.gone && !strings.EqualFold(read.State, "Deleting") {
				t.Errorf("gone %t, want %t: %s", gone, c.gone, c.reason)
			}
			if c.again != nil {
				seen = len(w.requests())
				finish(w, w.acts.DeleteResource, DeleteResourceInput{Desired: d, ETag: read.ETag})
				if diff := cmp.Diff(c.again, w.requests()[seen:]); diff != "" {
					t.Errorf("requests of the next pass (-want +got): %s\n%s", c.reason, diff)
				}
			}
		})
	}
}
