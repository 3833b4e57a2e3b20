package resource

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"sync"
)

// Object is a resource as the extension points see it: what is desired, what
// was observed, or both. Observed is nil when the resource is absent, Desired
// is nil for a resource that is only read (an owner, a reference). Numbers are
// json.Number, so that large integers survive.
type Object struct {
	ID         ID
	APIVersion string
	// Desired is the body of the manifest with references resolved and
	// secrets as {"$secret": ...} markers.
	Desired map[string]any
	// Observed is the body of the last GET, secret values masked.
	Observed map[string]any
	// Freshness says how the observation was obtained ("read now", "read 12s
	// ago"); verdicts show it.
	Freshness string
}

// Exists reports whether the last GET found the resource.
func (o *Object) Exists() bool { return o != nil && o.Observed != nil }

// ProvisioningState is properties.provisioningState of the observed resource,
// "" where it is absent (which ARM defines as Succeeded).
func (o *Object) ProvisioningState() string {
	state, _ := o.StringAt("properties.provisioningState")
	return state
}

// Ready reports whether the resource exists and is neither changing nor broken.
func (o *Object) Ready() bool {
	state := o.ProvisioningState()
	return o.Exists() && !InFlight(state) && !Broken(state)
}

// At is the observed value at a path such as properties.state or
// list[name=x].c; false where anything on the way is absent. It never panics.
func (o *Object) At(path string) (any, bool) {
	if o == nil || o.Observed == nil {
		return nil, false
	}
	return valueAt(o.Observed, path)
}

// StringAt is At for a string.
func (o *Object) StringAt(path string) (string, bool) {
	value, _ := o.At(path)
	text, ok := value.(string)
	return text, ok
}

// DesiredAt is the desired value at a path.
func (o *Object) DesiredAt(path string) (any, bool) {
	if o == nil || o.Desired == nil {
		return nil, false
	}
	return valueAt(o.Desired, path)
}

func valueAt(root map[string]any, path string) (any, bool) {
	parsed, err := ParsePath(path)
	if err != nil {
		return nil, false
	}
	return parsed.Get(root)
}

// As gives the observed resource in a type of the Azure SDK, for example
// As[armkusto.Cluster](owner). A typed view breaks with the SDK's api-version;
// At and StringAt do not.
func As[T any](o *Object) (T, error) {
	var typed T
	if !o.Exists() {
		return typed, fmt.Errorf("view resource as %T: it was not observed", typed)
	}
	raw, err := json.Marshal(o.Observed)
	if err != nil {
		return typed, fmt.Errorf("view %s as %T: %w", o.ID, typed, err)
	}
	if err := json.Unmarshal(raw, &typed); err != nil {
		return typed, fmt.Errorf("view %s as %T: %w", o.ID, typed, err)
	}
	return typed, nil
}

// decoders keep their buffers: a pass decodes several bodies, and a decoder that
// begins with none copies each of them three times.
var decoders = sync.Pool{New: func() any { return newBodyDecoder() }}

// bodyDecoder reads one text after the other.
type bodyDecoder struct {
	text bytes.Reader
	json *json.Decoder
}

func newBodyDecoder() *bodyDecoder {
	d := &bodyDecoder{}
	d.json = json.NewDecoder(&d.text)
	d.json.UseNumber()
	return d
}

// keptBody is the size of a text, in bytes, whose buffer is worth keeping.
const keptBody = 256 << 10

// DecodeBody decodes one JSON object with exact numbers (json.Number). Empty
// input is a nil map.
func DecodeBody(raw []byte) (map[string]any, error) {
	if len(bytes.TrimSpace(raw)) == 0 {
		return nil, nil
	}
	d := decoders.Get().(*bodyDecoder)
	d.text.Reset(raw)
	var body map[string]any
	if err := d.json.Decode(&body); err != nil {
		return nil, fmt.Errorf("decode body: %w", err)
	}
	if _, err := d.json.Token(); err != io.EOF {
		return nil, fmt.Errorf("decode body: text after the JSON object")
	}
	if len(raw) <= keptBody {
		d.text.Reset(nil)
		decoders.Put(d) // one that met a fault remembers it and is dropped
	}
	return body, nil
}
