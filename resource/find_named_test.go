package resource

import (
	"slices"
	"testing"
)

// TestFindNamed verifies what a user's name means among resources.
func TestFindNamed(t *testing.T) {
	const rg = "/subscriptions/11111111-2222-3333-4444-555555555555/resourceGroups/"
	names := map[string]string{
		rg + "rg1": "rg1",
		rg + "rg1/providers/Microsoft.Kusto/clusters/adx":                     "main",
		rg + "rg1/providers/Microsoft.Kusto/clusters/adx/databases/telemetry": "telemetry",
		rg + "adx/providers/Microsoft.Web/sites/telemetry":                    "telemetry",
		"/providers/Microsoft.Management/managementGroups/top":                "top",
		rg + "rg2/providers/Microsoft.Web/sites/main":                         "main",
		rg + "rg2/providers/Microsoft.Kusto/clusters/other/databases/logs":    "logs",
	}
	var ids []ID
	for text := range names {
		id, err := ParseID(text)
		if err != nil {
			t.Fatal(err)
		}
		ids = append(ids, id)
	}
	slices.SortFunc(ids, func(a, b ID) int { return len(a.String()) - len(b.String()) })
	cases := map[string]struct {
		reason string
		name   string
		want   []string
	}{
		"own name":          {reason: "a resource group has its own name", name: "rg1", want: []string{"rg1"}},
		"name of a group":   {reason: "and none behind itself", name: "top", want: []string{"top"}},
		"chain before last": {reason: "the chain of names comes before the last name", name: "telemetry", want: []string{"adx/telemetry"}},
		"chain or group":    {reason: "a child of adx, and a site in the group adx", name: "adx/telemetry", want: []string{"adx/telemetry", "rg1/adx/telemetry"}},
		"group and chain":   {reason: "the child alone", name: "RG1/ADX/telemetry", want: []string{"rg1/adx/telemetry"}},
		"group, last name":  {reason: "one level may be left out", name: "rg2/logs", want: []string{"rg2/other/logs"}},
		"last name":         {reason: "it is the third way", name: "logs", want: []string{"rg2/other/logs"}},
		"manifest's name":   {reason: "the chain of names comes before it", name: "main", want: []string{"rg2/main"}},
		"group, manifest":   {reason: "behind the group it means one", name: "rg1/main", want: []string{"rg1/adx"}},
		"other group":       {reason: "nothing is there", name: "rg2/adx"},
		"empty":             {reason: "a variable that is not set", name: ""},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			found := FindNamed(ids, tc.name, func(id ID) (ID, string) { return id, names[id.String()] })
			var got []string
			for _, id := range found {
				got = append(got, id.GroupName())
				if again := FindNamed(ids, id.GroupName(), func(id ID) (ID, string) { return id, names[id.String()] }); !slices.ContainsFunc(again, id.Equal) {
					t.Errorf("%s does not find %s", id.GroupName(), id)
				}
			}
			slices.Sort(got)
			if !slices.Equal(got, tc.want) {
				t.Errorf("%s: found %v, want %v", tc.reason, got, tc.want)
			}
		})
	}
}

// TestHasGroup verifies which names state the resource group.
func TestHasGroup(t *testing.T) {
	id, err := ParseID("/subscriptions/11111111-2222-3333-4444-555555555555/resourceGroups/rg1/providers/Microsoft.Kusto/clusters/adx/databases/telemetry")
	if err != nil {
		t.Fatal(err)
	}
	for name, want := range map[string]bool{
		"rg1/adx/telemetry": true, "RG1/telemetry": true, "rg1/main": true, "adx/telemetry": false, "telemetry": false, "rg1/": false, "rg1/adx": false, "rg2/telemetry": false,
	} {
		if got := HasGroup(id, "main", name); got != want {
			t.Errorf("HasGroup of %q = %v, want %v", name, got, want)
		}
	}
}
