// Package exporting compares values of a resource with secrets in key vaults, and writes what
// differs. Values stay in its memory: neither a verdict nor a plan has one. The steps decide
// whether anything may be written, and count attempts.
package exporting

import (
	"context"
	"fmt"
	"strings"
	"time"

	"github.com/armature-io/armature/arm"
	"github.com/armature-io/armature/internal/extensionhost"
	"github.com/armature-io/armature/resource"
)

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

// Failures turns errors into verdicts and retries. It removes values from both.
type Failures interface {
	// Request returns the verdict about a request that failed, or the error that makes
	// Temporal retry it.
	Request(ctx context.Context, err error, values []string) (*resource.Verdict, error)
	// Verdict returns the verdict about an error of ARM.
	Verdict(ctx context.Context, err error, values []string) resource.Verdict
	// Transient counts an error of a vault and returns the error that makes Temporal retry it,
	// nil once it was retried often enough.
	Transient(message string) error
}

// Settings are the same for all exports of a resource.
type Settings struct {
	Client   *arm.Client
	Registry *extensionhost.Registry
	// Vaults are the secrets that may be written, by the name of the credential.
	Vaults map[string][]resource.VaultPattern
	// Hash returns a keyed hash; nil on a worker without a mask-key.
	Hash func(data []byte) string
	// KeysDisabled is the path with which the resource switches local authentication off, ""
	// if it does not.
	KeysDisabled string
	Failures     Failures
}

// Exporter exports the values of one resource, in one attempt.
type Exporter struct {
	settings Settings
	desired  resource.Desired
	source   *source
	// values are what the attempt has read so far: what a service returns must not show them.
	values []string
}

// New returns the exporter of a resource.
func New(desired resource.Desired, settings Settings) *Exporter {
	return &Exporter{settings: settings, desired: desired, source: newSource(settings.Client, settings.Registry, desired)}
}

// change is what an export would do to its secret.
type change string

const (
	none  change = ""
	leave change = "leave"
	write change = "write"
	tag   change = "tag"
)

// decision is the result of a comparison. Its value never leaves the activity.
type decision struct {
	change change
	why    string
	value  string
	target resource.VaultSecret
	stored *arm.StoredSecret
	tags   map[string]string
}

// Export compares one export and writes it where it differs. written describes what was
// written, "" for nothing; now is the time of the Temporal server.
func (e *Exporter) Export(ctx context.Context, export resource.Export, known Exported, now time.Time) (done Exported, written string, stop *resource.Verdict, err error) {
	d, stop, err := e.compare(ctx, export, known)
	if stop != nil || err != nil {
		return Exported{}, "", stop, err
	}
	done = Exported{To: export.To, ComparedAt: now}
	switch d.change {
	case leave:
		done.Version, done.WrittenAt = d.stored.Version, d.stored.CreatedAt
		done.Left = !strings.EqualFold(d.stored.Tags[resource.ExportTag], markOf(e.desired.ID))
		return done, "", nil, nil
	case write:
		if stop, err := e.confirm(ctx, export, d.value); stop != nil || err != nil {
			return Exported{}, "", stop, err
		}
		version, err := e.settings.Client.WriteSecret(ctx, d.target, d.value, d.tags)
		if err != nil {
			stop, err = e.vaultFailed(ctx, export, err)
			return Exported{}, "", stop, err
		}
		done.Version, done.WrittenAt = version, now
		written = fmt.Sprintf("wrote version %s of %s: %s", version, d.target, d.why)
	case tag:
		if err := e.settings.Client.TagSecret(ctx, d.target, d.stored.Version, d.tags); err != nil {
			stop, err = e.vaultFailed(ctx, export, err)
			return Exported{}, "", stop, err
		}
		written = "changed the tags of " + d.target.String()
	}
	if d.change != write {
		done.Version, done.WrittenAt = d.stored.Version, d.stored.CreatedAt
	}
	done.Hash = e.hash(export, d.value)
	return done, written, nil, nil
}

// compare reads the secret and the value, and decides what to do.
func (e *Exporter) compare(ctx context.Context, export resource.Export, known Exported) (d decision, stop *resource.Verdict, err error) {
	if d.target, stop = e.checkExport(ctx, export); stop != nil {
		return d, stop, nil
	}
	if d.stored, err = e.settings.Client.StoredSecret(ctx, d.target); err != nil {
		stop, err = e.vaultFailed(ctx, export, err)
		return d, stop, err
	}
	if d.stored != nil {
		e.values = append(e.values, d.stored.Value)
	}
	if d.stored != nil && export.Policy == resource.ExportIfAbsent {
		d.change = leave
		return d, nil, nil
	}
	mark := markOf(e.desired.ID)
	if d.stored != nil && !strings.EqualFold(d.stored.Tags[resource.ExportTag], mark) {
		return d, foreignSecret(export, d.stored), nil
	}
	if d.value, stop, err = e.source.value(ctx, e, export.From, false); stop != nil || err != nil {
		return d, withExport(export, stop), err
	}
	e.values = append(e.values, d.value)
	d.tags = tagsOf(export, mark)
	switch hash := e.hash(export, d.value); {
	case d.stored == nil:
		d.change, d.why = write, "the vault had no such secret"
	case d.stored.Value != d.value && known.Hash != "" && known.Hash == hash:
		d.change, d.why = write, "it was changed in the vault"
	case d.stored.Value != d.value:
		d.change, d.why = write, "the value changed in Azure"
	case !sameTags(d.stored.Tags, d.tags):
		d.change, d.why = tag, "its tags differ"
	}
	return d, nil, nil
}

// confirm reads the value once more before a write: one that is not the same twice would
// become another version in every pass.
func (e *Exporter) confirm(ctx context.Context, export resource.Export, value string) (*resource.Verdict, error) {
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
