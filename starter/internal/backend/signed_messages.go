package backend

import (
	"github.com/armature-io/armature/internal/signing"
	"github.com/armature-io/armature/resource"
	"github.com/armature-io/armature/workflows"
)

// SignDelete signs a deletion, and the spec that starts a workflow for it. Selector is what
// chose the resource in Temporal, "" for its name or manifest.
func SignDelete(key *signing.Signer, id resource.ID, input *workflows.DeleteInput, selector string) error {
	if input.Desired != nil {
		desired, err := key.Spec(*input.Desired)
		if err != nil {
			return err //nolint:wrapcheck // its text names what is signed
		}
		input.Desired = &desired
	}
	var err error
	input.Order, err = key.Order(resource.DeletionOrder{
		ID: id, Cascade: input.Cascade, EndScope: input.EndScope, WithData: input.WithData, APIVersion: input.APIVersion, Selector: selector,
	})
	return err //nolint:wrapcheck // as above
}

// SignApproval signs the approval to replace a resource that Azure cannot change, with cascade
// also the resources that fall with it.
func SignApproval(key *signing.Signer, id resource.ID, input *workflows.ReconcileInput, cascade bool) error {
	var err error
	if input.Recreate {
		input.Order, err = key.Order(resource.DeletionOrder{ID: id, Replace: true, Cascade: cascade})
	}
	return err //nolint:wrapcheck // as above
}
