package starter

import (
	"strings"
	"testing"
	"time"

	"github.com/armature-io/armature/activities"
	"github.com/google/go-cmp/cmp"
)

func TestClockSkew(t *testing.T) {
	begun := noon()
	ended := begun.Add(3 * time.Second)
	cases := map[string]struct {
		reason string
		there  time.Time
		want   time.Duration
	}{
		"Between": {"the worker's time lies between question and answer", begun.Add(time.Second), 0},
		"Behind":  {"its clock is behind", begun.Add(-time.Hour), time.Hour},
		"Ahead":   {"its clock is ahead", ended.Add(time.Hour), -time.Hour},
	}
	for name, c := range cases {
		if got := clockSkew(begun, ended, c.there); got != c.want {
			t.Errorf("%s: %s: got %s, want %s", name, c.reason, got, c.want)
		}
	}
}

func TestDoctorCountsWarnings(t *testing.T) {
	var findings []activities.Finding
	for _, name := range []string{"a", "b", "c", "d"} {
		findings = append(findings, activities.Finding{Check: "api-versions", State: activities.FindingWarn, Message: name + " is old", Advice: "update " + name})
	}
	findings = append(findings, activities.Finding{Check: "worker", State: activities.FindingOK, Message: "serves"})
	w := newWorld()
	w.printFindings(findings, false)
	want := "warn   api-versions          4 warnings, for example a is old\n                             -> update a\n" +
		"                             -> `armature doctor -o wide` lists all 4\nok     worker                serves\n"
	if diff := cmp.Diff(want, w.out.String()); diff != "" {
		t.Errorf("doctor prints (-want +got):\n%s", diff)
	}
	w = newWorld()
	w.printFindings(findings, true)
	if out := w.out.String(); strings.Count(out, "is old") != 4 {
		t.Errorf("wide prints %s", out)
	}
}
