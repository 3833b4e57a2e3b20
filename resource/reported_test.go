package resource

import (
	"testing"
)

func TestReportedAuthor(t *testing.T) {
	for _, tc := range []struct {
		author      ReportedAuthor
		text, label string
	}{
		{ReportedAuthor{Name: "alice@contoso.com", Type: "User", Client: "Azure Portal"}, "alice@contoso.com with Azure Portal", "a user with Azure Portal"},
		{ReportedAuthor{Name: "6d1f", Type: "Application"}, "application 6d1f", "an application"},
		{ReportedAuthor{Type: "User"}, "a user", "a user"},
		{ReportedAuthor{Client: "Azure CLI"}, "a writer with Azure CLI", "a writer with Azure CLI"},
		{ReportedAuthor{Name: "System", Type: "System"}, "Azure itself", "Azure itself"},
		{ReportedAuthor{}, "an unnamed writer", ""},
	} {
		if got := tc.author.String(); got != tc.text {
			t.Errorf("%+v is %q, want %q", tc.author, got, tc.text)
		}
		if got := tc.author.label(); got != tc.label {
			t.Errorf("label of %+v is %q, want %q", tc.author, got, tc.label)
		}
	}
}

// A source counts the items of a list, and a difference names them by their keys.
func TestReportedTouches(t *testing.T) {
	change := ReportedChange{}
	change.AddPaths([]string{"properties.subnets[3].properties.addressPrefix", "tags.Env", "properties.sku"})
	for path, want := range map[string]bool{
		"properties.subnets[name=a].properties.addressPrefix": true,
		"properties.subnets": true, "tags.env": true, "properties.sku.name": true,
		"properties.skuName": false, "tags": true, "location": false,
	} {
		if got := change.Touches(path); got != want {
			t.Errorf("the change touches %s: %t, want %t", path, got, want)
		}
	}
}

func TestReportedPathsAreBounded(t *testing.T) {
	var change ReportedChange
	for i := range 30 {
		change.AddPaths([]string{"a", string(rune('b' + i))})
	}
	if len(change.Paths) != MaxReportedPaths || change.MorePaths != 21 {
		t.Errorf("%d paths and %d more, want %d and 21", len(change.Paths), change.MorePaths, MaxReportedPaths)
	}
	if got, want := change.PathsText(), "a, b, c and 28 more"; got != want {
		t.Errorf("paths %q, want %q", got, want)
	}
}
