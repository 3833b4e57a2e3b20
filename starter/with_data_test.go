package starter

import (
	"strings"
	"testing"

	"github.com/armature-io/armature/starter/internal/cli"
	"github.com/armature-io/armature/workflows"
)

// TestWithData verifies that a deletion includes data only where the flag says so; a prune
// has no such flag.
//
//guard:data-needs-a-consent
func TestWithData(t *testing.T) {
	cases := map[string]struct {
		reason string
		args   []string
		want   bool
		text   string
	}{
		"plain":     {reason: "the default keeps data", args: []string{"delete", "adx"}},
		"cascade":   {reason: "it names other resources", args: []string{"delete", "adx", "--cascade"}},
		"with data": {reason: "the flag is sent", args: []string{"delete", "adx", "--with-data"}, want: true},
		"manifests": {reason: "as by name", args: []string{"delete", "-f", "MANIFESTS", "--with-data"}, want: true},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			w := sampleWorld(t)
			w.temporal.answers = map[string]any{strings.ToLower(cluster): workflows.DeleteResult{Changed: true}, strings.ToLower(database): workflows.DeleteResult{Changed: true}}
			for i, arg := range tc.args {
				tc.args[i] = strings.ReplaceAll(arg, "MANIFESTS", adx(t))
			}
			if code := w.run(tc.args...); code != cli.ExitOK {
				t.Fatalf("exit code %d: %s", code, w.err)
			}
			for _, input := range w.temporal.inputs {
				if got := input.(workflows.DeleteInput).WithData; got != tc.want {
					t.Errorf("%s: with data %t, want %t", tc.reason, got, tc.want)
				}
			}
		})
	}
	w := sampleWorld(t)
	w.interactive, w.in = true, strings.NewReader("n\n")
	if w.run("delete", "adx", "--with-data"); !strings.Contains(w.out.String(), "in Azure with all data? [y/N]") {
		t.Errorf("the question does not name the data:\n%s", w.out)
	}
}
