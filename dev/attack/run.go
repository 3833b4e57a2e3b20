package main

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"sync"
)

// Result is how a test ended.
type Result string

// Results of tests. A test that did not run has none.
const (
	ResultPass Result = "pass"
	ResultFail Result = "fail"
	ResultSkip Result = "skip"
)

// testTimeout bounds the tests of one package.
const testTimeout = "20m"

// devModule is the folder of the module of tests.
const devModule = "dev"

// runner runs tests of both modules.
type runner struct {
	// root is the folder of the repository.
	root string
	// env is added to the environment of the tests.
	env []string

	mu sync.Mutex
	// subtests are the results of subtests; those of their tests are in results.
	results, subtests map[Cite]Result
	output            map[Cite][]string
}

func newRunner(root string, env ...string) *runner {
	return &runner{root: root, env: env, results: map[Cite]Result{}, subtests: map[Cite]Result{}, output: map[Cite][]string{}}
}

// module returns the folder of the module that has a package, and the package's folder in it.
func (r *runner) module(folder string) (module, pkg string) {
	if rest, inDev := strings.CutPrefix(folder, devModule+"/"); inDev {
		return filepath.Join(r.root, devModule), rest
	}
	return r.root, folder
}

// run runs the tests of one package and records how each ended. The error is that of a
// package that did not compile or start.
func (r *runner) run(ctx context.Context, folder string, tests []string) error {
	module, pkg := r.module(folder)
	quoted := make([]string, len(tests))
	for i, test := range tests {
		quoted[i] = regexp.QuoteMeta(test)
	}
	command := exec.CommandContext(ctx, "go", "test", "-json", "-count=1", "-timeout", testTimeout, "-parallel", "8",
		"-run", "^("+strings.Join(quoted, "|")+")$", "./"+pkg)
	command.Dir, command.Env = module, append(os.Environ(), r.env...)
	var stderr bytes.Buffer
	command.Stderr = &stderr
	out, err := command.StdoutPipe()
	if err == nil {
		err = command.Start()
	}
	if err != nil {
		return fmt.Errorf("test %s: %w", folder, err)
	}
	built, text := r.read(folder, out)
	err = command.Wait()
	if !built {
		return fmt.Errorf("test %s: %w\n%s%s", folder, err, text, &stderr)
	}
	return ctx.Err()
}

// event is a line of go test -json.
type event struct {
	Action, Test, Output string
}

// read records the events of a package. It reports whether any test ran, and returns the
// output that belongs to no test.
func (r *runner) read(folder string, out io.Reader) (bool, string) {
	ran := false
	var text strings.Builder
	lines := bufio.NewScanner(out)
	lines.Buffer(nil, 1<<24)
	for lines.Scan() {
		var e event
		if json.Unmarshal(lines.Bytes(), &e) != nil {
			continue
		}
		name, _, isSub := strings.Cut(e.Test, "/")
		cite := Cite{folder, name}
		r.mu.Lock()
		switch {
		case name == "":
			text.WriteString(e.Output)
		case e.Action == "output":
			r.output[cite] = append(r.output[cite], e.Output)
		case isSub:
			r.subtests[Cite{folder, e.Test}] = Result(e.Action)
		case e.Action == string(ResultPass) || e.Action == string(ResultFail) || e.Action == string(ResultSkip):
			r.results[cite] = Result(e.Action)
			ran = true
		}
		r.mu.Unlock()
	}
	return ran, text.String()
}

// byPackage returns the cited tests of rows, each once, by package.
func byPackage(table []Row) map[string][]string {
	packages := map[string][]string{}
	for _, row := range table {
		for _, cite := range row.Tests {
			if !slices.Contains(packages[cite.Package], cite.Test) {
				packages[cite.Package] = append(packages[cite.Package], cite.Test)
			}
		}
	}
	return packages
}
