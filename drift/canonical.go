package drift

import (
	"cmp"
	"crypto/hmac"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"hash"
	"slices"
	"strings"

	"github.com/armature-io/armature/resource"
)

// cursor returns the hash of the desired value at a cursor, which is equal for all
// equivalent spellings. The value is written into the hash in canonical form.
// Without a key, literal secrets are omitted: a hash that everyone can compute
// would allow guesses.
func (h hasher) cursor(p cursor) string {
	c := canonical{mac: hmac.New(sha256.New, h.key), keyed: len(h.key) > 0, buffer: make([]byte, 0, canonicalBufferBytes)}
	c.value(p)
	c.mac.Write(c.buffer)
	return hex.EncodeToString(c.mac.Sum(nil)[:hashBytes])
}

// canonicalBufferBytes is the size of the buffer in front of the hash.
const canonicalBufferBytes = 512

// canonical writes values as JSON, byte for byte like json.Marshal. Stored baselines
// contain such hashes: another form would make every resource differ from its baseline.
type canonical struct {
	mac    hash.Hash
	keyed  bool
	buffer []byte
}

func (c *canonical) value(p cursor) {
	switch v := p.desired.(type) {
	case map[string]any:
		c.object(p, v)
		return
	case []any:
		c.list(p, v)
		return
	case string:
		if !c.keyed && isSecret(p) {
			v = maskedText
		} else {
			v = canonicalText(p, v)
		}
		c.text(v)
		return
	}
	if plainInteger(p.desired) {
		c.raw(string(p.desired.(json.Number)))
	} else if n, ok := number(p.desired); ok && n.IsInt() {
		c.raw(n.RatString())
	} else if ok {
		c.text("number " + n.RatString())
	} else {
		c.marshal(p.desired)
	}
}

// member is a property with its canonical name.
type member struct{ canonical, name string }

func (c *canonical) object(p cursor, object map[string]any) {
	var buffer [namesCapacity]member // more members need an allocation
	members := buffer[:0]
	for name := range object {
		members = append(members, member{canonicalName(name, p.userDefined), name})
	}
	slices.SortFunc(members, func(a, b member) int {
		return cmp.Or(strings.Compare(a.canonical, b.canonical), strings.Compare(a.name, b.name))
	})
	c.raw("{")
	for i, m := range members {
		if i > 0 {
			c.raw(",")
		}
		c.text(m.canonical)
		c.raw(":")
		c.value(p.at(resource.Step{Name: m.name}, object[m.name], nil, false))
	}
	c.raw("}")
}

func (c *canonical) list(p cursor, items []any) {
	c.raw("[")
	for i, item := range items {
		if i > 0 {
			c.raw(",")
		}
		c.value(p.at(resource.Step{Index: i, IsIndex: true}, item, nil, false))
	}
	c.raw("]")
}

// text writes a string, without an allocation if it needs no escapes.
func (c *canonical) text(text string) {
	for i := range len(text) {
		if b := text[i]; b < ' ' || b > '~' || strings.IndexByte(`"\<>&`, b) >= 0 {
			c.marshal(text)
			return
		}
	}
	c.raw(`"`)
	c.raw(text)
	c.raw(`"`)
}

func (c *canonical) marshal(value any) {
	raw, err := json.Marshal(value)
	if err != nil {
		raw = []byte(`"unknown"`)
	}
	c.raw(string(raw))
}

func (c *canonical) raw(text string) {
	for len(c.buffer)+len(text) > canonicalBufferBytes {
		fits := canonicalBufferBytes - len(c.buffer)
		c.mac.Write(append(c.buffer, text[:fits]...))
		c.buffer, text = c.buffer[:0], text[fits:]
	}
	c.buffer = append(c.buffer, text...)
}

// plainInteger reports whether a number is an integer in canonical form.
func plainInteger(value any) bool {
	text, isNumber := value.(json.Number)
	if !isNumber || text == "" || len(text) > 1 && text[0] == '0' {
		return false
	}
	for i := range len(text) {
		if text[i] < '0' || text[i] > '9' {
			return false
		}
	}
	return true
}

func canonicalName(name string, userDefined bool) string {
	if isFullID(name) || !userDefined {
		return strings.ToLower(name)
	}
	return name
}

func canonicalText(p cursor, text string) string {
	switch {
	case p.userDefined:
	case isFullID(text):
		return strings.ToLower(strings.TrimSuffix(text, "/"))
	case resource.LocationName(lastName(p.path)):
		return resource.NormalLocation(text)
	}
	return text
}
