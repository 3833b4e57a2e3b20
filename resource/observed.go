package resource

import (
	"fmt"
	"strings"
)

// Observed are the selectors of the resources that a worker only observes, whatever the policy of
// their manifests: nothing is written and nothing is deleted. Nil selects none.
type Observed []observedSelector

// observedSelector is a selector with its text in the setting.
type observedSelector struct {
	text     string
	selector Selector
}

// ObserveAll is the setting that observes every resource.
const ObserveAll = "true"

// ParseObserved parses ObserveAll or selectors k=v,k=v, separated by semicolons; "" is none.
func ParseObserved(setting string) (Observed, error) {
	switch setting {
	case "":
		return nil, nil
	case ObserveAll:
		return Observed{{text: ObserveAll}}, nil
	}
	var observed Observed
	for _, text := range strings.Split(setting, ";") {
		text = strings.TrimSpace(text)
		if text == "" {
			return nil, fmt.Errorf("read %q: a selector is empty; write %s for every resource, or key=value,key=value, separated by semicolons", setting, ObserveAll)
		}
		selector, err := ParseSelector(text)
		if err != nil {
			return nil, err
		}
		observed = append(observed, observedSelector{text, selector})
	}
	return observed, nil
}

// String names the resources: "every resource", "the resources with stack=crowd or stack=data".
func (o Observed) String() string {
	texts := make([]string, len(o))
	for i, one := range o {
		if texts[i] = one.text; len(one.selector) == 0 {
			return "every resource"
		}
	}
	return "the resources with " + strings.Join(texts, " or ")
}

// Setting names the setting that observes a resource with such labels, with the first selector
// that matches; "" if the resource is not observed.
func (o Observed) Setting(labels map[string]string) string {
	for _, one := range o {
		if one.selector.Matches(labels) {
			return "the worker's setting observe: " + one.text
		}
	}
	return ""
}

// PolicyOf returns the policy under which a worker handles a resource, and how a message names
// its origin: the policy of the manifest, or PolicyObserve by the setting.
func (o Observed) PolicyOf(d Desired) (Policy, string) {
	if d.Policy != PolicyObserve {
		if setting := o.Setting(d.Labels); setting != "" {
			return PolicyObserve, setting
		}
	}
	return d.Policy, "policy " + string(d.Policy)
}
