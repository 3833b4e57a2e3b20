package arm

import (
	"net/http"
	"strings"
	"testing"
	"time"
)

// TestErrorNamesItsDetails checks that the text and the target of every detail are in the
// message, from which conditions, histories, logs and the audit trail are made.
func TestErrorNamesItsDetails(t *testing.T) {
	t.Parallel()
	many := strings.Repeat(`{"code":"Invalid","target":"properties.path","message":"`+strings.Repeat("x", 500)+`N"},`, 30)
	for i := range 30 {
		many = strings.Replace(many, "N\"", string(rune('a'+i%26))+string(rune('a'+i/26))+"\"", 1)
	}
	cases := map[string]struct {
		reason, body string
		want         []string
		not          string
		maximum      int
	}{
		"five errors": {
			reason: "each with its target",
			body: `{"error":{"code":"MultipleErrorsOccurred","message":"5 errors occurred","details":[` +
				`{"code":"InvalidRequestContent","message":"Invalid value: 99: must be less than or equal to 26","target":"properties.network.hostPrefix"},` +
				`{"code":"InvalidRequestContent","message":"Invalid value: 1","target":"properties.autoScaling.max"},` +
				`{"code":"A","message":"three"},{"code":"B","message":"four"},{"code":"C","message":"five","target":"t5"}]}}`,
			want: []string{"5 errors occurred", "properties.network.hostPrefix: Invalid value: 99: must be less than or equal to 26", "properties.autoScaling.max: Invalid value: 1", "three", "four", "t5: five"},
		},
		"a target": {
			reason: "one error without details", body: `{"error":{"code":"X","message":"Invalid value: 1","target":"properties.autoScaling.max"}}`,
			want: []string{"Invalid value: 1 (target properties.autoScaling.max)"},
		},
		"nested": {
			reason: "details of details", body: `{"error":{"code":"X","message":"failed","details":[{"code":"Y","message":"outer","details":[{"code":"Z","message":"inner","target":"p"}]}]}}`,
			want: []string{"failed; outer; p: inner"},
		},
		"repeated": {
			reason: "what the message has already is not repeated", body: `{"error":{"code":"X","message":"name is taken","details":[{"code":"X","message":"name is taken"}]}}`,
			want: []string{"name is taken"}, not: "name is taken; ",
		},
		"a list of errors": {
			reason: "all of them", body: `{"errors":[{"code":"X","message":"one"},{"code":"Y","message":"two","target":"p"}]}`,
			want: []string{"one; p: two"},
		},
		"JSON in a text": {
			reason: "the text of a provider is kept", body: `{"error":{"code":"X","message":"deployment failed: {\"error\":{\"code\":\"Y\",\"message\":\"quota of 10 cores\",\"target\":\"cores\"}}"}}`,
			want: []string{"quota of 10 cores", "cores"},
		},
		"too many": {
			reason: "a bound, and a count of the rest", body: `{"error":{"code":"X","message":"failed","details":[` + strings.TrimSuffix(many, ",") + `]}}`,
			want: []string{"more details"}, maximum: maxDetailedRunes + 100,
		},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			header := http.Header{"Content-Type": {"application/json"}}
			got := newError(http.MethodPut, http.StatusBadRequest, header, []byte(tc.body), time.Now).Message
			for _, want := range tc.want {
				if !strings.Contains(got, want) {
					t.Errorf("%s: the message lacks %q: %s", tc.reason, want, got)
				}
			}
			if tc.not != "" && strings.Contains(got, tc.not) {
				t.Errorf("%s: the message has %q: %s", tc.reason, tc.not, got)
			}
			if tc.maximum > 0 && len(got) > tc.maximum {
				t.Errorf("the message has %d bytes", len(got))
			}
		})
	}
}
