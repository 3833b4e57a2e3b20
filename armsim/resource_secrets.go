package armsim

import (
	"maps"
	"slices"
	"strings"
	"unicode"

	"github.com/armature-io/armature/armsim/published"
)

// SecretRule names server-made properties that GETs of a type return.
type SecretRule struct {
	Type       string   `json:"type"` // glob
	Properties []string `json:"properties"`
}

// hideWriteOnly removes from a body what a GET does not show: every text whose property
// name ends with the word password or secret, at any depth except under tags, the
// properties that are published as write-only in the api-version of the last write, and
// the secrets of the table (secretRows). The server keeps all of them.
func (s *Simulator) hideWriteOnly(r *resource, body object) {
	if s.ruleFor(r.typ).isReadByAction(r.name) {
		return // the action is for its secrets
	}
	if shape, err := shapeOf(r.typ, r.apiVersion, r.name); err == nil && shape != nil {
		hidePublished(shape, body)
	}
	for _, row := range secretRows() {
		if globMatch(row.typePattern, r.typ) {
			row.hide(body)
		}
	}
	dropNamed(body)
}

// dropNamed removes the texts with the name of a password or secret, and returns them.
func dropNamed(value any) []string {
	var dropped []string
	switch v := value.(type) {
	case object:
		for name, member := range v {
			text, isText := member.(string)
			switch word := lastWord(name); {
			case name == "tags":
			case isText && (word == "password" || word == "secret") && text != placeholder:
				dropped = append(dropped, text)
				delete(v, name)
			default:
				dropped = append(dropped, dropNamed(member)...)
			}
		}
	case []any:
		for _, item := range v {
			dropped = append(dropped, dropNamed(item)...)
		}
	}
	return dropped
}

// hidePublished removes the properties that are published as write-only.
func hidePublished(n *published.Node, value any) {
	switch v := value.(type) {
	case object:
		fields, known := fieldsOf(n, v)
		if !known {
			return
		}
		for name, member := range v {
			switch field := fields.find(name); {
			case field != nil && field.Flags&published.WriteOnly != 0:
				delete(v, name)
			case field != nil:
				hidePublished(field.Type, member)
			case fields.additional != nil:
				hidePublished(fields.additional, member)
			}
		}
	case []any:
		for _, item := range v {
			if n.Kind == published.List {
				hidePublished(n.Item, item)
			}
		}
	}
}

// lastWord returns the last word of a property name in camelCase, snake_case or
// kebab-case, lower-cased.
func lastWord(name string) string {
	runes := []rune(name)
	start := 0
	for i, r := range runes {
		switch {
		case r == '_' || r == '-' || r == '.' || r == ' ':
			start = i + 1
		case i > 0 && unicode.IsUpper(r) && !unicode.IsUpper(runes[i-1]):
			start = i
		}
	}
	return strings.ToLower(string(runes[start:]))
}

// secretNames returns the names of the server-made keys that a GET returns. A recorded
// body contains the keys of its type already, or they were masked.
func (s *Simulator) secretNames(r *resource) []string {
	var names []string
	if r.recording == nil {
		names = append(names, s.ruleFor(r.typ).secrets...)
	}
	for _, rule := range s.secretRules {
		if globMatch(rule.Type, r.typ) {
			names = append(names, rule.Properties...)
		}
	}
	return names
}

// secretValue returns a key, which is specific to one incarnation of a resource.
func (s *Simulator) secretValue(r *resource, name string) string {
	value := s.derivedSecret(r.guid, name)
	s.log.addSecrets([]string{value})
	return value
}

// Secrets returns every secret value that a client sent or a response contained.
func (s *Simulator) Secrets() []string {
	s.mu.Lock()
	defer s.mu.Unlock()
	return append([]string{}, slices.Sorted(maps.Keys(s.log.secrets))...)
}

func (s *Simulator) addSecretRule(rule SecretRule) {
	s.locked(func() { s.secretRules = append(s.secretRules, rule) })
}
