package arm

import "testing"

// Hazard 10: a HEAD that answers 404 counts as "exists", so that a missing
// resource of a type without GET looks present.
func TestHazard10AMissingResourceWithoutGetIsAbsent(t *testing.T) {
	noGet := reply{405, nil, `{"Message":"The requested resource does not support http method 'GET'."}`}
	for name, tc := range map[string]struct {
		replies []reply
		exists  bool
	}{
		"Missing": {[]reply{noGet, {404, nil, ``}, {200, nil, `{"value":[]}`}}, false},
		"Present": {[]reply{noGet, {200, nil, ``}}, true},
		"NoList":  {[]reply{noGet, {404, nil, ``}, noGet, {200, nil, `{}`}}, false},
	} {
		t.Run(name, func(t *testing.T) {
			got, err := newScript(t, tc.replies...).client(t, nil).Get(testContext(t), parseID(t, linkID), apiVersion)
			if exists := err == nil; exists != tc.exists || !exists && !IsAbsent(err) {
				t.Errorf("got %+v, %v", got, err)
			}
		})
	}
}
