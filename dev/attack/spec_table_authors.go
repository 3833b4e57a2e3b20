package main

// byTest is a test and the rows that it covers.
type byTest struct {
	test string
	rows []string
}

func by(test string, rows ...string) byTest { return byTest{test, rows} }

// removal returns one removal for each of the tests that notice it.
func removal(name, file, before, after string, tests ...byTest) []Guard {
	var all []Guard
	for _, t := range tests {
		all = append(all, guard(name, file, before, after, t.test, t.rows...))
	}
	return all
}

// removalsOfAuthors take out what the links of authors rest on: what they receive, and what
// becomes of their results.
func removalsOfAuthors() []Guard {
	return join(
		removal("a block of a check", "extensions/results.go",
			"withOptions(resource.Block(resource.ReasonReconciliationBlocked, reason), options)", "withOptions(resource.Proceed(reason), options)",
			by("extensions TestSpecOwnerBlockOnState", "Pattern 1: block on owner state (PoweredOff, Updating)"),
			by("extensions TestSpecOwnerStateMap", "Pattern 2: map of states to reasons: Stopped, Stopping, Deleting, Updating, Migrating"),
			by("extensions TestSpecOwnerSKUAndMaintenance", "Pattern 3: Premium SKU may proceed while Updating; maintenance mode blocks"),
			by("extensions TestSpecPreRateAndQuota", "Quota checking, rate limiting", "Pattern 5: rate limit and quota"),
			by("extensions TestSpecPreOwnQuery", "Pattern 4: own query of ARM: Locked and Deleting block")),
		removal("a failure of a check", "extensions/results.go",
			"Action: resource.ActionFailure, Reason: resource.ReasonPostReconciliationFailure,", "Action: resource.ActionSuccess, Reason: resource.ReasonPostReconciliationFailure,",
			by("extensions TestSpecPostDependents", "Dependent state of other resources", "Pattern 3: dependent resources must be ready"),
			by("extensions TestSpecPostOtherQuery", "Complex readiness, gradual rollout", "Deployment rollout"),
			by("extensions TestSpecPostCertificate", "Certificate generation"),
			by("extensions TestSpecPostDNS", "DNS propagation"),
			by("extensions/passtest TestPostCheckFailureRequeues", "Not marked Ready; users see the reason")),
		removal("an error of a check", "extensions/checks.go",
			"verdict := resource.Fail(resource.ReasonCheckFailed, resource.RetrySlow, fmt.Sprintf(\"The check %s failed", "verdict := resource.Proceed(fmt.Sprintf(\"The check %s failed",
			by("extensions TestSpecOwnerError", "Error: error condition; otherwise than the text says it is retried in the Slow class, as ASO does"),
			by("extensions TestSpecPreExternalSystem", "External dependencies: wait for external systems"),
			by("extensions TestResultsBecomeVerdicts", "Error: the check failed; error condition"),
			by("extensions TestSpecPostOtherQuery", "Pattern 2: query Azure for additional state; a failed query is an error", "Error: check failed, retried later",
				"Failure and error are distinguished")),
		removal("the severity of an error", "extensions/results.go",
			"if impact.Severity == resource.SeverityError {", "if false {",
			by("extensions TestResultsBecomeVerdicts", "Block is transient; error needs attention, may be permanent")),
		removal("a skip", "extensions/results.go",
			"Action: resource.ActionSkip, Reason: resource.ReasonInSync, Message: reason,", "Action: resource.ActionProceed, Reason: resource.ReasonInSync, Message: reason,",
			by("extensions TestDefaultPreCheck", "Skip in today's sense: in sync, no PUT", "With GET and PUT the default next compares")),
		removal("the action of a block", "extensions/results.go",
			"withOptions(resource.Block(resource.ReasonReconciliationBlocked, reason), options)", "withOptions(resource.Verdict{Action: resource.ActionSkip, Message: reason}, options)",
			by("extensions TestResultsBecomeVerdicts", "Returns Proceed, Skip with a reason (called Block since), or error")),
		removal("the differences after the default", "extensions/defaults.go",
			"result.verdict.Differences, result.verdict.More = found.Differences, found.More\n", "result.verdict.More = found.More\n",
			by("extensions TestSpecPreBeforeAndAfterTheDefault", "Act before or after the standard action")),
		removal("what is absent in ARM", "arm/error.go",
			"return ok && e.Class == ClassAbsent", "return ok && e.Class == ClassAbsent && e.Status == 0",
			by("extensions TestSpecPreOwnQuery", "Pattern 4: not created yet proceeds")),
		removal("the resolver and the client of an owner check", "extensions/checks.go",
			"return check(ctx, cloneForLinks(links, req.owner()), r.resolver(req), req.Client, req.log())", "return check(ctx, cloneForLinks(links, req.owner()), nil, nil, req.log())",
			by("extensions/extensiontest TestOwnerCheckReadsOthers", "Receives ctx, owner, resolver, ARM client, log, next, not the resource")),
		removal("the owner of a pre-check", "extensions/checks.go",
			ofPreCheck+"cloneForLinks(links, req.Object), cloneForLinks(links, req.owner())", ofPreCheck+"cloneForLinks(links, req.Object), nil",
			by("extensions TestSpecPreOwnerReady", "Receives ctx, obj with fresh status, owner, resolver, ARM client, log, next")),
		removal("the resource of a pre-check", "extensions/checks.go",
			ofPreCheck+"cloneForLinks(links, req.Object),", ofPreCheck+"&resource.Object{ID: req.Object.ID},",
			by("extensions TestSpecPreBeforeAndAfterTheDefault",
				"Parameters: resource freshly read, ARM client, logger, context, next (the client of the cluster became the resolver)")),
		removal("the client of a pre-check", "extensions/checks.go",
			ofPreCheck+"cloneForLinks(links, req.Object), cloneForLinks(links, req.owner()), r.resolver(req), req.Client,",
			ofPreCheck+"cloneForLinks(links, req.Object), cloneForLinks(links, req.owner()), r.resolver(req), nil,",
			by("extensions TestSpecPreOwnQuery", "Other actions: a GET of other resources")),
		removal("a nil owner", "extensions/call.go",
			"if object == nil || len(links) == 0 {", "if len(links) == 0 {",
			by("extensions TestSpecPreOwnerReady", "owner can be nil for root resources")),
		removal("the resource of a post-check", "extensions/checks.go",
			ofPostCheck+"cloneForLinks(links, req.Object),", ofPostCheck+"&resource.Object{ID: req.Object.ID},",
			by("extensions TestSpecPostState", "Parameters: resource, ARM client (and the owner), logger, context")),
		removal("the resolver of a post-check", "extensions/checks.go",
			ofPostCheck+"cloneForLinks(links, req.Object), cloneForLinks(links, req.owner()), r.resolver(req),",
			ofPostCheck+"cloneForLinks(links, req.Object), cloneForLinks(links, req.owner()), nil,",
			by("extensions TestSpecPostDependents", "A resolver instead of a client of the cluster")),
		removal("the client of a success handler", "extensions/success.go",
			"handler.HandleSuccess(ctx, obj, owner, resolver, client, log, rest)", "handler.HandleSuccess(ctx, obj, owner, nil, nil, log, rest)",
			by("extensions TestHandlersOfBothKinds", "A success handler gets the client and the resolver")),
		removal("the time of a link", "extensions/call.go",
			"cancelGrace = 200 * time.Millisecond", "cancelGrace = 3 * time.Second",
			by("extensions TestHangingLink", "Runs on every attempt: keep fast; here bounded by 3 s")),
		removal("the log of a verdict", "extensions/checks.go",
			"\"message\", verdict.Message, \"origin\"", "\"message\", \"\", \"origin\"",
			by("extensions/passtest TestPostCheckFailureRequeues", "Log decisions")),
	)
}

