// Published writes the tables of the product that come from the published
// descriptions of the resource types:
//
//	go run ./published TABLE FOLDER
//
// TABLE is readonly (drift/readonly.txt), writeonly (drift/writeonly.txt) or
// inline-children (extensions/azure/inline_children.txt). FOLDER holds index.json and
// the types.json files that it names, as the project bicep-types-az (MIT)
// generates them from the REST API specifications.
package main

import (
	"bufio"
	"fmt"
	"io"
	"os"
	"strings"
)

func main() {
	if err := run(os.Args[1:], os.Stdout); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}

func run(args []string, out io.Writer) error {
	tables := map[string]func(descriptions, io.Writer) error{
		"readonly": writeReadOnly, "writeonly": writeWriteOnly, "inline-children": writeInlineChildren,
	}
	if len(args) != 2 || tables[args[0]] == nil {
		return fmt.Errorf("usage: go run ./published readonly|writeonly|inline-children FOLDER")
	}
	from, err := open(args[1])
	if err != nil {
		return err
	}
	buffered := bufio.NewWriter(out)
	if err := tables[args[0]](from, buffered); err != nil {
		return err
	}
	return buffered.Flush()
}

// outermost are sorted paths without those below another one.
func outermost(sorted []string) []string {
	var kept []string
	for _, path := range sorted {
		// A path below another one does not always follow it: "-" sorts before ".".
		below := false
		for _, other := range kept {
			below = below || strings.HasPrefix(path, other+".")
		}
		if !below {
			kept = append(kept, path)
		}
	}
	return kept
}
