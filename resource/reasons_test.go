package resource

import (
	"fmt"
	"os"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// The generated table is between these lines of docs/troubleshooting.md.
const (
	tableBegin = "<!-- Table of all reasons: written by `make docs`; a test fails when it is stale. -->\n"
	tableEnd   = "<!-- End of the table of all reasons. -->\n"
)

// TestReferenceOfReasons compares the overview in docs/troubleshooting.md with the
// table of reasons. `make docs` writes it.
func TestReferenceOfReasons(t *testing.T) {
	t.Parallel()
	const path = "../docs/troubleshooting.md"
	data, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	before, rest, found := strings.Cut(string(data), tableBegin)
	_, after, foundEnd := strings.Cut(rest, tableEnd)
	if !found || !foundEnd {
		t.Fatalf("%s has no table of all reasons", path)
	}
	page := before + tableBegin + reasonTable() + tableEnd + after
	if os.Getenv("UPDATE_DOCS") != "" {
		if err := os.WriteFile(path, []byte(page), 0o600); err != nil {
			t.Fatal(err)
		}
		return
	}
	if diff := cmp.Diff(string(data), page); diff != "" {
		t.Errorf("%s is stale; run `make docs` (-page +code):\n%s", path, diff)
	}
}

func reasonTable() string {
	var table strings.Builder
	table.WriteString("\n| reason | meaning | retried | ended by |\n|---|---|---|---|\n")
	for _, info := range Reasons() {
		class := string(info.RetryClass)
		switch {
		case class == "":
			class = "-"
		case info.Reason == ReasonAlreadyExists:
			class = string(RetryNone) // the class of its verdicts
		}
		ended := info.Actor
		switch {
		case ended == "" && info.RetryClass == "":
			ended = "-"
		case ended == "":
			ended = "time"
		}
		fmt.Fprintf(&table, "| [`%s`](#%s) | %s | %s | %s |\n", info.Reason, strings.ToLower(string(info.Reason)), info.Meaning, class, ended)
	}
	return table.String() + "\n"
}

func TestClass(t *testing.T) {
	t.Parallel()
	cases := map[string]struct {
		reason, name string
		want         RetryClass
	}{
		"own class":       {reason: "the table states a class", name: "TemporalSlow", want: RetryFast},
		"no class":        {reason: "a reason without a class is retried slowly", name: "Succeeded", want: RetrySlow},
		"ARM error codes": {reason: "the table of package arm gives their verdicts a class", name: "QuotaExceeded", want: RetrySlow},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			if got := Reason(tc.name).Class(); got != tc.want {
				t.Errorf("%s is %s, want %s: %s", tc.name, got, tc.want, tc.reason)
			}
		})
	}
}
