package starter

import (
	"strings"
	"testing"

	"github.com/armature-io/armature/activities"
	"github.com/armature-io/armature/resource"
)

// TestPageLinks verifies that an output for people ends with one address, and that no other
// output has any.
func TestPageLinks(t *testing.T) {
	const base = "https://armature.example.com"
	ofDatabase := "page: " + base + "/resource?id=" + database + "\n"
	cases := map[string]struct {
		reason   string
		base     string
		args     []string
		terminal bool
		out, err string
	}{
		"one":           {reason: "its own page", base: base, args: []string{"get", database}, err: ofDatabase},
		"all":           {reason: "the overview", base: base + "/", args: []string{"get"}, err: "page: " + base + "/\n"},
		"labels":        {reason: "the overview of the labels", base: base, args: []string{"get", "-l", "stack=prod,team=data"}, err: "page: " + base + "/?label=stack=prod,team=data\n"},
		"why":           {reason: "the chain is on its page", base: base, args: []string{"why", database}, err: ofDatabase},
		"why all":       {reason: "one resource is not Ready", base: base, args: []string{"why"}, err: ofDatabase},
		"describe":      {reason: "more about it", base: base, args: []string{"describe", database}, err: ofDatabase},
		"failed wait":   {reason: "what is not Ready", base: base, args: []string{"wait", "--timeout", "2s"}, err: ofDatabase},
		"terminal":      {reason: "a terminal opens it", base: base, args: []string{"describe", database}, terminal: true, out: "page: \x1b]8;;" + base + "/resource?id=" + database + "\x1b\\" + base + "/resource?id=" + database + "\x1b]8;;\x1b\\\n"},
		"json":          {reason: "programs read it", base: base, args: []string{"get", "-o", "json"}},
		"json describe": {reason: "programs read it", base: base, args: []string{"describe", database, "-o", "json"}},
		"json why":      {reason: "programs read it", base: base, args: []string{"why", "-o", "json"}},
		"no base":       {reason: "nobody serves pages", args: []string{"get"}},
		"bad base":      {reason: "a link that leads nowhere is worse than none", base: "armature.example.com", args: []string{"get"}, err: "note: no link to a page: ARMATURE_UI is \"armature.example.com\""},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			w := newWorld()
			w.temporal.manage(t, database, blockedStatus(t))
			w.temporal.manage(t, cluster, readyStatus())
			w.environment = append(w.environment, pageVariable+"="+tc.base)
			w.terminal = tc.terminal
			w.run(tc.args...)
			for stream, want := range map[string]string{w.out.String(): tc.out, w.err.String(): tc.err} {
				if !strings.Contains(stream, want) || strings.Count(stream, base) > 0 && want == "" || strings.Count(stream, "page: ") > 1 {
					t.Errorf("%s: want %q in\n%q", tc.reason, want, stream)
				}
			}
		})
	}
}

// TestPageLinkOfPlan verifies the link of a plan: to the resource that it changes.
func TestPageLinkOfPlan(t *testing.T) {
	w := newWorld()
	w.environment = append(w.environment, pageVariable+"=http://127.0.0.1:8420")
	w.temporal.plans = map[string]activities.PlanResourceResult{"telemetry": {Action: activities.PlanCreate, Reason: resource.ReasonNotFound}}
	w.run("plan", "-f", adx(t))
	if want := "page: http://127.0.0.1:8420/resource?id=" + database + "\n"; !strings.Contains(w.err.String(), want) {
		t.Errorf("want %q in\n%s%s", want, w.out, w.err)
	}
}
