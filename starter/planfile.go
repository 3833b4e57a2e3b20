package main

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"time"

	"github.com/armature-io/armature/activities"
	"github.com/armature-io/armature/manifest"
	"github.com/armature-io/armature/resource"
	"github.com/armature-io/armature/workflows"
	"github.com/spf13/pflag"
)

// planFormat is the version of the plan file.
const planFormat = 1

// planFile is what `plan --out` writes: everything that `apply --plan-file`
// sends, and by what it notices that the world moved. Secrets are in it as
// $secret markers only.
type planFile struct {
	Format  int       `json:"format"`
	Created time.Time `json:"created"`
	By      string    `json:"by"`
	// Resources are in dependency order.
	Resources []plannedSpec `json:"resources"`
	// Deletions are what a prune deletes.
	Deletions []plannedDeletion `json:"deletions,omitempty"`
	// Sum is the SHA-256 of the file without it: a plan that somebody edited was
	// never shown to anybody.
	Sum string `json:"sum"`
}

type plannedSpec struct {
	Desired     resource.Desired      `json:"desired"`
	Action      activities.PlanAction `json:"action"`
	Fingerprint string                `json:"fingerprint"`
}

type plannedDeletion struct {
	ID     resource.ID           `json:"id"`
	Action activities.PlanAction `json:"action"`
	Policy resource.Policy       `json:"policy,omitempty"`
}

// writePlan writes the file, unless the plan is incomplete.
func (a *app) writePlan(path string, set manifest.Set, o outline) error {
	if n := o.Summary[activities.PlanError]; n > 0 {
		return failed("%s could not be planned, see above; %s was not written", count(n, "resource"), path)
	}
	file := planFile{Format: planFormat, Created: a.now().UTC(), By: a.by}
	for i, c := range o.Resources {
		if i < len(set.Resources) {
			file.Resources = append(file.Resources, plannedSpec{Desired: set.Resources[i], Action: c.Action, Fingerprint: c.Fingerprint})
			continue
		}
		file.Deletions = append(file.Deletions, plannedDeletion{ID: c.ID, Action: c.Action, Policy: c.policy})
	}
	var err error
	if file.Sum, err = file.sum(); err != nil {
		return err
	}
	raw, err := json.MarshalIndent(file, "", " ")
	if err != nil {
		return fmt.Errorf("encode the plan: %w", err)
	}
	if err := os.WriteFile(path, append(raw, '\n'), 0o600); err != nil {
		return failed("write the plan: %w", err)
	}
	a.note("the plan is in %s; `armature apply --plan-file %s` applies it as long as nothing moves", path, path)
	return nil
}

// sum is the checksum of all but Sum.
func (f planFile) sum() (string, error) {
	f.Sum = ""
	raw, err := json.Marshal(f)
	if err != nil {
		return "", fmt.Errorf("encode the plan: %w", err)
	}
	sum := sha256.Sum256(raw)
	return hex.EncodeToString(sum[:]), nil
}

// readPlan reads what writePlan wrote, and nothing else.
func readPlan(path string) (planFile, error) {
	raw, err := os.ReadFile(path)
	if err != nil {
		return planFile{}, badInput("read the plan: %w; make one with `armature plan --out FILE`", err)
	}
	decoder := json.NewDecoder(bytes.NewReader(raw))
	decoder.DisallowUnknownFields()
	var file planFile
	err = decoder.Decode(&file)
	if _, end := decoder.Token(); err == nil && !errors.Is(end, io.EOF) {
		err = errors.New("text after the plan")
	}
	switch {
	case err != nil:
		return planFile{}, badInput("read the plan %s: it is no plan (%w); make one with `armature plan --out FILE`, or give manifests with -f", path, err)
	case file.Format != planFormat:
		return planFile{}, badInput("read the plan %s: its format is %d, this armature reads %d; plan again", path, file.Format, planFormat)
	}
	sum, err := file.sum()
	if err != nil || sum != file.Sum {
		return planFile{}, badInput("read the plan %s: it was edited after it was made; plan again", path)
	}
	return file, nil
}

