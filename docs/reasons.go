// Package docs has the text of the pages that programs print. It owns no page and knows no
// program: it finds a paragraph in docs/troubleshooting.md, so that a reason is documented
// once.
package docs

import (
	_ "embed"
	"regexp"
	"strings"
)

//go:embed troubleshooting.md
var troubleshooting string

// Reason is the paragraph about one reason, as plain text.
type Reason struct {
	Reason string `json:"reason"`
	Means  string `json:"means"`
	// Acts is who must act.
	Acts  string `json:"acts,omitempty"`
	Do    string `json:"do"`
	Retry string `json:"retry,omitempty"`
}

// azureCode is the meaning of a reason that has a row in the table of Azure's error codes.
const azureCode = "Azure refused a request with this error code; the message of the condition is Azure's."

// FindReason returns the paragraph about a reason, or the row about an error code of Azure.
// Upper and lower case are the same.
func FindReason(name string) (Reason, bool) {
	for _, section := range strings.Split(troubleshooting, "\n### `")[1:] {
		title, text, _ := strings.Cut(section, "`\n")
		if !strings.EqualFold(title, name) {
			continue
		}
		r := Reason{Reason: title}
		for _, line := range strings.Split(text, "\n") {
			for label, value := range map[string]*string{"Means": &r.Means, "Who acts": &r.Acts, "Do": &r.Do, "Retry": &r.Retry} {
				if found, ok := strings.CutPrefix(line, "- **"+label+"**: "); ok && *value == "" {
					*value = plain(found)
				}
			}
		}
		return r, true
	}
	_, codes, _ := strings.Cut(troubleshooting, "\n## Any other reason: an error code of Azure\n")
	codes, _, _ = strings.Cut(codes, "\n## ")
	for _, line := range strings.Split(codes, "\n") {
		cells := strings.Split(strings.Trim(line, "| "), " | ")
		if code := strings.Trim(cells[0], "`"); len(cells) == 3 && code != cells[0] && strings.EqualFold(code, name) {
			return Reason{Reason: code, Means: azureCode, Do: "It needs " + plain(cells[2]) + ".", Retry: cells[1]}, true
		}
	}
	return Reason{}, false
}

// link is a link of Markdown.
var link = regexp.MustCompile(`\[([^\]]*)\]\(([^)#]*)[^)]*\)`)

// plain returns a text of Markdown for a terminal: of a link to another page remains the
// name of the page.
func plain(text string) string {
	return link.ReplaceAllStringFunc(text, func(found string) string {
		parts := link.FindStringSubmatch(found)
		if parts[2] != "" && parts[1] != parts[2] {
			return parts[1] + " (docs/" + parts[2] + ")"
		}
		if parts[2] != "" {
			return "docs/" + parts[2]
		}
		return parts[1]
	})
}
