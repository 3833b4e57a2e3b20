package activities

import (
	"bytes"
	"fmt"
	"io"
	"net/http"
	"strings"
	"testing"

	"github.com/armature-io/armature/resource"
)

// TestOwnerMovesMeanwhile lets an autoscaler move a capacity between the read and the PUT of a
// step: the PUT that arrives carries the new one, also if only its refusal tells.
//
//guard:values-of-other-owners
func TestOwnerMovesMeanwhile(t *testing.T) {
	t.Parallel()
	const namespace = groupText + "/providers/Microsoft.EventHub/namespaces/n1"
	for name, refused := range map[string]bool{"another ETag": false, "refused for its body": true} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			var w *world
			puts := 0
			w = newWorld(t, func(s *setup) {
				s.sim.TimeScale = 1e6
				s.handler = func(h http.Handler) http.Handler {
					return http.HandlerFunc(func(out http.ResponseWriter, r *http.Request) {
						if r.Method == http.MethodPut && strings.Contains(r.URL.Path, "/namespaces/") {
							if puts++; puts == 1 {
								if err := w.sim.Act(namespace, "sku.capacity", 9); err != nil {
									t.Error(err)
								}
								if refused {
									r.Header.Del("If-Match")
									out.Header().Set("Content-Type", "application/json")
									out.WriteHeader(http.StatusBadRequest)
									_, _ = out.Write([]byte(`{"error":{"code":"BadRequest","message":"The capacity cannot be reduced while the namespace inflates."}}`))
									return
								}
							}
						}
						h.ServeHTTP(out, r)
					})
				}
			})
			w.put(groupText, `{"location":"westus2"}`)
			w.put(namespace, `{"location":"westus2","sku":{"name":"Standard","tier":"Standard","capacity":5},"properties":{"isAutoInflateEnabled":true,"maximumThroughputUnits":20}}`)
			spec := desired(t, namespace, `{"location":"westus2","tags":{"a":"b"},"sku":{"name":"Standard","tier":"Standard","capacity":2},"properties":{"isAutoInflateEnabled":true,"maximumThroughputUnits":20}}`)
			spec.APIVersion = "2024-01-01"
			got, _ := finish(w, w.acts.PutResource, PutResourceInput{Desired: spec, ObservedAt: w.now()})
			if got.Verdict.Stops() || !got.Sent || puts != 2 {
				t.Errorf("%d PUTs, %+v", puts, got.Verdict)
			}
			stored := w.sim.Resources(namespace, "")[0].Body
			if sku, _ := stored["sku"].(map[string]any); sku == nil || !strings.Contains(fmt.Sprint(sku["capacity"]), "9") {
				t.Errorf("capacity %v, want the one that the autoscaler set", stored["sku"])
			}
		})
	}
}

// TestMixtureIsRefused lets Azure refuse a body with an item of the manifest beside one of
// another tool: the correction is sent with the list as Azure shows it, and the item waits.
func TestMixtureIsRefused(t *testing.T) {
	t.Parallel()
	const document = groupText + "/providers/Microsoft.DocumentDB/databaseAccounts/cosmos"
	refused := 0
	w := newWorld(t, func(s *setup) {
		s.sim.TimeScale = 1e6
		s.handler = func(h http.Handler) http.Handler {
			return http.HandlerFunc(func(out http.ResponseWriter, r *http.Request) {
				body, err := io.ReadAll(r.Body)
				if err != nil {
					t.Error(err)
				}
				r.Body = io.NopCloser(bytes.NewReader(body))
				if text := string(body); r.Method == http.MethodPut && strings.Contains(text, "192.0.2.9") && strings.Contains(text, "203.0.113.7") {
					refused++
					out.Header().Set("Content-Type", "application/json")
					out.WriteHeader(http.StatusBadRequest)
					_, _ = out.Write([]byte(`{"error":{"code":"BadRequest","message":"Two rules overlap."}}`))
					return
				}
				h.ServeHTTP(out, r)
			})
		}
	})
	w.put(groupText, `{"location":"westus2"}`)
	p := &passRunner{world: w, spec: desired(t, document, `{"location":"westus2","properties":{"databaseAccountOfferType":"Standard","locations":[{"locationName":"westus2"}],"enableAutomaticFailover":true,"ipRules":[{"ipAddressOrRange":"192.0.2.9"}]}}`)}
	p.spec.APIVersion = "2023-11-15"
	if got := p.pass(); got.Stops() {
		t.Fatalf("creation: %s %s", got.Reason, got.Message)
	}
	p.patch(`{"properties":{"enableAutomaticFailover":false,"ipRules":[{"ipAddressOrRange":"203.0.113.7"}]}}`)
	got := p.pass()
	stored := string(p.read().Observed)
	if refused != 1 || !strings.Contains(stored, `"enableAutomaticFailover":true`) || !strings.Contains(stored, "203.0.113.7") || strings.Contains(stored, "192.0.2.9") {
		t.Errorf("%d refused PUTs, then %s: %s", refused, got.Message, stored)
	}
	if got.Reason != resource.ReasonHeld || !strings.Contains(got.Message, "203.0.113.7") {
		t.Errorf("the list waits for a user: %s %s", got.Reason, got.Message)
	}
	puts := p.puts
	if got := p.pass(); refused != 1 || p.puts != puts || got.Reason != resource.ReasonHeld {
		t.Errorf("the next pass: %d refused, %d PUTs more, %s %s", refused, p.puts-puts, got.Reason, got.Message)
	}
}
