package manifest

import "testing"

func TestExamples(t *testing.T) {
	set, err := Load(Options{}, "../examples")
	if err != nil {
		t.Fatalf("the examples have issues:\n%v", err)
	}
	types := map[string]int{}
	secrets, references := 0, 0
	position := map[string]int{}
	for i, desired := range set.Resources {
		types[desired.ID.Type()]++
		secrets += len(desired.Secret)
		references += len(desired.References)
		position[desired.ID.Key()] = i
		if at, managed := position[desired.Owner.Key()]; managed && at >= i {
			t.Errorf("%s comes before its owner", desired.ID)
		}
	}
	if len(set.Resources) < 40 || len(types) < 12 {
		t.Errorf("the examples are %d resources of %d types, want a stack of at least 40 of 12", len(set.Resources), len(types))
	}
	want := map[string]int{
		"Microsoft.Resources/resourceGroups": 1, "Microsoft.Network/virtualNetworks": 2, "Microsoft.Network/virtualNetworks/subnets": 3,
		"Microsoft.Storage/storageAccounts": 1, "Microsoft.Kusto/clusters": 1,
		"Microsoft.Kusto/clusters/databases": 3, "Microsoft.Authorization/roleAssignments": 2,
		"Microsoft.ContainerService/managedClusters/agentPools": 2, "Microsoft.Network/privateEndpoints": 2,
	}
	for typ, count := range want {
		if types[typ] != count {
			t.Errorf("found %d of %s, want %d", types[typ], typ, count)
		}
	}
	if secrets == 0 || references == 0 {
		t.Errorf("found %d secrets and %d references, want one of each", secrets, references)
	}
}
