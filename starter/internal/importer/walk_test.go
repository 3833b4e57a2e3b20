package importer

import (
	"context"
	"encoding/json"
	"fmt"
	"strings"
	"sync"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/armature-io/armature/activities"
	"github.com/armature-io/armature/activities/importing"
	"github.com/armature-io/armature/resource"
)

const (
	subscription = "/subscriptions/11111111-2222-3333-4444-555555555555"
	group        = subscription + "/resourceGroups/rg1"
	network      = group + "/providers/Microsoft.Network/virtualNetworks/net"
	server       = group + "/providers/Microsoft.Sql/servers/sql"
	account      = group + "/providers/Microsoft.Storage/storageAccounts/store"
)

// fakeWorker has a result for each ID. The answer to a request for what lists left over is
// under the ID and "+".
type fakeWorker struct {
	mu      sync.Mutex
	results map[string]activities.ImportResourceResult
	reads   map[string]int
	inputs  []activities.ImportResourceInput
}

func (f *fakeWorker) Import(_ context.Context, _ string, in activities.ImportResourceInput) (activities.ImportResourceResult, error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	key := in.ID.String()
	if in.Contents != nil && (len(in.Contents.Lists) > 0 || in.Contents.Page != "") {
		key += "+"
	}
	f.reads[key]++
	f.inputs = append(f.inputs, in)
	result, known := f.results[key]
	if !known {
		result.Verdict = resource.Fail(resource.ReasonNotFound, resource.RetryNone, "it does not exist in Azure")
	}
	if result.ID = in.ID; result.APIVersion == "" {
		result.APIVersion = in.APIVersion
	}
	switch {
	case in.Contents == nil:
		result.Contents = nil
	case result.Contents == nil && known:
		result.Contents = &importing.Contents{}
	}
	return result, nil
}

func parse(t *testing.T, text string) resource.ID {
	t.Helper()
	id, err := resource.ParseID(text)
	if err != nil {
		t.Fatal(err)
	}
	return id
}

// item returns an item of a list of one type.
func item(t *testing.T, text string) importing.Item {
	t.Helper()
	return importing.Item{ID: parse(t, text), APIVersion: "2023-05-01"}
}

// flat returns an item of the list of all resources.
func flat(t *testing.T, text string) importing.Item {
	t.Helper()
	return importing.Item{ID: parse(t, text)}
}

func contents(items ...importing.Item) *importing.Contents {
	return &importing.Contents{Items: items}
}

func body(text string) activities.ImportResourceResult {
	return activities.ImportResourceResult{Body: json.RawMessage(text)}
}

func in(text string, items ...importing.Item) activities.ImportResourceResult {
	result := body(text)
	result.Contents = contents(items...)
	return result
}

