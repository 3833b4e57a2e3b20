// Package rules owns checks without Go: a YAML file of rules whose conditions are
// CEL expressions. It reads and checks files, runs their rules as links of
// package extensions, and replaces them while the worker runs. It sends no
// request and knows no Temporal.
//
//	rules:
//	  - name: stopped-parent
//	    type: Contoso.Things/parents/children
//	    at: owner                       # owner | pre (default of block) | post (default of fail)
//	    when: among(text(owner, "properties.state"), ["Stopped", "Stopping"])
//	    block: Parent ${ownerName} is in state ${quote(owner.properties.state)}
//	    reason: ReconciliationBlocked   # severity, reason and retry are optional
//	tests:
//	  - name: a stopped parent blocks
//	    rule: stopped-parent
//	    owner: {properties: {state: Stopped}}
//	    want: block
//	    message: Parent p1 is in state "Stopped"
//
// # What a condition sees
//
// desired, observed and owner are bodies; null where there is none. now is the
// time, forced whether a person passes the guards, id, name, ownerID and ownerName
// are texts. An owner rule runs before any request to the resource and sees the
// owner, its names, forced and now only. Property names ignore case, and whatever
// is absent is null at any depth: observed.properties.state == "Stopped" is false
// where there are no properties, and has(x.y) means x.y != null.
//
// # What a rule costs
//
// An evaluation ends at costLimit units of CEL, and with the context of its step:
// a rule that counts to a thousand million becomes a failed check that names the
// rule, and nothing else waits.
package rules
