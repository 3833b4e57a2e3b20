// Command mutants changes the package workflows in every way that its syntax tree suggests: each
// command dropped, doubled or swapped with its neighbour, each condition negated. The replay of the
// recorded histories must notice each change of commands, and the replay or a test of the package
// each negated condition. What survives needs a reason in survivors.txt.
//
// One build has all mutants: an overlay adds a switch for each to the files of the package.
package main

import (
	"cmp"
	"context"
	"flag"
	"fmt"
	"hash/fnv"
	"io"
	"maps"
	"os"
	"os/signal"
	"regexp"
	"slices"
	"time"

	"github.com/armature-io/armature/dev/internal/overlay"
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
	short := flags.Bool("short", false, "only a tenth of the mutants, by the hash of their names")
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
	p, err := build(ctx, root, mutatedPackage, scratch, files, len(mutants))
	if err != nil {
		return 1, err
	}
	var chosen []int
	for n, m := range mutants {
		if pattern.MatchString(m.Name()) && (!*short || isSampled(m.Name())) {
			chosen = append(chosen, n)
		}
	}
	r := report{mutants: mutants, chosen: chosen, reasons: reasons, started: time.Now()}
	if r.replayed, err = p.replay(ctx, chosen); err != nil {
		return 1, err
	}
	fmt.Printf("%s: replayed\n", time.Since(r.started).Round(time.Second))
	if r.tested, err = p.test(ctx, chosen, r.replayed); err != nil {
		return 1, err
	}
	return r.print(os.Stdout), nil
}

// isSampled reports whether the sample of a tenth has the mutant of a name.
func isSampled(name string) bool {
	hash := fnv.New32a()
	_, _ = hash.Write([]byte(name))
	return hash.Sum32()%10 == 0
}

// test runs the tests for the mutants that no replay notices. It returns the test that notices
// each of them.
func (p *program) test(ctx context.Context, chosen []int, results map[int]replayed) (map[int]string, error) {
	tested := map[int]string{}
	if err := p.cover(ctx); err != nil {
		return nil, err
	}
	fmt.Println("covered", time.Now().Format(time.TimeOnly))
	for _, n := range chosen {
		if results[n].By != "" {
			continue
		}
		test, err := p.noticed(ctx, n)
		if err != nil {
			return nil, err
		}
		tested[n] = test
	}
	return tested, nil
}

// report is what became of the mutants.
type report struct {
	mutants  []Mutant
	chosen   []int
	replayed map[int]replayed
	tested   map[int]string
	reasons  map[string]string
	started  time.Time
}

// survives reports whether nothing notices a mutant that has to.
func (r *report) survives(n int) bool {
	if r.replayed[n].By != "" {
		return false
	}
	return r.mutants[n].Change != Negated || r.tested[n] == ""
}

// counts are numbers of mutants.
type counts struct{ generated, replay, tests, explained, survived int }

// print prints the survivors and the counts, and returns the exit code.
func (r *report) print(out io.Writer) int {
	byChange, known, code := map[Change]*counts{}, map[string]bool{}, 0
	for _, m := range r.mutants {
		known[m.Name()] = true
	}
	for _, n := range r.chosen {
		m := r.mutants[n]
		c := byChange[m.Change]
		if c == nil {
			c = &counts{}
			byChange[m.Change] = c
		}
		c.generated++
		reason, survives := r.reasons[m.Name()], r.survives(n)
		switch {
		case survives && reason == "":
			c.survived++
			code = 1
			fmt.Fprintf(out, "SURVIVED  %s (%s)\n", m.Name(), r.describe(n))
		case survives:
			c.explained++
		case reason != "":
			code = 1
			fmt.Fprintf(out, "NOTICED   %s (%s): take its reason out of %s\n", m.Name(), r.describe(n), survivorsFile)
		}
		switch {
		case r.replayed[n].By != "":
			c.replay++
		case r.tested[n] != "":
			c.tests++
		}
	}
	for _, name := range slices.Sorted(maps.Keys(r.reasons)) {
		if !known[name] {
			code = 1
			fmt.Fprintf(out, "UNKNOWN   %s: take its reason out of %s\n", name, survivorsFile)
		}
	}
	total := counts{}
	fmt.Fprintf(out, "%-10s %9s %9s %9s %9s %9s\n", "change", "generated", "replay", "tests", "reasons", "survived")
	for _, change := range []Change{Dropped, Doubled, Swapped, Replaced, Negated} {
		c := cmp.Or(byChange[change], &counts{})
		row(out, string(change), *c)
		total = counts{total.generated + c.generated, total.replay + c.replay, total.tests + c.tests, total.explained + c.explained, total.survived + c.survived}
	}
	row(out, "all", total)
	fmt.Fprintf(out, "%s\n", time.Since(r.started).Round(time.Second))
	return code
}

func row(out io.Writer, name string, c counts) {
	fmt.Fprintf(out, "%-10s %9d %9d %9d %9d %9d\n", name, c.generated, c.replay, c.tests, c.explained, c.survived)
}

// describe returns what noticed a mutant, or what did not.
func (r *report) describe(n int) string {
	switch {
	case r.replayed[n].By != "":
		return "replay of " + r.replayed[n].By
	case r.tested[n] != "" && r.replayed[n].Reached:
		return "replay does not notice it; " + r.tested[n] + " does"
	case r.tested[n] != "":
		return "no history reaches it; " + r.tested[n] + " notices it"
	case r.replayed[n].Reached:
		return "histories reach it"
	}
	return "no history reaches it"
}
