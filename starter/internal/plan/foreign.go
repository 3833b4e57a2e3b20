package plan

import (
	"fmt"
	"io"

	"github.com/armature-io/armature/starter/internal/cli"
)

// ShowForeign lists the values that no manifest contains, and reports whether there are any. The
// formats for programs have them in each resource.
func (p Plan) ShowForeign(out io.Writer, format cli.Format) bool {
	found := false
	for _, change := range p.Resources {
		if len(change.Foreign) == 0 {
			continue
		}
		if !found && isText(format) {
			fmt.Fprintln(out, "\nIn no manifest, set or removed since the last PUT:")
		}
		found = true
		if isText(format) {
			fmt.Fprintf(out, "  %s\n", cli.OneLine(change.Name))
			for _, value := range change.Foreign {
				fmt.Fprintf(out, "    %s\n", cli.OneLine(value))
			}
		}
	}
	return found
}

func isText(format cli.Format) bool { return format == cli.FormatTable || format == cli.FormatWide }
