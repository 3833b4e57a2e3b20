package activities

import (
	"fmt"
	"testing"
)

// TestOwnerOperation checks that a child waits while the workflow of its managed owner
// waits for the owner's creation, whatever word the service shows meanwhile.
func TestOwnerOperation(t *testing.T) {
	t.Parallel()
	const (
		namespace = groupText + "/providers/Microsoft.ServiceBus/namespaces/n1"
		queue     = namespace + "/queues/q1"
		lock      = namespace + "/providers/Microsoft.Authorization/locks/l1"
	)
	cases := map[string]struct {
		reason, child, state string
		owner                *Managed
		blocks               bool
	}{
		"created, operating": {"Service Bus shows Created before it accepts queues", queue, "Created", &Managed{Operating: true}, true},
		"created, done":      {"its workflow waits for nothing", queue, "Created", &Managed{Ready: true}, false},
		"created, unmanaged": {"another tool made it: the word alone blocks nothing", queue, "Created", nil, false},
		"scope creating":     {"an extension resource of a scope that is being made", lock, "Creating", &Managed{Operating: true}, true},
		"scope updating":     {"a scope that exists accepts locks during an operation", lock, "Updating", &Managed{Operating: true}, false},
		"succeeded":          {"Azure shows that it is done", queue, "Succeeded", &Managed{Operating: true}, false},
	}
	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w := newWorld(t)
			w.put(namespace, fmt.Sprintf(`{"location":"westus2","properties":{"provisioningState":%q}}`, c.state))
			if c.owner != nil {
				w.manages(namespace, *c.owner)
			}
			child := desired(t, c.child, `{}`)
			child.APIVersion, child.OwnerAPIVersion = "2022-10-01-preview", "2022-10-01-preview"
			result := local(w, w.acts.CheckOwner, CheckOwnerInput{Desired: child})
			if result.Verdict.Stops() != c.blocks {
				t.Errorf("%s: got %+v, want blocked %t", c.reason, result.Verdict, c.blocks)
			}
		})
	}
}
