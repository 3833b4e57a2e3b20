package perturb

import (
	"encoding/json"

	"github.com/armature-io/armature/armsim"
	"github.com/armature-io/armature/resource"
	"github.com/armature-io/armature/workflows"
)

// kind is a kind of pass.
type kind struct {
	name string
	// manifests are the managed resources, in the group GROUP.
	manifests string
	// azure are further resources that exist before.
	azure []initial
	// managed is set if the resources are managed and Ready before the points begin.
	managed bool
	// stack is set if the CLI deletes the resources as a stack.
	stack bool
	// begin sends the messages with which the points begin.
	begin   func(*scene)
	options func(*armsim.Options)
	// next is a merge patch of the last resource that makes a new generation.
	next string
	// refusal is the reason with which Azure refuses the change of a kind that replaces its first
	// resource. The approval is for one pass: if that ends before the DELETE, the refusal stays.
	refusal resource.Reason
}

// initial is a resource that exists before a run, at a path in the group.
type initial struct{ path, body string }

// The resources of the kinds.
const (
	routes = `
type: Microsoft.Network/routeTables@2024-05-01
name: r1
owner: GROUP
body: {location: westus2, properties: {disableBgpRoutePropagation: true}, tags: {team: a}}
`
	network = `
type: Microsoft.Network/virtualNetworks@2024-05-01
name: v1
owner: GROUP
body: {location: westus2, properties: {addressSpace: {addressPrefixes: [10.0.0.0/16]}}}
`
	subnet = `
type: Microsoft.Network/virtualNetworks/subnets@2024-05-01
name: s1
owner: v1
body: {properties: {addressPrefix: 10.0.1.0/24}}
`
	sibling = `
type: Microsoft.Network/virtualNetworks/subnets@2024-05-01
name: s2
owner: v1
body: {properties: {addressPrefix: 10.0.2.0/24}}
`
	document = "---"
	recreate = "reconcile: {recreate: on-immutable}\n"
	stack    = "labels: {stack: NAME}\n"
)

const (
	nextTag    = `{"tags":{"generation":"two"}}`
	nextPrefix = `{"properties":{"addressPrefix":"10.0.9.0/24"}}`
)

// kinds returns the kinds of passes.
func kinds() []*kind {
	operations := func(o *armsim.Options) {
		o.Operations = []armsim.OperationRule{{Type: "*/*", Spec: armsim.OperationSpec{Shape: armsim.ShapeAsync, Seconds: 120, RetryAfter: []float64{60}}}}
	}
	all := func(s *scene) {
		for i := range s.resources {
			s.apply(i, "")
		}
	}
	return []*kind{
		{name: "create", manifests: routes, next: nextTag, begin: all},
		{name: "update", manifests: routes, managed: true, next: nextTag, begin: func(s *scene) { s.apply(0, `{"properties":{"disableBgpRoutePropagation":false}}`) }},
		{name: "correction", manifests: routes, managed: true, next: nextTag, begin: func(s *scene) {
			s.change(0, `{"properties":{"disableBgpRoutePropagation":false}}`)
			s.reconcile(0, workflows.ReconcileInput{})
		}},
		{name: "delete", manifests: routes, managed: true, next: nextTag, begin: func(s *scene) { s.delete(0) }},
		{name: "operation", manifests: routes, next: nextTag, options: operations, begin: all},
		{name: "owner and child", manifests: network + document + subnet, next: nextPrefix, options: operations, begin: all},
		{name: "turn", manifests: network + document + subnet + document + sibling, next: nextPrefix, options: operations, begin: all},
		{name: "replace an owner", refusal: "InvalidResourceLocation", manifests: network + recreate + document + subnet, managed: true, next: nextPrefix, begin: func(s *scene) {
			s.apply(0, `{"location":"eastus"}`)
			s.reconcile(0, workflows.ReconcileInput{Recreate: true})
		}},
		{name: "delete a stack", manifests: network + stack + document + subnet + stack, managed: true, stack: true, next: nextPrefix, begin: (*scene).deleteStack},
		{name: "delete with children", manifests: network + document + subnet, managed: true, next: nextPrefix, begin: func(s *scene) { s.delete(0) }},
	}
}

func encoded(body map[string]any) json.RawMessage {
	text, err := json.Marshal(body)
	if err != nil {
		panic(err)
	}
	return text
}
