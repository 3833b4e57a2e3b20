package armsim

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"strconv"
	"strings"
)

// object is a JSON object. Numbers are json.Number, so that they keep their form.
type object = map[string]any

// decodeObject decodes exactly one JSON object; anything after it is an error.
func decodeObject(data []byte) (object, error) {
	d := json.NewDecoder(bytes.NewReader(data))
	d.UseNumber()
	var value any
	if err := d.Decode(&value); err != nil {
		return nil, fmt.Errorf("parse JSON: %w", err)
	}
	if _, err := d.Token(); !errors.Is(err, io.EOF) {
		return nil, errors.New("parse JSON: more than one value")
	}
	o, ok := value.(object)
	if !ok {
		return nil, errors.New("parse JSON: the value is no object")
	}
	return o, nil
}

func clone(value any) any {
	switch v := value.(type) {
	case object:
		return cloneObject(v)
	case []any:
		out := make([]any, len(v))
		for i := range v {
			out[i] = clone(v[i])
		}
		return out
	}
	return value
}

func cloneObject(o object) object {
	if o == nil {
		return nil
	}
	out := make(object, len(o))
	for k, v := range o {
		out[k] = clone(v)
	}
	return out
}

// mergePatch applies RFC 7396 to dst in place and returns it.
func mergePatch(dst, patch object) object {
	if dst == nil {
		dst = object{}
	}
	for k, v := range patch {
		switch p := v.(type) {
		case nil:
			delete(dst, k)
		case object:
			child, _ := dst[k].(object)
			dst[k] = mergePatch(child, p)
		default:
			dst[k] = clone(v)
		}
	}
	return dst
}

// properties returns the "properties" of a resource, and creates it when absent.
func properties(body object) object {
	p, ok := body["properties"].(object)
	if !ok {
		p = object{}
		body["properties"] = p
	}
	return p
}

// text returns the string at a dotted path, or "".
func text(body object, path string) string {
	var value any = body
	for _, name := range strings.Split(path, ".") {
		o, ok := value.(object)
		if !ok {
			return ""
		}
		value = o[name]
	}
	s, _ := value.(string)
	return s
}

// member returns a member in any letter case, nil if there is none.
func member(of any, name string) any {
	o, _ := of.(object)
	if value, ok := o[name]; ok {
		return value
	}
	for other, value := range o {
		if strings.EqualFold(other, name) {
			return value
		}
	}
	return nil
}

// memberAt returns the value at a path, nil if there is none.
func memberAt(value any, path []string) any {
	for _, name := range path {
		value = member(value, name)
	}
	return value
}

// setText sets the string at a dotted path and creates the objects above it.
func setText(o object, path, value string) {
	name, rest, deeper := strings.Cut(path, ".")
	if !deeper {
		o[name] = value
		return
	}
	child, ok := o[name].(object)
	if !ok {
		child = object{}
		o[name] = child
	}
	setText(child, rest, value)
}

// number returns a JSON number as text, "" for anything else.
func number(value any) string {
	switch n := value.(type) {
	case json.Number:
		return n.String()
	case int:
		return strconv.Itoa(n)
	}
	return ""
}

// setDefault sets a member that the client left out or sent as null.
func setDefault(o object, name string, value any) {
	if o[name] == nil {
		o[name] = value
	}
}

func setDefaults(o, values object) {
	for name, value := range values {
		setDefault(o, name, value)
	}
}

// compactRegion returns a region in the form of "westus2".
func compactRegion(region string) string {
	return strings.ToLower(strings.ReplaceAll(region, " ", ""))
}
