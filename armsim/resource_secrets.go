package armsim

import (
	"maps"
	"slices"
	"strings"
	"unicode"
)

// SecretRule names server-made properties that GETs of a type return.
type SecretRule struct {
	Type       string   `json:"type"` // glob
	Properties []string `json:"properties"`
}

// dropWriteOnly removes every string whose property name ends with the word password or
// secret, at any depth except under tags: such fields are accepted and never returned.
// It returns the values.
func dropWriteOnly(o object) []string {
	var dropped []string
	for name, value := range o {
		if name == "tags" {
			continue
		}
		if word := lastWord(name); word == "password" || word == "secret" {
			if s, ok := value.(string); ok {
				dropped = append(dropped, s)
				delete(o, name)
				continue
			}
		}
		dropped = append(dropped, dropWriteOnlyFrom(value)...)
	}
	return dropped
}

func dropWriteOnlyFrom(value any) []string {
	var dropped []string
	switch v := value.(type) {
	case object:
		return dropWriteOnly(v)
	case []any:
		for _, item := range v {
			dropped = append(dropped, dropWriteOnlyFrom(item)...)
		}
	}
	return dropped
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
