// Command digests pins the images of the Dockerfile and the compose files: it asks the
// registry for the digest of each tag and writes IMAGE:TAG@sha256:DIGEST. The digest is
// that of the index, so it is the same on all platforms. It needs access to the registries.
//
//	digests [--check] FILE...
//
// With --check it writes nothing, and fails if a digest is missing or is another one.
package main

import (
	"context"
	"flag"
	"fmt"
	"net/http"
	"os"
	"time"
)

func main() {
	check := flag.Bool("check", false, "write nothing; fail if a digest is missing or is another one")
	flag.Parse()
	ctx, cancel := context.WithTimeout(context.Background(), 5*time.Minute)
	defer cancel()
	r := registry{client: http.DefaultClient, scheme: "https"}
	failed := false
	for _, file := range flag.Args() {
		if err := pinFile(ctx, r, file, *check); err != nil {
			fmt.Fprintln(os.Stderr, err)
			failed = true
		}
	}
	if failed {
		os.Exit(1)
	}
}

// pinFile pins the images of one file.
func pinFile(ctx context.Context, r registry, file string, check bool) error {
	content, err := os.ReadFile(file)
	if err != nil {
		return err
	}
	pinned, err := pin(ctx, r, string(content))
	switch {
	case err != nil:
		return fmt.Errorf("pin %s: %w", file, err)
	case pinned == string(content):
		return nil
	case check:
		return fmt.Errorf("%s has images without the digest of their tag; run make digests", file)
	}
	return os.WriteFile(file, []byte(pinned), 0o644) //nolint:gosec // the files of a repository
}
