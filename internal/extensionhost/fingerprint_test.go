package extensionhost_test

import (
	"regexp"
	"testing"

	"github.com/armature-io/armature/extensions"
	"github.com/armature-io/armature/internal/extensionhost"
)

// versioned is a source of links with a fingerprint.
type versioned struct{ fingerprint string }

func (versioned) Links(string) []any { return nil }

func (v versioned) Fingerprint() string { return v.fingerprint }

// TestFingerprint checks that a fingerprint is the same for the same checks, and changes with
// each entry, the order, the rules and the build.
func TestFingerprint(t *testing.T) {
	const clusters, databases = "Microsoft.Kusto/clusters", "Microsoft.Kusto/clusters/databases"
	link := extensions.Entry{Type: clusters, Link: unlikeNothing{}}
	other := extensions.Entry{Type: clusters, Link: store{}}
	busy := func(state string) extensions.Entry {
		return extensions.Entry{Type: databases, Facts: extensions.Facts{Busy: []extensions.BlockingState{{Path: "properties.state", States: []string{state}}}}}
	}
	rules := func(fingerprint string) extensions.Entry {
		return extensions.Entry{Type: extensions.AllTypes, Link: versioned{fingerprint}}
	}
	of := func(build string, entries ...extensions.Entry) string {
		registry, err := extensionhost.New(entries...)
		if err != nil {
			t.Fatal(err)
		}
		return registry.Fingerprint(build)
	}
	want := of("v1", link, other, busy("Moving"), rules("r1"))
	if !regexp.MustCompile(`^[0-9a-f]{10}$`).MatchString(want) {
		t.Errorf("a fingerprint is %q", want)
	}
	cases := map[string]struct {
		reason string
		got    string
		same   bool
	}{
		"again":       {"another process has the same entries", of("v1", link, other, busy("Moving"), rules("r1")), true},
		"letter case": {"types ignore case", of("v1", extensions.Entry{Type: "microsoft.kusto/Clusters", Link: unlikeNothing{}}, other, busy("Moving"), rules("r1")), true},
		"build":       {"its code may be other code", of("v2", link, other, busy("Moving"), rules("r1")), false},
		"order":       {"the outer link decides first", of("v1", other, link, busy("Moving"), rules("r1")), false},
		"rules first": {"the rules are the outer links", of("v1", rules("r1"), link, other, busy("Moving")), false},
		"missing":     {"a link is missing", of("v1", link, busy("Moving"), rules("r1")), false},
		"type":        {"it checks other resources", of("v1", extensions.Entry{Type: databases, Link: unlikeNothing{}}, other, busy("Moving"), rules("r1")), false},
		"fact":        {"another state is busy", of("v1", link, other, busy("Scaling"), rules("r1")), false},
		"rules":       {"the rules were reloaded", of("v1", link, other, busy("Moving"), rules("r2")), false},
		"no rules":    {"the rule files are missing", of("v1", link, other, busy("Moving")), false},
	}
	for name, c := range cases {
		if (c.got == want) != c.same {
			t.Errorf("%s: %s: the fingerprints are %s and %s", name, c.reason, want, c.got)
		}
	}
}

// TestFingerprintOfReload checks that one registry has the fingerprint of the rules in force.
func TestFingerprintOfReload(t *testing.T) {
	source := &versioned{"r1"}
	registry, err := extensionhost.New(extensions.Entry{Type: extensions.AllTypes, Link: source})
	if err != nil {
		t.Fatal(err)
	}
	before := registry.Fingerprint("v1")
	source.fingerprint = "r2"
	if registry.Fingerprint("v1") == before {
		t.Error("a reload does not change the fingerprint")
	}
}
