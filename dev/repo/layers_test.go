package repo

import (
	"bytes"
	"fmt"
	"maps"
	"os/exec"
	"slices"
	"strings"
	"testing"
)

// module is the import path of the product.
const module = "github.com/armature-io/armature"

// layers lists the rooms (packages, or folders of packages) from the bottom to
// the top. A room imports only rooms of lower layers; rooms of one layer do not
// import each other. A package belongs to the longest room that its path begins
// with, so "activities/lookup" is a room of its own below "activities".
var layers = [][]string{
	{"docs", "internal/azuretypes", "internal/batching", "internal/keyref", "internal/nearest", "internal/regular", "internal/servertime", "internal/serverversion", "internal/text"},
	{"internal/tracing"},
	{"resource"},
	{"internal/jsontree"},
	{"types", "internal/signing", "internal/expression"},
	{"manifest", "drift", "arm", "secrets", "internal/encryption", "internal/audit", "internal/extensionshare"},
	{"extensions"},
	{"internal/extensionhost"},
	{"extensions/azure", "activities/lookup", "activities/contents", "activities/purge", "activities/writing"},
	{"extensions/rules", "extensions/extensiontest", "activities/importing", "activities/exporting"},
	{"activities"},
	{"workflows"},
	{"extensions/passtest"},
	{"fleet"},
	{"service", "starter/internal/cli"},
	{"starter/internal/backend"},
	{"starter/internal/author", "starter/internal/convert", "starter/internal/plan", "starter/internal/report", "starter/internal/screen", "starter/internal/why"},
	{"starter/internal/importer"},
	{"starter/internal/coverage", "starter/internal/page", "starter/internal/project", "starter/internal/rollout", "starter/internal/wait"},
	{"worker", "starter"},
}

// leaves are rooms outside of the layers: they import nothing of this module
// but the lowest layer, and only the listed rooms import them.
var leaves = map[string][]string{
	"caller":              {"service", "starter"},
	"internal/testonly":   nil, // tests alone
	"internal/payload":    {"activities", "workflows", "internal/encryption", "fleet", "service", "starter"},
	"internal/searchattr": {"workflows", "fleet", "service", "starter"},
	"config":              {"service"},
	"armsim":              {"extensions/passtest"},
}

