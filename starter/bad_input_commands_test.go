package starter

import (
	"strings"

	"github.com/armature-io/armature/starter/internal/cli"
)

// line is a case without files.
func line(reason string, args ...string) badInput { return badInput{reason: reason, args: args} }

// badFlags are flags that are unknown, malformed, or contradict each other.
func badFlags() map[string]badInput {
	return map[string]badInput{
		"command unknown":           line("nothing is similar", "frobnicate"),
		"command misspelt":          line("a typo", "aply"),
		"command of a group":        line("a typo below a command", "rules", "chekc"),
		"flag unknown":              line("names the help", "get", "--nmae"),
		"flag short unknown":        line("names the help", "get", "-z"),
		"flag without value":        line("the value is missing", "apply", "-f"),
		"flag of another command":   line("get deletes nothing", "get", "--cascade"),
		"argument too many":         line("version takes none", "version", "now"),
		"argument of apply":         line("a path without -f", "apply", "stack.yaml"),
		"argument of freeze":        line("freeze takes labels only", "freeze", "adx"),
		"apply of nothing":          line("the message names what it needs", "apply"),
		"plan of nothing":           {reason: "the message names what it needs", args: []string{"plan"}, code: cli.ExitFailed},
		"plan of a name":            {reason: "a plan is of manifests", args: []string{"plan", "adx"}, code: cli.ExitFailed},
		"output unknown":            line("names the allowed ones", "get", "-o", "xml"),
		"output in capitals":        line("values are case-sensitive", "why", "-o", "JSON"),
		"output empty":              line("a shell variable is not set", "describe", "adx", "-o", ""),
		"output of a plan":          {reason: "a plan's codes are its own", args: []string{"plan", "-f", "DIR", "-o", "xml"}, code: cli.ExitFailed},
		"goal unknown":              line("names the allowed ones", "wait", "--for", "happy"),
		"phase unknown":             line("names the allowed ones", "get", "--phase", "Redy"),
		"timeout without unit":      line("5 would be 5 ns", "wait", "--timeout", "5"),
		"timeout in days":           line("days are not a unit", "wait", "--timeout", "1d"),
		"timeout negative":          line("0 means no limit", "wait", "--timeout", "-5s"),
		"worker timeout of nothing": line("no worker could respond", "get", "--worker-timeout", "0s"),
		"force without reason":      line("the history records the reason", "reconcile", "adx", "--force"),
		"boolean malformed":         line("yes is not a boolean of flags", "apply", "-f", "DIR", "--wait=maybe"),
		"prune without labels":      line("no selector chooses the resources", "apply", "-f", "DIR", "--prune"),
		"labels without prune":      line("it would be without effect", "apply", "-f", "DIR", "-l", "a=b"),
		"prune once":                line("they contradict each other", "apply", "-f", "DIR", "--prune", "-l", "a=b", "--once"),
		"prune of less than none":   line("a number below zero", "apply", "-f", "DIR", "--prune", "-l", "a=b", "--prune-max", "-1"),
		"group without manifests":   line("it would be without effect", "delete", "adx", "--resource-group", "rg1"),
		"shell unknown":             line("an argument out of the list", "completion", "cmd"),
		"freeze selector":           line("shows the form", "freeze", "-l", "prod"),
		"ui for all":                line("the pages have no login", "ui", "--listen", "0.0.0.0:8420"),
		"ui without port":           line("shows the form", "ui", "--listen", "localhost"),
		"ui with half a login":      line("all that is missing", "ui", "--base-url", "http://armature.example.com"),
		"ui for a group":            line("shows the form", "ui", "--read", "platform"),
		"ui with a clear secret":    line("the secret stays unnamed", "ui", "--oidc-client-secret", "s3cr3t"),
		"ui of others":              line("shows the form", "ui", "--others", "staging"),
		"rules of nothing":          line("the message names what it needs", "rules", "check"),
		"rules of a missing file":   line("a typo in the path", "rules", "check", "DIR/none.yaml"),
		"rules that do not parse":   {reason: "what a worker would refuse", files: map[string]string{"r.yaml": "rules: [\n"}, args: []string{"rules", "check", "DIR/r.yaml"}},
		"import version of nothing": line("an @ with nothing behind it", "import", cluster+"@"),
	}
}

