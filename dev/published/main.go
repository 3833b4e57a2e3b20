// Published writes the data that is generated from the published descriptions of the
// resource types:
//
//	go run ./published DATA SOURCE
//
// DATA is types (types/azure-types.bin) or armsim (armsim/published/types.bin). SOURCE is
// one zstd file with a node per line; for types also a folder that contains index.json and
// the types.json files that it names, as the project bicep-types-az (MIT) generates them
// from the REST API specifications.
package main

import (
	"bufio"
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
	writers := map[string]func(from string, out io.Writer) error{"types": writeTypes, "armsim": writeArmsim}
	if len(args) != 2 || writers[args[0]] == nil {
		return errors.New("usage: go run ./published types|armsim SOURCE")
	}
	buffered := bufio.NewWriter(out)
	if err := writers[args[0]](args[1], buffered); err != nil {
		return err
	}
	return buffered.Flush()
}
