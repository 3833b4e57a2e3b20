package drift_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/armature-io/armature/drift"
)

// TestHoldKeepsEverything checks that a correction keeps all settings of others, also beyond the
// number that a verdict names, and in a PATCH.
//
//guard:removals-wait-for-a-user
func TestHoldKeepsEverything(t *testing.T) {
	var foreign []string
	for i := range 45 {
		foreign = append(foreign, fmt.Sprintf(`"setting%02d":"theirs"`, i))
	}
	const list = `"ipRules":[{"value":"192.0.2.1"}]`
	for name, c := range map[string]struct {
		reason, theirs string
		opts           drift.Options
		patch          bool
		want, without  []string
	}{
		"many": {
			reason: "a verdict names 20 of them", theirs: strings.Join(foreign, ","),
			want: []string{`"setting00":"theirs"`, `"setting44":"theirs"`, `"size":1`},
		},
		"a list, patch": {
			reason: "a PATCH replaces lists: it leaves this one out", patch: true, opts: drift.Options{StatedOnly: true},
			theirs: `"ipRules":[{"value":"192.0.2.1"},{"value":"203.0.113.7"}]`,
			want:   []string{`"size":1`}, without: []string{"ipRules"},
		},
	} {
		t.Run(name, func(t *testing.T) {
			stated := `{"properties":{"size":1}}`
			if c.patch {
				stated = `{"properties":{"size":1,` + list + `}}`
			}
			desired := body(t, []byte(stated))
			opts := c.opts
			opts.Type, opts.APIVersion, opts.Key = "contoso.things/things", "2024-01-01", []byte("key")
			put := opts
			put.Put, put.Sent = true, true
			opts.Baseline = stored(t, drift.NewBaseline(desired, desired, put))
			observed := body(t, []byte(`{"properties":{"size":7,`+c.theirs+`}}`))
			opts.Hold = true
			sent := drift.Body(desired, desired, observed, opts)
			if c.patch {
				sent = drift.Patch(desired, desired, observed, opts)
			}
			shown := text(sent.Body)
			for _, part := range c.want {
				if !strings.Contains(shown, part) {
					t.Errorf("%s: the body lacks %s: %s", c.reason, part, shown)
				}
			}
			for _, part := range c.without {
				if strings.Contains(shown, part) {
					t.Errorf("%s: the body has %s: %s", c.reason, part, shown)
				}
			}
			found := drift.Compare(desired, observed, opts)
			if len(found.Differences) != 1 || len(found.Held.Paths) == 0 {
				t.Errorf("%s: differences %v, held %+v", c.reason, found.Differences, found.Held)
			}
		})
	}
}

// TestHoldWithoutPath checks that everything waits if the path of a setting of others cannot be
// written: a body without it would remove it.
func TestHoldWithoutPath(t *testing.T) {
	desired := body(t, []byte(`{"properties":{"size":1}}`))
	opts := drift.Options{Type: "contoso.things/things", APIVersion: "2024-01-01", Key: []byte("key"), Hold: true}
	observed := body(t, []byte(`{"properties":{"size":7,"it's ['odd']":"theirs"}}`))
	if found := drift.Compare(desired, observed, opts); len(found.Differences) > 0 || len(found.Held.Paths) != 1 || len(found.Waiting) != 1 {
		t.Errorf("differences %v, held %+v, waiting %v", found.Differences, found.Held, found.Waiting)
	}
}
