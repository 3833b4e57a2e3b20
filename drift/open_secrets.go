package drift

import (
	"strings"

	"github.com/armature-io/armature/internal/jsontree"
	"github.com/armature-io/armature/resource"
	"github.com/armature-io/armature/types"
)

// OpenSecret is a secret of an object in a payload that neither the manifest states nor
// the GET shows: a PUT of the payload may remove it.
type OpenSecret struct {
	Path resource.Path
	// Evident is set where the resource shows that the secret exists: by a placeholder,
	// or by an item of a list that has no other value in its place.
	Evident bool
	masked  bool
	holder  map[string]any
	name    string
}

// OpenSecrets returns the secrets that a payload lacks, by what is published about the
// type (types.Marks). A secret of another tool that the GET does show is added to the
// payload, and has its Value. observed must be unmasked.
func OpenSecrets(payload, desired, observed map[string]any, opts Options) []OpenSecret {
	shape := types.Lookup(opts.Type, opts.APIVersion)
	if shape == nil || observed == nil {
		return nil
	}
	f := &secretFinder{subject: opts.sender(observed), marks: types.MarksOf(opts.Type), serviceValues: opts.Baseline.ServiceValues.decode()}
	if f.marks.Sensitive == nil && f.marks.WriteOnly == nil {
		return nil
	}
	f.object(shape.Body, holder{payload: payload, desired: desired, observed: observed})
	return f.found
}

type secretFinder struct {
	subject *subject
	marks   types.Marks
	// serviceValues are the hashes of what the service had set by itself.
	serviceValues decodedSet
	found         []OpenSecret
}

// holder is one object in the three bodies; desired and observed may be nil.
type holder struct {
	payload, desired, observed map[string]any
	path                       resource.Path
	// item is set for an item of a list.
	item bool
}

func (f *secretFinder) object(n *types.Node, at holder) {
	members := publishedMembers(n, at.payload, at.observed)
	for p := range members.All() {
		if p.Has(types.ReadOnly) {
			continue
		}
		if below := at.path.With(resource.Step{Name: p.Name}); f.isSecret(p, below) {
			f.secret(members, p, at)
			continue
		}
		if name, value, present := jsontree.Member(at.payload, p.Name); present {
			f.value(p.Type, value, at.at(name))
		}
	}
	if members.Additional == nil {
		return
	}
	for name := range jsontree.Names(at.payload) {
		if _, known := members.Property(name); !known {
			f.value(members.Additional, at.payload[name], at.at(name))
		}
	}
}

// at returns the values of a member in desired and observed, with its path.
func (h holder) at(name string) counterparts {
	_, desired, _ := jsontree.Member(h.desired, name)
	_, observed, _ := jsontree.Member(h.observed, name)
	return counterparts{desired: desired, observed: observed, path: h.path.With(resource.Step{Name: name})}
}

// counterparts is one value in desired and observed.
type counterparts struct {
	desired, observed any
	path              resource.Path
}

func (f *secretFinder) value(n *types.Node, payload any, at counterparts) {
	switch value := payload.(type) {
	case map[string]any:
		if isMarker(value) {
			return
		}
		desired, _ := at.desired.(map[string]any)
		observed, _ := at.observed.(map[string]any)
		f.object(n, holder{payload: value, desired: desired, observed: observed, path: at.path})
	case []any:
		if n.Item != nil && jsontree.Objects(value) {
			f.items(n.Item, value, at)
		}
	}
}

// items pairs the items of a payload's list with the items of desired and observed.
func (f *secretFinder) items(n *types.Node, payload []any, at counterparts) {
	desired, _ := at.desired.([]any)
	observed, _ := at.observed.([]any)
	ours, theirs := f.subject.pair(at.path, payload, desired), f.subject.pair(at.path, payload, observed)
	for i, item := range payload {
		object, _ := item.(map[string]any)
		h := holder{payload: object, path: at.path.With(theirs.Step(i, item)), item: true}
		if j := ours.At[i]; j >= 0 {
			h.desired, _ = desired[j].(map[string]any)
		}
		if j := theirs.At[i]; j >= 0 {
			h.observed, _ = observed[j].(map[string]any)
		}
		f.object(n, h)
	}
}

// isSecret reports whether a property is a text that a GET does not show whole.
func (f *secretFinder) isSecret(p types.Property, path resource.Path) bool {
	return p.Type.Kind == types.Text && (p.Type.Sensitive || p.Has(types.WriteOnly) || f.marks.Sensitive.Contain(path) || f.marks.WriteOnly.Contain(path))
}

