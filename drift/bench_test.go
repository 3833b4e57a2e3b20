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

// BenchmarkForeign compares bodies of 10 and 200 KB of which the manifest states half, and looks
// for values of others in the rest, as each pass does: after a GET with the same answer as after
// the last PUT, and with another one.
func BenchmarkForeign(b *testing.B) {
	for _, leaves := range []int{500, 10000} {
		observed, desired := large(b, leaves, "a value of some length"), large(b, leaves, "a value of some length")
		for _, group := range desired["properties"].(map[string]any) {
			group := group.(map[string]any)
			delete(group, "zones")
			delete(group, "note")
			delete(group, "subnetId")
			for _, item := range group["items"].([]any) {
				delete(item.(map[string]any), "enabled")
				delete(item.(map[string]any), "mode")
			}
		}
		raw, err := json.Marshal(observed)
		if err != nil {
			b.Fatal(err)
		}
		opts := drift.Options{APIVersion: "2024-01-01", Key: []byte("k"), KeepOthers: true}
		put := opts
		put.Put, put.Sent, put.Answer = true, true, raw
		opts.Baseline = drift.NewBaseline(desired, observed, put)
		name := fmt.Sprintf("/leaves=%d/KB=%d", leaves, len(raw)/1000)
		b.Run("compare"+name, func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				if result := drift.Compare(desired, observed, opts); !result.InSync {
					b.Fatal(result.Differences)
				}
			}
		})
		for reason, answer := range map[string][]byte{"unchanged": raw, "changed": append([]byte(" "), raw...)} {
			b.Run("foreign, "+reason+name, func(b *testing.B) {
				opts := opts
				opts.Answer = answer
				b.ReportAllocs()
				for b.Loop() {
					if found, _ := drift.Foreign(desired, observed, opts); len(found) > 0 {
						b.Fatal(found)
					}
				}
			})
		}
	}
}
