// Published writes those tables of the product that are generated from the published
// descriptions of the resource types:
//
//	go run ./published TABLE SOURCE
//
// TABLE is types (types/azure-types.bin), armsim (armsim/published/types.bin), readonly
// (drift/readonly.txt), writeonly (drift/writeonly.txt) or inline-children
// (extensions/azure/inline_children.txt). SOURCE is a folder that contains
// index.json and the types.json files that it names, as the project bicep-types-az (MIT)
// generates them from the REST API specifications; for types also, and for armsim only, one
// zstd file with a node per line.
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
	if len(args) == 2 && args[0] == "types" {
		return writeTypes(args[1], out)
	}
	if len(args) == 2 && args[0] == "armsim" {
		return writeArmsim(args[1], out)
	}
	if len(args) != 2 || tables[args[0]] == nil {
		return fmt.Errorf("usage: go run ./published types|armsim|readonly|writeonly|inline-children SOURCE")
	}
	from, err := openDescriptions(args[1])
	if err != nil {
		return err
	}
	buffered := bufio.NewWriter(out)
	if err := tables[args[0]](from, buffered); err != nil {
		return err
	}
	return buffered.Flush()
}

// outermost returns the paths that are not below another one.
func outermost(sorted []string) []string {
	var outer []string
	for _, path := range sorted {
		// A path below another one does not always follow it: "-" sorts before ".".
		below := false
		for _, other := range outer {
			below = below || strings.HasPrefix(path, other+".")
		}
		if !below {
			outer = append(outer, path)
		}
	}
	return outer
}
