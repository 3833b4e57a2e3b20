package payload

import (
	"fmt"

	commonpb "go.temporal.io/api/common/v1"
	"go.temporal.io/sdk/converter"
	"google.golang.org/protobuf/proto"
)

// The workflow that keeps freezes, by its type and its one ID, and the activity with which a
// worker confirms them. Their payloads stay clear: a user without a key must stop workers
// that have one, and the other way round. No other payload is exempt.
const (
	ClearWorkflow   = "HoldFreeze"
	ClearWorkflowID = "armature:freeze"
	ClearActivity   = "ConfirmFreeze"
)

// isClear reports whether the payloads of a place are exempt from encryption. It looks at the
// place, which a worker or a client knows by itself: nothing in a payload can claim it.
func isClear(place converter.SerializationContext) bool {
	switch place := place.(type) {
	case converter.WorkflowSerializationContext:
		return place.WorkflowID == ClearWorkflowID
	case converter.ActivitySerializationContext:
		// Only a worker schedules local activities, and a standalone one has no workflow.
		return place.IsLocal && place.WorkflowID == ClearWorkflowID ||
			place.WorkflowID == "" && place.ActivityType == ClearActivity
	}
	return false
}

// ClearData returns the data converter of the payloads that stay clear. It decrypts nothing,
// and asks no codec of an embedder.
func (c *Converters) ClearData() converter.DataConverter {
	return converter.WithDataConverterSerializationContext(c.Data, converter.WorkflowSerializationContext{WorkflowID: ClearWorkflowID})
}

// Hides reports whether payloads are encrypted, by a key or by a codec of an embedder.
func (c *Converters) Hides() bool { return c.Encrypts() || len(c.codecs) > 0 }

// Sealer encrypts members of the values of freezes, which stay clear.
type Sealer struct {
	hides bool
	data  converter.DataConverter
}

// Sealer returns the sealer of a namespace: what it encrypts is bound to the freezes there.
func (c *Converters) Sealer(namespace string) Sealer {
	return Sealer{c.Hides(), Bound(Place{namespace, ClearWorkflowID}, c.Data)}
}

// Seal returns a value as an encrypted payload. It is nil if the converters hide nothing.
func (s Sealer) Seal(value any) ([]byte, error) {
	if !s.hides {
		return nil, nil
	}
	p, err := s.data.ToPayload(value)
	if err != nil {
		return nil, fmt.Errorf("encrypt a member: %w", err)
	}
	sealed, err := proto.Marshal(p)
	if err != nil {
		return nil, fmt.Errorf("encrypt a member: %w", err)
	}
	return sealed, nil
}

// Unseal reads what Seal returned into a pointer.
func (s Sealer) Unseal(sealed []byte, value any) error {
	p := &commonpb.Payload{}
	if err := proto.Unmarshal(sealed, p); err != nil {
		return fmt.Errorf("decrypt a member: %w", err)
	}
	if err := s.data.FromPayload(p, value); err != nil {
		return fmt.Errorf("decrypt a member: %w", err)
	}
	return nil
}
