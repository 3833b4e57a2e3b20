package manifest

import "testing"

func TestOwnerIssues(t *testing.T) {
	runIssues(t, map[string]issueCase{
		"NoOwner": {
			reason: "the owner of the resource is unknown",
			yaml:   "type: Microsoft.Storage/storageAccounts@2021-04-01\nname: acc\nbody: {}\n",
			want:   "m.yaml:1:1: owner: is missing; write the name of a manifest or a resource ID, or give --resource-group and --subscription",
		},
		"NoOwnerGroup": {
			reason: "a resource group needs a subscription",
			yaml:   "type: Microsoft.Resources/resourceGroups@2021-04-01\nname: g\nbody: {}\n",
			want:   "m.yaml:2:1: owner: a resource group needs a subscription; write owner: /subscriptions/<guid> or give --subscription",
		},
		"UnknownOwner": {
			reason: "no manifest has the name",
			yaml:   "type: Microsoft.Network/virtualNetworks@2020-11-01\nname: v\nowner: " + group + "\nbody: {}\n---\ntype: Microsoft.Network/virtualNetworks/subnets@2020-11-01\nname: s\nowner: vv\nbody: {}\n---\ntype: Microsoft.Network/virtualNetworks/subnets@2020-11-01\nname: s2\nowner: another\nbody: {}\n",
			want: "m.yaml:8:1: owner: no manifest is named \"vv\"; did you mean v?\n" +
				"m.yaml:13:1: owner: no manifest is named \"another\"; write a manifest's name or a resource ID",
		},
		"OwnerNumber": {
			reason: "an owner is a text",
			yaml:   "type: Microsoft.Storage/storageAccounts@2021-04-01\nname: acc\nowner: 5\nbody: {}\n",
			want:   "m.yaml:3:1: owner: found a number; write the name of a manifest or a resource ID",
		},
		"OwnerBroken": {
			reason: "an ID with a dot segment",
			yaml:   "type: Microsoft.Storage/storageAccounts@2021-04-01\nname: acc\nowner: " + sub + "/resourceGroups/..\nbody: {}\n",
			want:   "m.yaml:3:1: owner: parse resource ID \"" + sub + "/resourceGroups/..\": the segment \"..\" is not allowed",
		},
		"OwnerNoGUID": {
			reason: "a subscription is a GUID",
			yaml:   "type: Microsoft.Storage/storageAccounts@2021-04-01\nname: acc\nowner: /subscriptions/prod/resourceGroups/g\nbody: {}\n",
			want:   "m.yaml:3:1: owner: the subscription \"prod\" is not a GUID; write its ID, like 11111111-2222-3333-4444-555555555555",
		},
		"GroupOwner": {
			reason: "the owner of a resource group is a subscription",
			yaml:   "type: Microsoft.Resources/resourceGroups@2021-04-01\nname: g2\nowner: " + group + "\nbody: {}\n",
			want:   "m.yaml:3:1: owner: the owner of a resource group is a subscription, like /subscriptions/<guid>; found " + group + "",
		},
		"OwnerType": {
			reason: "the owner of a subnet is a network",
			yaml:   account + "body: {}\n---\ntype: Microsoft.Network/virtualNetworks/subnets@2020-11-01\nname: s\nowner: acc\nbody: {}\n---\ntype: Microsoft.Network/virtualNetworks/subnets@2020-11-01\nname: s2\nowner: " + group + "\nbody: {}\n",
			want: "m.yaml:8:1: owner: the owner of Microsoft.Network/virtualNetworks/subnets is of type Microsoft.Network/virtualNetworks, and acc is of type Microsoft.Storage/storageAccounts; name one of the right type\n" +
				"m.yaml:13:1: owner: the owner of Microsoft.Network/virtualNetworks/subnets is of type Microsoft.Network/virtualNetworks, and " + group + " is of type Microsoft.Resources/resourceGroups; name one of the right type",
		},
		"ChainShort": {
			reason: "a nested type without an owner names its owners",
			yaml:   "type: Microsoft.Network/virtualNetworks/subnets@2020-11-01\nname: s\nbody: {}\n",
			want:   "m.yaml:2:1: name: \"s\" names 1 of 2 levels of Microsoft.Network/virtualNetworks/subnets; write a name for each of virtualNetworks/subnets, or an owner and one name",
		},
		"ChainWithOwner": {
			reason: "slashes and an owner contradict each other",
			yaml:   "type: Microsoft.Network/virtualNetworks@2020-11-01\nname: v\nowner: " + group + "\nbody: {}\n---\ntype: Microsoft.Network/virtualNetworks/subnets@2020-11-01\nname: v/s\nowner: v\nbody: {}\n",
			want:   "m.yaml:7:1: name: \"v/s\" contains slashes, which name owners only for a nested type without an owner; write the last part only",
		},
		"ChainTop": {
			reason: "a type that is not nested has one name",
			yaml:   "type: Microsoft.Storage/storageAccounts@2021-04-01\nname: a/b\nbody: {}\n",
			want:   "m.yaml:2:1: name: \"a/b\" contains slashes, but Microsoft.Storage/storageAccounts is not nested in another type",
		},
		"ScopeVersion": {
			reason: "a scope outside of all subscriptions needs an api-version",
			yaml:   "type: Microsoft.Authorization/roleAssignments@2022-04-01\nname: r\nowner: /providers/Microsoft.Billing/billingAccounts/a\nbody: {}\n",
			want:   "m.yaml:3:1: owner: the api-version of /providers/Microsoft.Billing/billingAccounts/a is unknown; write /providers/Microsoft.Billing/billingAccounts/a@<api-version>",
		},
		"OwnerCycle": {
			reason: "extension resources that own each other",
			yaml:   "type: Contoso.Web/marks@2022-04-01\nname: a\nowner: b\nbody: {}\n---\ntype: Contoso.Web/marks@2022-04-01\nname: b\nowner: a\nbody: {}\n",
			want:   "m.yaml:3:1: owner: the owners form a cycle: a -> b -> a; give one of them another owner",
		},
		"OwnerSelf": {
			reason: "a resource cannot own itself",
			yaml:   "type: Contoso.Web/marks@2022-04-01\nname: a\nowner: a\nbody: {}\n",
			want:   "m.yaml:3:1: owner: the owners form a cycle: a -> a; give one of them another owner",
		},
		"AmbiguousOwner": {
			reason: "two manifests have the name",
			yaml:   "type: Microsoft.Network/virtualNetworks@2020-11-01\nname: v\nowner: " + group + "\nbody: {}\n---\ntype: Microsoft.Network/virtualNetworks@2020-11-01\nname: V\nowner: " + sub + "/resourceGroups/h\nbody: {}\n---\ntype: Microsoft.Network/virtualNetworks/subnets@2020-11-01\nname: s\nowner: v\nbody: {}\n",
			want:   "m.yaml:13:1: owner: \"v\" is the name of 2 manifests (m.yaml:1, m.yaml:6); write group/name or the resource ID",
		},
		"SameID": {
			reason: "two manifests would overwrite each other; IDs ignore case",
			yaml:   account + "body: {}\n---\ntype: Microsoft.Storage/storageAccounts@2021-04-01\nname: ACC\nowner: " + group + "\nbody: {}\n",
			want:   "m.yaml:7:1: name: the manifest in m.yaml:1 has the same resource ID: " + group + "/providers/Microsoft.Storage/storageAccounts/ACC" + "; keep one of the two",
		},
		"FaultyOwner": {
			reason: "an issue of an owner is reported once",
			yaml:   "type: Microsoft.Network/virtualNetworks\nname: v\nowner: " + group + "\nbody: {}\n---\ntype: Microsoft.Network/virtualNetworks/subnets@2020-11-01\nname: s\nowner: v\nbody: {}\n",
			want:   "m.yaml:1:1: type: \"Microsoft.Network/virtualNetworks\" has no api-version; write it like Microsoft.Network/virtualNetworks@2023-08-15",
		},
	})
}
