package azure

import "github.com/armature-io/armature/extensions"

var _ extensions.ObservationTrimmer = Subnet{}

// SubnetType is the ARM type of a subnet.
const SubnetType = "Microsoft.Network/virtualNetworks/subnets"

// Subnet keeps the list of a subnet's interfaces out of histories. It can have tens
// of thousands of entries and megabytes.
type Subnet struct{}

// TrimObserved returns the path of the list of interfaces.
func (Subnet) TrimObserved() []string { return []string{"properties.ipConfigurations"} }
