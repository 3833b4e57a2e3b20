package e2e

import (
	"encoding/json"
	"net/http"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/gomarkdown/markdown"
	"github.com/gomarkdown/markdown/html"
	"github.com/gomarkdown/markdown/parser"
	sdkpb "go.temporal.io/api/sdk/v1"

	"github.com/armature-io/armature/armsim"
	"github.com/armature-io/armature/dev/internal/harness"
	"github.com/armature-io/armature/resource"
	"github.com/armature-io/armature/workflows"
)

// hostileText is a message with everything that a page, a terminal or a CI system could
// act on.
const hostileText = "no [a](http://evil.example) ![b](//evil.example/x.png) \\[c](http://evil.example) [d] (http://evil.example) <http://evil.example> <a href='//evil.example'>e</a> " +
	"https://evil.example www.evil.example mailto:x@evil.example y@evil.example\n\n# Action needed\n\n[f]: http://evil.example\n[f] | g | \x1b[2J\x1b]0;PWN\x07\u009b31m\u202e\r\n::error file=a::x\n##vso[task.x]"

// activeElements match what must not come of a text.
var activeElements = regexp.MustCompile(`(?i)<(a|img|h[1-6]|script|iframe|form)\b`)

// rendered returns Markdown as the server of the Web UI shows it (ui-server v2.55.0,
// server/route/ui.go).
func rendered(text string) string {
	document := parser.NewWithExtensions(parser.CommonExtensions | parser.AutoHeadingIDs).Parse([]byte(text))
	return string(markdown.Render(document, html.NewRenderer(html.RendererOptions{Flags: html.CommonFlags | html.HrefTargetBlank})))
}

// TestGuardTextsOfARM checks that nothing that ARM answers becomes a link, an image or a
// heading in the Web UI, and that nothing of it acts on a terminal.
//
//guard:texts-are-data
func TestGuardTextsOfARM(t *testing.T) {
	t.Parallel()
	if !activeElements.MatchString(rendered("[a] (http://evil.example)")) || !activeElements.MatchString(rendered("see https://evil.example")) {
		t.Fatal("the renderer makes no links, so that the test cannot fail")
	}
	w := harness.New(t, binaries, harness.Options{})
	w.StartWorker(harness.WorkerOptions{})
	s := scenarios{w}
	s.putGroup("texts")
	r := thing{group: "texts", name: "texts", interval: "1h"}
	s.Sim.Call(http.MethodPost, "/faults", armsim.Fault{
		ID: r.name, Method: http.MethodPut, Path: r.id(), Status: http.StatusBadRequest, Code: "Oops\n\n# Action needed\n[Re-authenticate](http://evil.example)", Message: hostileText,
	}, nil)
	s.apply(r, "small")
	s.UntilStatus(30*time.Second, r.id(), "was refused", func(status workflows.Status) bool { return status.Condition.Reason == resource.ReasonUnknownError })
	value, err := s.Client.QueryWorkflow(t.Context(), s.WorkflowID(r.id()), "", "__temporal_workflow_metadata")
	if err != nil {
		t.Fatal(err)
	}
	var metadata sdkpb.WorkflowMetadata
	if err := value.Get(&metadata); err != nil {
		t.Fatal(err)
	}
	texts := []string{metadata.GetCurrentDetails()}
	if !strings.Contains(texts[0], "evil.example") {
		t.Errorf("the details lack the message:\n%s", texts[0])
	}
	for _, event := range s.History(r.id()).GetEvents() {
		if summary := event.GetUserMetadata().GetSummary().GetData(); len(summary) > 0 {
			var text string
			if err := json.Unmarshal(summary, &text); err != nil {
				t.Fatal(err)
			}
			texts = append(texts, text)
		}
	}
	for _, text := range texts {
		if found := activeElements.FindString(rendered(text)); found != "" {
			t.Errorf("the Web UI shows %s of\n%s", found, text)
		}
	}
	for _, args := range [][]string{{"get"}, {"get", "-o", "wide"}, {"describe", r.id()}, {"why", r.id()}, {"get", "-o", "json"}, {"get", "-o", "yaml"}} {
		result := w.CLI(args...)
		for _, r := range result.Out + result.Err {
			if r < ' ' && r != '\n' && r != '\t' || r >= 0x7f && r < 0xa0 || r == '\u202e' {
				t.Errorf("%v writes %q: %q", args, r, result.Out)
				break
			}
		}
		if command := regexp.MustCompile(`(?m)^\s*::|##vso\[`).FindString(result.Out + result.Err); command != "" {
			t.Errorf("%v writes the command %q: %q", args, command, result.Out)
		}
	}
}
