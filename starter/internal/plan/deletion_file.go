package plan

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/armature-io/armature/activities"
	"github.com/armature-io/armature/internal/regular"
	"github.com/armature-io/armature/manifest"
	"github.com/armature-io/armature/resource"
	"github.com/armature-io/armature/starter/internal/cli"
)

// DeletionFile is what `plan --delete --out` writes: the resources, what the user consents to,
// and the facts by which a later deletion notices changes.
type DeletionFile struct {
	Deletion int       `json:"deletion"`
	Created  time.Time `json:"created"`
	By       string    `json:"by"`
	Consent  Consent   `json:"consent"`
	// Selected are the resources whose deletions are requested.
	Selected []resource.ID `json:"selected"`
	// Manifests are the specs of a deletion by manifest.
	Manifests []resource.Desired `json:"manifests,omitempty"`
	Resources []DeletionRow      `json:"resources"`
	// Sum is the SHA-256 of the file without it: an edited plan was never reviewed.
	Sum string `json:"sum"`
}

// Write writes a plan that nothing refuses to a file. specs are the manifests of a deletion
// by manifest.
func (p DeletionPlan) Write(path string, specs map[string]*resource.Desired, by string, now time.Time) error {
	file := DeletionFile{Deletion: fileFormat, Created: now.UTC(), By: by, Consent: p.Consent, Resources: p.Resources}
	for _, row := range p.Resources {
		if row.Selected {
			file.Selected = append(file.Selected, row.ID)
		}
		if spec := specs[row.ID.Key()]; spec != nil {
			file.Manifests = append(file.Manifests, *spec)
		}
	}
	var err error
	if file.Sum, err = sumOf(file); err != nil {
		return err
	}
	return write(path, file)
}

// ReadDeletion reads a file of Write. Everything in it is data of unknown origin.
func ReadDeletion(path string) (DeletionFile, error) {
	raw, err := regular.Read(path, maxFileBytes)
	if err != nil {
		return DeletionFile{}, cli.BadInput("read the plan: %w; make one with `armature plan --delete --out FILE`", err)
	}
	file, err := parseDeletion(raw)
	if err != nil {
		return DeletionFile{}, cli.BadInput("read the plan %s: %w", path, err)
	}
	return file, nil
}

func parseDeletion(raw []byte) (DeletionFile, error) {
	decoder := json.NewDecoder(bytes.NewReader(raw))
	decoder.DisallowUnknownFields()
	var file DeletionFile
	if err := decoder.Decode(&file); err != nil {
		return DeletionFile{}, fmt.Errorf("it is not the plan of a deletion (%w); make one with `armature plan --delete --out FILE`", err)
	}
	sum := file.Sum
	file.Sum = ""
	actual, err := sumOf(file)
	switch {
	case file.Deletion != fileFormat:
		return DeletionFile{}, fmt.Errorf("its format is %d, this armature reads %d; plan again", file.Deletion, fileFormat)
	case err != nil || sum != actual:
		return DeletionFile{}, errors.New("it was edited after it was made; plan again")
	case len(file.Selected) == 0 || slices.ContainsFunc(file.Selected, resource.ID.IsZero):
		return DeletionFile{}, errors.New("it names no resource; plan again")
	}
	for _, desired := range file.Manifests {
		if err := manifest.CheckDesired(desired); err != nil {
			return DeletionFile{}, fmt.Errorf("%s: %w; plan again", desired.ID, err)
		}
	}
	return file, nil
}

// Specs returns the manifests of the file by their keys.
func (f DeletionFile) Specs() map[string]*resource.Desired {
	specs := map[string]*resource.Desired{}
	for i := range f.Manifests {
		specs[f.Manifests[i].ID.Key()] = &f.Manifests[i]
	}
	return specs
}

// Changes returns a line for everything that differs between the file and a plan of now.
func (f DeletionFile) Changes(now DeletionPlan) []string {
	current := map[string]DeletionRow{}
	for _, row := range now.Resources {
		current[row.ID.Key()] = row
	}
	var lines []string
	note := func(id resource.ID, text string, args ...any) {
		lines = append(lines, cli.OneLine(cli.KindAndName(id)+"  "+fmt.Sprintf(text, args...)))
	}
	for _, planned := range f.Resources {
		row, known := current[planned.ID.Key()]
		delete(current, planned.ID.Key())
		if !known {
			note(planned.ID, "is no longer part of the deletion")
			continue
		}
		texts := changedFacts(planned.Facts, row.Facts)
		for _, text := range texts {
			note(planned.ID, "%s", text)
		}
		if len(texts) == 0 && planned.Result != row.Result {
			note(planned.ID, "was planned to be %s and would be %s", planned.Result, row.Result)
		}
	}
	for _, row := range now.Resources {
		if _, added := current[row.ID.Key()]; added {
			note(row.ID, "would be deleted too, and was not in the plan")
		}
	}
	return lines
}

// changedFacts returns a text for each fact that changed.
func changedFacts(before, after activities.PlanDeletionResult) []string {
	var texts []string
	value := func(name string, was, is any) {
		if was != is {
			texts = append(texts, fmt.Sprintf("%s was %v in the plan and is %v", name, was, is))
		}
	}
	value("managed", before.Managed, after.Managed)
	value("the generation", before.Generation, after.Generation)
	value("deleting", before.Deleting, after.Deleting)
	value("the policy", before.Policy, after.Policy)
	value("existence", before.Exists, after.Exists)
	if member := before.Identity.Differs(after.Identity); member != "" {
		texts = append(texts, fmt.Sprintf("was created again since the plan: %s was %s and is %s", member, before.Identity[member], after.Identity[member]))
	}
	list := func(name string, was, is []string) {
		for _, text := range is {
			if !slices.Contains(was, text) {
				texts = append(texts, name+" "+text+" is new")
			}
		}
		for _, text := range was {
			if !slices.Contains(is, text) {
				texts = append(texts, name+" "+text+" is gone")
			}
		}
	}
	list("lock", lockTexts(before.Locks), lockTexts(after.Locks))
	list("refusal", before.Denied, after.Denied)
	list("content", before.Unmanaged, after.Unmanaged)
	list("content", before.Unlisted, after.Unlisted)
	list("content", before.Rules, after.Rules)
	list("content", before.ManagedGroups, after.ManagedGroups)
	list("data of", before.Data, after.Data)
	list("dependent", dependentTexts(before.Dependents), dependentTexts(after.Dependents))
	list("unanswered question", before.Unknown, after.Unknown)
	value("the scope", before.Scope, after.Scope)
	return texts
}

func lockTexts(locks []activities.Lock) []string {
	texts := make([]string, len(locks))
	for i, lock := range locks {
		texts[i] = lock.String()
	}
	return texts
}

func dependentTexts(dependents []activities.Dependent) []string {
	texts := make([]string, len(dependents))
	for i, dependent := range dependents {
		texts[i] = cli.KindAndName(dependent.ID)
		if dependent.Policy.PreventsDelete() {
			texts[i] += " (policy " + string(dependent.Policy) + ")"
		}
	}
	return texts
}
