package rollout

import (
	"fmt"
	"io"
	"strconv"
	"strings"
	"text/tabwriter"
	"time"

	"github.com/armature-io/armature/starter/internal/backend"
	"github.com/armature-io/armature/starter/internal/cli"
)

// maxNamed bounds the resources that the table names.
const maxNamed = 10

// write writes the status for people.
func (s Status) write(out io.Writer, now time.Time) {
	fmt.Fprintln(out, s.headline())
	if s.Manager != "" {
		fmt.Fprintf(out, "%s alone may change the routing\n", cli.OneLine(s.Manager))
	}
	w := tabwriter.NewWriter(out, 0, 0, 2, ' ', 0)
	fmt.Fprintln(w, "VERSION\tSTATUS\tSINCE\tWORKERS\tRESOURCES\tREADY\tFROZEN\tHELD\tFAILED\tFAILING")
	hidden := 0
	for _, v := range s.Versions {
		if v.Workers == 0 && v.runs() == 0 && !s.isRouted(v) {
			if v.BuildID != "" {
				hidden++
			}
			continue
		}
		status, name := string(v.Status), v.BuildID
		switch v.BuildID {
		case "":
			name, status = "-", string(statusUnversioned)
		case s.Ramping:
			status += " " + percentText(s.RampPercent)
		}
		since := "-"
		if !v.Since.IsZero() {
			since = cli.Ago(v.Since, now)
		}
		resources := strconv.Itoa(v.Resources)
		if v.Others > 0 {
			resources += fmt.Sprintf(" +%d", v.Others)
		}
		fmt.Fprintf(w, "%s\t%s\t%s\t%d\t%s\t%d\t%d\t%d\t%d\t%d\n", cli.OneLine(name), status, since, v.Workers, resources, v.Ready, v.Frozen, v.Held, v.Failed, v.Failing)
	}
	_ = w.Flush() // the writer of the command reports its errors
	if hidden > 0 {
		fmt.Fprintf(out, "and %s without workers and resources\n", cli.CountOf(hidden, "version", "versions"))
	}
	s.writeBehind(out, now)
	for _, p := range s.Problems {
		fmt.Fprintf(out, "problem: %s\n  -> %s\n", p.Message, p.Advice)
	}
}

// headline returns the first line: the state in a sentence.
func (s Status) headline() string {
	where := "deployment " + cli.OneLine(s.Deployment) + " on task queue " + cli.OneLine(s.TaskQueue) + ": "
	switch s.State {
	case StateUnversioned:
		return "task queue " + cli.OneLine(s.TaskQueue) + ": its workers have no versions; set worker.deployment to roll out by versions"
	case StateComplete:
		return where + "complete, " + cli.CountOf(s.Resources, "resource runs", "resources run") + " on version " + s.Current
	case StateRamping:
		return where + "ramping " + percentText(s.RampPercent) + " to version " + s.Ramping
	case StateMoving:
		return where + "moving, " + cli.CountOf(s.behind(), "resource runs", "resources run") + " on an older version"
	}
	return where + "broken, see the problems below"
}

// behind returns the number of resources on versions that get no new work.
func (s Status) behind() int {
	n := 0
	for _, v := range s.Versions {
		if !s.isRouted(v) {
			n += v.Resources
		}
	}
	return n
}

// writeBehind names the resources that have been longest on an older version.
func (s Status) writeBehind(out io.Writer, now time.Time) {
	if len(s.Behind) == 0 {
		return
	}
	fmt.Fprintln(out, "on an older version, their runs since:")
	w := tabwriter.NewWriter(out, 0, 0, 2, ' ', 0)
	for _, b := range s.Behind[:min(len(s.Behind), maxNamed)] {
		version := b.BuildID
		if version == "" {
			version = string(statusUnversioned)
		}
		fmt.Fprintf(w, "  %s\t%s\t%s\t%s\n", cli.OneLine(b.Name), cli.OneLine(version), cli.Ago(b.Since, now), b.Phase)
	}
	_ = w.Flush() // as above
	if more := s.behind() - maxNamed; more > 0 {
		fmt.Fprintf(out, "  and %d more\n", more)
	}
}

// percentText returns a share as 5%.
func percentText(percent float32) string {
	return strings.TrimSuffix(strconv.FormatFloat(float64(percent), 'f', -1, 32), ".0") + "%"
}

// versionNames returns the build IDs of a deployment for a message.
func versionNames(d backend.Deployment) string {
	names := make([]string, len(d.Versions))
	for i, v := range d.Versions {
		names[i] = v.BuildID
	}
	return strings.Join(names, ", ")
}
