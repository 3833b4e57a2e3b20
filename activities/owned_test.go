package activities

import (
	"fmt"
	"net/http"
	"strings"
	"testing"
)

// TestOwnerMovesMeanwhile lets an autoscaler move a capacity between the read and the PUT of a
// step: the PUT that arrives carries the new one, also if only its refusal tells.
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
