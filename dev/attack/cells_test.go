package main

import (
	"testing"

	"github.com/armature-io/armature/dev/internal/overlay"
)

// TestGuardedCells checks that each patch of the table of perturbations applies, and that the
// reused ones exist.
func TestGuardedCells(t *testing.T) {
	patchesThatApply(t, cellsFolder)
	root, err := overlay.FindRoot()
	if err != nil {
		t.Fatal(err)
	}
	if all, err := guardedCells(root); err != nil || len(all) < 10 {
		t.Errorf("%d guards, want at least ten: %v", len(all), err)
	}
}
