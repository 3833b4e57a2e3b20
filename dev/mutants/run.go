package main

import (
	"bufio"
	"bytes"
	"cmp"
	"context"
	_ "embed"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"time"

	"github.com/armature-io/armature/dev/internal/overlay"
)

//go:embed schema/switches.go.txt
var switches string

//go:embed schema/replay_test.go.txt
var replayTest string

// replayTests are the tests that replay histories.
var replayTests = regexp.MustCompile(`^TestReplay|^TestMutantsOfReplay$|^TestAltered`)

// testTimeout bounds the tests of one mutant: what waits for ever is noticed. A machine that is
// busy must not reach it: all tests of the package take ten seconds, and what loops ends by itself.
const testTimeout = 5 * time.Minute

// maxOutput bounds the output of a test in an error.
const maxOutput = 2000

// firstTests is how many tests run first with a mutant: those that reach the fewest mutants. If they
// do not notice it, the next ones follow, four times as many each time.
const firstTests = 8

// program is the test binary of the package with all mutants, of which MUTANT activates one.
type program struct {
	binary string
	// folder is that of the package.
	folder string
	// reaching are the tests that reach each mutant, the most specific first.
	reaching map[int][]string
}

// build compiles the package in a folder of the repository, with the files of the mutants, into
// the folder scratch.
func build(ctx context.Context, root, folder, scratch string, files map[string][]byte, count int) (*program, error) {
	added := maps.Clone(files)
	added[filepath.Join(root, folder, "mutants_switches.go")] = fmt.Appendf(nil, "%s\nconst mutantCount = %d\n", switches, count)
	added[filepath.Join(root, folder, "mutants_replay_test.go")] = []byte(replayTest)
	replaced := map[string]string{}
	for path, text := range added {
		replaced[path] = filepath.Join(scratch, filepath.Base(path))
		if err := os.WriteFile(replaced[path], text, 0o600); err != nil {
			return nil, err
		}
	}
	description, err := overlay.Write(scratch, replaced)
	if err != nil {
		return nil, err
	}
	p := &program{binary: filepath.Join(scratch, "mutants.test"), folder: filepath.Join(root, folder)}
	compile := exec.CommandContext(ctx, "go", "test", "-c", "-vet=off", "-ldflags=-w", "-overlay", description, "-o", p.binary, "./"+folder)
	compile.Dir = root
	if output, err := compile.CombinedOutput(); err != nil {
		return nil, fmt.Errorf("build the mutants: %w\n%s", err, output)
	}
	return p, nil
}

// command returns the command that runs tests.
func (p *program) command(ctx context.Context, tests []string, env ...string) *exec.Cmd {
	pattern := "^(" + strings.Join(tests, "|") + ")$"
	command := exec.CommandContext(ctx, p.binary, "-test.run", pattern, "-test.short", "-test.failfast", "-test.timeout", testTimeout.String())
	// TEMPORAL_DEBUG lets the SDK wait for a slow task: it is not a deadlock.
	command.Dir, command.Env = p.folder, slices.Concat(os.Environ(), []string{"TEMPORAL_DEBUG=1"}, env)
	return command
}

// attempts is how often a test has to fail: some have deadlines that a busy machine misses.
const attempts = 3

// runAgain runs tests, and those that fail again. It returns the last output and error.
func (p *program) runAgain(ctx context.Context, tests []string, env ...string) (output []byte, err error) {
	for range attempts {
		output, err = p.command(ctx, tests, env...).CombinedOutput()
		if err == nil || ctx.Err() != nil || bytes.Contains(output, []byte("panic: test timed out")) {
			break
		}
		if failed := failedTest.FindSubmatch(output); failed != nil {
			tests = []string{string(failed[1])}
		}
	}
	return output, err
}

// replayed is the result of the replay of a mutant.
type replayed struct {
	Mutant int
	// Reached is set if a history reaches the code of the mutant.
	Reached bool
	// By is the history that notices it, "" if none does. Hangs is set if its replay did not end.
	By    string
	Hangs bool
}

// resultMark begins the lines with a replayed.
const resultMark = "mutant: "

// replay replays the histories with each of the mutants.
func (p *program) replay(ctx context.Context, mutants []int) (map[int]replayed, error) {
	results := map[int]replayed{}
	for len(mutants) > 0 {
		list, err := json.Marshal(mutants)
		if err != nil {
			return nil, err
		}
		command := p.command(ctx, []string{"TestMutantsOfReplay"}, "MUTANTS_LIST="+string(list))
		command.Args = append(command.Args, "-test.timeout", "0")
		var out bytes.Buffer
		command.Stdout, command.Stderr = &out, &out
		failed := command.Run()
		before := len(results)
		lines := bufio.NewScanner(bytes.NewReader(out.Bytes()))
		for lines.Scan() {
			var r replayed
			if text, found := strings.CutPrefix(lines.Text(), resultMark); found && json.Unmarshal([]byte(text), &r) == nil {
				results[r.Mutant] = r
			}
		}
		ended := len(results) - before
		switch {
		case failed == nil && ended == len(mutants):
		case ctx.Err() != nil:
			return nil, ctx.Err()
		case failed == nil || ended == 0:
			return nil, fmt.Errorf("replay the histories: %w\n%s", cmp.Or(failed, errors.New("results are missing")), &out)
		}
		// The process ends after a mutant whose replay hangs.
		mutants = mutants[ended:]
	}
	return results, nil
}

// cover runs each test alone, without a mutant, and records the mutants that it reaches.
func (p *program) cover(ctx context.Context) error {
	list, err := exec.CommandContext(ctx, p.binary, "-test.list", ".").Output()
	if err != nil {
		return fmt.Errorf("list the tests: %w", err)
	}
	reached := map[string][]int{}
	file := p.binary + ".reached"
	for _, test := range strings.Fields(string(list)) {
		if replayTests.MatchString(test) {
			continue
		}
		if output, err := p.runAgain(ctx, []string{test}, "MUTANTS_REACHED="+file); err != nil {
			return fmt.Errorf("run %s without a mutant: %w\n%s", test, err, output[:min(len(output), maxOutput)])
		}
		content, err := os.ReadFile(file)
		if err != nil {
			return err
		}
		var mutants []int
		if err := json.Unmarshal(content, &mutants); err != nil {
			return err
		}
		reached[test] = mutants
	}
	p.reaching = map[int][]string{}
	for _, test := range slices.SortedFunc(maps.Keys(reached), func(a, b string) int {
		return cmp.Or(len(reached[a])-len(reached[b]), strings.Compare(a, b))
	}) {
		for _, n := range reached[test] {
			p.reaching[n] = append(p.reaching[n], test)
		}
	}
	return nil
}

// failedTest is the line of a test that failed.
var failedTest = regexp.MustCompile(`(?m)^--- FAIL: (\w+)`)

// noticed runs the tests that reach a mutant and returns the first that fails, "" without one. A
// panic, or a run without an end, has the name of the first test that ran.
func (p *program) noticed(ctx context.Context, mutant int) (string, error) {
	tests := p.reaching[mutant]
	for count := firstTests; len(tests) > 0; count *= 4 {
		part := tests[:min(count, len(tests))]
		tests = tests[len(part):]
		output, err := p.runAgain(ctx, part, fmt.Sprintf("MUTANT=%d", mutant))
		if ctx.Err() != nil {
			return "", ctx.Err()
		}
		if err == nil {
			continue
		}
		if failed := failedTest.FindSubmatch(output); failed != nil {
			return string(failed[1]), nil
		}
		return part[0], nil
	}
	return "", nil
}
