package main

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/armature-io/armature/activities"
	"github.com/armature-io/armature/internal/text"
	"github.com/armature-io/armature/resource"
	"github.com/spf13/cobra"
)

// skewMost is how far the clock here may differ from the worker's: the ages that
// get and why show would be wrong by as much.
const skewMost = time.Minute

// examiner looks at what the resources' workflows need.
type examiner interface {
	// temporalFindings are those about server, namespace, search attributes and
	// workers; they need no worker.
	temporalFindings(ctx context.Context) []activities.Finding
	// diagnose asks a worker; errNoWorker when nobody answers in time.
	diagnose(ctx context.Context, in activities.DiagnoseInput) (activities.DiagnoseResult, error)
}

func (a *app) doctorCommand() *cobra.Command {
	var (
		in     activities.DiagnoseInput
		output format
	)
	c := &cobra.Command{
		Use:   "doctor [ID]",
		Short: "Look at everything that Armature needs, and say how to mend it",
		Long: `doctor looks at the Temporal server, its namespace and search attributes, at the
workers, and has one worker look at each of its credentials, at the way to Azure
Resource Manager, and at its clock. With the ID of a resource, which need not
exist yet, it also says whether the credential may read, write and delete it and
whether its provider is registered. Nothing is written anywhere.

The exit code is 0 when nothing is broken (warnings allowed), 1 when something
is, 3 when Temporal is unreachable.`,
		Example: "  armature doctor\n  armature doctor /subscriptions/11111111-2222-3333-4444-555555555555/resourceGroups/rg1/providers/Microsoft.Kusto/clusters/adx",
		Args:    cobra.MaximumNArgs(1),
		RunE: func(c *cobra.Command, args []string) error {
			if len(args) == 1 {
				id, err := resource.ParseID(args[0])
				if err != nil {
					return badInput("%w; name a resource ID, or nothing", err)
				}
				in.ID = id
			}
			return a.doctor(c.Context(), in, output)
		},
	}
	c.Flags().StringVar(&in.Credential, "credential", "", "credential of the worker's config to look at the ID with")
	a.addOutput(c, &output)
	return c
}

func (a *app) doctor(ctx context.Context, in activities.DiagnoseInput, output format) error {
	b, err := a.connect(ctx, a)
	if err != nil {
		if output.machine() && exitCode(err) == exitUnreachable {
			unreached := activities.Finding{Check: "temporal", State: activities.FindingFault, Message: err.Error(), Advice: "set TEMPORAL_ADDRESS, or start the server"}
			return errors.Join(err, a.write(output, []activities.Finding{unreached}))
		}
		return err
	}
	defer b.close()
	findings := b.temporalFindings(ctx)
	if broken(findings) == 0 {
		findings = append(findings, a.workerFindings(ctx, b, in)...)
	}
	if output.machine() {
		if err := a.write(output, findings); err != nil {
			return err
		}
	} else {
		for _, f := range findings {
			a.printf("%-5s  %-20s  %s\n", f.State, f.Check, f.Message)
			if f.Advice != "" {
				a.printf("%-5s  %-20s  -> %s\n", "", "", f.Advice)
			}
		}
	}
	if n := broken(findings); n > 0 {
		return failed("%s broken, see above", count(n, "thing")+map[bool]string{true: " is", false: " are"}[n == 1])
	}
	return nil
}

// workerFindings are what a worker says, and what its clock and the freezes say.
func (a *app) workerFindings(ctx context.Context, b *backend, in activities.DiagnoseInput) []activities.Finding {
	begun := a.now()
	result, err := b.diagnose(ctx, in)
	ended := a.now()
	var silent *noWorkerError
	switch {
	case errors.As(err, &silent):
		return []activities.Finding{{
			Check: "worker", State: activities.FindingFault, Message: err.Error(),
			Advice: "look at the worker's log: it may be older than this armature, or overloaded",
		}}
	case err != nil:
		return []activities.Finding{{
			Check: "worker", State: activities.FindingFault, Message: "the worker could not look: " + err.Error(),
			Advice: "look at the worker's log",
		}}
	}
	findings := result.Findings
	if skew := clockSkew(begun, ended, result.At); skew.Abs() > skewMost {
		findings = append(findings, activities.Finding{
			Check: "clock here", State: activities.FindingWarn,
			Message: fmt.Sprintf("this machine's clock differs from the worker's by %s", text.Duration(skew.Abs())),
			Advice:  "set both clocks by NTP: ages and times that armature shows are wrong by as much",
		})
	}
	frozen, err := b.frozen(ctx)
	if err == nil && len(frozen) > 0 {
		var what []string
		for _, f := range frozen {
			text := "everything"
			if f.Selector != "" {
				text = f.Selector
			}
			what = append(what, text+" by "+f.By)
		}
		findings = append(findings, activities.Finding{
			Check: "freeze", State: activities.FindingWarn, Message: "writes are frozen: " + strings.Join(what, ", "),
			Advice: "`armature unfreeze` ends it",
		})
	}
	return findings
}

// clockSkew is this clock minus the worker's, 0 while the worker's time lies
// between question and answer.
func clockSkew(begun, ended, there time.Time) time.Duration {
	switch {
	case there.Before(begun):
		return begun.Sub(there)
	case there.After(ended):
		return ended.Sub(there)
	}
	return 0
}

func broken(findings []activities.Finding) int {
	n := 0
	for _, f := range findings {
		if f.State == activities.FindingFault {
			n++
		}
	}
	return n
}
