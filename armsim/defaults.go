package armsim

import "strings"

// newResource makes an empty resource at a target, with the server's spelling
// of its type where the table has one. The client's case of names is kept.
func (s *Simulator) newResource(t target) *resource {
	r := &resource{id: t.id, typ: t.resourceType(), name: t.name(), guid: s.guid(), body: object{}, created: s.clock.now()}
	row := s.ruleFor(r.typ)
	if row.titleTypes && t.kind == kindResource {
		id := t.scope + "/providers/" + t.namespace
		types := make([]string, len(t.types))
		for i, name := range t.types {
			types[i] = strings.ToUpper(name[:1]) + name[1:]
			id += "/" + types[i] + "/" + t.names[i]
		}
		r.id, r.typ = id, t.namespace+"/"+strings.Join(types, "/")
	}
	if row.fullName {
		r.name = strings.Join(t.names, "/")
	}
	return r
}

// displayLocation spells a region the way some providers return it.
func displayLocation(location string) string {
	if strings.Contains(location, " ") {
		return location
	}
	words := []string{"north", "south", "east", "west", "central", "southeast", "us", "uk", "uae", "europe", "asia", "india",
		"japan", "korea", "australia", "canada", "brazil", "france", "germany", "norway", "sweden", "switzerland", "africa",
		"poland", "italy", "spain", "qatar", "israel", "mexico", "new", "zealand", "2", "3", "4", "euap"}
	rest, out := strings.ToLower(location), []string{}
	for rest != "" {
		word := ""
		for _, w := range words {
			if strings.HasPrefix(rest, w) && len(w) > len(word) {
				word = w
			}
		}
		if word == "" {
			return location
		}
		rest = rest[len(word):]
		switch word {
		case "us", "uk", "uae", "euap":
			word = strings.ToUpper(word)
		default:
			word = strings.ToUpper(word[:1]) + word[1:]
		}
		out = append(out, word)
	}
	return strings.Join(out, " ")
}
