package armsim

import "net/http"

// networkRows: Microsoft.Network. 201 with Azure-AsyncOperation and Retry-After
// 3 for a PUT, both headers and Retry-After 10 for a DELETE (recorded). A
// parent's inline list replaces its children.
func networkRows() []typeRule {
	base := typeRule{
		pattern:    "microsoft.network/*",
		create:     OperationSpec{Shape: ShapeAsync, Seconds: 3, RetryAfter: []float64{3}, State: "Updating"},
		update:     OperationSpec{Shape: ShapeAsync, Seconds: 3, RetryAfter: []float64{3}},
		delete:     OperationSpec{Shape: ShapeBoth, Seconds: 10, RetryAfter: []float64{10, 10, 20, 40}},
		etag:       true,
		lockFamily: true,
	}
	with := func(pattern, inline string, defaults func(*resource, object)) typeRule {
		row := base
		row.pattern, row.inline, row.defaults = pattern, inline, defaults
		return row
	}
	return []typeRule{
		with("microsoft.network/virtualnetworks", "subnets", vnetDefaults),
		with("microsoft.network/virtualnetworks/subnets", "", subnetDefaults),
		with("microsoft.network/routetables", "routes", guidDefaults),
		with("microsoft.network/networksecuritygroups", "securityRules", guidDefaults),
		with("microsoft.network/*", "", nil),
	}
}

func guidDefaults(r *resource, body object) { properties(body)["resourceGuid"] = r.guid }

func vnetDefaults(r *resource, body object) {
	guidDefaults(r, body)
	p := properties(body)
	setDefault(p, "enableDdosProtection", false)
	setDefault(p, "virtualNetworkPeerings", []any{})
}

func subnetDefaults(_ *resource, body object) {
	p := properties(body)
	setDefault(p, "delegations", []any{})
	setDefault(p, "privateEndpointNetworkPolicies", "Disabled")
	setDefault(p, "privateLinkServiceNetworkPolicies", "Enabled")
}

// blockedByFamily: while a parent or one of its children changes, the others may
// not (409 AnotherOperationInProgress, recorded for subnets).
func (s *Simulator) blockedByFamily(q *request) *answer {
	t := q.target
	if len(t.types) == 0 || len(t.names) == 0 {
		return nil
	}
	root := t.scope + "/providers/" + t.namespace + "/" + t.types[0] + "/" + t.names[0]
	family := s.below(root)
	if r := s.find(root); r != nil {
		family = append(family, r)
	}
	for _, r := range family {
		if key(r.id) != key(t.id) && r.op != nil && !r.op.done {
			return errBusy(q.origin() + r.op.async)
		}
	}
	return nil
}

// storageRows: a create answers 202 with Location and an empty body; updates
// and deletes are done at once.
func storageRows() []typeRule {
	return []typeRule{{
		pattern:  "microsoft.storage/storageaccounts",
		create:   OperationSpec{Shape: ShapeLocation, Seconds: 20, RetryAfter: []float64{17, 3}, EmptyBody: true},
		update:   OperationSpec{Shape: ShapeSync},
		delete:   OperationSpec{Shape: ShapeSync},
		defaults: storageDefaults,
	}, {pattern: "microsoft.storage/*", defaults: nil}}
}

func storageDefaults(r *resource, body object) {
	p := properties(body)
	setDefault(body, "tags", object{})
	endpoints := object{}
	for name, host := range map[string]string{"blob": "blob", "dfs": "dfs", "file": "file", "queue": "queue", "table": "table", "web": "z5.web"} {
		endpoints[name] = "https://" + r.name + "." + host + ".core.windows.net/"
	}
	p["primaryEndpoints"] = endpoints
	p["primaryLocation"], p["statusOfPrimary"] = body["location"], "available"
	p["creationTime"] = "2026-01-01T00:00:00.0000000Z"
	p["privateEndpointConnections"] = []any{}
	if sku, ok := body["sku"].(object); ok {
		sku["tier"] = "Standard"
	}
	setDefault(p, "accessTier", "Hot")
	setDefault(p, "supportsHttpsTrafficOnly", true)
	setDefault(p, "minimumTlsVersion", "TLS1_0")
	setDefault(p, "allowBlobPublicAccess", false)
	setDefault(p, "networkAcls", object{"bypass": "AzureServices", "virtualNetworkRules": []any{}, "ipRules": []any{}, "defaultAction": "Allow"})
	service := object{"keyType": "Account", "enabled": true}
	setDefault(p, "encryption", object{"keySource": "Microsoft.Storage", "services": object{"file": service, "blob": clone(service)}})
}

// otherRows are shapes that no example uses and tests of long-running operations
// and of secrets do (recorded for these providers).
func otherRows() []typeRule {
	return []typeRule{{
		pattern: "microsoft.dbforpostgresql/flexibleservers*",
		create: OperationSpec{Shape: ShapeBoth, Status: http.StatusAccepted, Seconds: 240, RetryAfter: []float64{60, 15},
			HiddenUntilDone: true, EmptyBody: true},
		update: OperationSpec{Shape: ShapeBoth, Status: http.StatusAccepted, Seconds: 60, RetryAfter: []float64{15}, EmptyBody: true},
		delete: OperationSpec{Shape: ShapeBoth, Seconds: 30, RetryAfter: []float64{15}},
	}, {
		pattern: "microsoft.keyvault/vaults",
		create:  OperationSpec{Shape: ShapeState, Status: http.StatusOK, Seconds: 5, State: "RegisteringDns"},
	}, {
		pattern: "microsoft.notificationhubs/namespaces/*authorizationrules",
		secrets: []string{"primaryKey", "secondaryKey"},
	}, {
		pattern: "microsoft.insights/components",
		secrets: []string{"InstrumentationKey", "ConnectionString"},
	}, {
		pattern: "microsoft.resources/deployments", noLocation: true,
	}}
}
