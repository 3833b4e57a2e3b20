package starter

import (
	"fmt"
	"runtime"
	"strings"
	"testing"

	"github.com/armature-io/armature/starter/internal/cli"
)

// TestVersion verifies the version in each format, without what differs from
// machine to machine.
func TestVersion(t *testing.T) {
	var all strings.Builder
	for _, output := range cli.Formats() {
		w := newWorld()
		if code := w.run("version", "-o", output); code != cli.ExitOK {
			t.Errorf("-o %s: exit code %d: %s", output, code, w.err)
		}
		text := strings.NewReplacer(runtime.Version(), "GO", runtime.GOOS, "OS", runtime.GOARCH, "ARCH").Replace(w.out.String())
		fmt.Fprintf(&all, "$ armature version -o %s\n%s", output, text)
	}
	golden(t, "version.txt", all.String())
}
