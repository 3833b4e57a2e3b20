// Package rules owns checks without Go: YAML files of rules with CEL expressions
// as conditions. It reads and validates the files, runs their rules as links of
// package extensions, and reloads them while the worker runs. It sends no request
// and knows no Temporal.
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
// desired, observed and owner are bodies, or null. now is the time, forced is true
// in a forced pass, and id, name, ownerID and ownerName are strings. An owner rule
// runs before any request to the resource and sees only the owner, its ID and name,
// forced and now. Property names ignore case, and whatever is absent is null at any
// depth: observed.properties.state == "Stopped" is false if there are no properties,
// and has(x.y) means x.y != null.
//
// # What else a rule does
//
// read names other resources, which the rule reads and waits for: one by its ID, those whose IDs
// stand at a path (each), or those of a type below a resource (list). busy and stopped are words
// of the type for the default checks, error rules change how an error of ARM is classified,
// and payload rules change what is sent; each of the four has a file of its own. Check warns
// of rules that load and were probably not meant. docs/rules.md has all fields.
//
// # What a rule costs
//
// An evaluation ends at the cost limit of package expression or with the context of its step. A
// rule that needs more becomes a failed check that names the rule, and delays
// nothing else.
package rules