// TestWalk checks what an import reads and what becomes of everything that it comes across.
func TestWalk(t *testing.T) {
	t.Parallel()
	managedGroup := flat(t, subscription+"/resourceGroups/MC_x")
	managedGroup.ManagedBy, managedGroup.Skipped = "/aks", "the service manages it"
	gone := parse(t, group+"/providers/Microsoft.Network/routeTables/gone")
	fixed := item(t, account+"/managementPolicies/default")
	fixed.Optional = true
	cases := map[string]struct {
		reason  string
		root    string
		results map[string]activities.ImportResourceResult
		// want has "status ID" of every outcome, reads the reads that are not one.
		want  []string
		reads map[string]int
	}{
		"levels": {
			reason: "children of children", root: group,
			results: map[string]activities.ImportResourceResult{
				group: in(`{"location":"westus2"}`, flat(t, server)), server: in(`{"location":"westus2"}`, item(t, server+"/databases/a")),
				server + "/databases/a": in(`{"location":"westus2"}`, item(t, server+"/databases/a/auditingSettings/default")), server + "/databases/a/auditingSettings/default": body(`{"properties":{"state":"On"}}`),
			},
			want: []string{"imported " + group, "imported " + server, "imported " + server + "/databases/a", "imported " + server + "/databases/a/auditingSettings/default"},
		},
		"twice": {
			reason: "a child is in the flat list and in the list of its parent, which has precedence", root: group,
			results: map[string]activities.ImportResourceResult{
				group: in(`{"location":"westus2"}`, flat(t, server+"/databases/a"), flat(t, server)), server: in(`{"location":"westus2"}`, item(t, server+"/databases/a")), server + "/databases/a": body(`{"location":"2023-05-01"}`),
			},
			want: []string{"imported " + group, "imported " + server, "imported " + server + "/databases/a"},
		},
		"only in the flat list": {
			reason: "the list of its parent lacks it", root: group,
			results: map[string]activities.ImportResourceResult{
				group: in(`{"location":"westus2"}`, flat(t, server+"/databases/a"), flat(t, server)), server: in(`{"location":"westus2"}`), server + "/databases/a": body(`{"location":"westus2"}`),
			},
			want: []string{"imported " + group, "imported " + server, "imported " + server + "/databases/a"},
		},
		"inline": {
			reason: "the body of the network has the subnet; what is in the subnet is looked for", root: group,
			results: map[string]activities.ImportResourceResult{
				group:   in(`{"location":"westus2"}`, flat(t, network)),
				network: in(`{"properties":{"subnets":[{"name":"A"}]}}`, item(t, network+"/subnets/a"), item(t, network+"/subnets/b")), network + "/subnets/a": in(``, item(t, network+"/subnets/a/parts/p")),
				network + "/subnets/b": body(`{"properties":{}}`), network + "/subnets/a/parts/p": body(`{"properties":{"x":1}}`),
			},
			want: []string{"imported " + group, "imported " + network, "skipped " + network + "/subnets/a", "imported " + network + "/subnets/a/parts/p", "imported " + network + "/subnets/b"},
		},
		"managed group": {
			reason: "nothing in it is read", root: subscription,
			results: map[string]activities.ImportResourceResult{subscription: in(``, managedGroup, flat(t, subscription+"/resourceGroups/mc_X/providers/Microsoft.Network/routeTables/r"))},
			want:    []string{"skipped " + subscription + "/resourceGroups/MC_x", "skipped " + subscription + "/resourceGroups/mc_X/providers/Microsoft.Network/routeTables/r"},
		},
		"gone": {
			reason: "the list lags behind; a part that a parent lacks is nothing", root: group,
			results: map[string]activities.ImportResourceResult{group: in(`{"location":"westus2"}`, flat(t, gone.String()), fixed)},
			want:    []string{"imported " + group, "skipped " + gone.String()},
		},
		"states nothing": {
			reason: "a fixed part at its defaults", root: account,
			results: map[string]activities.ImportResourceResult{account: in(`{"location":"westus2"}`, item(t, account+"/queueServices/default")), account + "/queueServices/default": body(`{}`)},
			want:    []string{"imported " + account, "skipped " + account + "/queueServices/default"},
		},
		"left over": {
			reason: "lists that a call did not read", root: group,
			results: map[string]activities.ImportResourceResult{
				group:       {Body: json.RawMessage(`{"location":"westus2"}`), Contents: &importing.Contents{Lists: []importing.List{{Collection: "resources", Page: "next"}}}},
				group + "+": in(``, flat(t, server)), server: body(`{"location":"westus2"}`),
			},
			want:  []string{"imported " + group, "imported " + server},
			reads: map[string]int{group + "+": 1},
		},
	}
	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			worker := &fakeWorker{results: c.results, reads: map[string]int{}}
			reads := Reads{From: worker, Progress: func(string, ...any) {}, Named: func(_ string, err error) error { return err }}
			root := parse(t, c.root)
			estate, err := reads.All(t.Context(), []activities.ImportResourceInput{{ID: root, Contents: Contents(root, true)}}, true)
			if err != nil {
				t.Fatal(err)
			}
			outcomes := estate.Outcomes
			for _, found := range estate.Found {
				outcomes = append(outcomes, Outcome{ID: found.ID, Status: Imported})
			}
			SortOutcomes(outcomes)
			var got []string
			for _, o := range outcomes {
				got = append(got, fmt.Sprintf("%s %s", o.Status, o.ID))
			}
			if diff := cmp.Diff(c.want, got); diff != "" {
				t.Errorf("%s (-want +got)\n%s", c.reason, diff)
			}
			for key, n := range worker.reads {
				if n != 1 {
					t.Errorf("%s was read %d times", key, n)
				}
			}
			for key, n := range c.reads {
				if worker.reads[key] != n {
					t.Errorf("%s was read %d times, want %d", key, worker.reads[key], n)
				}
			}
		})
	}
}

