package backend

import (
	"cmp"
	"fmt"
	"strings"

	"github.com/armature-io/armature/internal/audit"
	"github.com/armature-io/armature/internal/text"
)

// maxLineDifferences bounds the differences in a line for people.
const maxLineDifferences = 5

// AuditLine returns a record as a line for people: time, event, the name of the resource
// unless it is empty, user and reason.
func AuditLine(record audit.Record, name string) string {
	what := string(record.Event)
	if record.Method != "" {
		what = record.Method
	}
	parts := []string{text.Time(record.Time), fmt.Sprintf("%-8s %-9s", what, record.Result)}
	if name != "" {
		parts = append(parts, name)
	}
	if record.By != nil {
		parts = append(parts, text.OneLine("by "+record.By.String()))
	}
	if why := cmp.Or(record.Reason, record.Message); why != "" {
		if record.Reason != "" && record.Message != "" {
			why += ": " + record.Message
		}
		parts = append(parts, text.OneLine(why))
	}
	line := strings.Join(parts, "  ")
	for i, difference := range record.Differences {
		if i == maxLineDifferences {
			return line + fmt.Sprintf("\n    and %d more", len(record.Differences)-i+record.MoreDifferences)
		}
		line += "\n    " + text.OneLine(fmt.Sprintf("%s: %s -> %s", difference.Path, difference.Observed, difference.Desired))
	}
	return line
}
