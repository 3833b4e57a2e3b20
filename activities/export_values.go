package activities

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/armature-io/armature/arm"
	"github.com/armature-io/armature/resource"
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
	Known []Exported `json:"known,omitempty"`
	// KeysDisabled is as in PostCheckResult.
	KeysDisabled string `json:"keysDisabled,omitempty"`
}

// Exported is what is remembered of an export, without the value.
type Exported struct {
	To string `json:"to"`
	// Version is the version of the secret that has the value.
	Version string `json:"version,omitempty"`
	// Hash is a keyed hash of the value, "" without a mask-key.
	Hash string `json:"hash,omitempty"`
	// WrittenAt is when the vault made the version, ComparedAt when both were compared last.
	WrittenAt  time.Time `json:"writtenAt,omitzero"`
	ComparedAt time.Time `json:"comparedAt,omitzero"`
	// Left is set for a secret that existed before, which the policy if-absent leaves.
	Left bool `json:"left,omitempty"`
}

// ExportValuesResult has no value in it.
type ExportValuesResult struct {
	Verdict resource.Verdict `json:"verdict"`
	// Exports are the exports of the spec that are known, in its order.
	Exports []Exported `json:"exports,omitempty"`
}

// exportProgress is what an attempt records for the next one.
type exportProgress struct {
	lastAnswer
	TransientErrors int `json:"transientErrors,omitempty"`
}

