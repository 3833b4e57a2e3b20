// Command api lists the public symbols of Go packages that stay compatible, and compares them with
// those of an earlier commit.
package main

import (
	"context"
	"flag"
	"fmt"
	"io"
	"os"
	"os/signal"

	"github.com/armature-io/armature/dev/internal/overlay"
)

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	base := flag.String("base", "", "commit to compare with; without one the symbols are listed")
	flag.Parse()
	err := run(ctx, os.Stdout, *base)
	stop()
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}

// run lists the symbols of the tree, or compares them with those of a commit. An incompatible
// change is an error.
func run(ctx context.Context, out io.Writer, base string) error {
	root, err := overlay.FindRoot()
	if err != nil {
		return err
	}
	now, err := load(ctx, root, promised()...)
	if err != nil {
		return err
	}
	if base == "" {
		_, err := io.WriteString(out, now.list())
		return err
	}
	folder, err := os.MkdirTemp("", "api")
	if err != nil {
		return err
	}
	defer func() { _ = os.RemoveAll(folder) }()
	if err := overlay.CheckOut(ctx, root, base, folder); err != nil {
		return err
	}
	before, err := load(ctx, folder, promised()...)
	if err != nil {
		return err
	}
	fmt.Fprintf(out, "%d symbols at %s, %d now\n", before.count(), base, now.count())
	changes := before.incompatible(now)
	for _, change := range changes {
		fmt.Fprintln(out, change)
	}
	if len(changes) > 0 {
		return fmt.Errorf("%d incompatible changes since %s: docs/contributing/release.md says when they are allowed", len(changes), base)
	}
	return nil
}
