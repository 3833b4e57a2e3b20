// Command mutants changes the package workflows in every way that its syntax tree suggests: each
// command dropped, doubled or swapped with its neighbour, each condition negated. The replay of the
// recorded histories must notice each change of commands, and the replay or a test of the package
// each negated condition. What survives needs a reason in survivors.txt.
//
// With --short it runs the sample of CI, a tenth of the mutants, and it trusts the reasons.
//
// One build has all mutants: an overlay adds a switch for each to the files of the package.
package main

import (
	"context"
	"flag"
	"fmt"
	"io"
	"maps"
	"os"
	"os/signal"
	"regexp"
	"runtime"
	"slices"
	"strings"
	"sync"
	"time"

	"golang.org/x/sync/errgroup"

	"github.com/armature-io/armature/dev/internal/overlay"
	"github.com/armature-io/armature/internal/testonly/sample"
)

// mutatedPackage is the folder of the package.
const mutatedPackage = "workflows"

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	code, err := run(ctx, os.Args[1:])
	stop()
	if err != nil {
		fmt.Fprintln(os.Stderr, "mutants:", err)
		code = 1
	}
	os.Exit(code)
}

// run runs the command and returns its exit code: 1 if a mutant survives without a reason.
func run(ctx context.Context, args []string) (int, error) {
	flags := flag.NewFlagSet("mutants", flag.ContinueOnError)
	only := flags.String("run", "", "only mutants whose name matches this regular expression")
	short := flags.Bool("short", false, "only a tenth of the mutants, by the hash of their names and a seed, and trust the reasons")
	if err := flags.Parse(args); err != nil {
		return 2, nil //nolint:nilerr // the flag package has printed it
	}
	pattern, err := regexp.Compile(*only)
	if err != nil {
		return 2, fmt.Errorf("read --run: %w", err)
	}
	reasons, err := parseSurvivors(survivorsText)
	if err != nil {
		return 1, err
	}
	root, err := overlay.FindRoot()
	if err != nil {
		return 1, err
	}
	s, err := load(ctx, root, mutatedPackage)
	if err != nil {
		return 1, err
	}
	mutants, files, err := generate(s, replacements)
	if err != nil {
		return 1, err
	}
	scratch, err := os.MkdirTemp("", "armature-mutants-")
	if err != nil {
		return 1, err
	}
	defer func() { _ = os.RemoveAll(scratch) }()
	fmt.Printf("%d mutants\n", len(mutants))
	if *short {
		fmt.Printf("a tenth of them: `make mutants SAMPLE=-short SEED=%s` repeats it\n", os.Getenv(sample.SeedVariable))
	}
	p, err := build(ctx, root, mutatedPackage, scratch, files, len(mutants))
	if err != nil {
		return 1, err
	}
	var chosen []int
	for n, m := range mutants {
		if pattern.MatchString(m.Name()) && (!*short || sample.Chosen(10, m.Name())) {
			chosen = append(chosen, n)
		}
	}
	r := newReport(os.Stdout, mutants, reasons)
	r.trusts = *short
	if err := r.check(ctx, p, chosen); err != nil {
		return 1, err
	}
	return r.end(), nil
}

// counts are numbers of mutants. Each is in one of the last four.
type counts struct{ generated, replay, tests, explained, survived int }

// result is what noticed a mutant.
type result struct {
	replayed
	// test is the test that notices it, "" if none does or a replay does.
	test string
}

// report prints what survives, and counts.
type report struct {
	out     io.Writer
	mutants []Mutant
	reasons map[string]string
	// trusts is set if mutants with a reason are not tested.
	trusts  bool
	started time.Time

	mu       sync.Mutex
	byChange map[Change]counts
	code     int
}

func newReport(out io.Writer, mutants []Mutant, reasons map[string]string) *report {
	return &report{out: out, mutants: mutants, reasons: reasons, started: time.Now(), byChange: map[Change]counts{}}
}