// exporting is one attempt of ExportValues. Values are in its memory only.
type exporting struct {
	*Activities
	desired      resource.Desired
	keysDisabled string
	repeated     Repeated
	source       *exportSource
	// values are what the attempt has read so far: what a service returns must not show them.
	values []string
	// failed counts a transient error and returns the number of them, last is ARM's last error.
	failed func() int
	last   lastAnswer
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
		result.Verdict = a.report("Export", superseded(supersededText(in.Newest, in.Generation)))
		return result, nil
	}
	if stop := checkPolicy(in.Desired, "write of a secret"); stop != nil {
		result.Verdict = a.report("Export", *stop)
		return result, nil
	}
	requests, cancel := requestContext(ctx)
	defer cancel()
	requests = forWrites(requests, writeStep{fences: a.fences(), desired: in.Desired, PassFacts: in.PassFacts, progress: heartbeat.content})
	e := &exporting{
		Activities: a, desired: in.Desired, keysDisabled: in.KeysDisabled, repeated: in.Repeated,
		source: newExportSource(a, in.Desired), last: heartbeat.progress().lastAnswer,
	}
	e.failed = func() int {
		progress := exportProgress{lastAnswer: e.last, TransientErrors: heartbeat.progress().TransientErrors + 1}
		heartbeat.send(progress)
		return progress.TransientErrors
	}
	var written, stopped []string
	for _, i := range in.Due {
		if i < 0 || i >= len(in.Desired.Exports) {
			continue
		}
		export := in.Desired.Exports[i]
		if err := checkWorkerStop(ctx); err != nil {
			return ExportValuesResult{}, err
		}
		done, change, stop, err := e.export(requests, export, knownExport(in.Known, export.To))
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
func knownExports(exports []resource.Export, known []Exported) []Exported {
	var kept []Exported
	for _, export := range exports {
		if one := knownExport(known, export.To); one.To != "" {
			kept = append(kept, one)
		} else {
			kept = append(kept, Exported{To: export.To})
		}
	}
	return kept
}

// knownExport returns what is known of an export, a zero value for nothing.
func knownExport(known []Exported, to string) Exported {
	if at := slices.IndexFunc(known, func(e Exported) bool { return e.To == to }); at >= 0 {
		return known[at]
	}
	return Exported{}
}

// note records an export.
func (r *ExportValuesResult) note(done Exported) {
	for i := range r.Exports {
		if r.Exports[i].To == done.To {
			r.Exports[i] = done
		}
	}
}

// exportChange is what an export would do to its secret.
type exportChange string

const (
	exportNone  exportChange = ""
	exportLeave exportChange = "leave"
	exportWrite exportChange = "write"
	exportTag   exportChange = "tag"
)

// exportDecision is the result of a comparison. Its value never leaves the activity.
type exportDecision struct {
	change exportChange
	why    string
	value  string
	target resource.VaultSecret
	stored *arm.StoredSecret
	tags   map[string]string
}

// export compares one export and writes it where it differs. change describes what was
// written, "" for nothing.
func (e *exporting) export(ctx context.Context, export resource.Export, known Exported) (done Exported, change string, stop *resource.Verdict, err error) {
	d, stop, err := e.compare(ctx, export, known)
	if stop != nil || err != nil {
		return Exported{}, "", stop, err
	}
	now := e.now(ctx)
	done = Exported{To: export.To, ComparedAt: now}
	switch d.change {
	case exportLeave:
		done.Version, done.WrittenAt = d.stored.Version, d.stored.CreatedAt
		done.Left = !strings.EqualFold(d.stored.Tags[resource.ExportTag], exportMark(e.desired.ID))
		return done, "", nil, nil
	case exportWrite:
		if stop, err := e.confirm(ctx, export, d.value); stop != nil || err != nil {
			return Exported{}, "", stop, err
		}
		version, err := e.Client.WriteSecret(ctx, d.target, d.value, d.tags)
		if err != nil {
			stop, err = e.vaultFailed(ctx, export, err)
			return Exported{}, "", stop, err
		}
		done.Version, done.WrittenAt = version, now
		change = fmt.Sprintf("wrote version %s of %s: %s", version, d.target, d.why)
	case exportTag:
		if err := e.Client.TagSecret(ctx, d.target, d.stored.Version, d.tags); err != nil {
			stop, err = e.vaultFailed(ctx, export, err)
			return Exported{}, "", stop, err
		}
		change = "changed the tags of " + d.target.String()
	}
	if d.change != exportWrite {
		done.Version, done.WrittenAt = d.stored.Version, d.stored.CreatedAt
	}
	done.Hash = e.exportHash(export, d.value)
	return done, change, nil, nil
}

// compare reads the secret and the value, and decides what to do.
func (e *exporting) compare(ctx context.Context, export resource.Export, known Exported) (d exportDecision, stop *resource.Verdict, err error) {
	if d.target, stop = e.checkExport(ctx, export); stop != nil {
		return d, stop, nil
	}
	if d.stored, err = e.Client.StoredSecret(ctx, d.target); err != nil {
		stop, err = e.vaultFailed(ctx, export, err)
		return d, stop, err
	}
	if d.stored != nil {
		e.values = append(e.values, d.stored.Value)
	}
	if d.stored != nil && export.Policy == resource.ExportIfAbsent {
		d.change = exportLeave
		return d, nil, nil
	}
	mark := exportMark(e.desired.ID)
	if d.stored != nil && !strings.EqualFold(d.stored.Tags[resource.ExportTag], mark) {
		return d, foreignSecret(export, d.stored), nil
	}
	if d.value, stop, err = e.source.value(ctx, e, export.From, false); stop != nil || err != nil {
		return d, withExport(export, stop), err
	}
	e.values = append(e.values, d.value)
	d.tags = exportTags(export, mark)
	switch hash := e.exportHash(export, d.value); {
	case d.stored == nil:
		d.change, d.why = exportWrite, "the vault had no such secret"
	case d.stored.Value != d.value && known.Hash != "" && known.Hash == hash:
		d.change, d.why = exportWrite, "it was changed in the vault"
	case d.stored.Value != d.value:
		d.change, d.why = exportWrite, "the value changed in Azure"
	case !sameTags(d.stored.Tags, d.tags):
		d.change, d.why = exportTag, "its tags differ"
	}
	return d, nil, nil
}

// confirm reads the value once more before a write: one that is not the same twice would
// become another version in every pass.
func (e *exporting) confirm(ctx context.Context, export resource.Export, value string) (*resource.Verdict, error) {
	if export.From.Action == "" {
		return nil, nil
	}
	again, stop, err := e.source.value(ctx, e, export.From, true)
	if stop != nil || err != nil {
		return withExport(export, stop), err
	}
	if again != value {
		return withExport(export, new(resource.Fail(resource.ReasonExportNotAllowed, resource.RetryVerySlow, fmt.Sprintf(
			"two answers of the action %s differ, so each pass would write another version; export a value that stays the same", export.From.Action)))), nil
	}
	return nil, nil
}
