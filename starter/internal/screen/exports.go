package screen

import (
	"strings"

	"github.com/armature-io/armature/resource"
	"github.com/armature-io/armature/starter/internal/cli"
)

// exports writes the secrets of the exports, with their version and times.
func (d *page) exports() {
	for i, export := range d.view.Exports {
		label := ""
		if i == 0 {
			label = "Exports"
		}
		state := "not written yet"
		switch {
		case export.Left:
			state = "left as it is, because it existed (if-absent)"
		case export.Version != "":
			state = "version " + export.Version + ", written " + d.timestamp(export.WrittenAt)
		}
		if !export.ComparedAt.IsZero() {
			state += ", compared " + cli.Ago(export.ComparedAt, d.Now) + " ago"
		}
		d.line(label, "%s  %s", cli.OneLine(strings.TrimPrefix(export.To, resource.VaultScheme)), cli.OneLine(state))
	}
}
