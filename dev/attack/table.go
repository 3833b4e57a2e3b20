package main

import (
	"fmt"
	"strings"
)

// Row is one attack of the table, with the tests that fail if it succeeds.
type Row struct {
	// Kind and Number name the row: a finding succeeded once, an attack was tried.
	Kind   Kind
	Number int
	Title  string
	// Tests hold the row.
	Tests []Cite
	// Open explains what is not guarded, "" where the row is held.
	Open string
	// By names what holds the row where it is no code of this repository.
	By string
}

// Kind is the list of a row.
type Kind string

// The lists.
const (
	KindFinding Kind = "finding"
	KindAttack  Kind = "attack"
	// KindFailure is the list of what fails by itself: processes, networks and clocks.
	KindFailure Kind = "failure"
)

// Name returns the row's name, such as "finding 3".
func (r Row) Name() string { return fmt.Sprintf("%s %d", r.Kind, r.Number) }

// Cite names a test: a folder of the repository and a function.
type Cite struct{ Package, Test string }

// String returns the cite as a table and a message show it.
func (c Cite) String() string { return c.Package + " " + c.Test }

// Table returns all rows, in order.
func Table() []Row { return append(append(findings(), attacks()...), failures()...) }

// rows numbers rows from 1.
func rows(kind Kind, list ...Row) []Row {
	for i := range list {
		list[i].Kind, list[i].Number = kind, i+1
	}
	return list
}

// held returns a row that its tests hold; each is "package Test".
func held(title string, tests ...string) Row {
	row := Row{Title: title}
	for _, test := range tests {
		folder, name, _ := strings.Cut(test, " ")
		row.Tests = append(row.Tests, Cite{folder, name})
	}
	return row
}

// open returns a row that is not guarded; its tests hold a part of it.
func open(why, title string, tests ...string) Row {
	row := held(title, tests...)
	row.Open = why
	return row
}

// heldBy returns a row that a library holds; its tests would notice if it did not.
func heldBy(library, title string, tests ...string) Row {
	row := held(title, tests...)
	row.By = library
	return row
}
