package workflows_test

import (
	"encoding/json"
	"fmt"
	"iter"
	"maps"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/armature-io/armature/armsim"
	"github.com/armature-io/armature/resource"
	"github.com/armature-io/armature/workflows"
	"go.temporal.io/sdk/temporal"
)

// disturbance is one way in which Azure differs from a store that shows each write at once.
type disturbance struct {
	name   string
	change func(*armsim.Options)
}

// disturbances returns the combinations of all values of all axes: each axis changes the
// simulator in one respect.
func disturbances(axes ...[]disturbance) iter.Seq[disturbance] {
	return func(yield func(disturbance) bool) {
		combine(disturbance{change: func(*armsim.Options) {}}, axes, yield)
	}
}

// combine yields first with each combination of the axes; it reports whether to go on.
func combine(first disturbance, axes [][]disturbance, yield func(disturbance) bool) bool {
	if len(axes) == 0 {
		return yield(first)
	}
	for _, next := range axes[0] {
		both := disturbance{
			name:   strings.TrimPrefix(first.name+", "+next.name, ", "),
			change: func(o *armsim.Options) { first.change(o); next.change(o) },
		}
		if !combine(both, axes[1:], yield) {
			return false
		}
	}
	return true
}

// readLag is for how long reads are older than a write.
func readLag(lag time.Duration) disturbance {
	return disturbance{fmt.Sprintf("reads lag %s", lag), func(o *armsim.Options) { o.ReadAfterWrite = lag }}
}

// listLag is for how long lists are older than a write.
func listLag(lag time.Duration) disturbance {
	return disturbance{fmt.Sprintf("lists lag %s", lag), func(o *armsim.Options) { o.ListLag = lag }}
}

// replicas serve reads in turn, of which the last one lags.
func replicas(n int) disturbance {
	return disturbance{fmt.Sprintf("%d replicas", n), func(o *armsim.Options) { o.Replicas = n }}
}

// operations take a time, with a result that the resource shows.
func operations(seconds float64) disturbance {
	return disturbance{fmt.Sprintf("operations of %g s", seconds), func(o *armsim.Options) {
		if seconds > 0 {
			o.Operations = []armsim.OperationRule{{Type: "*/*", Spec: armsim.OperationSpec{Shape: armsim.ShapeAsync, Seconds: seconds}}}
		}
	}}
}

// TestDisturbedReads creates resources under reads and lists that lag, and corrects a value
// that is changed three times outside Armature, twice to the same value. Each creation and
// each correction takes one PUT; nothing disappears, and no value counts as kept by Azure.
//
//guard:reads-after-a-put
func TestDisturbedReads(t *testing.T) {
	specs := map[string]struct{ id, version, body, after, path string }{
		"route table":  {"Microsoft.Network/routeTables/r1", "2024-05-01", `{"location":"westus2","properties":{"disableBgpRoutePropagation":true}}`, `false`, "properties.disableBgpRoutePropagation"},
		"storage":      {"Microsoft.Storage/storageAccounts/disturbed1", "2023-05-01", `{"location":"westus2","kind":"StorageV2","sku":{"name":"Standard_LRS"},"properties":{"minimumTlsVersion":"TLS1_2"}}`, `"TLS1_0"`, "properties.minimumTlsVersion"},
		"action group": {"Microsoft.Insights/actionGroups/a1", "2023-01-01", `{"location":"Global","properties":{"groupShortName":"a1","enabled":true}}`, `false`, "properties.enabled"},
		"unpublished":  {"Contoso.Things/things/t1", "2024-01-01", `{"location":"westus2","properties":{"size":1}}`, `7`, "properties.size"},
		"tags":         {"Microsoft.ManagedIdentity/userAssignedIdentities/i1", "2023-01-31", `{"location":"westus2","tags":{"team":"a"}}`, `"b"`, "tags.team"},
		"cosmos":       {"Microsoft.DocumentDB/databaseAccounts/disturbed2", "2024-05-15", `{"location":"westus2","kind":"GlobalDocumentDB","properties":{"databaseAccountOfferType":"Standard","enableFreeTier":false,"locations":[{"locationName":"West US 2","failoverPriority":0}],"minimalTlsVersion":"Tls12"}}`, `"Tls"`, "properties.minimalTlsVersion"},
	}
	axes := [][]disturbance{
		{readLag(5 * time.Second), readLag(20 * time.Second), readLag(45 * time.Second)},
		{replicas(1), replicas(2), replicas(3)},
		{listLag(0), listLag(90 * time.Second)},
		{operations(0), operations(60)},
	}
	n := 0
	for _, name := range slices.Sorted(maps.Keys(specs)) {
		c := specs[name]
		for d := range disturbances(axes...) {
			// 11 shares no factor with the lengths of the axes: the sample has each of their values.
			if n++; testing.Short() && n%11 != 0 {
				continue
			}
			t.Run(name+", "+d.name, func(t *testing.T) {
				t.Parallel()
				spec := specOf(c.id, c.version, c.body)
				spec.Interval = 20 * time.Minute
				s := newSimulated(t, spec, d.change)
				s.apply(spec)
				patch, value := map[string]any{}, any(nil)
				at := patch
				steps := strings.Split(c.path, ".")
				for _, step := range steps[:len(steps)-1] {
					next := map[string]any{}
					at[step], at = next, next
				}
				must(t, json.Unmarshal([]byte(c.after), &value))
				at[steps[len(steps)-1]] = value
				changes := []time.Duration{time.Hour, 2 * time.Hour, 3 * time.Hour}
				for _, when := range changes {
					s.after(when, func(sim *armsim.Simulator) { must(t, sim.Patch(spec.ID.String(), patch)) })
				}
				// Users look often, while replicas still disagree.
				for _, when := range append([]time.Duration{0}, changes[:2]...) {
					for offset := time.Second; offset < 2*time.Minute; offset += 7 * time.Second {
						s.at(when+offset, workflows.ReconcileUpdate, workflows.ReconcileInput{By: "tester"})
					}
				}
				var seen []*workflows.Status
				for when := 5 * time.Minute; when < 4*time.Hour; when += 5 * time.Minute {
					seen = append(seen, s.statusAt(when))
				}
				s.start(4 * time.Hour)
				if err := s.GetWorkflowError(); !temporal.IsCanceledError(err) {
					t.Errorf("the run ended with %v", err)
				}
				if got := s.requests("PUT", spec.ID); got != 1+len(changes) {
					t.Errorf("%d PUTs, want 1 to create it and %d to correct it", got, len(changes))
				}
				for _, status := range seen {
					if reason := status.Condition.Reason; reason == resource.ReasonDisappeared || reason == resource.ReasonChangeNotTaken || len(status.Kept) > 0 {
						t.Errorf("pass %d: %s %s, kept %v", status.Pass, reason, status.Condition.Message, status.Kept)
						break
					}
				}
				if last := seen[len(seen)-1]; !last.Condition.Ready {
					t.Errorf("at the end %s: %s", last.Condition.Reason, last.Condition.Message)
				}
			})
		}
	}
}
