package plan

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"slices"
	"time"

	"github.com/armature-io/armature/activities"
	"github.com/armature-io/armature/internal/regular"
	"github.com/armature-io/armature/internal/text"
	"github.com/armature-io/armature/manifest"
	"github.com/armature-io/armature/resource"
	"github.com/armature-io/armature/starter/internal/backend"
	"github.com/armature-io/armature/starter/internal/cli"
	"github.com/armature-io/armature/workflows"
)

// fileFormat is the version of the plan file.
const fileFormat = 1

// maxFileBytes is the maximum size of a plan file, four times the manifests that one file
// may have.
const maxFileBytes = 64 << 20

// File is what `plan --out` writes: everything that `apply --plan-file` sends, and
// the fingerprints by which it notices changes. Secrets are in it as $secret markers
// only.
type File struct {
	Format  int       `json:"format"`
	Created time.Time `json:"created"`
	By      string    `json:"by"`
	// Resources are in dependency order.
	Resources []Spec `json:"resources"`
	// Deletions are what a prune deletes.
	Deletions []Deletion `json:"deletions,omitempty"`
	// Sum is the SHA-256 of the file without it: an edited plan was never reviewed.
	Sum string `json:"sum"`
}

// Spec is one resource of a plan file.
type Spec struct {
	Desired     resource.Desired      `json:"desired"`
	Action      activities.PlanAction `json:"action"`
	Fingerprint string                `json:"fingerprint"`
}

// Deletion is one resource that a prune deletes.
type Deletion struct {
	ID     resource.ID           `json:"id"`
	Action activities.PlanAction `json:"action"`
	Policy resource.Policy       `json:"policy,omitempty"`
}

// Write writes the plan of a set of manifests, one without errors, to a file.
func (p Plan) Write(path string, set manifest.Set, by string, now time.Time) error {
	file := File{Format: fileFormat, Created: now.UTC(), By: by}
	for i, c := range p.Resources {
		if i < len(set.Resources) {
			file.Resources = append(file.Resources, Spec{Desired: set.Resources[i], Action: c.Action, Fingerprint: c.Fingerprint})
			continue
		}
		file.Deletions = append(file.Deletions, Deletion{ID: c.ID, Action: c.Action, Policy: c.policy})
	}
	var err error
	if file.Sum, err = file.sum(); err != nil {
		return err
	}
	return write(path, file)
}

// write writes a plan to a file.
func write(path string, file any) error {
	raw, err := json.MarshalIndent(file, "", " ")
	if err != nil {
		return fmt.Errorf("encode the plan: %w", err)
	}
	if err := regular.Create(path, append(raw, '\n')); err != nil {
		return cli.Failed("write the plan: %w; name a file that is new, or a plan to replace", err)
	}
	return nil
}

// sum returns the checksum of everything but Sum.
func (f File) sum() (string, error) {
	f.Sum = ""
	return sumOf(f)
}

// sumOf returns the SHA-256 of a value as JSON.
func sumOf(value any) (string, error) {
	raw, err := json.Marshal(value)
	if err != nil {
		return "", fmt.Errorf("encode the plan: %w", err)
	}
	sum := sha256.Sum256(raw)
	return hex.EncodeToString(sum[:]), nil
}

// ReadFile reads a file of Write. It rejects any other file. The checksum finds an
// accident and no attack: whatever writes the file can compute it.
func ReadFile(path string) (File, error) {
	raw, err := regular.Read(path, maxFileBytes)
	if err != nil {
		return File{}, cli.BadInput("read the plan: %w; make one with `armature plan --out FILE`", err)
	}
	file, err := Parse(raw)
	if err != nil {
		return File{}, cli.BadInput("read the plan %s: %w", path, err)
	}
	return file, nil
}

// Parse reads a plan. Everything in it is data of unknown origin: each spec is checked as
// one of a manifest, and nothing is resolved or run.
func Parse(raw []byte) (File, error) {
	decoder := json.NewDecoder(bytes.NewReader(raw))
	decoder.DisallowUnknownFields()
	var file File
	err := decoder.Decode(&file)
	if _, end := decoder.Token(); err == nil && !errors.Is(end, io.EOF) {
		err = errors.New("text after the plan")
	}
	switch {
	case err != nil:
		return File{}, fmt.Errorf("it is not a plan (%w); make one with `armature plan --out FILE`, or pass manifests with -f", err)
	case file.Format != fileFormat:
		return File{}, fmt.Errorf("its format is %d, this armature reads %d; plan again", file.Format, fileFormat)
	}
	sum, err := file.sum()
	if err != nil || sum != file.Sum {
		return File{}, errors.New("it was edited after it was made; plan again")
	}
	if err := file.check(); err != nil {
		return File{}, fmt.Errorf("%w; plan again", err)
	}
	return file, nil
}

// check returns an error for what Write does not write.
func (f File) check() error {
	known := map[string]bool{}
	check := func(id resource.ID, action activities.PlanAction, allowed ...activities.PlanAction) error {
		switch {
		case known[id.Key()]:
			return errors.New("it is there twice")
		case !slices.Contains(allowed, action):
			return fmt.Errorf("action %q is not known", action)
		}
		known[id.Key()] = true
		return nil
	}
	for _, spec := range f.Resources {
		err := manifest.CheckDesired(spec.Desired)
		if err == nil {
			err = check(spec.Desired.ID, spec.Action, activities.PlanCreate, activities.PlanUpdate, activities.PlanConfigure, activities.PlanNone, activities.PlanBlocked)
		}
		if err != nil {
			return fmt.Errorf("%s: %w", text.Name(spec.Desired.ID.String()), err)
		}
	}
	for _, deletion := range f.Deletions {
		err := check(deletion.ID, deletion.Action, activities.PlanDelete, activities.PlanBlocked)
		switch {
		case deletion.ID.IsZero():
			return errors.New("a deletion has no id")
		case err != nil:
			return fmt.Errorf("%s: %w", text.Name(deletion.ID.String()), err)
		}
	}
	return nil
}

// Set returns the manifests of the file.
func (f File) Set() manifest.Set {
	set := manifest.Set{Sources: map[string]manifest.Source{}}
	for _, spec := range f.Resources {
		set.Resources = append(set.Resources, spec.Desired)
		set.Sources[spec.Desired.ID.Key()] = manifest.Source{}
	}
	return set
}

// IsStale reports whether the new plan of a resource differs from its planned one. A
// blocked resource is never stale, because it is not applied.
func (s Spec) IsStale(now Change) bool {
	return s.Action != activities.PlanBlocked && (now.Action != s.Action || now.Fingerprint != s.Fingerprint)
}

// PlannedAction returns the planned action as a participle.
func (s Spec) PlannedAction() string {
	switch s.Action {
	case activities.PlanCreate:
		return "created"
	case activities.PlanUpdate:
		return "updated with other values"
	case activities.PlanConfigure:
		return "configured only"
	}
	return "left unchanged"
}

// Staleness returns why a resource cannot be deleted as planned, "" if it can. err is
// the error of reading its record.
func (d Deletion) Staleness(r backend.Record, err error) string {
	planned := cli.KindAndName(d.ID) + "  was planned to be deleted"
	switch {
	case errors.Is(err, backend.ErrNotManaged) || !r.Running:
		return planned + " and is no longer managed"
	case r.Phase == workflows.PhaseDeleting:
		return planned + " and is already being deleted"
	case r.Policy != d.Policy:
		return fmt.Sprintf("%s with policy %s and has policy %s", planned, d.Policy, r.Policy)
	}
	return ""
}
