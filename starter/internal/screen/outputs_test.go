package screen

import (
	"bytes"
	"os/exec"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/armature-io/armature/starter/internal/backend"
)

func TestFormats(t *testing.T) {
	t.Parallel()
	values := []backend.Output{{Name: "COUNT", Value: 3.0}, {Name: "HOST", Value: `a'b"c $HOME \ x`}, {Name: "ZONES", Value: []any{"1", "2"}}}
	for format, want := range map[OutputFormat]string{
		OutputJSON:   "{\n  \"COUNT\": 3,\n  \"HOST\": \"a'b\\\"c $HOME \\\\ x\",\n  \"ZONES\": [\n    \"1\",\n    \"2\"\n  ]\n}\n",
		OutputEnv:    "COUNT='3'\nHOST='a'\\''b\"c $HOME \\ x'\nZONES='[\"1\",\"2\"]'\n",
		OutputGitHub: "COUNT=3\nHOST=a'b\"c $HOME \\ x\nZONES=[\"1\",\"2\"]\n",
		OutputAzd:    "COUNT=\"3\"\nHOST=\"a'b\\\"c \\$HOME \\\\ x\"\nZONES=\"[\\\"1\\\",\\\"2\\\"]\"\n",
	} {
		var out bytes.Buffer
		if err := format.Write(&out, values); err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(want, out.String()); diff != "" {
			t.Errorf("%s (-want +got):\n%s", format, diff)
		}
	}
}

// TestShellReadsEnv has a shell read what -o env writes.
func TestShellReadsEnv(t *testing.T) {
	t.Parallel()
	const value = "a'b\"c $(touch x) `y` \\ ; & | *"
	var out bytes.Buffer
	if err := OutputEnv.Write(&out, []backend.Output{{Name: "X", Value: value}}); err != nil {
		t.Fatal(err)
	}
	command := exec.Command("sh", "-c", out.String()+`printf %s "$X"`)
	command.Dir = t.TempDir()
	got, err := command.Output()
	if err != nil || string(got) != value {
		t.Errorf("the shell read %q, want %q (%v)", got, value, err)
	}
}

// TestLineBreaks refuses values that would begin another variable.
func TestLineBreaks(t *testing.T) {
	t.Parallel()
	for _, format := range []OutputFormat{OutputEnv, OutputGitHub, OutputAzd} {
		var out bytes.Buffer
		err := format.Write(&out, []backend.Output{{Name: "X", Value: "a\nPATH=/tmp"}})
		if err == nil || !strings.Contains(err.Error(), "use -o json") || out.Len() > 0 {
			t.Errorf("%s: wrote %q, %v", format, out.String(), err)
		}
	}
}