// planFlags are the flags of apply that go with a plan file.
var planFlags = map[string]bool{"plan-file": true, "wait": true, "timeout": true, "task-queue": true, "worker-timeout": true, "yes": true}

// applyPlan applies exactly the plan of a file, or nothing.
func (a *app) applyPlan(ctx context.Context, flags *pflag.FlagSet, path string, how application) error {
	var other string
	flags.Visit(func(f *pflag.Flag) {
		if !planFlags[f.Name] {
			other = f.Name
		}
	})
	if other != "" {
		return badInput("--plan-file says already what is applied; leave --%s out", other)
	}
	file, err := readPlan(path)
	if err != nil {
		return err
	}
	b, err := a.connect(ctx, a)
	if err != nil {
		return err
	}
	defer b.close()
	moved, err := a.moved(ctx, b, file)
	if err != nil {
		return err
	}
	stale, gone, err := b.movedDeletions(ctx, file.Deletions)
	if err != nil {
		return err
	}
	for _, line := range gone {
		a.note("%s", line)
	}
	if n := moved + len(gone); n > 0 {
		return failed("refuse the plan of %s by %s, nothing was started: the world moved since at %s, see above; plan again",
			file.Created.Format(time.RFC3339), file.By, count(n, "resource"))
	}
	var resources []resource.Desired
	for _, spec := range file.Resources {
		if spec.Action == activities.PlanBlocked {
			a.note("%s  left out: it was blocked in the plan", described(spec.Desired.ID))
			continue
		}
		resources = append(resources, spec.Desired)
	}
	return a.start(ctx, b, resources, stale, how)
}

// moved plans once more, says what is different from the file, and counts it.
// What was blocked is not compared, for it is not applied.
func (a *app) moved(ctx context.Context, b *backend, file planFile) (int, error) {
	set := manifest.Set{Sources: map[string]manifest.Source{}}
	for _, spec := range file.Resources {
		set.Resources = append(set.Resources, spec.Desired)
		set.Sources[spec.Desired.ID.Key()] = manifest.Source{}
	}
	now, err := b.outline(ctx, set, pruning{})
	if err != nil {
		return 0, err
	}
	n := 0
	for i, spec := range file.Resources {
		c := now.Resources[i]
		if spec.Action == activities.PlanBlocked || c.Action == spec.Action && c.Fingerprint == spec.Fingerprint {
			continue
		}
		n++
		if n == 1 {
			a.note("moved since the plan:")
		}
		a.note("%s  was to be %s", described(c.ID), planWord(spec.Action))
		a.showChange(c)
	}
	return n, nil
}

// planWord is an action as a participle.
func planWord(action activities.PlanAction) string {
	switch action {
	case activities.PlanCreate:
		return "created"
	case activities.PlanUpdate:
		return "updated otherwise"
	}
	return "left as it was"
}

// movedDeletions are the records of what is to be deleted, and a line for each
// that is not as it was planned.
func (b *backend) movedDeletions(ctx context.Context, deletions []plannedDeletion) (stale []record, moved []string, err error) {
	for _, deletion := range deletions {
		if deletion.Action != activities.PlanDelete {
			continue
		}
		r, err := b.record(ctx, deletion.ID.WorkflowID())
		switch {
		case errors.Is(err, errNotManaged), err == nil && !r.Running:
			moved = append(moved, described(deletion.ID)+"  was to be deleted and is not managed any more")
		case err != nil:
			return nil, nil, wrapName(described(deletion.ID), err)
		case r.Phase == workflows.PhaseDeleting:
			moved = append(moved, described(deletion.ID)+"  was to be deleted and is being deleted already")
		case r.Policy != deletion.Policy:
			moved = append(moved, fmt.Sprintf("%s  was to be deleted with policy %s and has policy %s", described(deletion.ID), deletion.Policy, r.Policy))
		default:
			stale = append(stale, r)
		}
	}
	return stale, moved, nil
}
