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
	"github.com/armature-io/armature/starter/internal/cli"
)

// fileFormat is the version of the plan file.
const fileFormat = 1

// maxFileBytes is the maximum size of a plan file, four times the manifests that one file
// may have.
const maxFileBytes = 64 << 20

// File is what `plan --out` writes: everything that `apply --plan-file` and `delete
// --plan-file` send, and the facts by which they notice changes. Secrets are in it as $secret
// markers only.
type File struct {
	Format  int       `json:"format"`
	Created time.Time `json:"created"`
	By      string    `json:"by"`
	Consent Consent   `json:"consent,omitzero"`
	// Steps are in the order of the plan.
	Steps []Step `json:"resources"`
	// Digest is the SHA-256 of the consent and the steps. Two plans of the same manifests in
	// the same world have the same one, and an edited plan was never reviewed.
	Digest string `json:"digest"`
}

// Step is one resource of a plan file.
type Step struct {
	// ID is set for a deletion without a manifest.
	ID      resource.ID           `json:"id,omitzero"`
	Desired *resource.Desired     `json:"desired,omitempty"`
	Action  activities.PlanAction `json:"action"`
	// Fingerprint is set for a write.
	Fingerprint string `json:"fingerprint,omitempty"`
	// Selected and Facts are set for a deletion.
	Selected bool                           `json:"selected,omitempty"`
	Facts    *activities.PlanDeletionResult `json:"facts,omitempty"`
}

// Resource returns the resource of a step.
func (s Step) Resource() resource.ID {
	if s.Desired != nil {
		return s.Desired.ID
	}
	return s.ID
}

// file returns the plan as a file without author and digest.
func (p Plan) file() File {
	file := File{Format: fileFormat, Consent: p.Consent}
	for _, c := range p.Resources {
		step := Step{Desired: c.desired, Action: c.Action, Fingerprint: c.Fingerprint, Selected: c.Selected, Facts: c.Facts}
		if c.desired == nil {
			step.ID = c.ID
		}
		file.Steps = append(file.Steps, step)
	}
	return file
}

// Digest returns the digest of the file of a plan that can be written, else "".
func (p Plan) Digest() string {
	if p.CannotWrite() != "" {
		return ""
	}
	digest, err := p.file().digest()
	if err != nil {
		return ""
	}
	return digest
}

// CannotWrite returns why a plan has no file, "" if it has one.
func (p Plan) CannotWrite() string {
	switch p.Verdict() {
	case VerdictNone:
		return "the manifests have faults"
	case VerdictFailed:
		return "a plan with errors cannot be applied"
	case VerdictRefused:
		return "a refused deletion cannot be done; --keep-going plans the rest"
	}
	if p.title == driftTitle {
		return "nothing applies a comparison"
	}
	return ""
}

// Write writes a plan to a file and returns its digest.
func (p Plan) Write(path, by string, now time.Time) (string, error) {
	file := p.file()
	file.Created, file.By = now.UTC(), by
	var err error
	if file.Digest, err = file.digest(); err != nil {
		return "", err
	}
	raw, err := json.MarshalIndent(file, "", " ")
	if err != nil {
		return "", fmt.Errorf("encode the plan: %w", err)
	}
	if err := regular.Create(path, append(raw, '\n')); err != nil {
		return "", cli.Failed("write the plan: %w; name a file that is new, or a plan to replace", err)
	}
	return file.Digest, nil
}

// digest returns the digest of the consent and the steps.
func (f File) digest() (string, error) {
	raw, err := json.Marshal(File{Format: f.Format, Consent: f.Consent, Steps: f.Steps})
	if err != nil {
		return "", fmt.Errorf("encode the plan: %w", err)
	}
	sum := sha256.Sum256(raw)
	return "sha256:" + hex.EncodeToString(sum[:]), nil
}

// ReadFile reads a file of Write. It rejects any other file. The digest finds an accident and
// no attack: whatever writes the file can compute it.
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
	digest, err := file.digest()
	if err != nil || digest != file.Digest {
		return File{}, errors.New("it was edited after it was made; plan again")
	}
	if err := file.check(); err != nil {
		return File{}, fmt.Errorf("%w; plan again", err)
	}
	return file, nil
}

// The actions of a write and of a deletion in a file.
var (
	writeActions    = []activities.PlanAction{activities.PlanCreate, activities.PlanUpdate, activities.PlanReplace, activities.PlanConfigure, activities.PlanNone, activities.PlanBlocked}
	deletionActions = []activities.PlanAction{activities.PlanDelete, ActionFalls, ActionKept, ActionRefused, ActionAbsent}
)

// check returns an error for what Write does not write.
func (f File) check() error {
	known := map[string]bool{}
	for _, step := range f.Steps {
		id, allowed := step.Resource(), writeActions
		if step.Facts != nil {
			allowed = deletionActions
		}
		var err error
		if step.Desired != nil {
			err = manifest.CheckDesired(*step.Desired)
		}
		switch {
		case err != nil:
		case id.IsZero():
			return errors.New("a step has no id")
		case step.Desired == nil && step.Facts == nil:
			err = errors.New("it has neither a manifest nor facts about its deletion")
		case known[id.Key()]:
			err = errors.New("it is there twice")
		case !slices.Contains(allowed, step.Action):
			err = fmt.Errorf("action %q is not known", step.Action)
		}
		if err != nil {
			return fmt.Errorf("%s: %w", text.Name(id.String()), err)
		}
		known[id.Key()] = true
	}
	return nil
}

// Set returns the manifests that the file applies.
func (f File) Set() manifest.Set {
	set := manifest.Set{Sources: map[string]manifest.Source{}}
	for _, step := range f.Steps {
		if step.Facts == nil {
			set.Resources = append(set.Resources, *step.Desired)
			set.Sources[step.Desired.ID.Key()] = manifest.Source{}
		}
	}
	return set
}

// Selected returns the resources whose deletion was planned, and the manifests of those that
// were chosen by manifest.
func (f File) Selected() (ids []resource.ID, manifests []resource.Desired) {
	for _, step := range f.Steps {
		if step.Facts == nil || !step.Selected {
			continue
		}
		ids = append(ids, step.Resource())
		if step.Desired != nil {
			manifests = append(manifests, *step.Desired)
		}
	}
	return ids, manifests
}
