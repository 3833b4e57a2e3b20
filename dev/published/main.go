// Published writes the packed file of internal/azuretypes from the published descriptions of
// the resource types:
//
//	go run ./published SOURCE > ../internal/azuretypes/azure-types.bin
//
// SOURCE is one zstd file with a node per line, or a folder that contains index.json and the
// types.json files that it names, as the project bicep-types-az (MIT) generates them from the
// REST API specifications.
package main

import (
	"errors"
	"fmt"
	"io"
	"os"
)

func main() {
	if err := run(os.Args[1:], os.Stdout); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}

func run(args []string, out io.Writer) error {
	if len(args) != 1 {
		return errors.New("usage: go run ./published SOURCE")
	}
	shapes, err := readShapes(args[0])
	if err != nil {
		return err
	}
	data, err := encode(shapes)
	if err != nil {
		return err
	}
	_, err = out.Write(data)
	return err
}
