package main

import (
	"context"
	"fmt"
	"net/http"
	"strings"
	"time"

	"go.temporal.io/sdk/client"
	"go.temporal.io/sdk/temporal"

	"github.com/armature-io/armature/armsim"
	"github.com/armature-io/armature/internal/searchattr"
	"github.com/armature-io/armature/resource"
)

// Resources of the examples that exist before the demo.
const (
	demoGroup     = "/subscriptions/11111111-2222-3333-4444-555555555555/resourceGroups/armature-demo"
	demoWorkspace = demoGroup + "/providers/Microsoft.OperationalInsights/workspaces/demo-logs"
	demoAddress   = demoGroup + "/providers/Microsoft.Network/publicIPAddresses/demo-ip"

	addressBody       = `{"location":"westus2","sku":{"name":"Standard"},"properties":{"publicIPAllocationMethod":"Static"}}`
	addressAPIVersion = "2020-11-01"
	// addressSeconds is the simulated duration of the address's creation.
	addressSeconds = 300
)

// seed creates resources and faults in the simulator, so that the demo shows what
// happens in a real subscription:
//   - a group that exists and matches its manifest (no PUT);
//   - a workspace created by hand, with another retention (an update);
//   - an address that another client is creating (operation in progress);
//   - a request that is throttled (429), one that meets a conflict (409), and one
//     for an identity that is too new (400), once each.
//
// The private endpoint with manual approval is approved later, see manualApproval.
// A simulator with saved resources is not seeded.
func (d *demo) seed(ctx context.Context) error {
	sim := d.sim.Simulator()
	if len(sim.Resources("*", "*")) > 0 {
		return nil
	}
	for id, body := range map[string]map[string]any{
		demoGroup: {"location": "westus2", "tags": map[string]any{"purpose": "demo"}},
		demoWorkspace: {"location": "westus2", "properties": map[string]any{
			"sku": map[string]any{"name": "PerGB2018"}, "retentionInDays": 90,
		}},
	} {
		if err := sim.Put(id, body); err != nil {
			return fmt.Errorf("seed the simulator: %w", err)
		}
	}
	sim.AddFault(armsim.Fault{
		Method: http.MethodPut, Path: "*/components/demo-insights", Count: 1,
		Status: http.StatusTooManyRequests, Code: "SubscriptionRequestsThrottled", Headers: map[string]string{"Retry-After": "3"},
		Message: "Number of requests for subscription '11111111-2222-3333-4444-555555555555' and operation 'PUT/SUBSCRIPTIONS' exceeded the limit. Please try again after '3' seconds.",
	})
	sim.AddFault(armsim.Fault{
		Method: http.MethodPut, Path: "*/vaults/armature-demo-kv", Count: 1, Status: http.StatusConflict, Code: "ConflictError",
		Message: "A conflict occurred that prevented the operation from completing. The operation failed because the state of the vault changed from within the operation. Please retry.",
	})
	sim.AddFault(armsim.Fault{
		Method: http.MethodPut, Path: "*/roleAssignments/3c2f1c0a-*", Count: 1, Status: http.StatusBadRequest, Code: "PrincipalNotFound",
		Message: "Principal does not exist in the directory. If this principal was just created, this may be a replication delay. Please try again.",
	})
	sim.AddOperationRule(armsim.OperationRule{ID: demoAddress, Count: 1, Spec: armsim.OperationSpec{Seconds: addressSeconds}})
	sim.Hold(armsim.Hold{ID: demoAddress})
	go d.releaseAddress(ctx)
	return d.putAsOtherClient(ctx, demoAddress, addressAPIVersion, addressBody)
}

// releaseAddress lets the creation of the address end once its workflow waits for it: on a busy
// machine other workflows, which refer to the address, read it long before.
func (d *demo) releaseAddress(ctx context.Context) {
	if err := d.waitForAddress(ctx); err != nil && ctx.Err() == nil {
		fmt.Fprintln(d.err, "local: wait for the address that another client creates:", err)
	}
	d.sim.Simulator().ReleaseHolds()
}

// waitForAddress returns once the workflow of the address waits for the operation of another client.
func (d *demo) waitForAddress(ctx context.Context) error {
	id, err := resource.ParseID(demoAddress)
	if err != nil {
		return err
	}
	c, err := client.DialContext(ctx, d.temporal)
	if err != nil {
		return err
	}
	defer c.Close()
	ticker := time.NewTicker(500 * time.Millisecond)
	defer ticker.Stop()
	for {
		select {
		case <-ctx.Done():
			return ctx.Err()
		case <-ticker.C:
		}
		workflow, err := c.DescribeWorkflow(ctx, id.WorkflowID(), "")
		if err != nil { // until the apply has come to the address, it has no workflow
			continue
		}
		reason, _ := workflow.TypedSearchAttributes.GetKeyword(temporal.NewSearchAttributeKeyKeyword(searchattr.ReconcileReason))
		if reason == string(resource.ReasonOperationInProgress) {
			return nil
		}
	}
}

// putAsOtherClient sends a PUT that does not come from the worker.
func (d *demo) putAsOtherClient(ctx context.Context, id, apiVersion, body string) error {
	request, err := http.NewRequestWithContext(ctx, http.MethodPut, d.sim.URL()+id+"?api-version="+apiVersion, strings.NewReader(body))
	if err != nil {
		return fmt.Errorf("seed %s: %w", id, err)
	}
	request.Header.Set("Content-Type", "application/json")
	response, err := http.DefaultClient.Do(request)
	if err != nil {
		return fmt.Errorf("seed %s: %w", id, err)
	}
	if err := response.Body.Close(); err != nil {
		return fmt.Errorf("seed %s: %w", id, err)
	}
	if response.StatusCode >= http.StatusBadRequest {
		return fmt.Errorf("seed %s: the simulator returned %s", id, response.Status)
	}
	return nil
}
