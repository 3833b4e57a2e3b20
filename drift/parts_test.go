package drift_test

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/armature-io/armature/drift"
)

// siteFacts are those of a site: its configuration and its settings are parts.
func siteFacts() drift.Facts {
	return drift.Facts{
		Parts: []drift.Part{
			{Path: "properties.siteConfig", Child: "config/web"},
			{Path: "properties.siteConfig.appSettings", Child: "config/appsettings", Action: "list", Value: "value", Whole: true},
			{Path: "properties.siteConfig.azureStorageAccounts", Child: "config/azurestorageaccounts", Action: "list", Whole: true},
		},
		Properties:  []drift.PropertyFact{{Path: "properties.siteConfig.ipSecurityRestrictions", Implied: "priority=2147483647"}},
		SharedLists: []drift.SharedList{{Paths: []string{"properties.siteConfig.appSettings"}, Key: "name"}},
	}
}

const (
	configPart   = "properties.siteConfig"
	settingsPart = "properties.siteConfig.appSettings"
)

func siteOptions(completed ...string) drift.Options {
	return drift.Options{Type: "Microsoft.Web/sites", APIVersion: "2023-12-01", Facts: siteFacts(), Completed: completed, KeepOthers: true, Key: []byte("key")}
}

// TestStatedParts checks which parts a manifest needs.
func TestStatedParts(t *testing.T) {
	for body, want := range map[string]string{
		`{"properties":{"httpsOnly":true}}`:                                                       "",
		`{"properties":{"siteConfig":{"minTlsVersion":"1.2"}}}`:                                   configPart,
		`{"properties":{"SITECONFIG":{"AppSettings":[]}}}`:                                        settingsPart,
		`{"properties":{"siteConfig":{"appSettings":[],"cors":{}}}}`:                              configPart + " " + settingsPart,
		`{"properties":{"siteConfig":{"azureStorageAccounts":{"a":{}}}}}`:                         "properties.siteConfig.azureStorageAccounts",
		`{"properties":{"siteConfig":null}}`:                                                      "",
		`{"properties":{"siteConfig":{"minTlsVersion":null,"appSettings":null}},"siteConfig":{}}`: "",
	} {
		var got []string
		for _, part := range siteFacts().StatedParts(object(t, body)) {
			got = append(got, part.Path)
		}
		if strings.Join(got, " ") != want {
			t.Errorf("%s: got %v, want %s", body, got, want)
		}
	}
}

// TestCompletePart checks the forms of the answers.
func TestCompletePart(t *testing.T) {
	for _, c := range []struct {
		part               drift.Part
		body, answer, want string
	}{
		{drift.Part{Path: settingsPart, Value: "value"}, `{}`, `{"B":"2","A":"1"}`, `{"properties":{"siteConfig":{"appSettings":[{"name":"A","value":"1"},{"name":"B","value":"2"}]}}}`},
		{drift.Part{Path: "properties.siteConfig.connectionStrings", Value: "connectionString"}, `{"properties":{"siteConfig":{"alwaysOn":true,"connectionstrings":null}}}`, `{"C":{"value":"x","type":"Custom"}}`,
			`{"properties":{"siteConfig":{"alwaysOn":true,"connectionstrings":[{"connectionString":"x","name":"C","type":"Custom"}]}}}`},
		{drift.Part{Path: configPart}, `{"properties":{"siteConfig":null}}`, `{"minTlsVersion":"1.2"}`, `{"properties":{"siteConfig":{"minTlsVersion":"1.2"}}}`},
		{drift.Part{Path: settingsPart, Value: "value"}, `{}`, `{}`, `{"properties":{"siteConfig":{"appSettings":[]}}}`},
	} {
		body := object(t, c.body)
		c.part.Complete(body, object(t, c.answer))
		if got, _ := json.Marshal(body); string(got) != c.want {
			t.Errorf("%s: got %s, want %s", c.part.Path, got, c.want)
		}
	}
}

