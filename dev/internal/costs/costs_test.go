package costs_test

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/armature-io/armature/dev/internal/costs"
)

func TestDeviations(t *testing.T) {
	cases := map[string]struct {
		reason string
		change func(costs.Figures)
		want   []string
	}{
		"within the limits": {reason: "figures within the limits are fine", change: func(costs.Figures) {}},
		"more": {
			reason: "one more request in a pass is a decision",
			change: func(f costs.Figures) { f["requests.steady.get"]++ },
			want:   []string{"requests.steady.get is 2, want 1 to 1"},
		},
		"less": {
			reason: "a saving must be recorded, or it gets lost unnoticed",
			change: func(f costs.Figures) { f["history.steady.events"]-- },
			want:   []string{"history.steady.events is 8, want 9 to 9"},
		},
		"not measured": {
			reason: "a limit without a measurement guards nothing",
			change: func(f costs.Figures) { delete(f, "requests.plan.put") },
			want:   []string{"requests.plan.put was not measured"},
		},
		"not in the table": {
			reason: "a figure without a limit guards nothing",
			change: func(f costs.Figures) { f["history.more"] = 3 },
			want:   []string{"history.more is 3 but has no limit"},
		},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			figures := costs.Figures{}
			for figure, limit := range costs.Limits() {
				figures[figure] = limit.Low
			}
			tc.change(figures)
			if diff := cmp.Diff(tc.want, figures.Deviations()); diff != "" {
				t.Errorf("%s (-want +got):\n%s", tc.reason, diff)
			}
		})
	}
}
