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
	for _, row := range p.Resources {
		if len(row.Foreign) == 0 {
			continue
		}
		if !found && format.IsText() {
			fmt.Fprintln(out, "\nIn no manifest, set or removed since the last PUT:")
		}
		found = true
		if format.IsText() {
			fmt.Fprintf(out, "  %s\n", cli.OneLine(row.Name))
			for _, value := range row.Foreign {
				fmt.Fprintf(out, "    %s\n", cli.OneLine(value))
			}
		}
	}
	return found
}
