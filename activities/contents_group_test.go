package activities

import (
	"io"
	"net/http"
	"strings"
	"testing"

	"github.com/armature-io/armature/activities/contents"
	"github.com/armature-io/armature/armsim"
	"github.com/armature-io/armature/resource"
	"github.com/armature-io/armature/types"
)

// TestContentsInGroup finds children that only the list of the resource group shows.
//
//guard:deletes-look-first
func TestContentsInGroup(t *testing.T) {
	t.Parallel()
	const (
		server   = groupText + "/providers/Microsoft.Sql/servers/s1"
		database = server + "/databases/db1"
		part     = thingText + "/parts/p1"
	)
	refused := &armsim.Fault{Status: 405, Code: "MethodNotAllowed", Type: "Microsoft.Sql/servers/databases"}
	cases := map[string]struct {
		reason, resource, listed string
		fault                    *armsim.Fault
		managed                  map[string]Managed
		action                   resource.Action
		part                     string
		lists                    bool
	}{
		"unpublished type": {reason: "nothing is published about its children", resource: thingText, listed: part, action: resource.ActionBlock, part: "t1/p1 (Contoso.Things/things/parts)", lists: true},
		"empty":            {reason: "nothing is below it", resource: thingText, listed: thingText + "2/parts/p1", action: resource.ActionProceed, lists: true},
		"deleted too":      {reason: "it is managed and being deleted", resource: thingText, listed: part, managed: map[string]Managed{part: {Deleting: true}}, action: resource.ActionProceed, lists: true},
		"refused list":     {reason: "the database is named, not only its collection", resource: server, listed: database, fault: refused, action: resource.ActionBlock, part: "does not manage: s1/db1", lists: true},
		"listed":           {reason: "the collection is newer than the list of the group, which may show what is gone", resource: server, listed: database, action: resource.ActionProceed},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			lists := 0
			w := newWorld(t, func(s *setup) {
				s.handler = func(next http.Handler) http.Handler {
					return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
						if !strings.HasSuffix(r.URL.Path, "/resourceGroups/rg1/resources") {
							next.ServeHTTP(w, r)
							return
						}
						lists++
						_, _ = io.WriteString(w, `{"value":[{"id":"`+tc.listed+`","name":"n","location":"westus2"}]}`)
					})
				}
			})
			w.put(groupText, `{"location":"westus2"}`)
			w.put(tc.resource, `{"location":"westus2"}`)
			for at, managed := range tc.managed {
				w.manages(at, managed)
			}
			if tc.fault != nil {
				w.sim.AddFault(*tc.fault)
			}
			at := id(t, tc.resource)
			got, _ := finish(w, w.acts.CheckContents, contents.Request{ID: at, APIVersion: types.Newest(at.Type()), By: "ada@host", WithData: true})
			wantContents(t, got.Verdict, tc.action, tc.reason, []string{tc.part})
			if lists > 1 || (lists == 1) != tc.lists {
				t.Errorf("%s: the group was listed %d times", tc.reason, lists)
			}
		})
	}
}
