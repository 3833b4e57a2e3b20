package resource

import (
	"cmp"
	"slices"
	"strconv"
	"strings"
	"time"
)

// ReportedChange is a change of a resource as Azure reported it: what changed when, and who
// changed it. It has no values, and of the claims of the writer only those that name it.
type ReportedChange struct {
	At   time.Time  `json:"at"`
	Kind ChangeKind `json:"kind"`
	// Paths are the properties that changed, in the form of Difference.Path, at most
	// MaxReportedPaths; MorePaths counts those beyond the bound. A source may name none.
	Paths     []string `json:"paths,omitempty"`
	MorePaths int      `json:"morePaths,omitempty"`
	ReportedAuthor
	// Operation is the operation of Azure's access control, "microsoft.storage/storageaccounts/write".
	Operation string `json:"operation,omitempty"`
	// Correlation is the correlation ID of the request, "" if the source has none.
	Correlation string `json:"correlation,omitempty"`
	// Own is set by the workflow of the resource if one of its runs made the change.
	Own bool `json:"own,omitempty"`
}

// ReportedAuthor is the writer of a change. Its members are "" where the source does not know
// them, as for a change that Azure made by itself.
type ReportedAuthor struct {
	// Name is the name of a user or the ID of an application.
	Name string `json:"name,omitempty"`
	// Type is User, Application or another word of the source.
	Type string `json:"type,omitempty"`
	// Client is the program: "Azure Portal", "Azure CLI".
	Client string `json:"client,omitempty"`
}

// maxReportedText bounds the texts of a report, in bytes: others write them.
const maxReportedText = 200

// NewReportedAuthor returns an author with bounded texts.
func NewReportedAuthor(name, kind, client string) ReportedAuthor {
	return ReportedAuthor{Name: bounded(name), Type: bounded(kind), Client: bounded(client)}
}

// bounded returns a text, or its beginning if it is too long.
func bounded(text string) string {
	if len(text) <= maxReportedText {
		return text
	}
	return strings.ToValidUTF8(text[:maxReportedText], "")
}

// ChangeKind is the kind of a reported change.
type ChangeKind string

// The kinds of changes.
const (
	ChangeCreate ChangeKind = "Create"
	ChangeUpdate ChangeKind = "Update"
	ChangeDelete ChangeKind = "Delete"
	ChangeAction ChangeKind = "Action"
)

// MaxReportedChanges is how many reports a resource gets at a time, and keeps: the last ones.
const MaxReportedChanges = 8

// MaxReportedPaths is the maximum number of paths in a report: histories store them.
const MaxReportedPaths = 10

// Same reports whether two reports are of one change: a source may repeat a report.
func (c ReportedChange) Same(other ReportedChange) bool {
	return c.At.Equal(other.At) && c.Kind == other.Kind && strings.EqualFold(c.Correlation, other.Correlation) && c.Operation == other.Operation
}

// Touches reports whether the change may be one of the difference at a path: it changed the path,
// one above it or one below it.
func (c ReportedChange) Touches(path string) bool {
	path = generalPath(path)
	return slices.ContainsFunc(c.Paths, func(changed string) bool {
		changed = generalPath(changed)
		return changed == path || strings.HasPrefix(changed, path+".") || strings.HasPrefix(path, changed+".")
	})
}

// generalPath returns a path in lower case and without the items of lists, which sources and
// differences count and name in different ways.
func generalPath(path string) string {
	var general strings.Builder
	depth := 0
	for _, r := range path {
		switch {
		case r == '[':
			depth++
		case r == ']':
			depth--
		case depth == 0:
			general.WriteRune(r)
		}
	}
	return strings.ToLower(general.String())
}

// label names the kind of the author and the program alone: "a user with Azure Portal".
// It is "" if the source knows neither.
func (a ReportedAuthor) label() string {
	label := a.Type
	switch {
	case strings.EqualFold(a.Type, "User"):
		label = "a user"
	case strings.EqualFold(a.Type, "Application"):
		label = "an application"
	case strings.EqualFold(a.Type, systemType):
		label = "Azure itself"
	}
	return joinClient(label, a.Client)
}

// String names the author: "alice@contoso.com with Azure Portal", "an unnamed writer" if the
// source names none.
func (a ReportedAuthor) String() string {
	name := a.Name
	switch {
	case name == "" || strings.EqualFold(a.Type, systemType):
		return cmp.Or(a.label(), "an unnamed writer")
	case strings.EqualFold(a.Type, "Application"):
		name = "application " + name
	}
	return joinClient(name, a.Client)
}

// Authorship is who made a change and when, as Azure reported it. Its zero value says that no
// report is known.
type Authorship struct {
	ChangedBy ReportedAuthor `json:"changedBy,omitzero"`
	ChangedAt time.Time      `json:"changedAt,omitzero"`
}

// AuthorKnown reports whether Azure reported the change.
func (a Authorship) AuthorKnown() bool { return !a.ChangedAt.IsZero() }

// AuthorText is "changed by alice@contoso.com with Azure Portal at 2026-11-28 10:00:00Z".
func (a Authorship) AuthorText() string {
	return "changed by " + a.ChangedBy.String() + " at " + a.ChangedAt.UTC().Format("2006-01-02 15:04:05Z")
}

// systemType is the Type of a change that Azure made without a request.
const systemType = "System"

// joinClient appends the program.
func joinClient(label, client string) string {
	if client == "" {
		return label
	}
	return cmp.Or(label, "a writer") + " with " + client
}

// AddPaths adds paths up to the bound.
func (c *ReportedChange) AddPaths(paths []string) {
	for _, path := range paths {
		path = bounded(path)
		switch {
		case slices.Contains(c.Paths, path):
		case len(c.Paths) < MaxReportedPaths:
			c.Paths = append(c.Paths, path)
		default:
			c.MorePaths++
		}
	}
}

// PathsText names the first paths, "" if the source named none.
func (c ReportedChange) PathsText() string {
	const shown = 3
	if len(c.Paths) == 0 {
		return ""
	}
	text := strings.Join(c.Paths[:min(len(c.Paths), shown)], ", ")
	if more := len(c.Paths) - shown + c.MorePaths; more > 0 {
		text += " and " + strconv.Itoa(more) + " more"
	}
	return text
}
