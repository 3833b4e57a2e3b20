package payload

import (
	"encoding/binary"
	"errors"
	"fmt"

	commonpb "go.temporal.io/api/common/v1"
	workflowpb "go.temporal.io/api/workflow/v1"
	"go.temporal.io/sdk/converter"
)

// Payload metadata keys with the place of an encrypted payload, for programs without the key.
const (
	MetadataNamespace  = "encryption-namespace"
	MetadataWorkflowID = "encryption-workflow-id"
)

// replayNamespace is the namespace of a replay of a file in the SDK.
const replayNamespace = "ReplayNamespace"

// Place is where a payload belongs: to messages, steps, memo and history of one workflow. The
// zero value is no place.
type Place struct{ Namespace, WorkflowID string }

// String returns the place as messages name it.
func (p Place) String() string {
	if p == (Place{}) {
		return "no workflow"
	}
	return fmt.Sprintf("workflow %s of namespace %s", p.WorkflowID, p.Namespace)
}

// errMoved reports a payload that was copied from another place.
var errMoved = errors.New("the payload belongs elsewhere")

// PlaceOf returns the place in the metadata of an encrypted payload. It is authentic once the
// payload was decrypted.
func PlaceOf(p *commonpb.Payload) Place {
	return Place{Namespace: string(p.GetMetadata()[MetadataNamespace]), WorkflowID: string(p.GetMetadata()[MetadataWorkflowID])}
}

// placeOf returns the place of a context of the SDK. A replay of a file knows none.
func placeOf(ctx converter.SerializationContext) Place {
	var place Place
	switch ctx := ctx.(type) {
	case converter.WorkflowSerializationContext:
		place = Place{ctx.Namespace, ctx.WorkflowID}
	case converter.ActivitySerializationContext:
		place = Place{ctx.Namespace, ctx.WorkflowID}
	}
	if place.WorkflowID == "" || place.Namespace == replayNamespace {
		return Place{}
	}
	return place
}

// addTo adds the place to the metadata of a payload.
func (p Place) addTo(metadata map[string][]byte) {
	if p != (Place{}) {
		metadata[MetadataNamespace], metadata[MetadataWorkflowID] = []byte(p.Namespace), []byte(p.WorkflowID)
	}
}

// bound returns the authenticated data of a payload: the encoding, the ID of the key and the
// place are tied to the ciphertext.
func (p Place) bound(keyID string) []byte {
	data := append([]byte(EncryptedEncoding+"\x00"+keyID+"\x00"), p.WorkflowID...)
	data = append(data, p.Namespace...)
	return binary.BigEndian.AppendUint32(data, uint32(len(p.Namespace))) //nolint:gosec // a namespace has at most some hundred bytes
}

// check returns an error for a payload of another place. Where none is known, every place fits.
func (p Place) check(other Place) error {
	if p == (Place{}) || p == other {
		return nil
	}
	return fmt.Errorf("%w: it was written for %s, and stands in %s", errMoved, other, p)
}

// At returns a data converter of Armature at a place: what it encrypts is bound to the place,
// and what is bound to another is refused.
func At(place Place, data converter.DataConverter) converter.DataConverter {
	return converter.WithDataConverterSerializationContext(data, place.context())
}

// AtRun is At for what is read of a run whose start is known: clear payloads are refused if it
// began after encryption was required.
func (c *Converters) AtRun(namespace string, info *workflowpb.WorkflowExecutionInfo) converter.DataConverter {
	at := At(Place{namespace, info.GetExecution().GetWorkflowId()}, c.Data)
	if d, ok := at.(*data); ok && info.GetStartTime() != nil {
		return d.from(info.GetStartTime().AsTime())
	}
	return at
}

// Bound is At for values that are encrypted at every place, such as the token of a sender,
// which a freeze may have too.
func Bound(place Place, of converter.DataConverter) converter.DataConverter {
	if d, ok := of.(*data); ok {
		return wrap(converter.WithDataConverterSerializationContext(d.DataConverter, place.context()), d.embedded)
	}
	return At(place, of)
}

func (p Place) context() converter.SerializationContext {
	return converter.WorkflowSerializationContext{Namespace: p.Namespace, WorkflowID: p.WorkflowID}
}
