package starter

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/armature-io/armature/starter/internal/cli"
)

// TestConvert runs the command without Temporal: exit codes, streams and files.
func TestConvert(t *testing.T) {
	estate, err := filepath.Abs("internal/convert/testdata/estate")
	if err != nil {
		t.Fatal(err)
	}
	const subscription = "11111111-2222-3333-4444-555555555555"
	folder := t.TempDir()
	snapshot := filepath.Join(estate, "main.snapshot.json")
	cases := []struct {
		name, reason   string
		args           []string
		code           int
		stdout, stderr string
	}{
		{"no format", "there is no default", []string{snapshot}, cli.ExitBadInput, "", "convert needs --from"},
		{"no path", "nothing to convert", []string{"--from", "aso"}, cli.ExitBadInput, "", "convert needs the file or folder"},
		{"other format", "a typo", []string{"--from", "aso1", snapshot}, cli.ExitBadInput, "", `--from "aso1" is not known (did you mean aso?)`},
		{"adopt", "a typo", []string{"--from", "aso", "--adopt", "asis", snapshot}, cli.ExitBadInput, "", `--adopt "asis" is not known`},
		{"policy", "a typo", []string{"--from", "aso", "--policy", "obsrve", snapshot}, cli.ExitBadInput, "", "did you mean observe?"},
		{"subscription", "a name", []string{"--from", "aso", "--subscription", "prod", snapshot}, cli.ExitBadInput, "", `--subscription "prod" is not a GUID`},
		{"print", "only IDs are printed", []string{"--from", "aso", "--print-ids", snapshot}, cli.ExitBadInput, "", "--print-ids is for --from ids"},
		{"fault", "nothing is written", []string{"--from", "terraform-state", snapshot, "-o", folder}, cli.ExitBadInput, "", "cannot convert, nothing was written (1 issue):\n  " + snapshot + ":1: "},
		{"stream", "manifests alone are on standard output", []string{"--from", "bicep-snapshot", snapshot, "--policy", "observe"}, cli.ExitOK, "  policy: observe\n  adopt: as-is\n", "az stack group delete"},
		{"files", "one for each group", []string{"--from", "aso", filepath.Join(estate, "cluster.yaml"), "--subscription", subscription, "-o", folder}, cli.ExitOK, "shop-prod.yaml  14 manifests\n", "1 secret is a placeholder"},
		{"files again", "existing ones stay", []string{"--from", "aso", filepath.Join(estate, "cluster.yaml"), "--subscription", subscription, "-o", folder}, cli.ExitFailed, "", "existing files are not overwritten"},
		{"IDs", "no worker is needed to print them", []string{"--from", "ids", filepath.Join(estate, "resources.json"), "--print-ids"}, cli.ExitOK, "/virtualNetworks/shop-vnet/subnets/apps\n", ""},
		{"stdin", "a pipe", []string{"--from", "ids", "-", "--print-ids"}, cli.ExitOK, "/resourceGroups/piped\n", ""},
	}
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			w := offlineWorld(t)
			w.in = strings.NewReader("see /subscriptions/" + subscription + "/resourceGroups/piped")
			if code := w.run(append([]string{"convert"}, c.args...)...); code != c.code {
				t.Errorf("%s: exit code %d, want %d", c.reason, code, c.code)
			}
			if !strings.Contains(w.out.String(), c.stdout) || !strings.Contains(w.err.String(), c.stderr) {
				t.Errorf("%s: want %q and %q:\nstdout %.500s\nstderr %s", c.reason, c.stdout, c.stderr, w.out, w.err)
			}
			if c.code != cli.ExitOK && w.out.String() != "" {
				t.Errorf("%s: a failure wrote %q", c.reason, w.out)
			}
		})
	}
	files, err := os.ReadDir(folder)
	if err != nil || len(files) != 1 {
		t.Errorf("files %v: %v", files, err)
	}
}
