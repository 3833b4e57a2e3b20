// Command attack runs the attacks on Armature that have been tried, and prints for each
// whether it is held and by which test. With --guards it applies each patch of guards/, which
// takes a guard out of the code, and checks that the named test fails. With --spec it does
// the same with spec/, for rows of docs/contributing/spec-coverage.md, and with --cells it takes
// out guards that a cell of workflows/perturb notices.
//
// The table cites tests of this folder, which run the real worker and CLI against a
// hostile ARM server and a plain Temporal client, and tests of other packages.
package main

import (
	"context"
	"flag"
	"fmt"
	"maps"
	"os"
	"os/signal"
	"regexp"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/armature-io/armature/dev/internal/overlay"
)

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	code, err := run(ctx, os.Args[1:])
	stop()
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		code = 1
	}
	os.Exit(code)
}

// run runs the command and returns its exit code: 1 if a row is not held, or a guard
// can be taken out unnoticed.
func run(ctx context.Context, args []string) (int, error) {
	flags := flag.NewFlagSet("attack", flag.ContinueOnError)
	guards := flags.Bool("guards", false, "take each guard out in turn and check that its test fails")
	spec := flags.Bool("spec", false, "take out what rows of docs/contributing/spec-coverage.md state, in turn, and check that the test of the row fails")
	cells := flags.Bool("cells", false, "take out the guards of the table of perturbations, in turn, and check that the cell of each fails")
	only := flags.String("run", "", "only rows, or guards, that match this regular expression")
	own := flags.Bool("own", false, "run the tests of this folder only: other targets run the cited tests of other packages")
	if err := flags.Parse(args); err != nil {
		return 2, nil //nolint:nilerr // the flag package has printed it
	}
	pattern, err := regexp.Compile(*only)
	if err != nil {
		return 2, fmt.Errorf("read --run: %w", err)
	}
	root, err := overlay.FindRoot()
	if err != nil {
		return 1, err
	}
	if *cells {
		return takeOutForCells(ctx, root, pattern)
	}
	if *spec || *guards {
		folder := guardsFolder
		if *spec {
			folder = specFolder
		}
		patches, err := readPatches(root, folder)
		if err != nil {
			return 1, err
		}
		return takeOut(ctx, root, patches, pattern)
	}
	var table []Row
	for _, row := range Table() {
		if pattern.MatchString(row.Name() + " " + row.Title) {
			table = append(table, row)
		}
	}
	started := time.Now()
	r := newRunner(root)
	packages := byPackage(table)
	if *own {
		maps.DeleteFunc(packages, func(folder string, _ []string) bool { return folder != ownPackage })
	}
	if err := r.runAll(ctx, packages); err != nil {
		return 1, err
	}
	return r.print(table, packages, started), nil
}

// ownPackage is the package of the attacks on the real programs.
const ownPackage = "dev/attack"

// tableTests are the tests of the tables themselves.
func tableTests() []string {
	return []string{"TestTable", "TestGuards", "TestRemovals", "TestPromises", "TestGuardedCells"}
}

// runAll runs the tests of all packages. Those on the real programs mostly wait, so they
// run beside the others.
func (r *runner) runAll(ctx context.Context, packages map[string][]string) error {
	var own error
	var running sync.WaitGroup
	running.Go(func() { own = r.run(ctx, ownPackage, append(tableTests(), packages[ownPackage]...)) })
	for _, folder := range slices.Sorted(maps.Keys(packages)) {
		if folder == ownPackage {
			continue
		}
		if err := r.run(ctx, folder, packages[folder]); err != nil {
			running.Wait()
			return err
		}
	}
	running.Wait()
	return own
}

// print prints a line for each row and the output of failed tests. Tests of packages that
// were not run are cited only. It returns the exit code.
func (r *runner) print(table []Row, packages map[string][]string, started time.Time) int {
	code, held, open := 0, 0, 0
	for _, row := range table {
		state := "held"
		var by []string
		for _, cite := range row.Tests {
			switch result, ran := r.results[cite]; {
			case packages[cite.Package] == nil:
				by = append(by, cite.String()+" (run by make test)")
			case !ran:
				state = "FAILED"
				by = append(by, cite.String()+" (did not run)")
			case result == ResultPass:
				by = append(by, cite.String())
			default:
				state = "FAILED"
				by = append(by, fmt.Sprintf("%s (%s)", cite, result))
			}
		}
		text := row.Title + ": " + strings.Join(by, ", ")
		switch {
		case row.Open != "":
			state, text = "open", row.Title+": "+row.Open
			open++
		case state == "held":
			held++
		default:
			code = 1
		}
		fmt.Printf("%-10s  %-6s  %s\n", row.Name(), state, text)
	}
	fmt.Printf("%d rows: %d held, %d open, %d failed; %d tests in %s\n",
		len(table), held, open, len(table)-held-open, len(r.results), time.Since(started).Round(time.Second))
	for _, cite := range slices.SortedFunc(maps.Keys(r.results), func(a, b Cite) int { return strings.Compare(a.String(), b.String()) }) {
		if r.results[cite] == ResultFail {
			fmt.Printf("\n%s\n%s", cite, strings.Join(r.output[cite], ""))
			code = 1
		}
	}
	return code
}
