package drift_test

import (
	"encoding/json"
	"os"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/armature-io/armature/drift"
	"github.com/armature-io/armature/resource"
	"github.com/armature-io/armature/types"
)

// evidence is what recorded traffic shows of one property: the values that the service set
// where the PUT stated none, with the cassettes.
type evidence map[string]map[string]bool

// TestDefaultsTable generates defaults.txt with UPDATE_GOLDEN, and checks that it is what the
// recorded traffic shows: the value of a property that was not stated, the same in three
// recordings or more and never another one.
func TestDefaultsTable(t *testing.T) {
	if testing.Short() {
		t.Skip("the table has the defaults of all recorded traffic; test-product compares it")
	}
	seen := map[string]evidence{}
	for _, pair := range corpusLines[recordedPair](t, "drift.jsonl.gz") {
		collect(seen, strings.ToLower(pair.Type), pair.APIVersion, pair.Cassette, nil, decoded(t, string(pair.PutBody)), decoded(t, string(pair.GetBody)))
	}
	lines := []string{"# Defaults of services, from recorded traffic; TestDefaultsTable generates the file.\n"}
	for key, values := range seen {
		for value, cassettes := range values {
			if len(values) == 1 && len(cassettes) >= 3 {
				lines = append(lines, key+" "+value+"\n")
			}
		}
	}
	slices.Sort(lines)
	want := strings.Join(lines, "")
	if os.Getenv("UPDATE_GOLDEN") != "" {
		if err := os.WriteFile("defaults.txt", []byte(want), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	got, err := os.ReadFile("defaults.txt")
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(want, string(got)); diff != "" && os.Getenv("ARM_CORPUS") == "" {
		t.Errorf("defaults.txt (-recorded +file)\n%s", diff)
	}
	t.Logf("%d defaults", len(lines)-1)
}

// collect records the members of a GET that the PUT does not state.
func collect(seen map[string]evidence, typ, version, cassette string, path resource.Path, put, get map[string]any) {
	for name, value := range get {
		at := path.With(resource.Step{Name: name})
		if len(path) == 0 && slices.Contains([]string{"id", "name", "type", "etag", "tags", "identity", "systemdata"}, strings.ToLower(name)) {
			continue
		}
		var stated any
		isStated := false
		for other, v := range put {
			if strings.EqualFold(other, name) {
				stated, isStated = v, true
			}
		}
		if below, isObject := value.(map[string]any); isObject {
			inner, _ := stated.(map[string]any)
			collect(seen, typ, version, cassette, at, inner, below)
			continue
		}
		if isStated || types.ReadOnlyOf(typ).Cover(at) || !isDefaultKind(typ, version, at, value) {
			continue
		}
		text, err := json.Marshal(value)
		if err != nil {
			continue
		}
		key := typ + " " + strings.ToLower(at.String())
		if seen[key] == nil {
			seen[key] = evidence{}
		}
		if seen[key][string(text)] == nil {
			seen[key][string(text)] = map[string]bool{}
		}
		seen[key][string(text)][cassette] = true
	}
}

// isDefaultKind reports whether a value is one that a service gives regardless of the rest of
// the body: false, and the published words for off, on and none. Recordings come from few
// subscriptions, whose policies set other booleans, and other words follow from a size or an
// image.
func isDefaultKind(typ, version string, path resource.Path, value any) bool {
	shape := types.Lookup(typ, version)
	if shape == nil {
		return false
	}
	found, free := shape.Find(path)
	if free || len(found) == 0 {
		return false
	}
	switch value := value.(type) {
	case bool:
		return !value
	case string:
		return slices.Contains([]string{"Disabled", "Enabled", "None"}, value) && shape.IsValue(path, value)
	}
	return false
}

// TestCorpusWithoutDefaults checks that a body without defaults is in sync, and that what was
// stated in a PUT and is no default stays.
func TestCorpusWithoutDefaults(t *testing.T) {
	left := 0
	for _, pair := range corpusLines[recordedPair](t, "drift.jsonl.gz") {
		id, err := resource.ParseID(pair.ID)
		if err != nil {
			t.Fatal(err)
		}
		observed := decoded(t, string(pair.GetBody))
		written, _ := drift.Writable(id, observed)
		body, dropped := drift.WithoutDefaults(id, pair.APIVersion, written)
		left += len(dropped)
		if found := drift.Compare(body, observed, drift.Options{Type: id.Type(), Facts: factsOf(id.Type()), ID: id, APIVersion: pair.APIVersion}); !found.InSync {
			t.Errorf("%s: %+v", pair.ID, found.Differences)
		}
	}
	t.Logf("%d values are left out", left)
	if left == 0 {
		t.Error("no default is left out")
	}
}

func TestWithoutDefaults(t *testing.T) {
	const account = "/subscriptions/11111111-2222-3333-4444-555555555555/resourceGroups/rg/providers/Microsoft.Network/virtualNetworks/v/virtualNetworkPeerings/p"
	for name, c := range map[string]struct {
		reason, observed, want string
		left                   []string
	}{
		"default": {"the service sets it", `{"properties":{"allowGatewayTransit":false,"allowForwardedTraffic":true}}`, `{"properties":{"allowForwardedTraffic":true}}`, []string{"properties.allowGatewayTransit"}},
		"other":   {"another value is a decision", `{"properties":{"allowGatewayTransit":true}}`, `{"properties":{"allowGatewayTransit":true}}`, nil},
		"empty":   {"an object without anything else goes", `{"properties":{"allowGatewayTransit":false}}`, `{}`, []string{"properties.allowGatewayTransit"}},
		"case":    {"names in any case", `{"properties":{"ALLOWGATEWAYTRANSIT":false,"x":1}}`, `{"properties":{"x":1}}`, []string{"properties.ALLOWGATEWAYTRANSIT"}},
		"list":    {"lists are stated whole", `{"properties":{"l":[{"allowGatewayTransit":false}]}}`, `{"properties":{"l":[{"allowGatewayTransit":false}]}}`, nil},
	} {
		t.Run(name, func(t *testing.T) {
			id, err := resource.ParseID(account)
			if err != nil {
				t.Fatal(err)
			}
			before := decoded(t, c.observed)
			got, left := drift.WithoutDefaults(id, "2023-05-01", before)
			if diff := cmp.Diff(decoded(t, c.want), got); diff != "" {
				t.Errorf("%s (-want +got)\n%s", c.reason, diff)
			}
			if diff := cmp.Diff(c.left, left); diff != "" {
				t.Errorf("%s: left out (-want +got)\n%s", c.reason, diff)
			}
			if diff := cmp.Diff(decoded(t, c.observed), before); diff != "" {
				t.Errorf("the body was changed\n%s", diff)
			}
		})
	}
}

// TestUnshown checks which properties a manifest has to state before the resource can be
// created from it.
func TestUnshown(t *testing.T) {
	const group = "/subscriptions/11111111-2222-3333-4444-555555555555/resourceGroups/rg/providers/"
	for name, c := range map[string]struct {
		reason, id, version, observed string
		want                          []string
	}{
		"password":  {"a GET never shows it", group + "Microsoft.Sql/servers/s", "2021-11-01", `{"properties":{"administratorLogin":"a"}}`, []string{"properties.administratorLoginPassword"}},
		"shown":     {"what a GET shows is no such property", group + "Microsoft.Sql/servers/s", "2021-11-01", `{"properties":{"administratorLoginPassword":"` + resource.MaskPrefix + `00"}}`, nil},
		"no object": {"without the object there is none of its members", group + "Microsoft.Sql/servers/s", "2021-11-01", `{"location":"westus2"}`, nil},
		"inside": {"members of a write-only object that is shown are not listed, the objects beside it are", group + "Microsoft.NotificationHubs/namespaces/n/notificationHubs/h", "2023-09-01", `{"properties":{"admCredential":{"properties":{}}}}`, []string{
			"properties.apnsCredential", "properties.baiduCredential", "properties.browserCredential", "properties.gcmCredential",
			"properties.mpnsCredential", "properties.wnsCredential", "properties.xiaomiCredential",
		}},
		"unknown": {"nothing is published", group + "Contoso.Things/things/t", "2021-11-01", `{"properties":{}}`, nil},
	} {
		t.Run(name, func(t *testing.T) {
			id, err := resource.ParseID(c.id)
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(c.want, drift.Unshown(id, c.version, decoded(t, c.observed))); diff != "" {
				t.Errorf("%s (-want +got)\n%s", c.reason, diff)
			}
		})
	}
}
