package activities

import (
	"context"
	"slices"
	"sync"
	"time"

	"github.com/armature-io/armature/arm"
	"github.com/armature-io/armature/internal/extensionhost"
	"github.com/armature-io/armature/resource"
)

// readReferences resolves the references of the body, and after them dependsOn.
func (m *requestMaker) readReferences(ctx context.Context, in CheckOwnerInput) []extensionhost.ResolvedReference {
	references := slices.Concat(in.Desired.References, in.Desired.DependsOn)
	resolved := make([]extensionhost.ResolvedReference, len(references))
	var reads sync.WaitGroup
	for i, reference := range references {
		reads.Go(func() {
			m.lookup.NoteRequest(reference.ID, in.RequestedAt)
			got := m.lookup.Read(ctx, reference.ID, reference.APIVersion, time.Time{})
			resolved[i] = extensionhost.ResolvedReference{Reference: reference, Resolution: got.Resolution(), Err: got.Err}
			if arm.DoubtOf(got.Err) == arm.DoubtRepeatable {
				resolved[i].Err = nil // not found, as far as ARM shows
			}
			if resolved[i].Resolution.Ready && heldToReady(in.Desired, i) {
				resolved[i] = m.states.requireReady(ctx, resolved[i], in.RequestedAt)
			}
		})
	}
	reads.Wait()
	return resolved
}

// heldToReady reports whether the i-th of references and dependsOn, in this order, counts as
// ready by its Ready condition: dependsOn by default.
func heldToReady(desired resource.Desired, i int) bool {
	switch desired.WaitFor {
	case resource.WaitForReady:
		return true
	case resource.WaitForProvisioned:
		return false
	}
	return i >= len(desired.References)
}
