package resource

import "testing"

func TestObserved(t *testing.T) {
	t.Parallel()
	stack := func(name string) map[string]string { return map[string]string{"stack": name, "env": "prod"} }
	cases := map[string]struct {
		reason, setting string
		labels          map[string]string
		policy          Policy
		want            Policy
		origin          string
	}{
		"Off":       {"without the setting the manifest decides", "", stack("crowd"), PolicyManage, PolicyManage, "policy manage"},
		"All":       {"true matches a resource without labels too", "true", nil, PolicyManage, PolicyObserve, "the worker's setting observe: true"},
		"Match":     {"a selector matches", "stack=crowd", stack("crowd"), PolicyManage, PolicyObserve, "the worker's setting observe: stack=crowd"},
		"Other":     {"another value does not", "stack=crowd", stack("quiet"), PolicyManage, PolicyManage, "policy manage"},
		"Second":    {"one of several matches, and is named alone", "stack=crowd; stack=quiet,env=prod", stack("quiet"), PolicyManage, PolicyObserve, "the worker's setting observe: stack=quiet,env=prod"},
		"AllPairs":  {"all pairs of a selector must match", "stack=quiet,env=test", stack("quiet"), PolicyManage, PolicyManage, "policy manage"},
		"Unlabeled": {"a resource without the label is not observed", "stack=crowd", nil, PolicyManage, PolicyManage, "policy manage"},
		"Protect":   {"the setting outranks every other policy", "true", nil, PolicyProtect, PolicyObserve, "the worker's setting observe: true"},
		"Manifest":  {"the manifest is named if it observes: without the setting it still does", "true", nil, PolicyObserve, PolicyObserve, "policy observe"},
	}
	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			observed, err := ParseObserved(c.setting)
			if err != nil {
				t.Fatal(err)
			}
			policy, origin := observed.PolicyOf(Desired{Labels: c.labels, Policy: c.policy})
			if policy != c.want || origin != c.origin {
				t.Errorf("%s: %s, %q, want %s, %q", c.reason, policy, origin, c.want, c.origin)
			}
		})
	}
	for _, setting := range []string{"yes", "stack=crowd;", ";", "stack", "stack='crowd'", "true;stack=crowd"} {
		if observed, err := ParseObserved(setting); err == nil {
			t.Errorf("%q is accepted: %v", setting, observed)
		}
	}
}
