// Examples collects bodies of create requests from the examples that Microsoft publishes:
//
//	zstd -dc ../../shared/types/azure-types.jsonl.zst | go run ./published/examples FOLDER...
//
// FOLDER is the source of a module of the Azure SDK for Go, as `go mod download -json`
// names it. Its example tests are generated from the examples of the REST API
// specifications; the program reads their syntax trees and compiles nothing. The standard
// input is the published description of the resource types: an example of a type or
// version that it lacks is left out.
//
// One line of the output is one body: type, version, source, body. The source is the path
// of the original on GitHub. What was left out is counted on the standard error.
package main

import (
	"bufio"
	"cmp"
	"encoding/json"
	"fmt"
	"io"
	"maps"
	"os"
	"reflect"
	"slices"
	"strings"
)

// example is one body with its origin.
type example struct {
	Type    string         `json:"type"`
	Version string         `json:"version"`
	Source  string         `json:"source"`
	Body    map[string]any `json:"body"`
}

func main() {
	if err := run(os.Args[1:], os.Stdin, os.Stdout, os.Stderr); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}

func run(folders []string, published io.Reader, out, notes io.Writer) error {
	if len(folders) == 0 {
		return fmt.Errorf("usage: go run ./published/examples FOLDER... <azure-types.jsonl")
	}
	names, err := readNames(published)
	if err != nil {
		return fmt.Errorf("read the published types: %w", err)
	}
	var all []example
	leftOut := map[string]int{}
	for _, folder := range folders {
		from, err := openModule(folder)
		if err != nil {
			return fmt.Errorf("read module %s: %w", folder, err)
		}
		for _, e := range from.examples(leftOut) {
			name, ok := names[strings.ToLower(e.Type+"@"+e.Version)]
			if !ok {
				leftOut["type or version is not published"]++
				continue
			}
			e.Type, _, _ = strings.Cut(name, "@")
			all = append(all, e)
		}
	}
	kept := distinct(all)
	leftOut["the same body of the same type"] = len(all) - len(kept)
	for _, reason := range slices.Sorted(maps.Keys(leftOut)) {
		fmt.Fprintf(notes, "left out %5d: %s\n", leftOut[reason], reason)
	}
	fmt.Fprintf(notes, "kept     %5d\n", len(kept))
	return write(kept, out)
}

// distinct returns the examples in the order of type, version and source, of equal bodies
// of one type the first.
func distinct(all []example) []example {
	slices.SortStableFunc(all, func(a, b example) int {
		return cmp.Or(cmp.Compare(a.Type, b.Type), cmp.Compare(a.Version, b.Version), cmp.Compare(a.Source, b.Source))
	})
	var kept []example
	for _, e := range all {
		repeated := func(k example) bool {
			return k.Type == e.Type && k.Version == e.Version && reflect.DeepEqual(k.Body, e.Body)
		}
		if !slices.ContainsFunc(kept, repeated) {
			kept = append(kept, e)
		}
	}
	return kept
}

// readNames returns the published names that can be written, Type@version in the
// published spelling, by their name in lower case.
func readNames(published io.Reader) (map[string]string, error) {
	names := map[string]string{}
	lines := bufio.NewScanner(published)
	lines.Buffer(nil, 64<<20)
	for lines.Scan() {
		if !strings.Contains(lines.Text(), `"$type":"ResourceType"`) {
			continue
		}
		var node struct {
			Name           string `json:"name"`
			WritableScopes int    `json:"writableScopes"`
		}
		if err := json.Unmarshal(lines.Bytes(), &node); err != nil {
			return nil, err
		}
		if node.WritableScopes != 0 {
			names[strings.ToLower(node.Name)] = node.Name
		}
	}
	return names, lines.Err()
}

func write(kept []example, out io.Writer) error {
	buffered := bufio.NewWriter(out)
	lines := json.NewEncoder(buffered)
	lines.SetEscapeHTML(false)
	for _, e := range kept {
		if err := lines.Encode(e); err != nil {
			return fmt.Errorf("write %s: %w", e.Source, err)
		}
	}
	return buffered.Flush()
}