// separations are pairs of rooms that stay apart although the layers would allow
// the import; a room includes the rooms below its folder.
var separations = []struct{ from, to, reason string }{
	{"starter", "arm", "the CLI is a Temporal client only"},
	{"starter", "service", "the CLI is a Temporal client only"},
	{"workflows", "arm", "decide in activities, remember in workflows"},
	{"workflows", "drift", "decide in activities, remember in workflows"},
	{"workflows", "extensions", "decide in activities, remember in workflows"},
	{"workflows", "secrets", "decide in activities, remember in workflows"},
	{"workflows", "types", "decide in activities, remember in workflows"},
	{"workflows", "manifest", "decide in activities, remember in workflows"},
	{"activities", "extensions/azure", "activities use the registry, not a certain type"},
	{"extensions/azure", "internal", "built-in types use the public API of extensions"},
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

// room returns the room of a package of this module: the longest name in the
// tables that the path begins with, else the first folder. It returns "" for
// packages of other modules.
func room(importPath string) string {
	path, ours := strings.CutPrefix(importPath, module+"/")
	if !ours {
		return ""
	}
	longest, _, _ := strings.Cut(path, "/")
	for _, name := range rooms() {
		if within(path, name) && len(name) > len(longest) {
			longest = name
		}
	}
	return longest
}

// rooms returns the names in the tables.
func rooms() []string {
	return append(slices.Concat(layers...), slices.Collect(maps.Keys(leaves))...)
}

// within reports whether a path is the folder or below it.
func within(path, folder string) bool {
	return path == folder || strings.HasPrefix(path, folder+"/")
}

// layerOf returns the height of a room, -1 for one in no layer.
func layerOf(room string) int {
	return slices.IndexFunc(layers, func(layer []string) bool { return slices.Contains(layer, room) })
}

// violation returns why a room may not import another, or "".
func violation(from, to string) string {
	if from == to || to == "" {
		return ""
	}
	if users, isLeaf := leaves[to]; isLeaf {
		if len(users) == 0 {
			return to + " is for tests only"
		}
		if !slices.ContainsFunc(users, func(user string) bool { return within(from, user) }) {
			return fmt.Sprintf("%s is for %s only", to, strings.Join(users, ", "))
		}
		return ""
	}
	if _, isLeaf := leaves[from]; isLeaf {
		if from == "armsim" && to == "internal/azuretypes" || from != "armsim" && layerOf(to) == 0 {
			return ""
		}
		return from + " imports nothing of this module"
	}
	for _, pair := range separations {
		if within(from, pair.from) && within(to, pair.to) {
			return pair.reason
		}
	}
	high, low := layerOf(from), layerOf(to)
	switch {
	case high < 0:
		return from + " is in no layer; add it to the tables in layers_test.go"
	case low < 0:
		return to + " is in no layer; add it to the tables in layers_test.go"
	case high <= low:
		return fmt.Sprintf("%s is layer %d, %s is layer %d", from, high, to, low)
	}
	return ""
}

func TestImportsPointDown(t *testing.T) {
	found := map[string]bool{}
	for _, line := range goList(t, "-f", "{{.ImportPath}} {{join .Imports \" \"}}", "./...") {
		imports := strings.Fields(line)
		from := room(imports[0])
		if from == "" {
			continue
		}
		found[from] = true
		for _, imported := range imports[1:] {
			if reason := violation(from, room(imported)); reason != "" {
				t.Errorf("%s imports %s: %s", imports[0], imported, reason)
			}
		}
	}
	for _, name := range rooms() {
		if !found[name] {
			t.Errorf("the tables name %s, which does not exist", name)
		}
	}
}

// TestArchitectureNamesEveryRoom checks that docs/contributing/architecture.md links each package of the
// product. Folders of a main package or of tests alone are no rooms.
func TestArchitectureNamesEveryRoom(t *testing.T) {
	page := read(t, "docs/contributing/architecture.md")
	for _, line := range goList(t, "-f", "{{.Name}} {{len .GoFiles}} {{.ImportPath}}", "./...") {
		fields := strings.Fields(line)
		path, ours := strings.CutPrefix(fields[2], module+"/")
		if !ours || within(path, "dev") || within(path, "examples") || fields[0] == "main" && path != "worker" || fields[1] == "0" {
			continue
		}
		if !strings.Contains(page, "](../../"+path+")") {
			t.Errorf("docs/contributing/architecture.md does not name the package %s", path)
		}
	}
}

func TestViolation(t *testing.T) {
	cases := map[string]struct {
		reason, from, to string
		refused          bool
	}{
		"down":              {reason: "the normal way", from: "activities", to: "arm"},
		"up":                {reason: "a layer knows nothing above it", from: "arm", to: "activities", refused: true},
		"sideways":          {reason: "rooms of one layer do not import each other", from: "drift", to: "arm", refused: true},
		"to the simulator":  {reason: "a shared mistake would look like agreement", from: "arm", to: "armsim", refused: true},
		"by the simulator":  {reason: "a shared mistake would look like agreement", from: "armsim", to: "resource", refused: true},
		"simulator to data": {reason: "the packed file contains no code", from: "armsim", to: "internal/azuretypes"},
		"simulator to text": {reason: "armsim shares no code, not even texts", from: "armsim", to: "internal/text", refused: true},
		"leaf to text":      {reason: "the bottom is open to every leaf but armsim", from: "config", to: "internal/nearest"},
		"CLI to ARM":        {reason: "the CLI never talks to ARM", from: "starter", to: "arm", refused: true},
		"room of the CLI":   {reason: "a separation includes sub-rooms", from: "starter/internal/backend", to: "arm", refused: true},
		"within the CLI":    {reason: "why reads through the backend", from: "starter/internal/why", to: "starter/internal/backend"},
		"up in the CLI":     {reason: "the backend prints nothing", from: "starter/internal/backend", to: "starter", refused: true},
		"workflow to ARM":   {reason: "a better client must not break a replay", from: "workflows", to: "arm", refused: true},
		"viper's room":      {reason: "config is the edge", from: "activities", to: "config", refused: true},
		"types to the SDK":  {reason: "built-in types use the public SDK", from: "extensions/azure", to: "extensions"},
		"types to the host": {reason: "built-in types use the public API alone", from: "extensions/azure", to: "internal/extensionhost", refused: true},
		"author to host":    {reason: "authors see no registry", from: "extensions", to: "internal/extensionhost", refused: true},
		"SDK to types":      {reason: "the SDK knows no type", from: "extensions", to: "extensions/azure", refused: true},
		"step to a type":    {reason: "activities use the registry", from: "activities", to: "extensions/azure", refused: true},
		"lookup to steps":   {reason: "the cache knows no activity", from: "activities/lookup", to: "activities", refused: true},
		"test to product":   {reason: "a double of a test is no part of a program", from: "service", to: "internal/testonly", refused: true},
		"unknown room":      {reason: "a new folder needs a layer", from: "helpers", to: "resource", refused: true},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			if got := violation(tc.from, tc.to); (got != "") != tc.refused {
				t.Errorf("violation(%s, %s) = %q: %s", tc.from, tc.to, got, tc.reason)
			}
		})
	}
}

func TestRoom(t *testing.T) {
	cases := map[string]string{
		module + "/activities":               "activities",
		module + "/activities/lookup":        "activities/lookup",
		module + "/extensions/rules":         "extensions/rules",
		module + "/extensions/rules/another": "extensions/rules",
		module + "/starter/internal/backend": "starter/internal/backend",
		module + "/armsim/cmd":               "armsim",
		module + "/helpers/text":             "helpers",
		"go.temporal.io/sdk/client":          "",
	}
	for path, want := range cases {
		if got := room(path); got != want {
			t.Errorf("room(%s) = %q, want %q", path, got, want)
		}
	}
}

func TestProgramsLinkNoServer(t *testing.T) {
	for _, dependency := range goList(t, "-deps", "./worker", "./starter/cmd") {
		for _, banned := range []string{"go.temporal.io/server", module + "/armsim", "github.com/compose-spec/"} {
			if dependency == banned || strings.HasPrefix(dependency, strings.TrimSuffix(banned, "/")+"/") {
				t.Errorf("worker or starter needs %s", dependency)
			}
		}
	}
	for _, dependency := range goList(t, "-deps", "./starter/cmd") {
		if dependency == module+"/service" || dependency == module+"/config" {
			t.Errorf("the CLI needs %s", dependency)
		}
	}
}
