// Command house counts the repository's code at the working tree and, if a revision is
// given, at that revision too: lines, fields of the workflow's state, symbols for
// authors, hand-written JSON walkers, rooms, and places of facts about Azure types. It
// judges nothing: a number is a question for a reader.
package main

import (
	"archive/tar"
	"bytes"
	"errors"
	"flag"
	"fmt"
	"io"
	"io/fs"
	"os"
	"os/exec"
	"path"
	"strings"
	"testing/fstest"
	"text/tabwriter"
)

func main() {
	before := flag.String("before", "", "a git revision to compare with")
	root := flag.String("root", "..", "folder of the checkout")
	flag.Parse()
	if err := run(os.Stdout, *root, *before); err != nil {
		fmt.Fprintln(os.Stderr, "house:", err)
		os.Exit(1)
	}
}

// run writes one row for each count: at the revision before, unless it is "", and at the
// files in root that git tracks or would track.
func run(out io.Writer, root, before string) error {
	now, err := worktree(root)
	if err != nil {
		return err
	}
	after, err := measure(now)
	if err != nil {
		return err
	}
	table := tabwriter.NewWriter(out, 0, 0, 2, ' ', tabwriter.AlignRight)
	if before == "" {
		for _, row := range after {
			fmt.Fprintf(table, "%d\t  %s\t\n", row.count, row.name)
		}
		return table.Flush() //nolint:wrapcheck // it names the stream
	}
	then, err := revision(root, before)
	if err != nil {
		return err
	}
	rows, err := measure(then)
	if err != nil {
		return err
	}
	fmt.Fprintf(table, "%s\tnow\t  \t\n", before)
	for i, row := range after {
		fmt.Fprintf(table, "%d\t%d\t  %s\t\n", rows[i].count, row.count, row.name)
	}
	return table.Flush() //nolint:wrapcheck // it names the stream
}

// worktree returns the Go files and data files of a checkout, without ignored ones.
func worktree(root string) (fs.FS, error) {
	list, err := git(root, "ls-files", "--cached", "--others", "--exclude-standard", "-z")
	if err != nil {
		return nil, err
	}
	files := fstest.MapFS{}
	for name := range strings.SplitSeq(string(list), "\x00") {
		if !isCounted(name) {
			continue
		}
		data, err := os.ReadFile(path.Join(root, name))
		if errors.Is(err, fs.ErrNotExist) {
			continue // deleted, and not yet committed
		}
		if err != nil {
			return nil, fmt.Errorf("read %s: %w", name, err)
		}
		files[name] = &fstest.MapFile{Data: data}
	}
	return files, nil
}

// revision returns the same files of a commit.
func revision(root, commit string) (fs.FS, error) {
	archive, err := git(root, "archive", "--format=tar", commit)
	if err != nil {
		return nil, err
	}
	files := fstest.MapFS{}
	for reader := tar.NewReader(bytes.NewReader(archive)); ; {
		header, err := reader.Next()
		if errors.Is(err, io.EOF) {
			return files, nil
		}
		if err != nil {
			return nil, fmt.Errorf("read the archive of %s: %w", commit, err)
		}
		if !isCounted(header.Name) {
			continue
		}
		data, err := io.ReadAll(reader)
		if err != nil {
			return nil, fmt.Errorf("read %s of %s: %w", header.Name, commit, err)
		}
		files[header.Name] = &fstest.MapFile{Data: data}
	}
}

func isCounted(name string) bool {
	return strings.HasSuffix(name, ".go") && !strings.Contains(name, "/testdata/")
}

func git(root string, arguments ...string) ([]byte, error) {
	command := exec.Command("git", arguments...)
	command.Dir = root
	var complaint bytes.Buffer
	command.Stderr = &complaint
	out, err := command.Output()
	if err != nil {
		return nil, fmt.Errorf("git %s: %w: %s", arguments[0], err, bytes.TrimSpace(complaint.Bytes()))
	}
	return out, nil
}
