package repo

import (
	"os"
	"os/exec"
	"regexp"
	"strings"
	"testing"
)

// quotedType is a text in Go that begins with the name of a provider or type of Azure.
var quotedType = regexp.MustCompile(`"[Mm]icrosoft\.[A-Za-z]`)

// quotesOfTypes are files of rooms without facts that quote types all the same.
var quotesOfTypes = map[string]string{
	"starter/internal/convert/aso_kinds.go": "kinds of another tool, in its words",
	"starter/internal/convert/aso.go":       "a name that another tool makes",
	"activities/feed/queue.go":              "kinds of events, which are no types",
	"starter/internal/convert/bicep.go":     "modules of another tool are deployments",
}

// TestFactsAboutTypesHaveOneHome: facts about types are rows of extensions/azure/facts.yaml,
// which the rooms below ask for or receive.
func TestFactsAboutTypesHaveOneHome(t *testing.T) {
	t.Parallel()
	seen := map[string]bool{}
	list, err := exec.Command("git", "ls-files", "-z", "*.go").Output()
	if err != nil {
		t.Fatal(err)
	}
	for name := range strings.SplitSeq(strings.TrimRight(string(list), "\x00"), "\x00") {
		room, _, _ := strings.Cut(name, "/")
		if !strings.HasSuffix(name, ".go") || strings.HasSuffix(name, "_test.go") || !strings.Contains(" starter activities drift manifest types secrets workflows fleet ", " "+room+" ") {
			continue
		}
		text, err := os.ReadFile(name)
		if err != nil {
			t.Fatal(err)
		}
		if !quotedType.Match(text) {
			continue
		}
		seen[name] = true
		if quotesOfTypes[name] == "" {
			t.Errorf("%s quotes a type of Azure: make it a fact of extensions/azure/facts.yaml", name)
		}
	}
	for name := range quotesOfTypes {
		if !seen[name] {
			t.Errorf("%s quotes no type any more: remove it from the list", name)
		}
	}
}
