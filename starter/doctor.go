package starter

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/armature-io/armature/activities"
	"github.com/armature-io/armature/internal/text"
	"github.com/armature-io/armature/resource"
	"github.com/armature-io/armature/starter/internal/backend"
	"github.com/armature-io/armature/starter/internal/cli"
	"github.com/armature-io/armature/starter/internal/rollout"
	"github.com/armature-io/armature/starter/internal/screen"
	"github.com/armature-io/armature/workflows"
	"github.com/spf13/cobra"
)

func (a *app) doctorCommand() *cobra.Command {
	var (
		in     activities.DiagnoseInput
		output cli.Format
		costs  bool
		every  time.Duration
	)
	c := &cobra.Command{
		Use:   "doctor [ID]",
		Short: "Check Temporal, workers, credentials and Azure connectivity",
		Long: `doctor checks the Temporal server, its namespace and search attributes, the
workers of the task queue and their versions, whether the workers of one version have
the same links and rules, and the api-versions of the managed resources: which of
them are not published any more, or older than two years while a newer one is
published. One worker then checks each of its credentials, the connection to Azure
Resource Manager, and its clock. With the ID of a resource, which need not exist yet,
it also checks whether the credential may read, write and delete it and whether its
provider is registered. It writes nothing.

The exit code is 0 when every check passes or only warns, 1 when a check fails, 3
when Temporal is unreachable.`,
		Example: "  armature doctor\n  armature doctor /subscriptions/11111111-2222-3333-4444-555555555555/resourceGroups/rg1/providers/Microsoft.Kusto/clusters/adx",
		Args:    cobra.MaximumNArgs(1),
		RunE: func(c *cobra.Command, args []string) error {
			if len(args) == 1 {
				id, err := resource.ParseID(args[0])
				if err != nil {
					return cli.BadInput("%w; pass a resource ID, or nothing", err)
				}
				in.ID = id
			}
			if costs {
				return a.costs(c.Context(), every)
			}
			return a.doctor(c.Context(), in, output)
		},
	}
	c.Flags().StringVar(&in.Credential, "credential", "", "credential of the worker's config to check the ID with")
	c.Flags().BoolVar(&costs, "costs", false, "print the billed actions per day on Temporal Cloud instead, from the number of resources by phase")
	c.Flags().DurationVar(&every, "interval", resource.DefaultInterval, "interval of the resources, for --costs")
	a.addSigningKey(c)
	cli.AddFormat(c, &output)
	return c
}

func (a *app) doctor(ctx context.Context, in activities.DiagnoseInput, output cli.Format) error {
	b, err := a.connection(ctx)
	if err != nil {
		if output.IsMachine() && cli.ExitCode(err) == cli.ExitUnreachable {
			return errors.Join(err, output.Write(a.out, failedCheck("temporal", err.Error(), "set TEMPORAL_ADDRESS, or start the server")))
		}
		return err
	}
	findings, hasNamespace := b.Findings(ctx)
	if hasNamespace {
		findings = append(findings, a.fleetFindings(ctx, b, in)...)
	}
	if output.IsMachine() {
		if err := output.Write(a.out, findings); err != nil {
			return err
		}
	} else {
		a.printFindings(findings, output == cli.FormatWide)
	}
	if n := countFailed(findings); n > 0 {
		return cli.Failed("%s, see above", cli.Count(n, "failed check"))
	}
	return nil
}

// fleetFindings returns the findings about versions, resources and what a worker checks. A
// failed check keeps no other one from running.
func (a *app) fleetFindings(ctx context.Context, b *connection, in activities.DiagnoseInput) []activities.Finding {
	var findings []activities.Finding
	if b.versions != nil {
		findings = rollout.Findings(ctx, b.versions, a.taskQueue, a.now())
	}
	findings = append(findings, a.versionFindings(ctx, b)...)
	if b.Polled(ctx, a.taskQueue) { // b.Findings reports that none does
		findings = append(findings, a.workerFindings(ctx, b, in)...)
	}
	findings = append(findings, feedCost(ctx, b, findings)...)
	if _, err := a.signer(b); err != nil {
		findings = append(findings, failedCheck("signatures", err.Error(), "pass the file of a private key")...)
	}
	findings = append(findings, backend.CodecFindings(a.environment, a.converters)...)
	return append(findings, freezeFindings(ctx, b)...)
}

// feedCost compares the cost of the feeds that a worker reported with that of the intervals, nil
// without a feed.
func feedCost(ctx context.Context, b *connection, findings []activities.Finding) []activities.Finding {
	feeds := 0
	for _, f := range findings {
		if strings.HasPrefix(f.Check, activities.FeedCheck) {
			feeds++
		}
	}
	if feeds == 0 {
		return nil
	}
	counts, err := b.CountPhases(ctx, []string{string(workflows.PhaseReady)})
	if err != nil {
		return failedCheck("cost of the feed", err.Error(), "try again")
	}
	return []activities.Finding{backend.FeedCost(counts[string(workflows.PhaseReady)], feeds)}
}

// maxWarnings bounds the warnings of one check that are shown.
const maxWarnings = 3

