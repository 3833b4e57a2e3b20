package azure

import "github.com/armature-io/armature/extensions"

var _ extensions.ObservationTrimmer = Subnet{}

// SubnetType is the ARM type of a subnet.
const SubnetType = "Microsoft.Network/virtualNetworks/subnets"

// Subnet keeps what a history cannot hold out of it: a subnet lists the
// interfaces in it, which can be tens of thousands of entries and megabytes.
type Subnet struct{}

// TrimObserved is the list of interfaces.
func (Subnet) TrimObserved() []string { return []string{"properties.ipConfigurations"} }
