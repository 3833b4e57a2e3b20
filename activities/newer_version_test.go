package activities

import (
	"encoding/json"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"testing"

	"github.com/armature-io/armature/resource"
	"github.com/armature-io/armature/types"
)

// versionedAccount is a service whose old api-version does not show two members of a
// storage account, and that sets one of them by itself. refuses is set if it does not have
// the newest version.
type versionedAccount struct {
	newest  string
	refuses bool
	// newer counts the reads in the newest version.
	newer int
}

func (v *versionedAccount) handler(next http.Handler) http.Handler {
	return http.HandlerFunc(func(answer http.ResponseWriter, r *http.Request) {
		if r.Method != http.MethodGet || !strings.HasSuffix(r.URL.Path, "/acct") {
			next.ServeHTTP(answer, r)
			return
		}
		isNewest := r.URL.Query().Get("api-version") == v.newest
		if isNewest {
			v.newer++
		}
		if isNewest && v.refuses {
			answer.WriteHeader(http.StatusBadRequest)
			_, _ = answer.Write([]byte(`{"error":{"code":"NoRegisteredProviderFound","message":"No registered resource provider found for the version."}}`))
			return
		}
		recorded := httptest.NewRecorder()
		next.ServeHTTP(recorded, r)
		var body map[string]any
		if err := json.Unmarshal(recorded.Body.Bytes(), &body); err == nil {
			properties, _ := body["properties"].(map[string]any)
			switch {
			case properties == nil:
			case isNewest:
				properties["isLocalUserEnabled"] = true
			default:
				delete(properties, "publicNetworkAccess")
			}
		}
		for name, values := range recorded.Header() {
			if name != "Content-Length" {
				answer.Header()[name] = values
			}
		}
		answer.WriteHeader(recorded.Code)
		_ = json.NewEncoder(answer).Encode(body)
	})
}

// TestGuardNewerVersions corrects an account in an api-version that does not have what a
// policy set.
//
//guard:newer-api-versions
func TestGuardNewerVersions(t *testing.T) {
	t.Parallel()
	const account = groupText + "/providers/Microsoft.Storage/storageAccounts/acct"
	newest := types.Newest("Microsoft.Storage/storageAccounts")
	cases := map[string]struct {
		reason, theirs, version string
		put                     resource.Put
		refuses, held           bool
		// reads are the reads in the newest version, of the creation and the correction.
		reads int
	}{
		"set by a policy":         {reason: "the PUT would open the account again", theirs: `{"properties":{"publicNetworkAccess":"Disabled"}}`, held: true, reads: 2},
		"default of the service":  {reason: "the service had set it by itself", theirs: `{}`, reads: 3},
		"newest version":          {reason: "the manifest's version shows everything", theirs: `{"properties":{"publicNetworkAccess":"Disabled"}}`, version: newest},
		"replace":                 {reason: "the user lets it go", theirs: `{"properties":{"publicNetworkAccess":"Disabled"}}`, put: resource.PutReplace},
		"the cloud has no newest": {reason: "nothing can be known; it is asked once", theirs: `{"properties":{"publicNetworkAccess":"Disabled"}}`, refuses: true, reads: 1},
	}
	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			service := &versionedAccount{newest: newest, refuses: c.refuses}
			w := newWorld(t, func(s *setup) { s.sim.TimeScale, s.handler = 1e6, service.handler })
			w.put(groupText, `{"location":"westus2"}`)
			p := &passRunner{world: w, spec: desired(t, account, `{"location":"westus2","kind":"StorageV2","sku":{"name":"Standard_LRS"},"properties":{"accessTier":"Hot"}}`)}
			p.spec.APIVersion, p.spec.Put = "2019-06-01", c.put
			if c.version != "" {
				p.spec.APIVersion = c.version
				service.newest = "none"
			}
			if got := p.pass(); got.Stops() || p.puts != 1 {
				t.Fatalf("creation: %d PUTs, %s %s", p.puts, got.Reason, got.Message)
			}
			p.patch(c.theirs)
			p.patch(`{"properties":{"accessTier":"Cool"}}`)
			got := p.pass()
			if service.newer != c.reads {
				t.Errorf("%s: %d reads in the newest version, want %d", c.reason, service.newer, c.reads)
			}
			if c.held {
				want(t, got, resource.ActionBlock, resource.ReasonHeld, resource.RetryVerySlow, "properties.publicNetworkAccess", newest, "put: replace")
				if !slices.Equal(got.Drops, []string{"properties.publicNetworkAccess"}) || p.puts != 1 || got.Actor == "" {
					t.Errorf("%s: drops %v, %d PUTs", c.reason, got.Drops, p.puts)
				}
				p.approved = true
				got = p.pass()
			}
			if got.Stops() || p.puts != 2 {
				t.Errorf("%s: %d PUTs, %s %s", c.reason, p.puts, got.Reason, got.Message)
			}
		})
	}
}

// A PUT of a machine leaves alone what it omits: no newer version is read.
func TestNewerVersionOfPatchedType(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	machine := desired(t, groupText+"/providers/Microsoft.Compute/virtualMachines/m1", `{"location":"westus2"}`)
	machine.APIVersion = "2019-03-01"
	if newer := w.acts.newer.of(machine, true); newer.Version != "" {
		t.Errorf("got %s", newer.Version)
	}
}
