package armsim

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
