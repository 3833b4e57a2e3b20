package backend

import (
	"strings"
	"testing"
	"time"

	"github.com/armature-io/armature/activities"
	"github.com/armature-io/armature/resource"
	"github.com/armature-io/armature/types"
)

func TestAPIVersionFindings(t *testing.T) {
	record := func(kind, version string) Record {
		id, err := resource.ParseID("/subscriptions/s/resourceGroups/g/providers/" + kind + "/x")
		if err != nil {
			t.Fatal(err)
		}
		return Record{ID: id, APIVersion: version}
	}
	const account = "microsoft.storage/storageaccounts"
	newest := types.Newest(account)
	cases := map[string]struct {
		reason  string
		records []Record
		now     string
		want    []string
	}{
		"none":  {"nothing is managed", nil, "2026-01-01", []string{"ok those of 0 managed types"}},
		"young": {"within two years", []Record{record(account, "2024-01-01")}, "2025-12-31", []string{"ok those of 1 managed type "}},
		"old": {"with the number of resources, in one line for a type", []Record{
			record(account, "2019-06-01"), record(account, "2019-06-01"), record(account, "2021-01-01"), record(account, newest),
		}, "2030-01-01", []string{"warn Microsoft.Storage/storageAccounts: 2019-06-01 (2 resources) is older than 2 years, 2021-01-01 (1 resource) is older than 2 years"}},
		"gone":          {"a version that is not published", []Record{record(account, "2019-06-02")}, "2019-12-01", []string{"warn Microsoft.Storage/storageAccounts: 2019-06-02 (1 resource) is not published any more"}},
		"newest":        {"no newer one exists", []Record{record(account, newest)}, "2050-01-01", []string{"ok"}},
		"newer":         {"published after this release", []Record{record(account, "2099-01-01")}, "2150-01-01", []string{"ok"}},
		"not published": {"nothing is known about the type", []Record{record("Contoso.Things/things", "2001-01-01")}, "2050-01-01", []string{"ok those of 0"}},
	}
	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			now, err := time.Parse(time.DateOnly, c.now)
			if err != nil {
				t.Fatal(err)
			}
			got := APIVersionFindings(c.records, now)
			if len(got) != len(c.want) {
				t.Fatalf("%s: %+v", c.reason, got)
			}
			for i, want := range c.want {
				if text := string(got[i].State) + " " + got[i].Message; !strings.HasPrefix(text, want) {
					t.Errorf("%s: got %q, want %q", c.reason, text, want)
				}
				if got[i].State == activities.FindingWarn && !strings.Contains(got[i].Advice, newest) {
					t.Errorf("%s: the advice does not name %s: %s", c.reason, newest, got[i].Advice)
				}
			}
		})
	}
}
