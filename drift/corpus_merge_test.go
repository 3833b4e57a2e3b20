package drift_test

import (
	"fmt"
	"os"
	"slices"
	"strings"
	"testing"

	"github.com/armature-io/armature/drift"
	"github.com/armature-io/armature/internal/jsontree"
	"github.com/armature-io/armature/resource"
	"github.com/armature-io/armature/types"
)

// TestCorpusMerge scores Merge on recorded pairs of a manifest and what Azure showed: the
// merged body has no finding that the manifest does not have, and the unstated
// properties that the published shape has as writable are still in it.
//
//guard:put-merge
func TestCorpusMerge(t *testing.T) {
	pairs := corpusLines[recordedPair](t, "drift.jsonl.gz")
	valid, kept := 0, 0
	all, unstated, readOnly, byRule := 0, 0, 0, 0
	for _, pair := range pairs {
		shape := types.Lookup(pair.Type, pair.APIVersion)
		if shape == nil || !shape.Exact || len(pair.GetBody) == 0 {
			continue
		}
		desired, observed := body(t, pair.PutBody), body(t, pair.GetBody)
		before := map[string]bool{}
		for _, f := range shape.Check(desired) {
			before[f.String()] = true
		}
		merged := drift.Merge(desired, observed, drift.Options{Type: pair.Type, Facts: factsOf(pair.Type), APIVersion: pair.APIVersion})
		all++
		clean := true
		for _, f := range shape.Check(merged) {
			if !before[f.String()] {
				clean = false
				t.Logf("%s@%s: %s", pair.Type, pair.APIVersion, f)
			}
		}
		if clean {
			valid++
		}
		unstatedLeaves(desired, observed, nil, func(path resource.Path, value any) {
			switch name := path[len(path)-1].Name; {
			case !sentBack(shape, path):
				readOnly++
				return
			case slices.Contains(setByServices, name):
				byRule++
				return
			}
			unstated++
			got, present := path.Get(merged)
			if present && strings.EqualFold(fmt.Sprint(got), fmt.Sprint(value)) {
				kept++
			} else {
				t.Logf("lost: %s@%s %s: %v, observed %v", pair.Type, pair.APIVersion, path, got, value)
			}
		})
	}
	fmt.Printf("score merge.valid %d/%d\n", valid, all)
	fmt.Printf("score merge.kept %d/%d, not sent: %d read-only, write-only, secret or unknown, %d set by services\n", kept, unstated, readOnly, byRule)
	if os.Getenv("ARM_CORPUS") == "" && (float64(valid) < minMergeValid*float64(all) || kept < unstated) {
		t.Errorf("%d of %d merged bodies are valid, %d of %d properties kept", valid, all, kept, unstated)
	}
}

// TestCorpusDrops scores corrections right after a PUT, before anything else was set: they
// take nothing away from other tools, so that none of them is held.
func TestCorpusDrops(t *testing.T) {
	all, held, corrections, waits := 0, 0, 0, 0
	for _, pair := range corpusLines[recordedPair](t, "drift.jsonl.gz") {
		if len(pair.GetBody) == 0 {
			continue
		}
		desired, observed := body(t, pair.PutBody), body(t, pair.GetBody)
		opts := drift.Options{Type: pair.Type, APIVersion: pair.APIVersion, Key: []byte("key"), KeepOthers: true, Put: true, Sent: true}
		opts.Baseline = stored(t, drift.NewBaseline(desired, observed, opts))
		opts.Put, opts.Sent = false, false
		all++
		if drops := drift.DropsOf(desired, observed, opts); len(drops.Paths) > 0 {
			held++
			t.Logf("held: %s@%s: %v", pair.Type, pair.APIVersion, drops.Paths)
		}
		// The correction of another value, also after the service sorted its lists of texts.
		properties, _ := desired["properties"].(map[string]any)
		if properties == nil {
			continue
		}
		opts.Hold, properties["anotherValue"] = true, "x"
		for _, at := range []map[string]any{observed, sortedTexts(observed)} {
			opts.Baseline = stored(t, drift.NewBaseline(body(t, pair.PutBody), at, afterPut(opts)))
			corrections++
			if found := drift.Compare(desired, at, opts); len(found.Held.Paths) > 0 || len(found.Differences) == 0 {
				waits++
				t.Logf("waits: %s@%s: %v, differences %v", pair.Type, pair.APIVersion, found.Held.Paths, found.Differences)
			}
		}
	}
	fmt.Printf("score drops.waiting %d/%d\n", waits, corrections)
	fmt.Printf("score drops.held %d/%d\n", held, all)
	if os.Getenv("ARM_CORPUS") == "" && held+waits > 0 {
		t.Errorf("%d of %d corrections are held for values that Azure set by itself, and %d of %d wait", held, all, waits, corrections)
	}
}