// secret notes a secret that the payload lacks.
func (f *secretFinder) secret(members types.Members, p types.Property, at holder) {
	own, sent, _ := jsontree.Member(at.payload, p.Name)
	desired := jsontree.Value(at.desired, p.Name)
	if desired != nil || sent != nil && !isHidden(sent) || at.observed == nil {
		return
	}
	if own == "" {
		own = p.Name
	}
	path := at.path.With(resource.Step{Name: own})
	shown := jsontree.Value(at.observed, p.Name)
	text, _ := shown.(string)
	open := OpenSecret{Path: path, masked: isHidden(shown), holder: at.payload, name: own}
	delete(at.payload, own)
	switch {
	case open.masked:
		open.Evident = !f.serviceValues.hasHash(placeholderHash(path))
	case text != "":
		at.payload[own] = text
	case at.item && !carriesValue(members, p.Name, at.observed):
		open.Evident = len(at.desired) < 2 || p.Has(types.Required)
	}
	f.found = append(f.found, open)
}

// isHidden reports whether a text stands for a secret, or has a part that does.
func isHidden(value any) bool {
	text, isText := value.(string)
	return isText && (isPlaceholder(text) || resource.Masked(text) || strings.Contains(text, "***"))
}

// maskedSecrets returns the paths of the secrets that observed shows as placeholders and
// desired does not state.
func maskedSecrets(desired, observed map[string]any, opts Options) []resource.Path {
	var paths []resource.Path
	for _, open := range OpenSecrets(jsontree.Clone(observed), desired, observed, opts) {
		if open.masked {
			paths = append(paths, open.Path)
		}
	}
	return paths
}

// carriesValue reports whether an object shows another member that has the value of the
// secret: a plain value, or a reference or an identity with which the service reads it.
func carriesValue(members types.Members, secret string, observed map[string]any) bool {
	secret = strings.ToLower(secret)
	for p := range members.All() {
		name := strings.ToLower(p.Name)
		_, value, _ := jsontree.Member(observed, p.Name)
		if name == secret || isEmpty(value) {
			continue
		}
		for _, word := range [...]string{secret, "identity", "reference", "vault"} {
			if name == "value" || strings.Contains(name, word) {
				return true
			}
		}
	}
	return false
}

// Complete sets the secret to the text at a path of a response, in the form of types.Walk,
// and reports whether it did. In lists of the response the item counts that agrees with the
// object in the payload, if it is the only one.
func (o OpenSecret) Complete(answer map[string]any, at []string) bool {
	candidates := []any{answer}
	listed := false
	for _, step := range at[:len(at)-1] {
		var next []any
		for _, candidate := range candidates {
			switch value := candidate.(type) {
			case []any:
				next, listed = append(next, value...), true
			case map[string]any:
				if _, member, present := jsontree.Member(value, step); present {
					next = append(next, member)
				}
			}
		}
		candidates = next
	}
	found := ""
	for _, candidate := range candidates {
		object, _ := candidate.(map[string]any)
		text := jsontree.Text(object, o.name)
		if object == nil || listed && !o.agrees(object) {
			continue
		}
		if found != "" && text != found {
			return false
		}
		found = text
	}
	if found == "" || isHidden(found) {
		return false
	}
	o.holder[o.name] = found
	return true
}

// agrees reports whether an item of a response has the same texts as the object in the
// payload, as far as both have them, and at least one.
func (o OpenSecret) agrees(item map[string]any) bool {
	common := 0
	for name, value := range item {
		theirs, isText := value.(string)
		_, own, present := jsontree.Member(o.holder, name)
		ours, _ := own.(string)
		if !isText || !present || ours == "" || strings.EqualFold(name, o.name) {
			continue
		}
		if !strings.EqualFold(theirs, ours) {
			return false
		}
		common++
	}
	return common > 0
}

// Value returns the secret in the payload, "" while it is open.
func (o OpenSecret) Value() string {
	text, _ := o.holder[o.name].(string)
	return text
}

// Matches reports whether the secret is at a path in the form of types.Walk.
func (o OpenSecret) Matches(secret []string) bool {
	if len(secret) != len(o.Path) {
		return false
	}
	for i, step := range o.Path {
		name := strings.ToLower(step.Name)
		if step.Name == "" {
			name = "[]"
		}
		if secret[i] != name && secret[i] != "*" {
			return false
		}
	}
	return true
}
