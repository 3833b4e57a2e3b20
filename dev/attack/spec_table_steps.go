package main

// The steps of a pass in the order of workflows/pass.go.
const (
	stepOwner = "\t\t{\"CheckOwner\", r.checkOwner},\n"
	stepGet   = "\t\t{\"GetResource\", r.getResource},\n"
	stepCheck = "\t\t{\"PreCheck\", r.preCheck},\n"
	stepPut   = "\t\t{\"PutResource\", r.putResource},\n"
	stepPost  = "\t\t{\"PostCheck\", r.postCheck},\n"
)

// removalsOfSteps change the order of the steps of a pass and what becomes of their results.
func removalsOfSteps() []Guard {
	const order = "workflows TestPassOrder"
	return join(
		removal("the owner before the resource", "workflows/pass.go", stepOwner+stepGet, stepGet+stepOwner,
			by(order, "Invoked before any ARM operation, including GET, on the resource")),
		removal("the step of the GET", "workflows/pass.go", stepGet, "", by(order, "Proceed: reconciliation continues with the GET")),
		removal("the GET before the check", "workflows/pass.go", stepGet+stepCheck, stepCheck+stepGet,
			by(order, "\"Before sending any requests\": actually after the GET (decision record, aso.md)")),
		removal("the check before the PUT", "workflows/pass.go", stepCheck+stepPut, stepPut+stepCheck,
			by(order, "Checks before the PUT and can block until prerequisites are met")),
		removal("the step of the PUT", "workflows/pass.go", stepPut, "", by(order, "Proceed: operations are attempted")),
		removal("the PUT before the post-check", "workflows/pass.go", stepPut+stepPost, stepPost+stepPut,
			by(order, "Runs after ARM succeeded, before Ready")),
		removal("the post-check without a PUT", "workflows/pass.go",
			"	p.checked = true\n", "	if p.checked = true; p.pre.Action == resource.ActionSkip {\n\t\treturn resource.Verdict{Action: resource.ActionSuccess}\n\t}\n",
			by(order, "Runs after a pass without a PUT too")),
		removal("the Ready condition of a pass", "workflows/conclude.go",
			"resource.Condition{Ready: true, Severity: verdict.Severity,", "resource.Condition{Severity: verdict.Severity,",
			by(order, "Success: Ready is True")),
		removal("the reason of a condition", "workflows/conclude.go",
			"Severity: severityOf(verdict, class, overdue), Reason: verdict.Reason,", "Severity: severityOf(verdict, class, overdue), Reason: resource.ReasonFailed,",
			by("extensions/passtest TestPostCheckFailureRequeues", "Failure becomes a condition on the resource")),
		removal("the next try", "workflows/conclude.go",
			"	s.NextTry = now.Add(wait)\n", "	s.NextTry = time.Time{}\n",
			by("extensions/passtest TestBlockedUntilDeleted", "Continues until the check passes or the resource is deleted")),
		removal("no PUT for a skip", "workflows/put.go",
			"if p.pre.Action == resource.ActionSkip {", "if p.pre.Action == resource.ActionSkip && r.state.Condition.Reason != resource.ReasonPostReconciliationFailure {",
			by("workflows TestPassPostCheckFailureRepeatsNoPut", "Beyond: a failed post-check never causes a second PUT by itself")),
	)
}

// removalsOfActivities change what the steps read and write.
func removalsOfActivities() []Guard {
	return join(
		removal("a read of the child", "activities/check_owner.go",
			"	if stop := a.readOwner(ctx, &request, in); stop != nil {\n", "	a.lookup.Read(ctx, in.Desired.ID, in.Desired.APIVersion, a.clock.Now())\n	if stop := a.readOwner(ctx, &request, in); stop != nil {\n",
			by("activities TestCheckOwner", "Validates only the owner's state, without accessing the resource itself", "Avoids GET on the resource: only the owner is checked")),
		removal("the Ready condition of others", "activities/managed.go",
			"object.Managed = &resource.Managed{Ready: managed.Ready,", "object.Managed = &resource.Managed{Ready: true,",
			by("activities TestChecksSeeTheReadyCondition", "Owner and references Ready by the Ready condition, where Armature manages them (`conditions.IsReady`)")),
		removal("labels and policy", "activities/check_owner.go",
			"			Labels: desired.Labels, Policy: desired.Policy, Generation: facts.generation,\n", "",
			by("activities TestChecksSeeTheReadyCondition", "The resource is a MetaObject: labels, policy, generation")),
		removal("the age of a reading", "activities/link_client.go",
			"c.reader.lookup.GetWithin(ctx, id, apiVersion, maxAge, c.reader.readSince)", "c.reader.lookup.GetWithin(ctx, id, apiVersion, 0, c.reader.readSince)",
			by("activities TestGetWithin", "Cache results: a read with a stated age")),
		removal("references before the PUT", "activities/references.go",
			"references := slices.Concat(in.Desired.References, in.Desired.DependsOn)", "references := slices.Concat(in.Desired.DependsOn)",
			by("activities TestCheckOwnerReferences", "Ordering dependencies")),
		removal("writes of links", "activities/link_client.go",
			"return c.reader.Client.Put(ctx, id, apiVersion, body, options)", "return arm.Operation{}, nil",
			by("activities TestLinksWrite", "Other actions: PUT, PATCH and DELETE of other resources")),
		removal("the PATCH", "activities/put_patch.go",
			"if p.in.Desired.Put == resource.PutPatch {", "if false {",
			by("activities TestGuardPatch", "Flow: PUT, PATCH or DELETE as needed")),
		removal("the types of manifests", "manifest/validate_type.go",
			"	for _, f := range check.findings {\n", "	for _, f := range check.findings[:0] {\n",
			by("manifest TestValidateTypes", "Simple validation belongs to admission: here to the manifest, before anything is sent")),
		removal("the end of a wait", "starter/internal/await/await.go",
			"	case c.Ready && current && !v.Deleting:\n", "	case !v.Deleting:\n",
			by("starter/internal/await TestRound", "Users wait before they use the resource: `armature wait`")),
	)
}

