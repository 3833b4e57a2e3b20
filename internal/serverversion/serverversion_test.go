package serverversion_test

import (
	"testing"

	"github.com/armature-io/armature/internal/serverversion"
)

func TestCheck(t *testing.T) {
	t.Parallel()
	cases := map[string]struct {
		version, reason string
		old             bool
	}{
		"Oldest":     {version: "1.28.0", reason: "the minimum itself is enough"},
		"Newer":      {version: "1.32.1", reason: "a newer minor version is enough"},
		"TwoDigits":  {version: "1.100.0", reason: "numbers compare as numbers"},
		"Major":      {version: "2.0.0", reason: "a newer major version is enough"},
		"Older":      {version: "1.27.4", reason: "it lacks priorities", old: true},
		"OneDigit":   {version: "1.9.0", reason: "numbers compare as numbers", old: true},
		"Cloud":      {version: "1.28.0-141.3", reason: "Temporal Cloud runs builds before a release"},
		"OlderCloud": {version: "1.27.0-141.3", reason: "a build before an older release is older", old: true},
		"Empty":      {version: "", reason: "a server that hides its version may be new"},
		"Unknown":    {version: "dev build", reason: "a version of another form says nothing"},
	}
	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			if err := serverversion.Check(c.version); (err != nil) != c.old {
				t.Errorf("%q: %v: %s", c.version, err, c.reason)
			}
		})
	}
}
