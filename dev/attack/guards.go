package main

import (
	"context"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"time"
)

// Guard is a place in the code that holds rows of the table, and what is left of it once
// it is taken out.
type Guard struct {
	// Name describes the guard; Rows are the names of the rows that it holds.
	Name string
	Rows []string
	// File is a path in the repository. Old occurs in it once and is replaced by New,
	// which must compile.
	File, Old, New string
	// Test fails without the guard.
	Test Cite
}

// takeOut takes each guard out in turn, without a copy of the tree, and runs its test. It
// returns 1 if a test passes without its guard.
func takeOut(ctx context.Context, root string, guards []Guard, pattern *regexp.Regexp) (int, error) {
	folder, err := os.MkdirTemp("", "armature-guards-")
	if err != nil {
		return 1, err
	}
	defer func() { _ = os.RemoveAll(folder) }()
	killed, survived := 0, 0
	for _, guard := range guards {
		if !pattern.MatchString(guard.Name + " " + strings.Join(guard.Rows, " ")) {
			continue
		}
		started := time.Now()
		state := "killed"
		switch noticed, err := guard.takeOut(ctx, root, folder); {
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
		fmt.Printf("%-8s  %s: %s (%s, %s)\n", state, guard.Name, guard.Test, strings.Join(guard.Rows, ", "), time.Since(started).Round(time.Second))
	}
	fmt.Printf("%d guards taken out: %d noticed by their test, %d not\n", killed+survived, killed, survived)
	if survived > 0 {
		return 1, nil
	}
	return 0, nil
}

// takeOut runs the test of a guard without it, and reports whether the test fails.
func (g Guard) takeOut(ctx context.Context, root, folder string) (bool, error) {
	overlay, err := g.overlay(root, folder)
	if err != nil {
		return false, err
	}
	// GOFLAGS reaches the programs that a test builds, too.
	r := newRunner(root, "GOFLAGS="+strings.TrimSpace(os.Getenv("GOFLAGS")+" -overlay="+overlay))
	if err := r.run(ctx, g.Test.Package, []string{g.Test.Test}); err != nil {
		return false, fmt.Errorf("take out %s: %w", g.Name, err)
	}
	return r.results[g.Test] == ResultFail, nil
}

// overlay writes the file without the guard and the description that the go command
// takes, and returns the path of the latter.
func (g Guard) overlay(root, folder string) (string, error) {
	original := filepath.Join(root, filepath.FromSlash(g.File))
	text, err := os.ReadFile(original)
	if err != nil {
		return "", fmt.Errorf("take out %s: %w", g.Name, err)
	}
	if count := strings.Count(string(text), g.Old); count != 1 {
		return "", fmt.Errorf("take out %s: its text occurs %d times in %s, want once", g.Name, count, g.File)
	}
	changed := filepath.Join(folder, "changed.go")
	if err := os.WriteFile(changed, []byte(strings.Replace(string(text), g.Old, g.New, 1)), 0o600); err != nil {
		return "", err
	}
	description, err := json.Marshal(map[string]map[string]string{"Replace": {original: changed}})
	if err != nil {
		return "", err
	}
	path := filepath.Join(folder, "overlay.json")
	return path, os.WriteFile(path, description, 0o600)
}
