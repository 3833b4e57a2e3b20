package feed_test

import (
	"slices"
	"testing"
	"time"

	"github.com/armature-io/armature/activities/feed"
	"github.com/armature-io/armature/extensions"
	"github.com/armature-io/armature/resource"
)

const group = "/subscriptions/11111111-1111-1111-1111-111111111111/resourceGroups/g"

func parse(t *testing.T, text string) resource.ID {
	t.Helper()
	id, err := resource.ParseID(text)
	if err != nil {
		t.Fatal(err)
	}
	return id
}

// facts are those of networks with inline subnets, and of databases with a failover.
func facts(resourceType string) extensions.Facts {
	switch resourceType {
	case "Microsoft.Network/virtualNetworks":
		return extensions.Facts{InlineLists: []extensions.InlineList{{Path: "properties.subnets", Types: []string{"subnets"}}}}
	case "Microsoft.Sql/servers/databases":
		return extensions.Facts{WakingActions: []extensions.Actions{{Names: []string{"failover"}}}}
	}
	return extensions.Facts{}
}

// TestTargets shows which resources a report concerns.
func TestTargets(t *testing.T) {
	network := group + "/providers/Microsoft.Network/virtualNetworks/n"
	database := group + "/providers/Microsoft.Sql/servers/s/databases/d"
	lock := network + "/providers/Microsoft.Authorization/locks/l"
	for name, tc := range map[string]struct {
		id, operation string
		kind          resource.ChangeKind
		want          []string
		parts         bool
	}{
		"a resource":               {id: database, kind: resource.ChangeUpdate, want: []string{database}},
		"a parent of parts":        {id: network, kind: resource.ChangeUpdate, want: []string{network}, parts: true},
		"a part":                   {id: network + "/subnets/a", kind: resource.ChangeDelete, want: []string{network + "/subnets/a", network}},
		"a child that no body has": {id: network + "/virtualNetworkPeerings/p", kind: resource.ChangeCreate, want: []string{network + "/virtualNetworkPeerings/p"}},
		"an extension resource":    {id: lock, kind: resource.ChangeCreate, want: []string{lock}},
		"an action that wakes":     {id: database, kind: resource.ChangeAction, operation: "microsoft.sql/servers/databases/FAILOVER/action", want: []string{database}},
		"another action":           {id: database, kind: resource.ChangeAction, operation: "Microsoft.Sql/servers/databases/export/action"},
		"a list action":            {id: network, kind: resource.ChangeAction, operation: "Microsoft.Storage/storageAccounts/listKeys/action"},
	} {
		t.Run(name, func(t *testing.T) {
			targets := feed.Targets([]feed.Change{{ID: parse(t, tc.id), ReportedChange: resource.ReportedChange{Kind: tc.kind, Operation: tc.operation}}}, facts)
			var got []string
			for _, target := range targets {
				got = append(got, target.ID.String())
			}
			if !slices.Equal(got, tc.want) {
				t.Fatalf("targets %q, want %q", got, tc.want)
			}
			if len(targets) > 0 && targets[0].Parts != tc.parts {
				t.Errorf("parts %t, want %t", targets[0].Parts, tc.parts)
			}
		})
	}
}

// Reports of one resource come as one target: in order, each once, the last of many.
func TestTargetsCollect(t *testing.T) {
	id, begin := parse(t, group+"/providers/Microsoft.Sql/servers/s"), time.Date(2026, 1, 2, 3, 0, 0, 0, time.UTC)
	var changes []feed.Change
	for i := range 12 {
		change := feed.Change{ID: id, ReportedChange: resource.ReportedChange{Kind: resource.ChangeUpdate, At: begin.Add(time.Duration((i*5)%12) * time.Second)}}
		changes = append(changes, change, change)
	}
	targets := feed.Targets(changes, facts)
	if len(targets) != 1 || len(targets[0].Reports) != resource.MaxReportedChanges {
		t.Fatalf("targets %+v, want one with %d reports", targets, resource.MaxReportedChanges)
	}
	for i, report := range targets[0].Reports {
		if want := begin.Add(time.Duration(4+i) * time.Second); !report.At.Equal(want) {
			t.Errorf("report %d is from %s, want %s", i, report.At, want)
		}
	}
}
