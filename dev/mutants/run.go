package main

import (
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

// firstTests is how many tests run first with a mutant: those that are short and reach few mutants.
// If they do not notice it, the next ones follow, four times as many each time.
const firstTests = 8

// program is the test binary of the package with all mutants, of which MUTANT activates one.
type program struct {
	binary string
	// folder is that of the package.
	folder string
	// reaching are the tests that reach each mutant, in the order in which they are run.
	reaching map[int][]string
	// switches are those that each test passes without a mutant.
	switches map[string]int64
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
	command := exec.CommandContext(ctx, p.binary, "-test.run", pattern, "-test.short", "-test.v", "-test.failfast", "-test.timeout", testTimeout.String())
	// TEMPORAL_DEBUG lets the SDK wait for a slow task: it is not a deadlock.
	command.Dir, command.Env = p.folder, slices.Concat(os.Environ(), []string{"TEMPORAL_DEBUG=1"}, env)
	return command
}

// attempts is how often a test has to fail: some have deadlines that a busy machine misses.
const attempts = 3

// fails runs tests and returns one that fails at each attempt, "" without one.
func (p *program) fails(ctx context.Context, tests []string, env ...string) (string, error) {
	for len(tests) > 0 {
		output, err := p.command(ctx, tests, env...).CombinedOutput()
		if err == nil || ctx.Err() != nil {
			return "", ctx.Err()
		}
		failed, again := cmp.Or(endedBy(output), tests[0]), attempts-1
		for ; again > 0 && err != nil && !bytes.Contains(output, []byte("panic: test timed out")); again-- {
			output, err = p.command(ctx, []string{failed}, env...).CombinedOutput()
		}
		if err != nil {
			return failed, ctx.Err()
		}
		// The others have not been run after it.
		tests = slices.DeleteFunc(slices.Clone(tests), func(test string) bool { return test == failed })
	}
	return "", nil
}

// The lines of a test that failed, and of one that begins or continues.
var (
	failedTest = regexp.MustCompile(`(?m)^--- FAIL: (\w+)`)
	begunTest  = regexp.MustCompile(`(?m)^=== (?:RUN|CONT) +(\w+)$`)
)

// endedBy returns the test that ended a run: one that failed, or else the last one, which may have
// ended by a panic.
func endedBy(output []byte) string {
	if failed := failedTest.FindSubmatch(output); failed != nil {
		return string(failed[1])
	}
	begun := begunTest.FindAllSubmatch(output, -1)
	if len(begun) == 0 {
		return ""
	}
	return string(begun[len(begun)-1][1])
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

// A mutant with more than so many switches, and so many times those without it, makes passes
// without end.
const (
	maxSwitches = 100_000
	maxLoops    = 20
)

// resultMark begins the lines with a result.
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
		ended := 0
		for _, r := range decodeResults[replayed](out.Bytes()) {
			results[r.Mutant] = r
			ended++
		}
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

// covered is a test, the mutants that it reaches, and the switches and the time that it needs
// without one.
type covered struct {
	Test     string
	Reached  []int
	Switches int64
	Seconds  float64
}

// cost is what the test costs for each mutant that it may be the one to notice.
func (c covered) cost() float64 { return c.Seconds * float64(len(c.Reached)) }

// cover runs each test without a mutant, and notes which tests reach a mutant.
func (p *program) cover(ctx context.Context) error {
	names, err := exec.CommandContext(ctx, p.binary, "-test.list", ".").Output()
	if err != nil {
		return fmt.Errorf("list the tests: %w", err)
	}
	tests := slices.DeleteFunc(strings.Fields(string(names)), replayTests.MatchString)
	list, err := json.Marshal(tests)
	if err != nil {
		return err
	}
	command := exec.CommandContext(ctx, p.binary, "-test.short", "-test.timeout", testTimeout.String())
	command.Dir, command.Env = p.folder, append(os.Environ(), "TEMPORAL_DEBUG=1", "MUTANTS_TESTS="+string(list))
	output, failed := command.CombinedOutput()
	results := decodeResults[covered](output)
	if failed != nil || len(results) != len(tests) {
		return fmt.Errorf("run the tests without a mutant: %w\n%s", cmp.Or(failed, errors.New("results are missing")), output[max(0, len(output)-maxOutput):])
	}
	slices.SortFunc(results, func(a, b covered) int {
		return cmp.Or(cmp.Compare(a.cost(), b.cost()), strings.Compare(a.Test, b.Test))
	})
	p.reaching, p.switches = map[int][]string{}, map[string]int64{}
	for _, c := range results {
		p.switches[c.Test] = c.Switches
		for _, n := range c.Reached {
			p.reaching[n] = append(p.reaching[n], c.Test)
		}
	}
	return nil
}

// decodeResults returns the results in the output of a test binary.
func decodeResults[Result any](output []byte) (results []Result) {
	for line := range bytes.Lines(output) {
		var r Result
		if text, found := bytes.CutPrefix(line, []byte(resultMark)); found && json.Unmarshal(text, &r) == nil {
			results = append(results, r)
		}
	}
	return results
}

// noticed runs the tests that reach a mutant and returns the first that fails, "" without one.
func (p *program) noticed(ctx context.Context, mutant int) (string, error) {
	tests := p.reaching[mutant]
	for count := firstTests; len(tests) > 0; count *= 4 {
		part := tests[:min(count, len(tests))]
		tests = tests[len(part):]
		switches := int64(maxSwitches)
		for _, test := range part {
			switches += maxLoops * p.switches[test]
		}
		failed, err := p.fails(ctx, part, fmt.Sprintf("MUTANT=%d", mutant), fmt.Sprintf("MUTANTS_SWITCHES=%d", switches))
		if err != nil || failed != "" {
			return failed, err
		}
	}
	return "", nil
}
