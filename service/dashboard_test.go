package service

import (
	"encoding/json"
	"os"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/armature-io/armature/resource"
	"github.com/google/go-cmp/cmp"
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
				// Prometheus adds these to each metric that it scrapes.
				if !slices.Contains(append(labels, "job", "instance"), one[1]) {
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

// TestDashboardVariables checks that a panel shows what its variables select, from the data
// source that they select, and that each of its series has a name.
func TestDashboardVariables(t *testing.T) {
	content, err := os.ReadFile("../deploy/grafana/dashboards/armature.json")
	if err != nil {
		t.Fatal(err)
	}
	type source struct{ UID string }
	var dashboard struct {
		Templating struct {
			List []struct{ Name, Type, Definition string }
		}
		Panels []struct {
			Title, Description string
			Datasource         source
			Targets            []struct {
				Expr, LegendFormat string
				Datasource         source
			}
		}
	}
	if err := json.Unmarshal(content, &dashboard); err != nil {
		t.Fatal(err)
	}
	var variables []string
	for _, variable := range dashboard.Templating.List {
		variables = append(variables, variable.Name)
	}
	if diff := cmp.Diff([]string{"datasource", "job", "instance", "label"}, variables); diff != "" {
		t.Errorf("the variables (-want +got):\n%s", diff)
	}
	for _, panel := range dashboard.Panels {
		if panel.Title == "" || panel.Description == "" || len(panel.Targets) == 0 || panel.Datasource.UID != "${datasource}" {
			t.Errorf("panel %q has no title, description, target or selected data source", panel.Title)
		}
		for _, target := range panel.Targets {
			if target.LegendFormat == "" || strings.HasPrefix(target.LegendFormat, "__") {
				t.Errorf("panel %q: a series of %s has no name", panel.Title, target.Expr)
			}
			if target.Datasource.UID != "${datasource}" || !strings.Contains(target.Expr, `job=~"$job"`) {
				t.Errorf("panel %q: %s does not follow the variables", panel.Title, target.Expr)
			}
		}
	}
}
