package activities

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/armature-io/armature/activities/exporting"
	"github.com/armature-io/armature/activities/writing"
	"github.com/armature-io/armature/resource"
	"go.temporal.io/sdk/temporal"
)

// ExportValuesInput is what to export. No value is part of it.
type ExportValuesInput struct {
	Desired resource.Desired `json:"desired"`
	PassFacts
	// Newest is a generation that was applied since, 0 for none.
	Newest int64 `json:"newest,omitempty"`
	// Due are the positions in Desired.Exports that are compared.
	Due []int `json:"due"`
	// Known are the exports of the passes before.
	Known []exporting.Exported `json:"known,omitempty"`
	// KeysDisabled is the property with which the service rejects its keys, "" for none.
	KeysDisabled string `json:"keysDisabled,omitempty"`
}

// ExportValuesResult has no value in it.
type ExportValuesResult struct {
	Verdict resource.Verdict `json:"verdict"`
	// Exports are the exports of the spec that are known, in its order.
	Exports []exporting.Exported `json:"exports,omitempty"`
}

// exportProgress is what an attempt records for the next one.
type exportProgress struct {
	lastAnswer
	TransientErrors int `json:"transientErrors,omitempty"`
}

// ExportValues follows PostCheck: it writes values of the resource to key vaults, each where
// it differs from the secret there. An attempt that follows another one compares again, so
// that a worker that died after a write causes no second version.
func (a *Activities) ExportValues(ctx context.Context, in ExportValuesInput) (ExportValuesResult, error) {
	in.Desired = in.Desired.WithSecrets()
	ctx = withCredential(ctx, in.Desired.Credential, in.Desired.ID)
	heartbeat := startHeartbeat[exportProgress](ctx)
	defer heartbeat.stop()
	result := ExportValuesResult{Exports: knownExports(in.Desired.Exports, in.Known)}
	if in.Newest > in.Generation {
		result.Verdict = a.report("Export", writing.Superseded(in.Newest, in.Generation))
		return result, nil
	}
	if setting := a.observed.Setting(in.Desired.Labels); setting != "" {
		result.Verdict = a.report("Export", resource.Verdict{Action: resource.ActionSuccess, Message: setting + ": no secret is written"})
		return result, nil
	}
	if stop := a.checks().CheckPolicy(in.Desired, "write of a secret"); stop != nil {
		result.Verdict = a.report("Export", *stop)
		return result, nil
	}
	requests, cancel := requestContext(ctx)
	defer cancel()
	requests = a.forWrites(requests, in.Desired, in.PassFacts, writing.Step{Progress: heartbeat.content})
	maker := a.requestMaker.startedAt(a.options.StartTime(ctx))
	failures := &exportFailures{requests: maker, desired: in.Desired, repeated: in.Repeated, last: heartbeat.progress().lastAnswer}
	failures.count = func() int {
		progress := exportProgress{lastAnswer: failures.last, TransientErrors: heartbeat.progress().TransientErrors + 1}
		heartbeat.send(progress)
		return progress.TransientErrors
	}
	e := maker.exporter(a.options.Exports, in.Desired, in.KeysDisabled, failures)
	var written, stopped []string
	for _, i := range in.Due {
		if i < 0 || i >= len(in.Desired.Exports) {
			continue
		}
		export := in.Desired.Exports[i]
		if err := checkWorkerStop(ctx); err != nil {
			return ExportValuesResult{}, err
		}
		done, change, stop, err := e.Export(requests, export, knownExport(in.Known, export.To), maker.now())
		switch {
		case err != nil:
			return ExportValuesResult{}, err
		case stop != nil:
			if stopped = append(stopped, export.To); len(stopped) == 1 {
				result.Verdict = *stop
			}
			continue
		case change != "":
			written = append(written, change)
		}
		result.note(done)
	}
	switch {
	case len(stopped) > 1:
		result.Verdict.Message += fmt.Sprintf(" (and %d more exports failed)", len(stopped)-1)
	case len(stopped) == 0:
		result.Verdict = resource.Verdict{Action: resource.ActionSuccess, Message: strings.Join(written, "; ")}
	}
	result.Verdict = a.report("Export", in.Repeated.slowExport(result.Verdict))
	return result, nil
}

