package armsim

import (
	"bytes"
	"encoding/json"
	"strconv"
	"strings"
)

// places contains the offsets at which a deserializer reports the parts of a body, by
// path: behind the colon of a name, behind a simple value or the bracket that opens
// another one, and behind the bracket that closes one.
type places struct {
	body                []byte
	names, values, ends map[string]int
}

func readPlaces(body []byte) places {
	p := places{body, map[string]int{}, map[string]int{}, map[string]int{}}
	p.read(json.NewDecoder(bytes.NewReader(body)), "")
	return p
}

// read reads one value. The body is valid JSON, since it was decoded before; should the
// decoder fail all the same, the rest has no places.
func (p *places) read(d *json.Decoder, path string) {
	token, err := d.Token()
	if err != nil {
		return
	}
	p.values[path] = int(d.InputOffset())
	switch token {
	case json.Delim('{'):
		for d.More() {
			name, err := d.Token()
			if err != nil {
				return
			}
			text, _ := name.(string)
			below := joinPath(path, text)
			p.names[below] = int(d.InputOffset())
			if colon := bytes.IndexByte(p.body[p.names[below]:], ':'); colon >= 0 {
				p.names[below] += colon + 1
			}
			p.read(d, below)
		}
	case json.Delim('['):
		for i := 0; d.More(); i++ {
			p.read(d, path+"["+strconv.Itoa(i)+"]")
		}
	default:
		return
	}
	if _, err := d.Token(); err == nil {
		p.ends[path] = int(d.InputOffset())
	}
}

// position returns the line and the position in it, both from 1.
func (p *places) position(offset int) (line, column int) {
	before := string(p.body[:offset])
	return 1 + strings.Count(before, "\n"), offset - (strings.LastIndex(before, "\n") + 1)
}
