package armsim

import (
	"bufio"
	"compress/gzip"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"reflect"
)

// Recording is Azure's recorded response to one PUT, and to the next GET. PutBody may
// be nil; then any PUT of the ID matches.
type Recording struct {
	ID          string         `json:"id"`
	PutBody     map[string]any `json:"putBody"`
	PutResponse map[string]any `json:"putResponse"`
	GetBody     map[string]any `json:"getBody"`
	// Get is an alias of GetBody.
	Get map[string]any `json:"get"`
}

// ReadRecordings reads JSON objects one after the other, plain or gzip. Unknown fields
// are ignored. Each needs an ID and a GET body.
func ReadRecordings(from io.Reader) ([]Recording, error) {
	buffered := bufio.NewReader(from)
	source := io.Reader(buffered)
	if magic, err := buffered.Peek(2); err == nil && magic[0] == 0x1f && magic[1] == 0x8b {
		unzipped, err := gzip.NewReader(buffered)
		if err != nil {
			return nil, fmt.Errorf("read recordings: %w", err)
		}
		source = unzipped
	}
	d := json.NewDecoder(source)
	d.UseNumber()
	var out []Recording
	for {
		var r Recording
		err := d.Decode(&r)
		if errors.Is(err, io.EOF) {
			return out, nil
		}
		if err != nil {
			return nil, fmt.Errorf("read recording %d: %w", len(out)+1, err)
		}
		if r.GetBody == nil {
			r.GetBody = r.Get
		}
		if t, ok := parseID(r.ID); !ok || t.kind != kindResource && t.kind != kindGroup || r.GetBody == nil {
			return nil, fmt.Errorf("read recording %d: it needs an id (a resource ID, not %q) and a getBody", len(out)+1, r.ID)
		}
		out = append(out, r)
	}
}

// selectRecording selects the recording that serves the resource after a PUT. One with
// the same body takes precedence. Otherwise the first recording of the ID serves the
// first body and its repeats, because clients add and omit other fields than recorded
// ones did. A different body later follows the server's own rules.
func (s *Simulator) selectRecording(r *resource, sent object) {
	list := s.recordings[key(r.id)]
	for i := range list {
		if list[i].PutBody != nil && equalSentBodies(list[i].PutBody, sent) {
			r.recording, r.recordedPut = &list[i], cloneObject(sent)
			return
		}
	}
	switch {
	case len(list) > 0 && r.recordedPut == nil:
		r.recording, r.recordedPut = &list[0], cloneObject(sent)
	case !equalSentBodies(r.recordedPut, sent):
		r.recording = nil
	}
}

// equalSentBodies compares the bodies of two PUTs. A null member counts as absent;
// top-level name, ID and type are ignored, because the URL determines them.
func equalSentBodies(a, b object) bool {
	return reflect.DeepEqual(normalizeSentBody(a), normalizeSentBody(b))
}

func normalizeSentBody(body object) any {
	out := cloneObject(body)
	for _, name := range []string{"id", "name", "type"} {
		delete(out, name)
	}
	return withoutNulls(out)
}

func withoutNulls(value any) any {
	switch v := value.(type) {
	case object:
		for name, item := range v {
			if item == nil {
				delete(v, name)
				continue
			}
			v[name] = withoutNulls(item)
		}
	case []any:
		for i := range v {
			v[i] = withoutNulls(v[i])
		}
	}
	return value
}

// recordedBody returns the stored form of a recording.
func (r *resource) recordedBody() object {
	body := cloneObject(r.recording.GetBody)
	delete(body, "etag")
	return body
}

// renderRecorded returns a recorded resource as a GET returns it: as recorded, with the
// server's own ETag and with out-of-band changes.
func (r *resource) renderRecorded(stored object) object {
	body := cloneObject(stored)
	for name, value := range map[string]string{"id": r.id, "name": r.name, "type": r.typ} {
		if body[name] == nil {
			body[name] = value
		}
	}
	if _, recorded := r.recording.GetBody["etag"]; recorded {
		body["etag"] = r.etag()
	}
	return body
}
