package plan

import (
	"slices"
	"strings"

	"github.com/armature-io/armature/activities/exporting"
	"github.com/armature-io/armature/resource"
	"github.com/armature-io/armature/starter/internal/cli"
)

// exportDetails returns a line for each secret that a pass would write, or could not.
func (c Row) exportDetails() []detail {
	var lines []detail
	for _, export := range c.Exports {
		if export.Change != "" {
			to := cli.OneLine(strings.TrimPrefix(export.To, resource.VaultScheme))
			lines = append(lines, detail{path: "export to " + to, remark: cli.OneLine(exportText(export))})
		}
	}
	return lines
}

// exportText returns what a pass would do to a secret.
func exportText(export exporting.Planned) string {
	switch export.Change {
	case exporting.PlannedWrite:
		return "a new version, " + export.Why
	case exporting.PlannedTag:
		return "other tags, " + export.Why
	case exporting.PlannedLeave:
		return "left, because it exists (if-absent)"
	}
	return "not written: " + export.Why
}

// exports reports whether a pass would write a secret, or could not.
func (c Row) exports() bool {
	return slices.ContainsFunc(c.Exports, func(e exporting.Planned) bool {
		return e.Change != "" && e.Change != exporting.PlannedLeave
	})
}
