package main

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"time"

	"github.com/armature-io/armature/dev/internal/overlay"
)

// The folders of patches.
const (
	// guardsFolder has a patch for each guard that holds rows of the table.
	guardsFolder = "guards"
	// specFolder has a patch for each feature that rows of docs/contributing/spec-coverage.md describe.
	specFolder = "spec"
)

// Patch takes a guard or a feature out of the code. Its file has the name, the tests that
// must fail and their rows, and a diff for `git apply`.
type Patch struct {
	Name string
	// Path is the absolute path of the file.
	Path string
	// Files are the patched files, as paths in the repository.
	Files  []string
	Proofs []Proof
}

// Proof is a test that fails with the patch, and the rows that the test holds.
type Proof struct {
	Test Cite
	Rows []string
}

// readPatches reads the patches of a folder beside this file, sorted by file name.
func readPatches(root, folder string) ([]Patch, error) {
	paths, err := filepath.Glob(filepath.Join(root, filepath.FromSlash(ownPackage), folder, "*.patch"))
	if err != nil {
		return nil, err
	}
	patches := make([]Patch, len(paths))
	for i, path := range paths {
		text, err := os.ReadFile(path)
		if err != nil {
			return nil, err
		}
		patches[i], err = parsePatch(string(text))
		if err != nil {
			return nil, fmt.Errorf("read %s: %w", path, err)
		}
		patches[i].Path = path
	}
	return patches, nil
}

// parsePatch reads the header of a patch and the names of the files in its diff.
func parsePatch(text string) (Patch, error) {
	var p Patch
	header, diff, _ := strings.Cut(text, "\n--- ")
	for line := range strings.Lines(diff) {
		if file, found := strings.CutPrefix(line, "+++ b/"); found {
			p.Files = append(p.Files, strings.TrimSpace(file))
		}
	}
	name, header, _ := strings.Cut(header, "\n")
	p.Name = name
	for line := range strings.Lines(header) {
		key, value, _ := strings.Cut(strings.TrimSpace(line), ": ")
		switch {
		case key == "Test":
			folder, test, _ := strings.Cut(value, " ")
			p.Proofs = append(p.Proofs, Proof{Test: Cite{folder, test}})
		case key == "Row" && len(p.Proofs) > 0:
			last := &p.Proofs[len(p.Proofs)-1]
			last.Rows = append(last.Rows, value)
		case key != "":
			return p, fmt.Errorf("the line %q is neither a test nor a row of a test", strings.TrimSpace(line))
		}
	}
	if p.Name == "" || len(p.Files) == 0 || len(p.Proofs) == 0 {
		return p, errors.New("want a name, a test and a diff")
	}
	return p, nil
}

// apply applies the patch to copies of its files below folder, and returns the path of the
// overlay, which the go command reads in place of the files in the tree. Lines of the
// context may have moved, and all but the nearest may have changed.
func (p Patch) apply(ctx context.Context, root, folder string) (string, error) {
	tree := filepath.Join(folder, "tree")
	replaced := map[string]string{}
	for _, file := range p.Files {
		original, changed := filepath.Join(root, filepath.FromSlash(file)), filepath.Join(tree, filepath.FromSlash(file))
		text, err := os.ReadFile(original)
		if err != nil {
			return "", fmt.Errorf("%s: %w; if the file was renamed, rename it in the patch", p.Path, err)
		}
		if err := os.MkdirAll(filepath.Dir(changed), 0o700); err != nil {
			return "", err
		}
		if err := os.WriteFile(changed, text, 0o600); err != nil {
			return "", err
		}
		replaced[original] = changed
	}
	command := exec.CommandContext(ctx, "git", "apply", "-C1", "--whitespace=nowarn", p.Path)
	// Below a repository, git would skip files outside of the working directory.
	command.Dir, command.Env = tree, append(os.Environ(), "GIT_CEILING_DIRECTORIES="+folder)
	if output, err := command.CombinedOutput(); err != nil {
		return "", fmt.Errorf("%s: %w\n%sadapt the patch to the code", p.Path, err, output)
	}
	return overlay.Write(folder, replaced)
}

// takeOut applies each patch in turn, without touching the tree, and runs its tests. It
// returns 1 if a test passes in spite of a patch.
func takeOut(ctx context.Context, root string, patches []Patch, pattern *regexp.Regexp) (int, error) {
	killed, survived := 0, 0
	for _, patch := range patches {
		for _, proof := range patch.Proofs {
			rows := strings.Join(proof.Rows, ", ")
			if !pattern.MatchString(patch.Name + " " + rows) {
				continue
			}
			started := time.Now()
			state := "killed"
			switch noticed, err := patch.noticed(ctx, root, proof.Test); {
			case ctx.Err() != nil:
				return 1, ctx.Err()
			case err != nil:
				fmt.Println(err)
				state = "BROKEN"
				survived++
			case noticed:
				killed++
			default:
				state = "SURVIVED"
				survived++
			}
			fmt.Printf("%-8s  %s: %s (%s, %s)\n", state, patch.Name, proof.Test, rows, time.Since(started).Round(time.Second))
		}
	}
	fmt.Printf("%d tests with a patch: %d noticed it, %d did not\n", killed+survived, killed, survived)
	if survived > 0 {
		return 1, nil
	}
	return 0, nil
}

// noticed runs a test with the patch, and reports whether it fails. A patch that does not
// compile is an error: programs that a test builds would fail it for the wrong reason.
func (p Patch) noticed(ctx context.Context, root string, test Cite) (bool, error) {
	r, err := p.run(ctx, root, test)
	return err == nil && r.results[test] == ResultFail, err
}

// run runs a test with the patch, and with more variables in its environment.
func (p Patch) run(ctx context.Context, root string, test Cite, env ...string) (*runner, error) {
	folder, err := os.MkdirTemp("", "armature-patch-")
	if err != nil {
		return nil, err
	}
	defer func() { _ = os.RemoveAll(folder) }()
	changed, err := p.apply(ctx, root, folder)
	if err != nil {
		return nil, err
	}
	// GOFLAGS reaches the programs that a test builds, too.
	r := newRunner(root, append(env, "GOFLAGS="+strings.TrimSpace(os.Getenv("GOFLAGS")+" -overlay="+changed))...)
	for _, file := range p.Files {
		if err := r.build(ctx, filepath.ToSlash(filepath.Dir(file))); err != nil {
			return nil, fmt.Errorf("%s: %w", p.Path, err)
		}
	}
	if err := r.run(ctx, test.Package, []string{test.Test}); err != nil {
		return nil, fmt.Errorf("%s: %w", p.Path, err)
	}
	return r, nil
}

// build compiles the package in a folder of the repository.
func (r *runner) build(ctx context.Context, folder string) error {
	module, pkg := r.module(folder)
	var output bytes.Buffer
	command := exec.CommandContext(ctx, "go", "build", "-o", os.DevNull, "./"+pkg)
	command.Dir, command.Env = module, slices.Concat(os.Environ(), r.env)
	command.Stdout, command.Stderr = &output, &output
	if err := command.Run(); err != nil {
		return fmt.Errorf("build %s: %w\n%s", folder, err, &output)
	}
	return nil
}