// slowExport makes the retries of an export very slow that failed often for one reason.
func (r Repeated) slowExport(verdict resource.Verdict) resource.Verdict {
	if !verdict.Stops() || verdict.Reason != r.Reason || r.Times < maxFastRefusals || verdict.Class != resource.RetrySlow {
		return verdict
	}
	verdict.Class = resource.RetryVerySlow
	verdict.Message += fmt.Sprintf(" (%d times in a row: retries are less frequent now; armature reconcile retries at once)", r.Times+1)
	return verdict
}

// knownExports returns what is known of the exports of a spec, in its order.
func knownExports(exports []resource.Export, known []exporting.Exported) []exporting.Exported {
	var kept []exporting.Exported
	for _, export := range exports {
		if one := knownExport(known, export.To); one.To != "" {
			kept = append(kept, one)
		} else {
			kept = append(kept, exporting.Exported{To: export.To})
		}
	}
	return kept
}

// knownExport returns what is known of an export, a zero value for nothing.
func knownExport(known []exporting.Exported, to string) exporting.Exported {
	if at := slices.IndexFunc(known, func(e exporting.Exported) bool { return e.To == to }); at >= 0 {
		return known[at]
	}
	return exporting.Exported{}
}

// note records an export.
func (r *ExportValuesResult) note(done exporting.Exported) {
	for i := range r.Exports {
		if r.Exports[i].To == done.To {
			r.Exports[i] = done
		}
	}
}

// exporter returns what exports values of a resource.
func (m *requestMaker) exporter(vaults map[string][]resource.VaultPattern, desired resource.Desired, keysDisabled string, failures exporting.Failures) *exporting.Exporter {
	settings := exporting.Settings{Client: m.client, Registry: m.registry, Vaults: vaults, KeysDisabled: keysDisabled, Failures: failures}
	if m.rotation {
		settings.Hash = m.hash
	}
	return exporting.New(desired, settings)
}

// exportFailures turns the errors of one attempt of ExportValues into verdicts and retries.
type exportFailures struct {
	requests *requestMaker
	desired  resource.Desired
	repeated Repeated
	// count counts a transient error and returns the number of them, last is ARM's last error.
	count func() int
	last  lastAnswer
}

// Request returns the verdict about a request that failed, or the error with which Temporal
// retries a transient one.
func (f *exportFailures) Request(ctx context.Context, err error, values []string) (*resource.Verdict, error) {
	if stop, blocked := writing.Blocked(err); blocked {
		return &stop, nil
	}
	read, _ := f.requests.secretValues(ctx, f.desired.SecretRefs)
	clean := scrubError("export", f.desired.ID, err, slices.Concat(read, values))
	verdict := f.Verdict(ctx, clean, values)
	if retry := retryTransient(clean, f.count()); retry != nil {
		return nil, retry
	}
	return &verdict, nil
}

// Verdict returns the verdict about an error of ARM, without values.
func (f *exportFailures) Verdict(ctx context.Context, err error, values []string) resource.Verdict {
	request := failedRequest{id: f.desired.ID, apiVersion: f.desired.APIVersion, repeated: f.repeated, values: values, refs: f.desired.SecretRefs}
	return f.requests.failureVerdict(ctx, request, err, &f.last)
}

// Transient returns the error with which Temporal retries a vault that is unavailable, nil
// once it was retried often enough.
func (f *exportFailures) Transient(message string) error {
	count := f.count()
	if count >= maxTransientErrors {
		return nil
	}
	return temporal.NewApplicationErrorWithOptions(message, string(resource.ReasonArmUnreachable),
		temporal.ApplicationErrorOptions{NextRetryDelay: transientDelay << (count - 1)})
}

// planExports returns what a pass would do to the secrets of a resource. Before a resource
// exists, only what forbids an export is known.
func (p *planning) planExports(ctx context.Context, observed map[string]any) []exporting.Planned {
	failures := &exportFailures{requests: p.requestMaker, desired: p.in.Desired, count: func() int { return maxTransientErrors }}
	e := p.exporter(p.vaults, p.in.Desired, exporting.KeysDisabled(observed), failures)
	var planned []exporting.Planned
	for _, export := range p.in.Desired.Exporting() {
		planned = append(planned, e.Plan(ctx, export, observed != nil))
	}
	return planned
}
