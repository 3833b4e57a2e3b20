package manifest

import (
	_ "embed"
	"strconv"
	"strings"

	"github.com/armature-io/armature/resource"
)

// FieldKind is the kind of a field's value, as the reference names it.
type FieldKind string

// The kinds of fields.
const (
	KindText     FieldKind = "text"
	KindMapping  FieldKind = "mapping"
	KindTexts    FieldKind = "mapping of texts"
	KindChoice   FieldKind = "one of a few words"
	KindDuration FieldKind = "duration (`30m`, `1h30m`)"
	KindPaths    FieldKind = "list of paths"
	KindNames    FieldKind = "list of names or resource IDs"
	KindExports  FieldKind = "list of exports"
)

// Field describes one field of a manifest, for the reference and for editors.
type Field struct {
	// Name is the field, or "reconcile.field".
	Name     string
	Kind     FieldKind
	Required bool
	// Effect is the description, in Markdown, from fields.md.
	Effect string
	// Allowed are the words of a KindChoice, the default first.
	Allowed []string
}

// effects are the descriptions of the fields: a heading with the name, then the text.
//
//go:embed fields.md
var effects string

// Fields returns all fields of a manifest, in the order in which users write them.
func Fields() []Field {
	fields := []Field{
		{Name: "type", Kind: KindText, Required: true},
		{Name: "name", Kind: KindText, Required: true},
		{Name: "alias", Kind: KindText},
		{Name: "owner", Kind: KindText},
		{Name: "body", Kind: KindMapping, Required: true},
		{Name: "reconcile", Kind: KindMapping},
		{Name: "reconcile.policy", Kind: KindChoice, Allowed: texts(resource.Policies()...)},
		{Name: "reconcile.adopt", Kind: KindChoice, Allowed: texts(resource.AdoptAlways, resource.AdoptAsIs, resource.AdoptNever, resource.AdoptOnly)},
		{Name: "reconcile.recreate", Kind: KindChoice, Allowed: texts(resource.RecreateAlways, resource.RecreateNever, resource.RecreateOnImmutable)},
		{Name: "reconcile.put", Kind: KindChoice, Allowed: texts(resource.PutDefault, resource.PutMerge, resource.PutReplace, resource.PutPatch)},
		{Name: "reconcile.interval", Kind: KindDuration},
		{Name: "reconcile.timeout", Kind: KindDuration},
		{Name: "reconcile.ignore", Kind: KindPaths},
		{Name: "reconcile.initial", Kind: KindPaths},
		{Name: "reconcile.enforce", Kind: KindPaths},
		{Name: "reconcile.dependsOn", Kind: KindNames},
		{Name: "reconcile.waitFor", Kind: KindChoice, Allowed: texts(resource.WaitForDefault, resource.WaitForReady, resource.WaitForProvisioned)},
		{Name: "reconcile.credential", Kind: KindText},
		{Name: "reconcile.delete", Kind: KindMapping},
		{Name: "reconcile.validation", Kind: KindChoice, Allowed: texts(Validations()...)},
		{Name: "labels", Kind: KindTexts},
		{Name: "outputs", Kind: KindTexts},
		{Name: "export", Kind: KindExports},
	}
	bounds := strings.NewReplacer(
		"{bodyKiB}", strconv.Itoa(resource.MaxBodyBytes>>10), "{minInterval}", strings.TrimSuffix(resource.MinInterval.String(), "0s"),
		"{deleteParameters}", strconv.Itoa(maxDeleteParameters), "{exports}", strconv.Itoa(maxExports),
		"{labelBytes}", strconv.Itoa(maxLabelBytes), "{labelsBytes}", strconv.Itoa(maxLabelsBytes),
	)
	for i := range fields {
		_, rest, _ := strings.Cut(effects, "\n## "+fields[i].Name+"\n")
		paragraph, _, _ := strings.Cut(rest, "\n## ")
		fields[i].Effect = bounds.Replace(strings.Join(strings.Fields(paragraph), " "))
	}
	return fields
}

// texts returns words as texts.
func texts[W ~string](words ...W) []string {
	list := make([]string, len(words))
	for i, word := range words {
		list[i] = string(word)
	}
	return list
}
