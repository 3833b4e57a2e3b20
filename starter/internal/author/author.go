// Package author owns the commands that help to write manifests: they read the
// published types and files, and need neither Temporal nor a worker, except for a
// conversion of IDs.
package author

import (
	"errors"
	"fmt"
	"io"

	"github.com/armature-io/armature/starter/internal/cli"
	"github.com/armature-io/armature/starter/internal/explain"
	"github.com/spf13/cobra"
)

// Terminal is where the commands write.
type Terminal struct {
	In       io.Reader
	Out, Err io.Writer
	// Width returns the width of a line in characters.
	Width func() int
	// Import is for conversions of IDs, the only ones that need a worker.
	Import Importer
}

// Commands returns the commands.
func Commands(t Terminal) []*cobra.Command {
	return []*cobra.Command{t.convertCommand(), t.explainCommand(), t.initCommand(), t.newCommand(), t.renderCommand(), t.rulesCommand(), t.schemaCommand(), t.typesCommand()}
}

func (t Terminal) printf(format string, args ...any) { fmt.Fprintf(t.Out, format, args...) }

// note writes one sentence beside the output.
func (t Terminal) note(format string, args ...any) { fmt.Fprintf(t.Err, format+"\n", args...) }

// failed returns an error of a lookup with its exit code: a name that is not published
// failed, a text that cannot be read is bad input.
func failed(err error) error {
	switch {
	case err == nil:
		return nil
	case errors.Is(err, explain.ErrUnknown):
		return cli.Failed("%w", err)
	}
	return cli.BadInput("%w", err)
}
