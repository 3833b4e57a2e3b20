package service

import (
	"os"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/armature-io/armature/resource"
)

// metricLabels returns the labels of Armature's metrics by name.
func metricLabels(t *testing.T) map[string][]string {
	t.Helper()
	found := map[string][]string{}
	for name, family := range sampled(t) {
		found[name] = labelNames(family)
	}
	return found
}

// TestDashboardAndAlerts checks that dashboard and alerts use metrics, labels and reasons
// that exist. (make test-postgres compares those of the SDK with a running worker.)
func TestDashboardAndAlerts(t *testing.T) {
	metrics := metricLabels(t)
	if len(metrics) < 4 {
		t.Fatalf("too few metrics found: %v", metrics)
	}
	used := regexp.MustCompile(`\b(armature_[a-z_]+?)(_bucket|_sum|_count)?\b(?:\{([^}]*)\})?`)
	label := regexp.MustCompile(`(\w+)(=~|!~|!=|=)\\?"([^"\\]*)`)
	for _, path := range []string{"../deploy/grafana/dashboards/armature.json", "../deploy/prometheus/alerts.yml"} {
		content, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		matches := used.FindAllStringSubmatch(strings.ReplaceAll(string(content), `\"`, `"`), -1)
		if len(matches) == 0 {
			t.Errorf("%s uses no metric of Armature", path)
		}
		for _, match := range matches {
			labels, found := metrics[match[1]]
			if !found {
				t.Errorf("%s: unknown metric %s", path, match[1])
			}
			for _, one := range label.FindAllStringSubmatch(match[3], -1) {
				if !slices.Contains(labels, one[1]) {
					t.Errorf("%s: metric %s has labels %v, not %s", path, match[1], labels, one[1])
				}
				if one[1] != "reason" {
					continue
				}
				for reason := range strings.SplitSeq(one[3], "|") {
					if !slices.ContainsFunc(resource.Reasons(), func(info resource.ReasonInfo) bool { return string(info.Reason) == reason }) {
						t.Errorf("%s: unknown reason %s", path, reason)
					}
				}
			}
		}
	}
}
