package armsim

import (
	"cmp"
	"encoding/json"
	"reflect"
	"slices"
	"strconv"
	"strings"
)

// changeRule says which changes of a value a service refuses.
type changeRule int

const (
	immutable    changeRule = iota
	noShrink                // of a number
	noDowngrade             // of a version, or of a value in an order
	irreversible            // true stays true
	exchangeOnly            // with the value at another path
)

// changeRow is a value that a service refuses to change after the creation. Only a value
// that the body states is compared: the service keeps or resets the others by other rules.
type changeRow struct {
	typePattern string // glob over the lower-cased type
	// path is dotted; "disks[lun]" compares the items with the same lun.
	path string
	rule changeRule
	// order lists the values from low to high, if they are no versions.
	order []string
	// with is the other path of exchangeOnly.
	with string
	// adding refuses the value also if the resource has none.
	adding bool
	// alone excludes the parent's list of such children, which has words of its own.
	alone bool
	// status is 0 for a service that accepts the write, and whose operation fails.
	status int
	// code, message and target are the service's. {old} and {new} are the values, also in
	// {oldMB} and {oldBytes} if they are in GB, {id} is the resource, {target} the target.
	code, message, target string
	// bare leaves out the envelope "error".
	bare bool
	// source is where the rule and its words are public.
	source string
}

// change is a stated value that differs from the stored one.
type change struct{ old, sent any }

// checkChanges refuses a body that changes what its service does not change. Recorded
// bodies are not checked, because Azure accepted them.
func (s *Simulator) checkChanges(q *request, r *resource, body object) *response {
	if row, c := s.refusedChange(q, r, body, false); row != nil {
		return row.refusal(q.target.id, c)
	}
	if r == nil || s.recordings[key(r.id)] != nil {
		return nil
	}
	for _, inline := range s.ruleFor(r.typ).inline {
		items, _ := listedItems(q, body, inline)
		for _, item := range items {
			name, ok := itemName(item)
			child := s.find(r.id + "/" + inline.collection + "/" + name)
			if !ok || child == nil {
				continue
			}
			content := item.(object) // itemName accepts objects only
			if inline.flat {
				content = object{"properties": content}
			}
			for _, row := range changeRows() {
				if c, refused := row.find(child.typ, child.body, content); refused && !row.alone && row.status != 0 {
					return row.refusal(child.id, c)
				}
			}
		}
	}
	return nil
}

// failsByChange returns code and message of the operation of a write that its service
// accepts although it does not make the change.
func (s *Simulator) failsByChange(q *request, r *resource, body object) (code, message string, fails bool) {
	row, c := s.refusedChange(q, r, body, true)
	if row == nil {
		return "", "", false
	}
	resp := row.refusal(q.target.id, c)
	return resp.code, resp.message, true
}

// refusedChange returns the first row that refuses a body, nil if none does.
func (s *Simulator) refusedChange(q *request, r *resource, body object, inOperation bool) (*changeRow, change) {
	if r == nil || s.recordings[key(r.id)] != nil {
		return nil, change{}
	}
	for _, row := range changeRows() {
		if c, refused := row.find(q.resourceType, r.body, body); refused && (row.status == 0) == inOperation {
			return &row, c
		}
	}
	return nil, change{}
}

// find returns the first change in a body that the row refuses.
func (row *changeRow) find(resourceType string, stored, body object) (change, bool) {
	if !globMatch(row.typePattern, resourceType) {
		return change{}, false
	}
	for _, c := range changesAt(stored, body, strings.Split(row.path, ".")) {
		if row.refuses(c, stored, body) {
			return c, true
		}
	}
	return change{}, false
}

func (row *changeRow) refuses(c change, stored, body object) bool {
	if c.old == nil {
		return row.adding
	}
	switch row.rule {
	case noShrink:
		before, known := amount(c.old)
		after, given := amount(c.sent)
		return known && given && after < before
	case noDowngrade:
		return row.compare(shownText(c.sent), shownText(c.old)) < 0
	case irreversible:
		return c.old == true && c.sent == false
	case exchangeOnly:
		path := strings.Split(row.with, ".")
		isExchange := func(other change) bool { return sameValue(c.sent, other.old) && sameValue(other.sent, c.old) }
		return !slices.ContainsFunc(changesAt(stored, body, path), isExchange)
	}
	return true
}

