package main

import (
	"context"
	"fmt"
	"regexp"
	"strings"
	"time"
)

// cellsFolder has a patch for each guard that only a cell of a table of perturbations notices
// by its name; other cells take their patches from guards/ and spec/.
const cellsFolder = "cells"

// tableOfCells is the test of the table of perturbations in virtual time.
var tableOfCells = Cite{"workflows/perturb", "TestTable"}

// harnesses returns the harness of the cells of each table, as the names of subtests have it.
func harnesses() map[Cite]string {
	return map[Cite]string{tableOfCells: "test environment", {"dev/perturb", "TestTable"}: "embedded server"}
}

// guardedCell is a cell that fails without a guard.
type guardedCell struct {
	patch Patch
	table Cite
	// cell is the name of the cell, without its harness.
	cell string
}

// reusedPatches returns the cells that notice patches of guards/ and spec/, by the names of the
// patches.
func reusedPatches() map[string]string {
	return map[string]string{
		"an absence after a PUT is no disappearance": "create/azure PUT routeTables:r1 1/creation that reads show after minutes",
		"a list confirms an absence":                 "delete/azure GET routeTables:r1 1/reads that lack the resource for minutes",
		"the next try":                               "create/activity PutResource 1/freeze",
	}
}

// guardedCells returns the cells with a patch, and an error if a reused patch is missing.
func guardedCells(root string) ([]guardedCell, error) {
	var all []guardedCell
	reused := reusedPatches()
	for _, folder := range []string{guardsFolder, specFolder, cellsFolder} {
		patches, err := readPatches(root, folder)
		if err != nil {
			return nil, err
		}
		for _, patch := range patches {
			if cell, is := reused[patch.Name]; is {
				all = append(all, guardedCell{patch, tableOfCells, cell})
				delete(reused, patch.Name)
			}
			for _, proof := range patch.Proofs {
				if folder != cellsFolder {
					continue
				}
				for _, cell := range proof.Rows {
					all = append(all, guardedCell{patch, proof.Test, cell})
				}
			}
		}
	}
	for name := range reused {
		return nil, fmt.Errorf("no patch has the name %q", name)
	}
	return all, nil
}

// takeOutForCells applies the patch of each guarded cell in turn, and runs the cell alone. It
// returns 1 if a cell passes in spite of its patch.
func takeOutForCells(ctx context.Context, root string, pattern *regexp.Regexp) (int, error) {
	all, err := guardedCells(root)
	if err != nil {
		return 1, err
	}
	killed, survived := 0, 0
	for _, c := range all {
		if !pattern.MatchString(c.patch.Name + " " + c.cell) {
			continue
		}
		started, state := time.Now(), "killed"
		r, err := c.patch.run(ctx, root, c.table, "PERTURB=^"+regexp.QuoteMeta(c.cell)+"$")
		switch {
		case ctx.Err() != nil:
			return 1, ctx.Err()
		case err != nil:
			fmt.Println(err)
			state = "BROKEN"
		case r.subtests[c.test()] != ResultFail:
			state = "SURVIVED"
		}
		if killed++; state != "killed" {
			killed, survived = killed-1, survived+1
		}
		fmt.Printf("%-8s  %s: %s, cell %s (%s)\n", state, c.patch.Name, harnesses()[c.table], c.cell, time.Since(started).Round(time.Second))
	}
	fmt.Printf("%d cells with a guard taken out: %d noticed, %d not\n", killed+survived, killed, survived)
	return min(survived, 1), nil
}

// test returns the subtest of the cell.
func (c guardedCell) test() Cite {
	return Cite{c.table.Package, strings.ReplaceAll(c.table.Test+"/"+harnesses()[c.table]+"/"+c.cell, " ", "_")}
}
