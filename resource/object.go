package resource

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"sync"
)

// Object is a resource as extension points receive it: desired, observed, or both.
// Observed is nil when the resource is absent; Desired is nil for a resource that
// is only read (an owner, a reference). Numbers are json.Number, so that large
// integers survive.
type Object struct {
	ID         ID
	APIVersion string
	// Desired is the body of the manifest with references resolved and secrets as
	// {"$secret": ...} markers.
	Desired map[string]any
	// Observed is the body of the last GET, secret values masked.
	Observed map[string]any
	// Completed are the paths of the parts that Observed has of other requests than the GET.
	Completed []string
	// Freshness is the age of the observation ("read now", "read 12s ago");
	// verdicts include it.
	Freshness string
	// Labels, Policy and Generation are those of the manifest, also for an owner and a
	// reference that Armature manages. Without one they are empty.
	Labels     map[string]string
	Policy     Policy
	Generation int64
	// Managed is the Ready condition of an owner or a reference that Armature manages. It is
	// nil for others, and for the resource under reconciliation.
	Managed *Managed
}

// Exists reports whether the last GET found the resource.
func (o *Object) Exists() bool { return o != nil && o.Observed != nil }

// ProvisioningState returns properties.provisioningState of the observed resource,
// "" if it is absent (which ARM defines as Succeeded).
func (o *Object) ProvisioningState() string {
	state, _ := o.StringAt("properties.provisioningState")
	return state
}

// Ready reports whether the resource exists, has no operation in progress and did
// not fail.
func (o *Object) Ready() bool {
	state := o.ProvisioningState()
	return o.Exists() && !InFlight(state) && !Broken(state)
}

// IsReady reports whether the resource is Ready by ARM's state and, where Armature manages
// it, by its own Ready condition.
func (o *Object) IsReady() bool { return o.Ready() && (o.Managed == nil || o.Managed.Ready) }

// At returns the observed value at a path such as properties.state or
// list[name=x].c, and false if any step of it is absent. It never panics.
func (o *Object) At(path string) (any, bool) {
	if o == nil || o.Observed == nil {
		return nil, false
	}
	return valueAt(o.Observed, path)
}

// StringAt is At for strings.
func (o *Object) StringAt(path string) (string, bool) {
	value, _ := o.At(path)
	text, ok := value.(string)
	return text, ok
}

// NumberAt is At for numbers; see Body.NumberAt.
func (o *Object) NumberAt(path string) (float64, bool) {
	if o == nil {
		return 0, false
	}
	return Body(o.Observed).NumberAt(path)
}

// ListAt is At for lists.
func (o *Object) ListAt(path string) ([]any, bool) {
	if o == nil {
		return nil, false
	}
	return Body(o.Observed).ListAt(path)
}

// DesiredAt returns the desired value at a path. Body(o.Desired) has texts, numbers and lists.
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

// As decodes the observed resource into a type of the Azure SDK, for example
// As[armkusto.Cluster](owner). A typed view breaks with the SDK's api-version; At
// and StringAt do not.
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

// decoders are reused with their buffers: a pass decodes several bodies, and a new
// decoder copies each of them three times.
var decoders = sync.Pool{New: func() any { return newBodyDecoder() }}

// bodyDecoder decodes one text after the other.
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

// maxReusedBytes is the largest body after which a decoder is reused.
const maxReusedBytes = 256 << 10

// DecodeBody decodes one JSON object with exact numbers (json.Number). Empty input
// returns a nil map.
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
	if len(raw) <= maxReusedBytes {
		d.text.Reset(nil)
		decoders.Put(d) // after an error a decoder is not reusable
	}
	return body, nil
}
