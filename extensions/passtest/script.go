package passtest

import (
	"strings"
	"testing"
	"time"

	"github.com/armature-io/armature/armsim"
	"github.com/armature-io/armature/extensions"
	"github.com/armature-io/armature/manifest"
	"github.com/armature-io/armature/resource"
)

// Script is a resource with what happens around it.
type Script struct {
	// Manifest is the manifest of the resource, in YAML or JSON. It names its owner, and
	// others, by resource ID.
	Manifest string
	// Azure are the resources that exist at the start: bodies in JSON by resource ID, for
	// example of extensiontest.Recorded. The owner of the manifest is added, and so are
	// missing groups and parents, unless OwnerAbsent is set.
	Azure       map[string]string
	OwnerAbsent bool
	// Managed are the Ready conditions of others that Armature manages too, by resource
	// ID: what Object.Managed and Resolution.Managed show, and what waitFor waits for.
	Managed map[string]resource.Managed
	// More are further entries of the registry, after the one under test.
	More []extensions.Entry
	// Events happen while the resource is managed.
	Events []Event
	// For is the time for which the resource is managed; 0 means an hour.
	For time.Duration
	// Simulator are options of the simulator, such as the duration of operations. Its
	// clock is the virtual one.
	Simulator armsim.Options
}

// Event is something that happens once. All that it states happens, in the order of the
// fields.
type Event struct {
	// After is the time since the first apply.
	After time.Duration
	// ID is a resource that changes in Azure: Patch, a JSON merge patch, is applied to
	// its body; a resource that does not exist is created with it.
	ID, Patch string
	// Managed is the new Ready condition of the resource ID, which Armature manages too.
	Managed *resource.Managed
	// Do changes the simulator in any other way.
	Do func(*armsim.Simulator)
	// Wakes is set if Armature manages the resource ID too: its workflow then notifies the one
	// under test of the change, if that waits for it. Result.NotWoken has the others. Without
	// an entry in Managed the resource is Ready.
	Wakes bool
	// Apply is a new manifest of the resource.
	Apply string
	// Reconcile requests a pass as armature reconcile does, with Force as with --force.
	Reconcile, Force bool
	// Delete deletes the resource as armature delete does.
	Delete bool
}

// desired returns the spec of a manifest.
func desired(t testing.TB, text string) resource.Desired {
	t.Helper()
	set, err := manifest.Load(manifest.Options{Stdin: strings.NewReader(text)}, "-")
	if err != nil {
		t.Fatalf("the manifest of the script: %v", err)
	}
	if len(set.Resources) != 1 {
		t.Fatalf("the script has %d manifests, want 1; others are in Azure", len(set.Resources))
	}
	return set.Resources[0]
}

// body decodes a body of the script.
func body(t testing.TB, id, text string) map[string]any {
	t.Helper()
	decoded, err := resource.DecodeBody([]byte(text))
	if err != nil {
		t.Fatalf("the body of %s: %v", id, err)
	}
	if decoded == nil {
		decoded = map[string]any{}
	}
	return decoded
}