// The call of the first link of a chain.
const (
	ofPreCheck  = "check := chain(links, last.ofDefault(), c.bindPreCheck)\n\t\treturn check(ctx, "
	ofPostCheck = "check := chain(links, r.ofDefaultPostCheck(), c.bindPostCheck)\n\t\treturn check(ctx, "
)

// removalsOfKit take out what the test kit tries.
func removalsOfKit() []Guard {
	return join(
		removal("the nil owner of the kit", "extensions/extensiontest/trial.go",
			"		in.request.Owner = nil\n", "		_ = in.request.Owner\n",
			by("extensions/extensiontest TestSuiteFindsBadLinks", "Test with nil owner, wrong type, blocking states, proceed states, errors",
				"Test proceed, block, error, nil owner, chain")),
		removal("the second call of the kit", "extensions/extensiontest/check.go",
			"second := r.call(t, in)", "second := first",
			by("extensions/extensiontest TestSuiteFindsBadLinks", "Idempotent: the kit calls each case twice and compares verdict, calls of next and requests")),
		removal("recorded bodies", "extensions/extensiontest/recorded.go",
			"sources[key], found[id] = path, body", "sources[key], found[id] = path, body[:2]",
			by("extensions/extensiontest TestRecorded", "Test success, failure, error, real status, retry behaviour")),
	)
}

// join returns the removals of all lists.
func join(lists ...[]Guard) []Guard {
	var all []Guard
	for _, list := range lists {
		all = append(all, list...)
	}
	return all
}