// badTargets are names, IDs and selectors that are invalid or choose nothing.
func badTargets() map[string]badInput {
	return map[string]badInput{
		"target none":                line("no command selects everything by accident", "delete", "--yes"),
		"target empty":               line("a shell variable is not set", "delete", "--yes", ""),
		"target by name and labels":  line("one or the other", "pause", "adx", "-l", "stack=prod"),
		"target by labels and all":   line("one or the other", "reconcile", "-l", "stack=prod", "--all"),
		"target by name and file":    line("one or the other", "delete", "adx", "-f", "DIR"),
		"target ambiguous":           line("two resources have the name", "pause", "telemetry", "--reason", "x"),
		"target ID climbing":         line("a cleaned path addresses another resource", "describe", group+"/../rg2"),
		"target ID encoded":          line("it would be decoded", "delete", "--yes", strings.Replace(group, "rg1", "a%2fb", 1)),
		"target ID with a newline":   line("it would split a header", "describe", group+"\nx"),
		"target ID of a portal":      line("a URL is not an ID", "describe", "https://portal.azure.com/#@x/resource"+group),
		"selector without value":     line("shows the form", "get", "-l", "stack"),
		"selector with an operator":  line("only equality is built", "get", "-l", "stack!=prod"),
		"selector in Kubernetes":     line("only equality is built", "get", "-l", "stack in (a,b)"),
		"selector with a quote":      line("it never becomes part of another query", "get", "-l", "a=b' OR ReconcilePhase='Ready"),
		"selector of two values":     line("no resource has both", "get", "-l", "a=b,a=c"),
		"selector with a hole":       line("a part is missing", "get", "-l", "a=b,,c=d"),
		"many without an answer":     line("there is no terminal to ask on", "delete", "-l", "stack=prod"),
		"all without an answer":      line("there is no terminal to ask on", "delete", "--all", "--cascade"),
		"many without their guards":  line("there is no terminal to ask on", "reconcile", "--all", "--force", "--reason", "x"),
		"target of a plan by labels": {reason: "a plan is of manifests", args: []string{"plan", "-l", "a=b"}, code: cli.ExitFailed},
	}
}

// badPlanFiles are files that plan did not write, and flags that cannot be combined with
// them.
func badPlanFiles() map[string]badInput {
	plan := func(reason, text string) badInput {
		return badInput{reason: reason, files: map[string]string{"p.plan": text}, args: []string{"apply", "--plan-file", "DIR/p.plan"}}
	}
	return map[string]badInput{
		"plan file missing":    line("a typo in the path", "apply", "--plan-file", "DIR/p.plan"),
		"plan file empty":      plan("the disk was full", ""),
		"plan file a manifest": plan("-f is the right flag", badAccount+"body: {}\n"),
		"plan file newer":      plan("another armature wrote it", `{"format": 9, "created": "2026-11-21T12:00:00Z", "by": "ana", "resources": [], "digest": ""}`),
		"plan file edited":     plan("an edited plan was never shown", `{"format": 1, "created": "2026-11-21T12:00:00Z", "by": "ana", "resources": [], "digest": "00"}`),
		"plan file and -f":     line("the plan contains what is applied", "apply", "--plan-file", "DIR/p.plan", "-f", "DIR"),
		"plan file and --once": line("the plan contains the options", "apply", "--plan-file", "DIR/p.plan", "--once"),
	}
}

// badConnections are settings of the connection to Temporal.
func badConnections() map[string]badInput {
	with := func(reason string, code int, env ...string) badInput {
		return badInput{reason: reason, args: []string{"get"}, env: env, code: code}
	}
	return map[string]badInput{
		"connection profile":   with("the profile is in no file", cli.ExitBadInput, "TEMPORAL_PROFILE=nobody"),
		"connection refused":   with("connection refused", cli.ExitUnreachable, "TEMPORAL_ADDRESS=127.0.0.1:1"),
		"connection malformed": with("an address without port", cli.ExitBadInput, "TEMPORAL_ADDRESS=http://127.0.0.1:1/x"),
		"connection TLS":       with("a missing file", cli.ExitBadInput, "TEMPORAL_ADDRESS=127.0.0.1:1", "TEMPORAL_TLS=true", "TEMPORAL_TLS_SERVER_CA_CERT_PATH=/does/not/exist.pem"),
	}
}
