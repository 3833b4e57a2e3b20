// Package conditions answers the question of Azure Service Operator's extensions,
// conditions.IsReady, for the objects of this module. It must not know ARM or Temporal.
package conditions

import "github.com/armature-io/armature/resource"

// IsReady reports whether a resource is Ready: by the Ready condition of its own workflow
// where Armature manages it, and by ARM's provisioning state. A nil object, or one that is
// absent in Azure, is not Ready.
func IsReady(object *resource.Object) bool { return object.IsReady() }
