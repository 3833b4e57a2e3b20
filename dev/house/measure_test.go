package main

import (
	"testing"
	"testing/fstest"

	"github.com/google/go-cmp/cmp"
)

func TestMeasure(t *testing.T) {
	tree := fstest.MapFS{
		"workflows/state.go": {Data: []byte(`package workflows

// State is the state.
type State struct {
	Retry Retry
	Pass  int
}

type Retry struct { Count int; Overdue, Paused bool }
`)},
		"workflows/state_test.go": {Data: []byte("package workflows\n")},
		"activities/one.go": {Data: []byte(`package activities

func walk(v any) {
	switch v.(type) {
	case map[string]any: // an object
	case string, []any:
	}
}

var kind = "Microsoft.Kusto/clusters" /* two
lines */
`)},
		"extensions/a.go":         {Data: []byte("package extensions\ntype A struct{}\nfunc (A) M() {}\nconst (B = 1; c = 2)\nfunc D() {}\n")},
		"starter/internal/x/x.go": {Data: []byte("package x\n")},
		"dev/y/y.go":              {Data: []byte("package y\nvar _ = \"Microsoft.Kusto/clusters\"\n")},
	}
	rows, err := measure(tree)
	if err != nil {
		t.Fatal(err)
	}
	got := map[string]int{}
	for _, row := range rows {
		if row.count != 0 {
			got[row.name] = row.count
		}
	}
	want := map[string]int{
		"product: lines in all": 26, "product: lines of code": 20, "product: lines of comments": 2, "product: lines of code in tests": 1,
		"dev: lines in all": 2, "dev: lines of code": 2,
		"State: fields": 2, "State: fields with those of its groups": 4, "State: booleans among them": 2,
		"extensions: exported symbols": 3, "hand-written walkers of JSON (case map[string]any)": 1,
		"files in activities/": 1, "packages below starter/internal/": 1,
		"files of Go that name an Azure type": 1, "names of Azure types in them": 1,
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("-want, +got:\n%s", diff)
	}
}