// removalsOfStates change the lists of states of types that are built in.
func removalsOfStates() []Guard {
	const seeds, kit = "activities TestSeed", "extensions/azure TestBuiltInChecks"
	return join(
		removal("the stopped states of Kusto", "extensions/azure/kusto_cluster.go",
			"\"moving\", \"stopped\", \"stopping\", \"starting\":", "\"moving\", \"starting\":",
			by(seeds, "Example: blocks on Creating, Updating, Deleting, Stopped, Stopping"),
			by("extensions/rules TestRulesAgreeWithGo", "Scenario 1: Kusto. Block Creating, Updating, Deleting, Stopped, Stopping; allow Running, Succeeded")),
		removal("the state in the message", "extensions/azure/kusto_database.go",
			"(\"Owning cluster is in \" + state.String())", "(\"Owning cluster is busy: \" + state.kind)",
			by("extensions/azure TestKustoBlockVerdict", "Example: message names the state", "Clear messages")),
		removal("the next of an owner check", "extensions/azure/kusto_database.go",
			"	return next(ctx, owner, resolver, client, log)\n", "	return extensions.ProceedWithReconcile(), nil\n",
			by(kit, "Example: calls next when the owner is acceptable")),
		removal("an absent state", "extensions/azure/states.go",
			"return state, state != \"\" && !equalFoldAny(state, settled...)", "return state, !equalFoldAny(state, settled...)",
			by(kit, "Example: nil state passes")),
		removal("the settled states of AKS", "extensions/azure/containerservice_agent_pool.go",
			"return []string{\"Succeeded\", \"Failed\", \"Canceled\", \"Running\"}", "return []string{\"Succeeded\", \"Failed\", \"Canceled\", \"Running\", \"Upgrading\", \"Updating\"}",
			by(seeds, "Scenario 3: agent pools. Block Upgrading, Updating; allow Succeeded, Running", "AKS cluster Updating", "AKS agent pool Updating")),
		removal("the settled states of PostgreSQL", "extensions/azure/dbforpostgresql_flexible_server.go",
			"return []string{\"Succeeded\", \"Failed\", \"Canceled\", \"Ready\"}", "return []string{\"Succeeded\", \"Failed\", \"Canceled\", \"Ready\", \"Starting\", \"Stopping\", \"Updating\"}",
			by(seeds, "PostgreSQL flexible server Starting, Stopping, Updating", "Resource state validation")),
		removal("the final states of a backup", "extensions/azure/dataprotection_backup_instance.go",
			"\"ConfiguringProtectionFailed\", \"Invalid\",", "\"ConfiguringProtectionFailed\", \"ConfiguringProtection\", \"Invalid\",",
			by(seeds, "Async operations still initialising")),
		removal("the text of an approval", "extensions/azure/network_private_endpoint.go",
			"message := fmt.Sprintf(\"Private connection(s) '%q' to the PrivateEndpoint requires approval\", names)", "message := fmt.Sprintf(\"%d connections are not ready\", len(names))",
			by(seeds, "Message names the connection and asks for approval")),
		removal("a connection without a status", "extensions/azure/network_private_endpoint.go",
			"if c.status == \"\" || equalFoldAny(c.status, \"Approved\") {", "if equalFoldAny(c.status, \"Approved\") {",
			by(kit, "Handle nil values", "Example: private endpoint; status inspection, no ARM calls, no error"),
			by(seeds, "A missing status does not crash the check")),
		removal("owners of every type", "extensions/owner_states.go",
			"	return r.InFlight(resourceType, value)\n", "	return false\n",
			by("extensions/azure TestOwnerStates", "Motive: an owner that is powered off or updating, for every child of its type")),
	)
}
