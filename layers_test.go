package armature_test

import (
	"bufio"
	"bytes"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// module is the import path of the product.
const module = "github.com/armature-io/armature"

// maxLines is where a file is asking to be two things.
const maxLines = 300

// layer is the height of every package, by its first folder: imports point
// down, and those of one layer do not import each other.
var layer = map[string]int{
	"resource": 0,
	"manifest": 1, "drift": 1, "arm": 1, "secrets": 1,
	"extensions": 2,
	// The built-in types use the public SDK, and the steps know none of them.
	"activities": 3, "extensions/azure": 3,
	"workflows": 4,
	"fleet":     5,
	"service":   6,
	"worker":    7, "starter": 7,
}

// beside are the packages that stand beside the layers and import nothing of
// ours, with who may import them.
var beside = map[string][]string{
	"internal": {
		"resource", "manifest", "drift", "arm", "secrets", "extensions", "activities", "workflows", "fleet",
		"service", "config", "worker", "starter",
	},
	"payload":    {"fleet", "service", "starter"},
	"searchattr": {"service", "starter"},
	"config":     {"service"},
	"armsim":     nil,
}

func goList(t *testing.T, args ...string) []string {
	t.Helper()
	command := exec.Command("go", append([]string{"list"}, args...)...)
	var stderr bytes.Buffer
	command.Stderr = &stderr
	out, err := command.Output()
	if err != nil {
		t.Fatalf("go list %s: %v\n%s", strings.Join(args, " "), err, stderr.String())
	}
	return strings.Split(strings.TrimSpace(string(out)), "\n")
}

// room is the first folder of a package of ours, "" for others' packages and
// for the root.
func room(importPath string) string {
	below, ours := strings.CutPrefix(importPath, module+"/")
	if !ours {
		return ""
	}
	if below == "extensions/azure" {
		return below
	}
	first, _, _ := strings.Cut(below, "/")
	return first
}

// upward says why an import is not allowed, or "".
func upward(from, to string) string {
	if from == to || to == "" {
		return ""
	}
	if users, isBeside := beside[to]; isBeside {
		if !slices.Contains(users, from) {
			return fmt.Sprintf("%s is for %s only", to, strings.Join(users, ", "))
		}
		return ""
	}
	if _, isBeside := beside[from]; isBeside {
		return from + " imports nothing of ours"
	}
	high, known := layer[from]
	low, knownTo := layer[to]
	switch {
	case !known || !knownTo:
		return "it is in no layer: say in layers_test.go where it stands"
	case high <= low:
		return fmt.Sprintf("%s is layer %d, %s is layer %d", from, high, to, low)
	case from == "starter" && (to == "arm" || to == "service"):
		return "the CLI is a Temporal client only"
	case from == "workflows" && slices.Contains([]string{"arm", "drift", "extensions", "secrets", "manifest"}, to):
		return "decide in activities, remember in workflows"
	}
	return ""
}

func TestImportsPointDown(t *testing.T) {
	seen := map[string]bool{}
	for _, line := range goList(t, "-f", "{{.ImportPath}} {{join .Imports \" \"}}", "./...") {
		imports := strings.Fields(line)
		from := room(imports[0])
		if from == "" {
			continue
		}
		seen[from] = true
		for _, imported := range imports[1:] {
			if why := upward(from, room(imported)); why != "" {
				t.Errorf("%s imports %s: %s", imports[0], imported, why)
			}
		}
	}
	for name := range layer {
		if !seen[name] {
			t.Errorf("layer %d names %s, which does not exist", layer[name], name)
		}
	}
}

func TestUpward(t *testing.T) {
	cases := map[string]struct {
		reason, from, to string
		refused          bool
	}{
		"down":             {reason: "the normal way", from: "activities", to: "arm"},
		"up":               {reason: "a layer knows nothing above", from: "arm", to: "activities", refused: true},
		"sideways":         {reason: "layer 1 does not import itself", from: "drift", to: "arm", refused: true},
		"to the simulator": {reason: "a shared mistake would look like agreement", from: "arm", to: "armsim", refused: true},
		"text functions":   {reason: "they import nothing of ours", from: "config", to: "internal"},
		"from text":        {reason: "internal imports nothing of ours", from: "internal", to: "resource", refused: true},
		"by the simulator": {reason: "the same from the other side", from: "armsim", to: "resource", refused: true},
		"CLI to ARM":       {reason: "the CLI never talks to ARM", from: "starter", to: "arm", refused: true},
		"workflow to ARM":  {reason: "a better client must not break a replay", from: "workflows", to: "arm", refused: true},
		"SDK to its types": {reason: "the built-in types use the SDK as any author does", from: "extensions", to: "extensions/azure", refused: true},
		"step to a type":   {reason: "steps know the registry, not its entries", from: "activities", to: "extensions/azure", refused: true},
		"worker to types":  {reason: "the worker registers them", from: "worker", to: "extensions/azure"},
		"viper's room":     {reason: "config is the edge", from: "activities", to: "config", refused: true},
		"a stranger":       {reason: "a new folder has to say where it stands", from: "helpers", to: "resource", refused: true},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			if why := upward(tc.from, tc.to); (why != "") != tc.refused {
				t.Errorf("upward(%s, %s) = %q: %s", tc.from, tc.to, why, tc.reason)
			}
		})
	}
}

func TestBinariesAreSmall(t *testing.T) {
	for _, dependency := range goList(t, "-deps", "./worker", "./starter") {
		for _, banned := range []string{"go.temporal.io/server", module + "/armsim", "github.com/compose-spec/"} {
			if dependency == banned || strings.HasPrefix(dependency, strings.TrimSuffix(banned, "/")+"/") {
				t.Errorf("worker or starter needs %s", dependency)
			}
		}
	}
	for _, dependency := range goList(t, "-deps", "./starter") {
		if dependency == module+"/service" || dependency == module+"/config" {
			t.Errorf("the CLI needs %s", dependency)
		}
	}
}

func TestFilesFitOnScreens(t *testing.T) {
	err := filepath.WalkDir(".", func(path string, entry os.DirEntry, err error) error {
		if err != nil {
			return err
		}
		if entry.IsDir() && (strings.HasPrefix(entry.Name(), ".") && path != "." || entry.Name() == "testdata") {
			return filepath.SkipDir
		}
		if filepath.Ext(path) != ".go" || strings.HasSuffix(path, "_test.go") {
			return nil
		}
		lines, err := countLines(path)
		if lines > maxLines {
			t.Errorf("%s has %d lines, more than %d: it is two things", path, lines, maxLines)
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
}

func countLines(path string) (int, error) {
	file, err := os.Open(path)
	if err != nil {
		return 0, err
	}
	defer file.Close()
	scanner := bufio.NewScanner(file)
	lines := 0
	for scanner.Scan() {
		lines++
	}
	return lines, scanner.Err()
}
