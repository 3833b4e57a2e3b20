package page

import (
	"context"
	"encoding/json"
	"net/http"
	"strings"
	"sync"
	"time"

	"github.com/armature-io/armature/activities"
	"github.com/armature-io/armature/starter/internal/backend"
	"github.com/armature-io/armature/starter/internal/cli"
	"github.com/armature-io/armature/starter/internal/plan"
	"github.com/armature-io/armature/workflows"
)

const (
	// bodiesEvery is how old both bodies may be: a worker reads the resource for them.
	bodiesEvery   = time.Minute
	bodiesTimeout = 30 * time.Second
)

// Bodies is the part of the page of a resource with both whole bodies.
type Bodies struct {
	Frame
	Ref
	Manifest, Azure Body
	// AsOf is when a worker read the resource.
	AsOf time.Time
}

// Body is one side, as YAML.
type Body struct {
	Text string
	// Problem is why there is no text, "" if there is one.
	Problem string
}

// bodiesReading is the last reading of both bodies.
type bodiesReading struct {
	mu              sync.Mutex
	manifest, azure Body
	asOf            time.Time
}

// bodies serves both bodies. A visible page does not repeat the reading: it is a request to
// Azure.
func (s *Server) bodies(w http.ResponseWriter, r *http.Request) {
	state := s.estate.look(r.Context())
	listed, ok := s.find(w, r, state)
	if !ok {
		return
	}
	page := Bodies{Frame: s.frame(r, state, ""), Ref: refOf(listed.ID, state.phaseOf(listed.WorkflowID))}
	page.Title, page.Self = page.Name+": manifest and Azure", ""
	if state.err != nil {
		page.AsOf, page.Manifest.Problem = s.options.Now(), cli.OneLine(state.err.Error())
		page.Azure = page.Manifest
		s.render(w, r, pageBodies, page)
		return
	}
	reading := &s.resources.of(listed.WorkflowID).bodies
	reading.mu.Lock()
	defer reading.mu.Unlock()
	if now := s.options.Now(); reading.asOf.IsZero() || now.Sub(reading.asOf) >= bodiesEvery {
		ctx, cancel := context.WithTimeout(context.WithoutCancel(r.Context()), bodiesTimeout)
		defer cancel()
		reading.manifest, reading.azure = readBodies(ctx, s.options.Specs, listed)
		reading.asOf = now
	}
	page.Manifest, page.Azure, page.AsOf = reading.manifest, reading.azure, reading.asOf
	s.render(w, r, pageBodies, page)
}

// readBodies returns the body of the manifest, and that of the resource as Azure shows it now.
// Both have masks in place of secrets.
func readBodies(ctx context.Context, from backend.SpecReader, listed backend.Record) (manifest, azure Body) {
	memory, err := from.Memory(ctx, listed.WorkflowID)
	switch {
	case err != nil:
		manifest.Problem = cli.OneLine(err.Error())
		return manifest, manifest
	case memory.Desired == nil:
		manifest.Problem = "No manifest was applied yet."
		return manifest, manifest
	}
	if body, err := plan.Body(*memory.Desired); err != nil {
		manifest.Problem = cli.OneLine(err.Error())
	} else {
		manifest = newBody(body)
	}
	result, err := from.Import(ctx, backend.NewRunID(workflows.ImportIDPrefix), activities.ImportResourceInput{ID: memory.Desired.ID, Managed: memory.Desired, Whole: true})
	switch {
	case err != nil:
		azure.Problem = cli.OneLine(err.Error())
	case result.Verdict.Stops():
		azure.Problem = cli.OneLine(string(result.Verdict.Reason) + ": " + result.Verdict.Message)
	default:
		azure = newBody(json.RawMessage(result.Body))
	}
	return manifest, azure
}

// newBody returns a body as YAML with sorted names.
func newBody(value any) Body {
	var text strings.Builder
	if err := cli.FormatYAML.Write(&text, value); err != nil {
		return Body{Problem: cli.OneLine(err.Error())}
	}
	return Body{Text: text.String()}
}
