package main

// Removals returns what is taken out of the code for rows of docs/contributing/spec-coverage.md. Each
// row is named by its first column, and cites the test that fails without it.
func Removals() []Guard {
	return join(removalsOfChecks(), removalsOfTypes(), removalsOfPasses(), removalsOfAuthors(), removalsOfKit(),
		removalsOfSteps(), removalsOfActivities(), removalsOfStates())
}

func removalsOfChecks() []Guard {
	return []Guard{
		guard("skip from an owner check", "extensions/checks.go",
			"result.Action() != resource.ActionProceed && result.Action() != resource.ActionBlock {", "false {",
			"extensions TestOwnerCheckCannotSkip", "Skip is not a valid result here"),
		guard("the reason of a block", "extensions/results.go",
			"withOptions(resource.Block(resource.ReasonReconciliationBlocked, reason), options)", "withOptions(resource.Block(resource.ReasonFailed, reason), options)",
			"extensions TestResultsBecomeVerdicts", "Returns proceed, or block with a reason; error if the check itself fails"),
		guard("the order of a chain", "extensions/chain.go",
			"for i := len(links) - 1; i >= 0; i-- {", "for i := range links {",
			"extensions TestChainOrder", "Call next: several checkers of one type chain", "Call next when checks pass", "next may be called"),
		guard("the level of a block", "extensions/checks.go",
			"level = slog.LevelInfo", "level = slog.LevelDebug",
			"extensions TestSpecOwnerLogging", "Pattern 4: log at debug, blocks at info, proceeds at debug"),
		guard("changed inputs", "extensions/call.go",
			"if !reflect.DeepEqual(*object, l.before[i]) {", "if false && !reflect.DeepEqual(*object, l.before[i]) {",
			"extensions TestChangedInputs", "Don't modify the resource: here an error that names the link"),
		guard("operations in progress", "extensions/defaults.go",
			"if d.registry.InFlight(obj.ID.Type(), state) && !d.request.Force {", "if false && d.registry.InFlight(obj.ID.Type(), state) {",
			"extensions TestDefaultPreCheck", "Prevent futile operations", "Default: reconcile at once; here next does not interfere with an operation, then compares"),
		guard("the comparison", "extensions/defaults.go",
			"	case len(found.Differences) > 0:\n", "	case len(found.Differences) > 1000:\n",
			"extensions TestDefaultPreCheck", "A PUT at every reconciliation does harm; GET, then PUT only on a difference"),
		guard("failed states after a pass", "extensions/defaults.go",
			"case resource.Broken(state), r.InFlight(obj.ID.Type(), state):", "case resource.Broken(state) && r.InFlight(obj.ID.Type(), state):",
			"extensions TestDefaultPostCheck", "Default: Ready; here not while the state is failed or in flight"),
		guard("absent references", "extensions/references.go",
			"case !reference.Resolution.Found:", "case false:",
			"extensions TestReferences", "Pattern 2: required references found and ready"),
		guard("the Ready condition", "extensions/conditions/conditions.go",
			"return object.IsReady()", "return object.Exists()",
			"extensions TestSpecPreOwnerReady", "Example: waiting for the owner's ready state; block names the owner", "Pattern 1: owner nil blocks; owner not ready blocks; else next"),
		guard("permanent errors", "extensions/results.go",
			"if impact.Severity == resource.SeverityError {", "if false {",
			"extensions TestSpecPreInvalidConfiguration", "Pattern 3: invalid configuration blocks permanently, severity Error"),
		guard("the severity of a failure", "extensions/results.go",
			"Severity: resource.SeverityWarning, Class: resource.RetrySlow, Message: reason,", "Severity: resource.SeverityInfo, Class: resource.RetryFast, Message: reason,",
			"extensions TestSpecPostState", "Returns Success, Failure, error", "Failure: Warning with the reason, retried later",
			"Pattern 1: \"provisioning state not yet available\", \"resource still provisioning: X\""),
		guard("the severity that a check states", "extensions/results.go",
			"		v.Severity = severity\n", "		_ = severity\n",
			"extensions TestSpecPostSeverityReasonMessage", "The result carries action, severity, reason, message"),
		guard("an absent owner", "extensions/defaults.go",
			"	case !owner.Exists():\n", "	case !owner.Exists() && d.note == \"-\":\n",
			"extensions TestDefaultOwnerCheck", "Prerequisite validation, owner readiness"),
	}
}

