package activities

import (
	"errors"
	"slices"
	"strings"
	"testing"
)

// TestDiagnoseRestore checks that doctor says what holds back a restored database.
func TestDiagnoseRestore(t *testing.T) {
	unreadable := newDocuments()
	unreadable.err = errors.New("403 AuthorizationFailure")
	cases := map[string]struct {
		reason string
		change func(*Options)
		want   FindingState
		text   string
	}{
		"none":   {"an older database writes", func(*Options) {}, FindingWarn, "neither generation-fence nor start-frozen is set"},
		"always": {"each start freezes", func(o *Options) { o.StartFrozen = "true" }, FindingOK, "start-frozen freezes everything at each start of a worker; generation-fence is off"},
		"named":  {"a name freezes once", func(o *Options) { o.StartFrozen = "2026-11-22" }, FindingOK, "does not know the start 2026-11-22; generation-fence is off"},
		"fence":  {"it notices by itself", func(o *Options) { o.Records = newDocuments() }, FindingOK, "a blob container; start-frozen is off"},
		"both": {"both are named", func(o *Options) { o.Records, o.StartFrozen = newDocuments(), "true" }, FindingOK,
			"a blob container; start-frozen freezes everything at each start of a worker"},
		"unreadable": {"nothing is written without the records", func(o *Options) { o.Records = unreadable },
			FindingError, "nothing is written: 403 AuthorizationFailure"},
	}
	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			w := newWorld(t, func(s *setup) { c.change(&s.options) })
			result, err := run(w, w.acts.Diagnose, DiagnoseInput{})
			must(t, err)
			i := slices.IndexFunc(result.Findings, func(f Finding) bool { return f.Check == "restore" })
			if i < 0 || result.Findings[i].State != c.want || !strings.Contains(result.Findings[i].Message, c.text) {
				t.Errorf("%s: got %+v, want %s with %q", c.reason, result.Findings, c.want, c.text)
			}
		})
	}
}
