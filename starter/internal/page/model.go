package page

import (
	"errors"
	"net/url"
	"strings"
	"time"

	"github.com/armature-io/armature/resource"
	"github.com/armature-io/armature/starter/internal/backend"
	"github.com/armature-io/armature/starter/internal/cli"
	"github.com/armature-io/armature/workflows"
)

// Frame is what every page has.
type Frame struct {
	// Title is of the window, Here the part of the navigation, Self the address that a
	// visible page asks again.
	Title, Here, Self string
	Namespace         string
	// Others are the pages of other namespaces, User is the name of the logged-in user, "" in
	// the local mode.
	Others []Other
	User   string
	// Refresh is the address to which the browser goes by itself, "" for none.
	Refresh string
	// HasPlan adds the saved plan to the navigation.
	HasPlan bool
	// Query is the text of the search field.
	Query string
	// ReadAt is when the state was read from Temporal; Away is why it is not newer, "" if it
	// is. Refused: the user may not read it.
	ReadAt  time.Time
	Away    string
	Refused bool
	// Notes are sentences about the whole estate: no worker, no permission.
	Notes []Note
}

// setAway says why the state is not newer.
func (f *Frame) setAway(err error) {
	server, ok := errors.AsType[*backend.ServerError](err)
	f.Away, f.Refused = cli.OneLine(err.Error()), ok && cli.ExitCode(server) != cli.ExitUnreachable
}

// Note is a sentence with a tone.
type Note struct {
	Tone Tone
	Text []Segment
}

// Tone is what a color says; a word always says it too.
type Tone string

// The tones: nothing to do, waits for something, works in Azure, needs a person, at rest.
const (
	ToneGood  Tone = "good"
	ToneWait  Tone = "wait"
	ToneBusy  Tone = "busy"
	ToneBad   Tone = "bad"
	ToneQuiet Tone = "quiet"
)

// toneOf returns the tone of a state as lists name it.
func toneOf(state string) Tone {
	switch strings.TrimSuffix(state, "?") {
	case string(workflows.PhaseReady):
		return ToneGood
	case string(workflows.PhaseBlocked), string(workflows.PhaseNotReady):
		return ToneWait
	case string(workflows.PhaseOperating), string(workflows.PhaseDeleting):
		return ToneBusy
	case string(workflows.PhaseFailed), backend.PhaseStuck, backend.PhaseUnreadable:
		return ToneBad
	}
	return ToneQuiet
}

// State is a state with its tone.
type State struct {
	Text string
	Tone Tone
}

func newState(text string) State { return State{Text: text, Tone: toneOf(text)} }

// Ref is a resource that a page names.
type Ref struct {
	Kind, Name string
	// Href is its page, "" for one without an ID.
	Href  string
	State State
}

func refOf(id resource.ID, state string) Ref {
	return Ref{Kind: cli.Kind(id), Name: id.Short(), Href: resourceHref(id), State: newState(state)}
}

// Label returns kind, name and state in words, for people who do not see the page.
func (r Ref) Label() string {
	return strings.TrimSuffix(strings.TrimSpace(r.Kind+" "+r.Name)+", "+r.State.Text, ", ")
}

func resourceHref(id resource.ID) string {
	if id.IsZero() {
		return ""
	}
	return address("/resource", "id", id.String())
}

// address returns a path with parameters, in pairs, without the empty ones.
func address(path string, pairs ...string) string {
	query := url.Values{}
	for i := 0; i+1 < len(pairs); i += 2 {
		if pairs[i+1] != "" {
			query.Add(pairs[i], pairs[i+1])
		}
	}
	return (&url.URL{Path: path, RawQuery: query.Encode()}).String()
}

// Segment is a part of a sentence: text, or a command.
type Segment struct {
	Text string
	Code bool
}

// segments splits a sentence at its backquotes.
func segments(sentence string) []Segment {
	var parts []Segment
	for i, text := range strings.Split(cli.OneLine(sentence), "`") {
		if text != "" {
			parts = append(parts, Segment{Text: text, Code: i%2 == 1})
		}
	}
	return parts
}

// plural returns "1 resource", "2 resources".
func plural(n int, noun string) string { return cli.Count(n, noun) }