// sortedTexts returns a body with its lists of texts in the order of a service that sorts them.
func sortedTexts(observed map[string]any) map[string]any {
	sorted := jsontree.Clone(observed)
	for at := range jsontree.All(sorted) {
		if list, isList := at.([]any); isList && !slices.ContainsFunc(list, func(item any) bool { _, isText := item.(string); return !isText }) {
			slices.SortFunc(list, func(a, b any) int { return -strings.Compare(a.(string), b.(string)) })
		}
	}
	return sorted
}

// TestCorpusRemoved scores what a manifest stated before and states no more, over the
// recorded changes of a manifest: none of it is in the body that Body makes, although
// Azure still shows it.
func TestCorpusRemoved(t *testing.T) {
	removed, gone := 0, 0
	for _, change := range corpusLines[recordedChange](t, "drift_changed.jsonl.gz") {
		shape := types.Lookup(change.Type, change.APIVersion)
		if shape == nil || !shape.Exact {
			continue
		}
		before, observed, after := body(t, change.OldPut), body(t, change.OldGet), body(t, change.NewPut)
		opts := drift.Options{Type: change.Type, Facts: factsOf(change.Type), APIVersion: change.APIVersion, Key: []byte("key"), KeepOthers: true, Put: true, Sent: true}
		opts.Baseline = drift.NewBaseline(before, observed, opts)
		payload := drift.Body(after, after, observed, opts).Body
		unstatedLeaves(after, before, nil, func(path resource.Path, value any) {
			if _, shown := path.Get(observed); !shown || !sentBack(shape, path) {
				return
			}
			removed++
			if _, present := path.Get(payload); present {
				t.Errorf("still sent: %s@%s %s: %v", change.Type, change.APIVersion, path, value)
			} else {
				gone++
			}
		})
	}
	fmt.Printf("score merge.removed %d/%d\n", gone, removed)
}

// minMergeValid is the least share of merged bodies without a finding of their own.
const minMergeValid = 0.995

// setByServices are properties in the recorded traffic that no PUT sends back although
// their shapes have them as writable.
var setByServices = []string{"etag", "provisioningState", "peeringState", "nodeImageVersion"}

// unstatedLeaves visits the leaves of observed that desired does not state. Lists that
// desired states are its own, apart from the members of items with the same name.
func unstatedLeaves(desired, observed any, path resource.Path, visit func(path resource.Path, value any)) {
	switch at := observed.(type) {
	case map[string]any:
		stated, _ := desired.(map[string]any)
		for name, value := range at {
			var own any
			absent := false
			for candidate := range stated {
				if strings.EqualFold(candidate, name) {
					own = stated[candidate]
					absent = own == nil // null states that there is none
				}
			}
			if absent {
				continue
			}
			unstatedLeaves(own, value, append(slices.Clip(path), resource.Step{Name: name}), visit)
		}
	case []any:
		stated, isList := desired.([]any)
		for i, item := range at {
			next := append(slices.Clip(path), resource.Step{Index: i, IsIndex: true})
			if !isList {
				unstatedLeaves(nil, item, next, visit)
				continue
			}
			object, _ := item.(map[string]any)
			for _, candidate := range stated {
				if own, ok := candidate.(map[string]any); ok && own["name"] != nil && own["name"] == object["name"] {
					unstatedLeaves(own, item, next, visit)
				}
			}
		}
	default:
		if desired == nil && observed != nil && observed != "" {
			visit(path, observed)
		}
	}
}

// sentBack reports whether the published shape has every step of a path as writable.
func sentBack(shape *types.Shape, path resource.Path) bool {
	for i := range path {
		found, free := shape.Find(path[:i+1])
		if free {
			return true
		}
		if !slices.ContainsFunc(found, func(p types.Property) bool {
			return p.Flags&(types.ReadOnly|types.WriteOnly) == 0 && !p.Type.Sensitive
		}) {
			return false
		}
	}
	return !types.ReadOnlyOf(shape.Type).Cover(path)
}
