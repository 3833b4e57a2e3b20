package armsim

import (
	"encoding/json"
	"fmt"
	"slices"
	"strconv"
	"strings"
)

// Act changes a value as its owner does without a request of a client: an autoscaler, an
// upgrade, a failover. The path is dotted, for example "sku.capacity" or, for the regions
// of a Cosmos DB account, "properties.locations". A value outside of the owner's limits
// becomes the limit. A swap, of zones or regions, takes no value. It is an error if no
// switch gives the value to Azure, so that a test cannot move what stays the client's.
func (s *Simulator) Act(id, path string, value any) error {
	defer s.As(Author{System: true}).lock()()
	r := s.find(id)
	if r == nil {
		return fmt.Errorf("act on %s: there is no such resource", id)
	}
	row, holder, err := s.ownerOf(r, path)
	if err != nil {
		return fmt.Errorf("act on %s: %w", id, err)
	}
	body := cloneObject(r.body)
	if err := row.move(body, holder.body, value); err != nil {
		return fmt.Errorf("act on %s: %w", id, err)
	}
	s.keepPast(r)
	r.body = body
	r.version++
	if rule := s.ruleFor(r.typ); rule.onDone != nil && r.op == nil {
		rule.onDone(s, r)
	}
	s.recordWrite(r, "Succeeded")
	return nil
}

// ownerOf returns the row whose switch is on for a value, and the resource with the switch.
func (s *Simulator) ownerOf(r *resource, path string) (*ownerRow, *resource, error) {
	off := "it belongs to the client"
	for _, row := range ownerRows() {
		if !globMatch(row.typePattern, r.typ) || !row.owns(path) {
			continue
		}
		for _, holder := range s.switchHolders(r, row.holder) {
			if slices.ContainsFunc(row.on, func(on string) bool { return strings.EqualFold(on, shownText(valueAt(holder.body, row.path))) }) {
				return &row, holder, nil
			}
			off = row.path + " of " + holder.id + " is off"
		}
	}
	return nil, nil, fmt.Errorf("nothing moves %s: %s", path, off)
}

// owns reports whether the row's owner changes the value at a path, or something below it.
func (row *ownerRow) owns(path string) bool {
	owned := row.values
	if row.moves != swaps {
		owned = row.values[:1]
	}
	return slices.ContainsFunc(owned, func(value string) bool {
		list, _, _ := strings.Cut(value, "[")
		return strings.EqualFold(list, path)
	})
}

func (s *Simulator) switchHolders(r *resource, holder switchHolder) []*resource {
	switch holder {
	case parentHolder:
		if parent := s.find(parentOf(r.id)); parent != nil {
			return []*resource{parent}
		}
		return nil
	case settingHolder:
		return s.matching(func(_ string, setting *resource) bool {
			return strings.EqualFold(setting.typ, autoscaleType) && strings.EqualFold(text(setting.body, "properties.targetResourceUri"), r.id)
		})
	}
	return []*resource{r}
}

// move changes the values in a body; holder is the body with the switch.
func (row *ownerRow) move(body, holder object, value any) error {
	if row.moves == swaps {
		a, nameA := placeOf(body, row.values[0])
		b, nameB := placeOf(body, row.values[1])
		if value != nil || a == nil || b == nil || a[nameA] == nil || b[nameB] == nil {
			return fmt.Errorf("a swap takes no value, and needs both %s and %s", row.values[0], row.values[1])
		}
		a[nameA], b[nameB] = b[nameB], a[nameA]
		return nil
	}
	first, name := placeOf(body, row.values[0])
	if first == nil || value == nil {
		return fmt.Errorf("%s needs a value, and an object that contains it", row.values[0])
	}
	wanted, isNumber := amount(value)
	if _, isText := value.(string); isNumber && !isText { // 1.30 in a text is a version
		value = json.Number(strconv.FormatFloat(row.limit(holder, wanted), 'f', -1, 64))
	}
	if row.moves == atLeast && isLess(value, first[name]) {
		return fmt.Errorf("%s only goes up, from %s", row.values[0], shownText(first[name]))
	}
	for _, path := range row.values {
		if parent, name := placeOf(body, path); parent != nil {
			parent[name] = value
		}
	}
	return nil
}

// limit returns a number within the holder's limits.
func (row *ownerRow) limit(holder object, wanted float64) float64 {
	if least, ok := amount(valueAt(holder, row.minimum)); ok && row.minimum != "" {
		wanted = max(wanted, least)
	}
	if most, ok := amount(valueAt(holder, row.maximum)); ok && row.maximum != "" {
		wanted = min(wanted, most)
	}
	return wanted
}

// isLess compares numbers, or versions.
func isLess(a, b any) bool {
	before, known := amount(b)
	after, given := amount(a)
	if number(b) != "" && known && given {
		return after < before
	}
	return compareVersions(shownText(a), shownText(b)) < 0
}

// valueAt returns the value at a path of the table, nil if there is none.
func valueAt(body object, path string) any {
	parent, name := placeOf(body, path)
	return parent[name]
}

// placeOf returns the object that contains the value at a path, and the name in it; nil if
// there is no such object. "list[0]" is an item by position, "list[name=value]" by a member.
func placeOf(body object, path string) (object, string) {
	names := strings.Split(path, ".")
	var at any = body
	for _, segment := range names[:len(names)-1] {
		name, selector, isItem := strings.Cut(strings.TrimSuffix(segment, "]"), "[")
		at = member(at, name)
		if isItem {
			at = selectItem(at, selector)
		}
	}
	parent, _ := at.(object)
	return parent, names[len(names)-1]
}

func selectItem(list any, selector string) any {
	if name, value, byMember := strings.Cut(selector, "="); byMember {
		return itemWith(list, name, value)
	}
	items, _ := list.([]any)
	if i, err := strconv.Atoi(selector); err == nil && i < len(items) {
		return items[i]
	}
	return nil
}