// check replays the histories with each of the mutants, and runs the tests with those that no
// replay notices.
func (r *report) check(ctx context.Context, p *program, chosen []int) error {
	results, err := p.replay(ctx, chosen)
	if err != nil {
		return err
	}
	var left []int
	for _, n := range chosen {
		if results[n].By == "" && (!r.trusts || r.reasons[r.mutants[n].Name()] == "") {
			left = append(left, n)
			continue
		}
		r.add(n, result{replayed: results[n]})
	}
	if len(left) == 0 {
		return nil
	}
	fmt.Fprintf(r.out, "%d of %d mutants are left for the tests\n", len(left), len(chosen))
	if err := p.cover(ctx); err != nil {
		return err
	}
	group, ctx := errgroup.WithContext(ctx)
	group.SetLimit(runtime.GOMAXPROCS(0))
	for _, n := range left {
		group.Go(func() error {
			test, err := p.noticed(ctx, n)
			if err == nil {
				r.add(n, result{results[n], test})
			}
			return err
		})
	}
	return group.Wait()
}

// add counts a mutant, and prints it if it survives without a reason, or with a wrong one, or has
// one and does not.
func (r *report) add(n int, found result) {
	r.mu.Lock()
	defer r.mu.Unlock()
	m := r.mutants[n]
	c := r.byChange[m.Change]
	c.generated++
	survives := found.By == "" && (m.Change != Negated || found.test == "")
	reason := r.reasons[m.Name()]
	switch {
	case survives && reason == "":
		r.code = 1
		fmt.Fprintf(r.out, "SURVIVED  %s (%s)\n", m.Name(), found)
	case survives && !r.trusts && strings.HasSuffix(reason, noticedByTests) != (found.test != ""):
		r.code = 1
		fmt.Fprintf(r.out, "WRONG     %s (%s): its reason in %s says otherwise\n", m.Name(), found, survivorsFile)
	case !survives && reason != "":
		r.code = 1
		fmt.Fprintf(r.out, "NOTICED   %s (%s): take its reason out of %s\n", m.Name(), found, survivorsFile)
	}
	switch {
	case found.By != "":
		c.replay++
	case survives && reason == "":
		c.survived++
	case found.test != "":
		c.tests++
	default:
		c.explained++
	}
	r.byChange[m.Change] = c
}

// end prints the reasons without a mutant and the counts, and returns the exit code.
func (r *report) end() int {
	known := map[string]bool{}
	for _, m := range r.mutants {
		known[m.Name()] = true
	}
	for _, name := range slices.Sorted(maps.Keys(r.reasons)) {
		if !known[name] {
			r.code = 1
			fmt.Fprintf(r.out, "UNKNOWN   %s: take its reason out of %s\n", name, survivorsFile)
		}
	}
	total := counts{}
	fmt.Fprintf(r.out, "%-10s %9s %9s %9s %9s %9s\n", "change", "generated", "replay", "tests", "reasons", "survived")
	for _, change := range []Change{Dropped, Doubled, Swapped, Replaced, Negated} {
		c := r.byChange[change]
		row(r.out, string(change), c)
		total = counts{total.generated + c.generated, total.replay + c.replay, total.tests + c.tests, total.explained + c.explained, total.survived + c.survived}
	}
	row(r.out, "all", total)
	fmt.Fprintf(r.out, "%s\n", time.Since(r.started).Round(time.Second))
	return r.code
}

func row(out io.Writer, name string, c counts) {
	fmt.Fprintf(out, "%-10s %9d %9d %9d %9d %9d\n", name, c.generated, c.replay, c.tests, c.explained, c.survived)
}

// String returns what noticed a mutant, or what did not.
func (f result) String() string {
	switch {
	case f.By != "":
		return "replay of " + f.By
	case f.test != "" && f.Reached:
		return "replay does not notice it; " + f.test + " does"
	case f.test != "":
		return "no history reaches it; " + f.test + " notices it"
	case f.Reached:
		return "histories reach it"
	}
	return "no history reaches it"
}