// TestUnverifiedParts follows a site from a PUT through reads with and without its parts: what
// is not read is no difference and in no correction, and what changed meanwhile is seen later.
func TestUnverifiedParts(t *testing.T) {
	desired := object(t, `{"properties":{"httpsOnly":true,"siteConfig":{"minTlsVersion":"1.2","appSettings":[{"name":"A","value":"1"}]}}}`)
	after := object(t, `{"id":"/x","properties":{"httpsOnly":true,"siteConfig":{"minTlsVersion":"1.2","http20Enabled":false,"appSettings":[{"name":"A","value":"1"}]}}}`)
	blind := object(t, `{"id":"/x","properties":{"httpsOnly":false,"siteConfig":{"minTlsVersion":null,"appSettings":null}}}`)
	changed := object(t, `{"id":"/x","properties":{"httpsOnly":true,"siteConfig":{"minTlsVersion":"1.0","http20Enabled":true,"appSettings":[{"name":"A","value":"2"},{"name":"B","value":"3"}]}}}`)
	put := siteOptions(configPart, settingsPart)
	put.Put, put.Sent = true, true
	baseline := drift.NewBaseline(desired, after, put)

	opts := siteOptions()
	opts.Baseline, opts.Hold = baseline, true
	found := drift.Compare(desired, blind, opts)
	if got := differingPaths(found); got != "properties.httpsOnly" || fmt.Sprint(found.Unverified) != "[properties.siteConfig.appSettings properties.siteConfig.minTlsVersion]" {
		t.Errorf("without its parts: differences %s, unverified %v", got, found.Unverified)
	}
	if got, _ := json.Marshal(drift.Body(desired, desired, blind, opts).Body); string(got) != `{"properties":{"httpsOnly":true}}` {
		t.Errorf("a correction without the parts sends %s", got)
	}
	opts.Hold = false
	if got, _ := json.Marshal(drift.Body(desired, desired, blind, opts).Body); !strings.Contains(string(got), `"value":"1"`) {
		t.Errorf("a PUT that a user requested sends %s", got)
	}
	edited := object(t, `{"properties":{"httpsOnly":true,"siteConfig":{"minTlsVersion":"1.2","appSettings":[{"name":"A","value":"9"}]}}}`)
	if found := drift.Compare(edited, blind, opts); !strings.Contains(differingPaths(found), settingsPart) {
		t.Errorf("a change of the manifest is not seen: %s", differingPaths(found))
	}

	opts = siteOptions(configPart, settingsPart)
	opts.Baseline, opts.Hold = baseline.WithoutEnded(found), true
	if got := differingPaths(drift.Compare(desired, changed, opts)); got != "properties.siteConfig.appSettings[name=A].value properties.siteConfig.minTlsVersion" {
		t.Errorf("with its parts again: %s", got)
	}
	sent, _ := json.Marshal(drift.Body(desired, desired, changed, opts).Body)
	if want := `{"properties":{"httpsOnly":true,"siteConfig":{"appSettings":[{"name":"A","value":"1"},{"name":"B","value":"3"}],"minTlsVersion":"1.2"}}}`; string(sent) != want {
		t.Errorf("the correction sends %s, want %s", sent, want)
	}
	foreign, _ := drift.Foreign(desired, changed, opts)
	if got := fmt.Sprint(foreign); !strings.Contains(got, "appSettings[name=B]") || !strings.Contains(got, "http20Enabled") || len(foreign) != 2 {
		t.Errorf("the values of others are %s", got)
	}
	unread := siteOptions()
	unread.Put, unread.Sent = true, true
	opts.Baseline = drift.NewBaseline(desired, blind, unread)
	if foreign, _ := drift.Foreign(desired, changed, opts); len(foreign) > 0 {
		t.Errorf("values of a part that was not read after the PUT are foreign: %v", foreign)
	}
	if drops := drift.DropsOf(desired, changed, opts); len(drops.Paths) > 0 {
		t.Errorf("the correction drops %v", drops.Paths)
	}
}

// TestImpliedItem checks that the item which the service adds to a list is no difference and
// in no body, unless the manifest states it.
func TestImpliedItem(t *testing.T) {
	desired := object(t, `{"properties":{"siteConfig":{"ipSecurityRestrictions":[{"name":"a","priority":1}]}}}`)
	before := object(t, `{"id":"/x","properties":{"siteConfig":{"ipSecurityRestrictions":[{"name":"a","priority":1}]}}}`)
	opened := object(t, `{"id":"/x","properties":{"siteConfig":{"ipSecurityRestrictions":[{"name":"Allow all","priority":2147483647}]}}}`)
	opts := siteOptions(configPart)
	opts.Put, opts.Sent = true, true
	baseline := drift.NewBaseline(desired, before, opts)
	opts = siteOptions(configPart)
	opts.Baseline, opts.Hold = baseline, true
	found := drift.Compare(desired, opened, opts)
	sent, _ := json.Marshal(drift.Body(desired, desired, opened, opts).Body)
	if got := differingPaths(found); got != "properties.siteConfig.ipSecurityRestrictions[name=a]" || len(found.Held.Paths) > 0 || strings.Contains(string(sent), "Allow all") {
		t.Errorf("differences %s, held %v, sent %s", got, found.Held.Paths, sent)
	}
	stated := object(t, `{"properties":{"siteConfig":{"ipSecurityRestrictions":[{"name":"Allow all","priority":2147483647}]}}}`)
	if found := drift.Compare(stated, opened, siteOptions(configPart)); !found.InSync {
		t.Errorf("a stated item: %s", differingPaths(found))
	}
}

// TestUnverifiable checks which hidden values a user is told about.
func TestUnverifiable(t *testing.T) {
	opts := drift.Options{Type: "Microsoft.Example/things", Facts: drift.Facts{Properties: []drift.PropertyFact{
		{Path: "properties.hidden", WriteOnly: true}, {Path: "properties.make", WriteOnly: true, OneShot: true}, {Path: "properties.shown", WriteOnly: true},
	}}}
	desired := object(t, `{"properties":{"hidden":{"a":1,"b":[{"c":2}],"password":{"$secret":"env:X"},"accessKey":"k","none":null},"make":"x","shown":1,"adminPassword":{"$secret":"env:Y"}}}`)
	found := drift.Compare(desired, object(t, `{"id":"/x","properties":{"shown":1}}`), opts)
	if want := []string{"properties.hidden.a", "properties.hidden.b"}; !slices.Equal(found.Unverified, want) || found.UnverifiedText() != "; 2 stated properties cannot be verified" {
		t.Errorf("got %v %q, want %v", found.Unverified, found.UnverifiedText(), want)
	}
}

func differingPaths(found drift.Result) string {
	var paths []string
	for _, d := range found.Differences {
		paths = append(paths, d.Path)
	}
	return strings.Join(paths, " ")
}