func removalsOfTypes() []Guard {
	return []Guard{
		guard("the owner of a Kusto database", "extensions/azure/kusto_database.go",
			"if state, blocks := kustoBlockingState(owner); blocks {", "if state, blocks := kustoBlockingState(owner); blocks && state.String() == \"\" {",
			"extensions/azure TestKustoDatabaseOwnerCheck", "Kusto: no GET of a database while the cluster is off or updating"),
		guard("the type of an owner", "extensions/azure/kusto_database.go",
			"if owner != nil && strings.EqualFold(owner.ID.Type(), KustoClusterType) {", "if strings.HasPrefix(owner.ID.Type(), \"\") {",
			"extensions/azure TestBuiltInChecks", "Owner can be nil (root resources)", "Example: owner of another type passes"),
		guard("the states of scale sets", "extensions/azure/state_checks.go",
			"path: provisioningState, busy: []string{\"Updating\", \"Deallocating\", \"Deleting\"}, message: \"Owning scale set", "path: provisioningState, busy: []string{\"Updating\", \"Deleting\"}, message: \"Owning scale set",
			"activities TestSeed", "Scenario 2: scale set instances. Block Updating, Deallocating, Deleting; allow Running, Succeeded"),
		guard("the approval of a private endpoint", "extensions/azure/network_private_endpoint.go",
			"if c.status == \"\" || equalFoldAny(c.status, \"Approved\") {", "if c.status == \"\" || equalFoldAny(c.status, \"Approved\", \"Pending\") {",
			"activities TestSeed", "Manual approval, with a better message than \"not ready\"", "Private endpoint not Ready until its connection is Approved; Pending and Rejected are not"),
	}
}

func removalsOfPasses() []Guard {
	return []Guard{
		guard("the end of a blocked pass", "workflows/pass.go",
			"if p.endsAfter(i, steps) || verdict.Stops() || r.state.deleted() {", "if p.endsAfter(i, steps) || r.state.deleted() {",
			"workflows TestPassOrder", "Owner state blocks all access: child is not even read",
			"Block: no GET, no other operation; requeued; condition with the reason", "When blocked: no ARM operation, condition, requeue, state preserved"),
		guard("the mark of what takes too long", "workflows/conclude.go",
			"return s.notReadyFor(now) >= p.overdueAfter", "return s.notReadyFor(now) < 0",
			"workflows TestOverdue", "Don't wait for ever: `overdue-after` turns it into an error that is still retried"),
		guard("the pass of a wake", "workflows/wake.go",
			"r.requestPass(ctx, WakeSignal,", "r.recordMessage(ctx, WakeSignal,",
			"workflows TestWakeEndsBlock", "Beyond: a blocked resource is woken at once when the resource it waits for changes"),
		guard("the next try of a block", "workflows/backoff.go",
			"return max(s.jitter(wait), minimum)", "return max(0*s.jitter(wait), minimum)",
			"workflows TestWaitBackoff", "Block: skipped for now, requeued, condition"),
		guard("the read of the owner", "activities/check_owner.go",
			"	default:\n		request.Owner = got.Object\n", "	default:\n		request.Owner = nil\n",
			"activities TestCheckOwner", "Flow: owner resolved and fetched first",
			"Owner given by ARM ID: nil in ASO; here it is read and checked like a managed one"),
		guard("the shared reading of an owner", "activities/lookup/readings.go",
			"return got, ok && !got.tombstone &&", "return got, false && ok && !got.tombstone &&",
			"activities TestCheckOwnerSharesOneRead", "Avoids wasted calls and quota", "Many children share one owner: check once, benefit many times"),
	}
}