// TestWalkVersions checks that a child has the api-version of the list of its parent, also
// when the list of all resources names it first.
func TestWalkVersions(t *testing.T) {
	t.Parallel()
	worker := &fakeWorker{reads: map[string]int{}, results: map[string]activities.ImportResourceResult{
		group: in(`{"location":"westus2"}`, flat(t, server+"/databases/a"), flat(t, server)), server: in(`{"location":"westus2"}`, item(t, server+"/databases/a")), server + "/databases/a": body(`{"location":"westus2"}`),
	}}
	reads := Reads{From: worker, Progress: func(string, ...any) {}, Named: func(_ string, err error) error { return err }}
	root := parse(t, group)
	if _, err := reads.All(t.Context(), []activities.ImportResourceInput{{ID: root, Contents: Contents(root, true)}}, true); err != nil {
		t.Fatal(err)
	}
	for _, in := range worker.inputs {
		if strings.HasSuffix(in.ID.String(), "/databases/a") && in.APIVersion != "2023-05-01" {
			t.Errorf("read with %q", in.APIVersion)
		}
	}
}

// TestWalkByManifest checks which subnets of a network come with it: those of its body in Azure,
// or those that the manifest of a managed network states.
func TestWalkByManifest(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		reason              string
		managed, byManifest bool
		found               []string
		withParent          []string
	}{
		"import":             {"its manifest will state all", true, false, []string{network}, []string{"a", "b"}},
		"by manifest":        {"another tool added the other subnet", true, true, []string{network, network + "/subnets/b"}, []string{"a"}},
		"without a workflow": {"its manifest would state all", false, true, []string{network}, []string{"a", "b"}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			result := in(`{"properties":{"subnets":[{"name":"A"},{"name":"b"}]}}`, item(t, network+"/subnets/a"), item(t, network+"/subnets/b"))
			result.Managed, result.StatedItems = c.managed, map[string][]string{"subnets": {"a"}}
			worker := &fakeWorker{reads: map[string]int{}, results: map[string]activities.ImportResourceResult{network: result, network + "/subnets/b": body(`{"properties":{}}`)}}
			reads := Reads{From: worker, ByManifest: c.byManifest, Progress: func(string, ...any) {}, Named: func(_ string, err error) error { return err }}
			estate, err := reads.All(t.Context(), []activities.ImportResourceInput{{ID: parse(t, network), Contents: Contents(parse(t, network), true)}}, true)
			if err != nil {
				t.Fatal(err)
			}
			var found []string
			for _, result := range estate.Found {
				found = append(found, result.ID.String())
			}
			want := map[string]bool{}
			for _, subnet := range c.withParent {
				want[parse(t, network+"/subnets/"+subnet).Key()] = true
			}
			if diff := cmp.Diff(c.found, found) + cmp.Diff(want, estate.WithParent); diff != "" {
				t.Errorf("%s (-want +got)\n%s", c.reason, diff)
			}
		})
	}
}

