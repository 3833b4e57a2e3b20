package drift_test

import (
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"golang.org/x/tools/txtar"

	"github.com/armature-io/armature/drift"
	"github.com/armature-io/armature/internal/jsontree"
	"github.com/armature-io/armature/resource"
)

// addBodies seeds a fuzz target with the bodies of the recorded quirks.
func addBodies(f *testing.F) {
	files, err := filepath.Glob("testdata/*.txtar")
	if err != nil {
		f.Fatal(err)
	}
	for i, file := range files {
		raw, err := os.ReadFile(file)
		if err != nil {
			f.Fatal(err)
		}
		bodies := map[string]string{}
		for _, part := range txtar.Parse(raw).Files {
			bodies[part.Name] = string(part.Data)
		}
		f.Add(bodies["desired.json"], bodies["observed.json"], uint64(i))
	}
}

// FuzzCompare checks that no pair of bodies makes Compare, NewBaseline or Payload
// panic, that a body is in sync with itself, and that after a PUT no difference
// remains while nothing changes.
func FuzzCompare(f *testing.F) {
	addBodies(f)
	f.Fuzz(func(t *testing.T, desiredText, observedText string, _ uint64) {
		desired, errD := drift.Decode("desired", []byte(desiredText))
		observed, errO := drift.Decode("observed", []byte(observedText))
		if errD != nil || errO != nil || desired == nil {
			t.Skip("no pair of bodies")
		}
		opts := drift.Options{Type: "Microsoft.KeyVault/vaults", Facts: factsOf("Microsoft.KeyVault/vaults"), APIVersion: "2024-01-01", Key: []byte("k")}
		if result := drift.Compare(desired, desired, opts); !result.InSync {
			t.Errorf("%s differs from itself: %+v", desiredText, result.Differences)
		}
		opts.Reasons = drift.Compare(desired, observed, opts).Differences
		opts.Put = true
		opts.Baseline = drift.NewBaseline(desired, observed, opts)
		raw, err := json.Marshal(opts.Baseline)
		if err != nil || len(raw) > drift.MaxBaselineBytes {
			t.Errorf("the baseline has %d bytes, error %v", len(raw), err)
		}
		if result := drift.Compare(desired, observed, opts); !result.InSync {
			t.Errorf("after a PUT of %s with the result %s there is still %+v", desiredText, observedText, result.Differences)
		}
		drift.KeepTags(drift.Payload(desired, observed, []string{"a.b", "l[*].x"}), desired, observed, opts.Baseline)
	})
}

// FuzzServerAdded checks that values added by the server are not differences: members
// of any object, and without a baseline elements of lists of objects.
func FuzzServerAdded(f *testing.F) {
	addBodies(f)
	f.Fuzz(func(t *testing.T, desiredText, _ string, seed uint64) {
		desired, err := drift.Decode("desired", []byte(desiredText))
		if err != nil || desired == nil {
			t.Skip("no body")
		}
		random := rand.New(rand.NewPCG(seed, 1))
		observed := withAdded(jsontree.Clone(desired), random).(map[string]any)
		opts := drift.Options{APIVersion: "2024-01-01", Key: []byte("k")}
		if result := drift.Compare(desired, observed, opts); !result.InSync {
			t.Errorf("%s differs from %s: %+v", desiredText, text(observed), result.Differences)
		}
		opts.Baseline = drift.NewBaseline(desired, desired, opts)
		if result := drift.Compare(desired, observed, opts); !result.InSync {
			t.Errorf("with baseline, %s differs from %s: %+v", desiredText, text(observed), result.Differences)
		}
	})
}

// withAdded adds members to objects that are not empty: an empty object compared
// with an object with members is a difference.
func withAdded(value any, random *rand.Rand) any {
	switch v := value.(type) {
	case map[string]any:
		if _, marker := v[resource.SecretMarker]; marker || len(v) == 0 {
			return v
		}
		for _, name := range names(v) {
			v[name] = withAdded(v[name], random)
		}
		if random.IntN(2) == 0 {
			v[fmt.Sprintf("zzAdded%d", random.IntN(9))] = []any{"x", json.Number("7"), map[string]any{"q": nil}}[random.IntN(3)]
		}
	case []any:
		for i := range v {
			v[i] = withAdded(v[i], random)
		}
	}
	return value
}

// FuzzRemoved checks that removing a leaf from the manifest is always a difference
// from the baseline of the last applied body.
func FuzzRemoved(f *testing.F) {
	addBodies(f)
	f.Fuzz(func(t *testing.T, desiredText, observedText string, seed uint64) {
		desired, errD := drift.Decode("desired", []byte(desiredText))
		observed, errO := drift.Decode("observed", []byte(observedText))
		if errD != nil || errO != nil || observed == nil {
			t.Skip("no pair of bodies")
		}
		var leaves []site
		for _, s := range sites(nil, desired, observed) {
			object, isMap := s.values[0].(map[string]any)
			_, isMarker := object[resource.SecretMarker]
			last := s.path[len(s.path)-1].Name
			if twin(desired, s.path) {
				continue // the other spelling still states it
			}
			if last != "" && last != resource.SecretMarker && (!isMap || isMarker) && isStated(s.values[0]) && s.invisible("", "desired") == "" {
				leaves = append(leaves, s)
			}
		}
		if len(leaves) == 0 {
			t.Skip("nothing to remove")
		}
		s := leaves[seed%uint64(len(leaves))]
		opts := drift.Options{APIVersion: "2024-01-01", Key: []byte("k"), Put: true}
		opts.Baseline = drift.NewBaseline(desired, observed, opts)
		without := edited(desired, s.at[0], func(any) (any, bool) { return nil, false })
		if result := drift.Compare(without, observed, opts); result.InSync {
			t.Errorf("without %s, %s is in sync with %s", s.path, text(without), observedText)
		}
	})
}

// twin reports whether an object along the path has two members with names that
// differ only in case.
func twin(desired map[string]any, path resource.Path) bool {
	for i := range path {
		parent, _ := path[:i].Get(desired)
		object, _ := parent.(map[string]any)
		folded := map[string]bool{}
		for name := range object {
			lower := strings.ToLower(name)
			if folded[lower] {
				return true
			}
			folded[lower] = true
		}
	}
	return false
}

func text(value any) string {
	raw, err := json.Marshal(value)
	if err != nil {
		return err.Error()
	}
	return string(raw)
}
