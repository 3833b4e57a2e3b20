package author_test

import (
	"encoding/json"
	"fmt"
	"os"
	"strings"
	"testing"
	"time"

	"github.com/armature-io/armature/activities"
	"github.com/armature-io/armature/armsim"
	"github.com/armature-io/armature/manifest"
	"github.com/armature-io/armature/resource"
	"github.com/armature-io/armature/starter/internal/author"
	"github.com/armature-io/armature/types"
)

// sample is the part of the types that the test takes by default, shortSample with -short:
// one in so many.
const sample, shortSample = 10, 100

// minTypes is what all types are at least.
const minTypes = 2000

// TestLifecycle walks every type: create, read, no PUT in the second round, a change of
// the manifest and one of another tool with one PUT each, delete, absent. It joins the real
// activities, the simulator with the responses of an unusual provider, and the bodies of
// skeletons. It takes one type in ten, with -short one in a hundred; LIFECYCLE=all takes all, LIFECYCLE=TYPE one.
func TestLifecycle(t *testing.T) {
	names := chosen(t)
	started := time.Now()
	var good, changed, undeletable int
	for _, name := range names {
		result, err := walk(t, name)
		if err != nil {
			t.Errorf("%s: %v", name, err)
			continue
		}
		good++
		if result.changed {
			changed++
		}
		if !result.deletable {
			undeletable++
		}
	}
	fmt.Printf("score lifecycle %d/%d (%d changed, %d without DELETE) in %.0f seconds\n", good, len(names), changed, undeletable, time.Since(started).Seconds())
}

// chosen returns the types to walk.
func chosen(t *testing.T) []string {
	t.Helper()
	all := types.Names(true)
	if len(all) < minTypes {
		t.Fatalf("%d types, want at least %d", len(all), minTypes)
	}
	switch only := os.Getenv("LIFECYCLE"); only {
	case "all":
		return all
	case "":
		var some []string
		step := sample
		if testing.Short() {
			step = shortSample
		}
		for i := 0; i < len(all); i += step {
			some = append(some, all[i])
		}
		return some
	default:
		return []string{only}
	}
}

// result is what a walk found beside its failures.
type result struct{ changed, deletable bool }

// walk is the life of one type.
func walk(t *testing.T, name string) (result, error) {
	t.Helper()
	shape := types.Lookup(name, types.Newest(name))
	spec, err := load(shape)
	if err != nil {
		return result{}, err
	}
	for _, reference := range spec.SecretRefs {
		t.Setenv(strings.TrimPrefix(reference, "env:"), "s3cret-Value-of-the-walk")
	}
	w, closeServer := newWorld(t)
	defer closeServer()
	if err := w.putOwners(spec.ID); err != nil {
		return result{}, err
	}
	d := drawFor(spec, shape)
	if strings.HasSuffix(strings.ToLower(name), "/privateendpointconnections") { // the other side makes them
		if err := w.sim.Put(spec.ID.String(), map[string]any{"properties": map[string]any{"provisioningState": "Succeeded"}}); err != nil {
			return result{}, err
		}
	}
	w.sim.AnswerType(d.answer)
	w.sim.AddOperationRule(armsim.OperationRule{Type: name, Spec: d.operation})
	l := &life{world: w, spec: spec}
	if err := l.live(); err != nil {
		return result{}, fmt.Errorf("%w\n%+v\n%s", err, d, spec.Body)
	}
	found := result{}
	if found.changed, err = l.changes(d, shape); err != nil {
		return found, fmt.Errorf("%w\n%+v\n%s", err, d, l.spec.Body)
	}
	if found.deletable, err = l.end(); err != nil {
		return found, fmt.Errorf("%w\n%+v", err, d)
	}
	return found, nil
}

