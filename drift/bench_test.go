package drift_test

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	"github.com/armature-io/armature/drift"
)

// large returns a body of about the number of leaves, 40 bytes each, in maps, keyed
// lists and lists of scalars.
func large(tb testing.TB, leaves int, value string) map[string]any {
	tb.Helper()
	groups := map[string]any{}
	for g := range leaves / 50 {
		var items []any
		for i := range 10 {
			items = append(items, map[string]any{
				"name": fmt.Sprintf("item-%d-%d", g, i), "enabled": true, "port": json.Number(fmt.Sprint(i)), "mode": value,
			})
		}
		groups[fmt.Sprintf("group%d", g)] = map[string]any{
			"items": items, "zones": []any{"1", "2", "3", "4", "5"}, "displayName": "the group with the number " + fmt.Sprint(g),
			"subnetId": fmt.Sprintf("/subscriptions/s/resourceGroups/rg/providers/Microsoft.Network/virtualNetworks/v/subnets/s%d", g),
			"location": "westus2", "size": json.Number(fmt.Sprint(g)), "note": value,
		}
	}
	return map[string]any{"location": "westus2", "properties": groups}
}

// BenchmarkCompare compares a body of 5,000 leaves and 200 KB, and one of twice the
// size: the time is linear if the ratio is two.
func BenchmarkCompare(b *testing.B) {
	for _, leaves := range []int{5000, 10000} {
		desired, observed := large(b, leaves, strings.Repeat("a value of some length ", 5)), large(b, leaves, strings.Repeat("a value of some length ", 5))
		for _, group := range observed["properties"].(map[string]any) {
			group.(map[string]any)["location"], group.(map[string]any)["added"] = "West US 2", true
		}
		raw, err := json.Marshal(desired)
		if err != nil {
			b.Fatal(err)
		}
		opts := drift.Options{APIVersion: "2024-01-01", Key: []byte("k"), Put: true}
		baseline := drift.NewBaseline(desired, observed, opts)
		for name, warm := range map[string]bool{"cold": false, "warm": true} {
			b.Run(fmt.Sprintf("%s/leaves=%d/KB=%d", name, leaves, len(raw)/1000), func(b *testing.B) {
				opts := opts
				if warm {
					opts.Baseline = baseline
				}
				b.ReportAllocs()
				for b.Loop() {
					if result := drift.Compare(desired, observed, opts); !result.InSync {
						b.Fatal(result.Differences)
					}
				}
			})
		}
		b.Run(fmt.Sprintf("baseline/leaves=%d/KB=%d", leaves, len(raw)/1000), func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				drift.NewBaseline(desired, observed, opts)
			}
		})
	}
}
