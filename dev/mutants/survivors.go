package main

import (
	_ "embed"
	"fmt"
	"strings"
)

// survivorsFile is the path of the file of the survivors, beside this one.
const survivorsFile = "dev/mutants/survivors.txt"

// noticedByTests ends the reason of a command that replay alone does not notice.
const noticedByTests = "the tests of the package notice it."

//go:embed survivors.txt
var survivorsText string

// parseSurvivors returns the reason of each mutant by name. In the text a line is a reason, and
// the indented lines after it are the mutants that it explains; "#" begins a comment.
func parseSurvivors(text string) (map[string]string, error) {
	reasons := map[string]string{}
	reason := ""
	for line := range strings.Lines(text) {
		name := strings.TrimSpace(line)
		switch {
		case name == "" || strings.HasPrefix(name, "#"):
		case !strings.HasPrefix(line, "\t"):
			reason = name
		case reason == "":
			return nil, fmt.Errorf("%s: %s has no reason", survivorsFile, name)
		case reasons[name] != "":
			return nil, fmt.Errorf("%s: %s is there twice", survivorsFile, name)
		default:
			reasons[name] = reason
		}
	}
	return reasons, nil
}