// load returns the resource of the skeleton of a shape.
func load(shape *types.Shape) (resource.Desired, error) {
	text, err := author.Skeleton(shape, "")
	if err != nil {
		return resource.Desired{}, err
	}
	set, err := manifest.Load(manifest.Options{Stdin: strings.NewReader(text)}, "-")
	if err != nil {
		return resource.Desired{}, err
	}
	spec := set.Resources[0]
	lower := strings.ToLower(shape.Type)
	for suffix, own := range placeholders() {
		if !strings.HasSuffix(lower, suffix) {
			continue
		}
		spec.Body = json.RawMessage(own.body)
		if own.name != "" {
			spec.ID, err = resource.ParseID(strings.TrimSuffix(spec.ID.String(), spec.ID.Name()) + own.name)
		}
	}
	return spec, err
}

// placeholder is a body, and a name, of a type whose service refuses the one of the engine.
type placeholder struct{ name, body string }

// placeholders are placeholders by the end of the types' names, in lower case.
func placeholders() map[string]placeholder {
	const role = "/providers/Microsoft.Authorization/roleDefinitions/acdd72a7-3385-48ef-bd42-f606fba81ae7"
	return map[string]placeholder{
		"microsoft.authorization/locks": {body: `{"properties":{"level":"CanNotDelete"}}`},
		"microsoft.authorization/roleassignments": {
			name: "22222222-2222-2222-2222-222222222222",
			body: `{"properties":{"roleDefinitionId":"` + role + `","principalId":"33333333-3333-3333-3333-333333333333","principalType":"ServicePrincipal"}}`,
		},
		"/privateendpointconnections": {body: `{"properties":{"privateLinkServiceConnectionState":{"status":"Approved"}}}`},
	}
}

// putOwners stores the owners of a resource as other tools would.
func (w *world) putOwners(id resource.ID) error {
	var owners []resource.ID
	for owner := id.Owner(); !owner.IsZero(); owner = owner.Owner() {
		owners = append([]resource.ID{owner}, owners...)
	}
	for _, owner := range owners {
		if owner.IsContainer() && !strings.EqualFold(owner.Type(), resource.TypeResourceGroup) {
			continue
		}
		if err := w.sim.Put(owner.String(), map[string]any{"location": "westus2", "properties": map[string]any{"provisioningState": "Succeeded"}}); err != nil {
			return err
		}
	}
	return nil
}

// live creates the resource by one PUT, and finds it in sync in two more rounds. One that
// exists already may need none.
func (l *life) live() error {
	before, err := l.read(activities.GetResourceInput{})
	if err != nil {
		return fmt.Errorf("before the first round: %w", err)
	}
	for round := 1; round <= 3; round++ {
		if err := l.pass(false); err != nil {
			return fmt.Errorf("round %d: %w", round, err)
		}
		if l.puts > 1 || l.puts == 0 && !before.Exists {
			return fmt.Errorf("round %d: %d PUTs, want 1", round, l.puts)
		}
	}
	return nil
}

// changes states another value, and lets another tool change it where a read shows that.
func (l *life) changes(d draw, shape *types.Shape) (bool, error) {
	at, found := changeOf(shape.Named(l.spec.ID.Name()))
	if !found {
		return false, nil
	}
	var body map[string]any
	if err := json.Unmarshal(l.spec.Body, &body); err != nil {
		return false, err
	}
	l.spec.Body = encode(at.set(body, "one"))
	if err := l.rounds(fmt.Sprintf("changed %v", at.path), false); err != nil {
		return false, err
	}
	if d.existenceOnly {
		return true, nil
	}
	if err := l.sim.Patch(l.spec.ID.String(), at.set(map[string]any{}, "two")); err != nil {
		return false, err
	}
	if err := l.rounds(fmt.Sprintf("changed by another tool %v", at.path), true); err != nil {
		return false, err
	}
	return true, nil
}

// rounds are two passes with one PUT between them.
func (l *life) rounds(what string, correction bool) error {
	want := l.puts + 1
	for round := 1; round <= 2; round++ {
		if err := l.pass(correction); err != nil {
			return fmt.Errorf("%s, round %d: %w", what, round, err)
		}
		if l.puts != want {
			return fmt.Errorf("%s, round %d: %d PUTs, want %d", what, round, l.puts, want)
		}
	}
	return nil
}
