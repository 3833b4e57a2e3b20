package resource

import (
	"fmt"
	"strings"
)

// Selector selects resources by labels: all of its pairs must match. The empty
// selector matches everything.
type Selector map[string]string

// ParseSelector parses k=v,k=v.
func ParseSelector(text string) (Selector, error) {
	if text == "" {
		return Selector{}, nil
	}
	selector := Selector{}
	for _, term := range strings.Split(text, ",") {
		key, value, found := strings.Cut(strings.TrimSpace(term), "=")
		switch {
		case !found || key == "" || strings.HasPrefix(value, "=") || strings.HasSuffix(key, "!"):
			return nil, fmt.Errorf("read selector %q: %q is not key=value; write key=value,key=value", text, term)
		case strings.ContainsAny(term, `'"\`):
			return nil, fmt.Errorf("read selector %q: quotes and backslashes are not allowed", text)
		}
		if other, twice := selector[key]; twice && other != value {
			return nil, fmt.Errorf("read selector %q: %s cannot be both %q and %q because all pairs must match; run the command once for each", text, key, other, value)
		}
		selector[key] = value
	}
	return selector, nil
}

// Matches reports whether labels contain every pair.
func (s Selector) Matches(labels map[string]string) bool {
	for key, value := range s {
		if found, ok := labels[key]; !ok || found != value {
			return false
		}
	}
	return true
}