// TestWalkBuiltIn checks that built-in children are known as such, also those that need no
// manifest.
func TestWalkBuiltIn(t *testing.T) {
	t.Parallel()
	fixed, made := item(t, account+"/blobServices/default"), item(t, account+"/localUsers/made")
	fixed.BuiltIn, made.BuiltIn, made.Skipped = true, true, "the service creates it by itself"
	worker := &fakeWorker{reads: map[string]int{}, results: map[string]activities.ImportResourceResult{
		account: in(`{"location":"westus2"}`, fixed, made, item(t, account+"/localUsers/own")), fixed.ID.String(): body(`{"properties":{"isVersioningEnabled":true}}`), account + "/localUsers/own": body(`{}`),
	}}
	reads := Reads{From: worker, Progress: func(string, ...any) {}, Named: func(_ string, err error) error { return err }}
	estate, err := reads.All(t.Context(), []activities.ImportResourceInput{{ID: parse(t, account), Contents: Contents(parse(t, account), true)}}, true)
	if diff := cmp.Diff(map[string]bool{fixed.ID.Key(): true, made.ID.Key(): true}, estate.WithParent); err != nil || diff != "" {
		t.Errorf("%v (-want +got)\n%s", err, diff)
	}
}

// TestWalkDefaults checks that defaults are left out of what is not managed.
func TestWalkDefaults(t *testing.T) {
	t.Parallel()
	const stated = `{"properties":{"allowForwardedTraffic":true,"allowGatewayTransit":false}}`
	peering := network + "/virtualNetworkPeerings/p"
	for name, c := range map[string]struct {
		reason        string
		managed, keep bool
		want          string
		left          int
	}{
		"left out": {"the service sets it", false, false, `{"properties":{"allowForwardedTraffic":true}}`, 1},
		"managed":  {"its manifest may state it", true, false, stated, 0},
		"flag":     {"the user wants them", false, true, stated, 0},
	} {
		result := body(stated)
		result.Managed = c.managed
		worker := &fakeWorker{reads: map[string]int{}, results: map[string]activities.ImportResourceResult{peering: result}}
		reads := Reads{From: worker, Defaults: c.keep, Progress: func(string, ...any) {}, Named: func(_ string, err error) error { return err }}
		estate, err := reads.All(t.Context(), []activities.ImportResourceInput{{ID: parse(t, peering), APIVersion: "2023-05-01"}}, false)
		if err != nil || len(estate.Found) != 1 || string(estate.Found[0].Body) != c.want || estate.Defaults != c.left {
			t.Errorf("%s: %s: %v %+v", name, c.reason, err, estate)
		}
	}
}

// TestTable checks that every outcome is counted in one line.
func TestTable(t *testing.T) {
	t.Parallel()
	var outcomes []Outcome
	for i := range 5 {
		outcomes = append(outcomes, Outcome{ID: parse(t, fmt.Sprintf("%s/databases/d%d", server, i)), Type: "Microsoft.Sql/servers/databases", Status: Skipped, Why: "x"})
	}
	outcomes = append(outcomes, Outcome{ID: parse(t, server), Type: "Microsoft.Sql/servers", Status: Imported, File: "a.yaml"},
		Outcome{ID: parse(t, server), Type: "Microsoft.Sql/servers/keys", Status: NotRead, Why: "AuthorizationFailed: no"})
	want := []string{
		"imported        1  Microsoft.Sql/servers",
		"skipped         5  Microsoft.Sql/servers/databases  sql/d0, sql/d1, sql/d2 and 2 more: x",
		"not read        1  Microsoft.Sql/servers/keys  in sql: AuthorizationFailed: no",
	}
	if diff := cmp.Diff(want, Table(outcomes)); diff != "" {
		t.Errorf("(-want +got)\n%s", diff)
	}
	if got := Summary(outcomes); got != "1 imported, 5 skipped, 1 not read" {
		t.Error(got)
	}
}
