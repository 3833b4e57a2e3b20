package armsim

// identityRows: managed identities are synchronous; the server makes their IDs.
func identityRows() []typeRule {
	const identity = "microsoft.managedidentity/userassignedidentities"
	return []typeRule{{
		pattern: identity, noState: true,
		defaults: func(r *resource, body object) {
			p := properties(body)
			p["principalId"] = r.guid
			p["tenantId"] = "00000000-0000-0000-0000-000000000000"
			p["clientId"] = r.guid[:24] + r.guid[28:36] + r.guid[24:28]
			setDefault(body, "tags", object{})
		},
	}, {
		pattern: identity + "/*", noState: true,
	}}
}