// printFindings prints the findings: of many warnings of one check the first, and how many
// there are.
func (a *app) printFindings(findings []activities.Finding, wide bool) {
	count, shown := map[string]int{}, map[string]bool{}
	for _, f := range findings {
		if f.State == activities.FindingWarn {
			count[f.Check]++
		}
	}
	for _, f := range findings {
		line := func(state, check, text string) { a.printf("%-5s  %-20s  %s\n", state, check, text) }
		n := count[f.Check]
		many := f.State == activities.FindingWarn && n > maxWarnings && !wide
		if many && shown[f.Check] {
			continue
		}
		shown[f.Check] = true
		if many {
			f.Message = fmt.Sprintf("%d warnings, for example %s", n, f.Message)
		}
		line(string(f.State), f.Check, f.Message)
		if f.Advice != "" {
			line("", "", "-> "+f.Advice)
		}
		if many {
			line("", "", fmt.Sprintf("-> `armature doctor -o wide` lists all %d", n))
		}
	}
}

// costs prints an estimate of the actions that the workflows of the namespace take.
func (a *app) costs(ctx context.Context, interval time.Duration) error {
	b, err := a.connection(ctx)
	if err != nil {
		return err
	}
	counts, err := b.CountPhases(ctx, phases())
	if err != nil {
		return err
	}
	asleep := counts[string(workflows.PhasePaused)] + counts[string(workflows.PhaseFailed)]
	ready, waiting := counts[string(workflows.PhaseReady)], -asleep
	for _, n := range counts {
		waiting += n
	}
	a.printf("%s; with an interval of %s\n", backend.EstimateActions(ready, waiting-ready, asleep, interval), text.Duration(interval))
	a.note("without changes, commands and wakes; docs/cost.md has the arithmetic and prices")
	return nil
}

// workerFindings returns the findings of a worker, and those about its clock and its keys.
func (a *app) workerFindings(ctx context.Context, b *connection, in activities.DiagnoseInput) []activities.Finding {
	begun := a.now()
	result, err := b.Diagnose(ctx, in)
	ended := a.now()
	if _, ok := errors.AsType[*backend.NoWorkerError](err); ok {
		return failedCheck("worker", err.Error(), "read the worker's log: it may be older than this armature, or overloaded")
	}
	if err != nil {
		return failedCheck("worker", "the worker could not run its checks: "+err.Error(),
			"read the worker's log; a worker with a deployment version must be the current version")
	}
	findings := result.Findings
	if skew := clockSkew(begun, ended, result.ServerAt); skew.Abs() > activities.MaxServerSkew {
		findings = append(findings, activities.Finding{
			Check: "clock here", State: activities.FindingWarn,
			Message: fmt.Sprintf("the local clock differs from the Temporal server's by %s", skew.Abs().Round(time.Second)),
			Advice:  "set both clocks by NTP: ages and times that armature shows are wrong by as much",
		})
	}
	if key, err := a.signer(b); err == nil { // fleetFindings reports the error
		findings = append(findings, backend.SignatureFindings(result.Signatures, key)...)
	}
	return append(findings, backend.EncryptionFindings(result.Encryption, a.converters.Status())...)
}

// freezeFindings returns a warning about freezes in force, nil if there are none.
func freezeFindings(ctx context.Context, b *connection) []activities.Finding {
	freezes, interrupted, err := b.Freezes(ctx)
	switch {
	case err != nil:
		return []activities.Finding{{
			Check: "freeze", State: activities.FindingWarn, Message: "the freezes cannot be read: " + err.Error(),
			Advice: "try again; workers that cannot read them write nothing",
		}}
	case len(freezes) == 0:
		return nil
	}
	var scopes, commands []string
	for _, f := range freezes {
		scopes = append(scopes, screen.FreezeScope(f)+screen.FreezeAuthor(f))
		commands = append(commands, "`armature unfreeze"+cli.SelectorFlag(f.Selector)+"`")
	}
	finding := activities.Finding{
		Check: "freeze", State: activities.FindingWarn, Message: "writes are frozen: " + strings.Join(scopes, ", "),
		Advice: "to lift what is frozen: " + strings.Join(commands, " and ") + "; after a restore compare first: `armature drift`",
	}
	if interrupted {
		finding.Message += "; the workflow that keeps the freeze was terminated or failed; the freeze is in force all the same, and a worker starts the workflow again within a minute"
	}
	return []activities.Finding{finding}
}

// failedCheck returns the finding of a check that failed, alone.
func failedCheck(check, message, advice string) []activities.Finding {
	return []activities.Finding{{Check: check, State: activities.FindingError, Message: message, Advice: advice}}
}

// clockSkew returns the local clock minus the server's, 0 if the server's time is
// between request and response.
func clockSkew(begun, ended, remote time.Time) time.Duration {
	switch {
	case remote.Before(begun):
		return begun.Sub(remote)
	case remote.After(ended):
		return ended.Sub(remote)
	}
	return 0
}

func countFailed(findings []activities.Finding) int {
	n := 0
	for _, f := range findings {
		if f.State == activities.FindingError {
			n++
		}
	}
	return n
}

// versionFindings returns the findings about the api-versions and steps of all resources.
func (a *app) versionFindings(ctx context.Context, b *connection) []activities.Finding {
	records, err := b.List(ctx, workflows.RunningQuery())
	if err != nil {
		return []activities.Finding{{
			Check: backend.APIVersionCheck, State: activities.FindingWarn, Message: "the managed resources cannot be listed: " + err.Error(),
			Advice: "try again; if the error persists, check the Temporal server",
		}}
	}
	findings := append(backend.APIVersionFindings(records, a.now()), backend.StuckFinding(ctx, b, records))
	return append(findings, backend.UnreadableFindings(records)...)
}