// compare compares two values of noDowngrade. A version with fewer parts is equal to all
// that begin with it, for example 1.29 to 1.29.4.
func (row *changeRow) compare(a, b string) int {
	if row.order != nil {
		isEqual := func(value string) func(string) bool {
			return func(other string) bool { return strings.EqualFold(value, other) }
		}
		return slices.IndexFunc(row.order, isEqual(a)) - slices.IndexFunc(row.order, isEqual(b))
	}
	return compareVersions(a, b)
}

func compareVersions(a, b string) int {
	left, right := strings.Split(a, "."), strings.Split(b, ".")
	for i := range min(len(left), len(right)) {
		x, errX := strconv.Atoi(left[i])
		y, errY := strconv.Atoi(right[i])
		if errX != nil || errY != nil {
			return strings.Compare(left[i], right[i])
		}
		if x != y {
			return x - y
		}
	}
	return 0
}

func (row *changeRow) refusal(id string, c change) *response {
	before, _ := amount(c.old)
	after, _ := amount(c.sent)
	in := func(value float64, unit int) string { return strconv.Itoa(int(value) * unit) }
	message := strings.NewReplacer("{old}", shownText(c.old), "{new}", shownText(c.sent), "{id}", id, "{target}", row.target,
		"{oldMB}", in(before, 1<<10), "{newMB}", in(after, 1<<10), "{oldBytes}", in(before, 1<<30), "{newBytes}", in(after, 1<<30),
	).Replace(row.message)
	resp := armError(row.status, row.code, "%s", message)
	shown := object{"code": row.code, "message": message}
	if row.target != "" {
		shown["target"] = row.target
	}
	resp.body = object{"error": shown}
	if row.bare {
		shown["details"], shown["subcode"] = nil, ""
		resp.body = shown
	}
	return resp
}

// changesAt returns the differences at a path between what is stored and what a body
// states. Null is no statement.
func changesAt(stored, sent any, path []string) []change {
	if sent == nil {
		return nil
	}
	if len(path) == 0 {
		if sameValue(sent, stored) {
			return nil
		}
		return []change{{stored, sent}}
	}
	name, rest, _ := strings.Cut(path[0], "[")
	itemKey := strings.TrimSuffix(rest, "]")
	before, after := member(stored, name), member(sent, name)
	if itemKey == "" {
		return changesAt(before, after, path[1:])
	}
	var out []change
	items, _ := after.([]any)
	for _, item := range items {
		if old := itemWith(before, itemKey, member(item, itemKey)); old != nil { // a new item changes nothing
			out = append(out, changesAt(old, item, path[1:])...)
		}
	}
	return out
}

// itemWith returns the item of a list whose member has a value, nil if there is none.
func itemWith(list any, name string, value any) any {
	items, _ := list.([]any)
	for _, item := range items {
		if value != nil && sameValue(member(item, name), value) {
			return item
		}
	}
	return nil
}

// sameValue reports whether a sent value is the stored one: texts in any letter case,
// numbers in any form, and objects if what is sent of them is the same.
func sameValue(sent, stored any) bool {
	switch v := sent.(type) {
	case object:
		for name := range v {
			if v[name] != nil && !sameValue(v[name], member(stored, name)) {
				return false
			}
		}
		return stored != nil
	case []any:
		old, _ := stored.([]any)
		return len(v) == len(old) && slices.EqualFunc(v, old, sameValue)
	case string:
		if old, isText := stored.(string); isText {
			return strings.EqualFold(v, old)
		}
	}
	if after, ok := amount(sent); ok {
		before, known := amount(stored)
		return known && after == before
	}
	return reflect.DeepEqual(sent, stored)
}

// shownText returns a simple value as text.
func shownText(value any) string { return cmp.Or(plainText(value), number(value)) }

// amount returns a number, which may be in a text.
func amount(value any) (float64, bool) {
	switch v := value.(type) {
	case json.Number:
		n, err := v.Float64()
		return n, err == nil
	case string:
		n, err := strconv.ParseFloat(v, 64)
		return n, err == nil
	case int:
		return float64(v), true
	case float64:
		return v, true
	}
	return 0, false
}
