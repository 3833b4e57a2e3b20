package payload

import (
	"errors"
	"fmt"
	"maps"
	"slices"
	"time"

	commonpb "go.temporal.io/api/common/v1"
	workflowpb "go.temporal.io/api/workflow/v1"
	"go.temporal.io/sdk/converter"
	"google.golang.org/protobuf/proto"
)

const (
	// EncryptedEncoding is the value of the payload metadata key "encoding" of an encrypted
	// payload. Histories contain it: never change it.
	EncryptedEncoding = "binary/aes-256-gcm"
	// MetadataKeyID is the payload metadata key with the ID of the key.
	MetadataKeyID = "encryption-key-id"
)

// MissingKeyError reports a payload that was encrypted with a key that is not configured.
type MissingKeyError struct {
	// KeyID is the ID of the key.
	KeyID string
	// Configured are the IDs of the keys that are, "none" without any.
	Configured string
}

// Error names the key and the remedy.
func (e *MissingKeyError) Error() string {
	return fmt.Sprintf("encrypted with the key %s, which is not configured here (configured: %s); add it to encryption.keys (ARMATURE_ENCRYPTION_KEYS)", e.KeyID, e.Configured)
}

// errAltered reports data that the key does not open.
var errAltered = errors.New("the data was altered, or another key has the same ID; compare the keys with `armature doctor`")

// IsUnreadable reports whether data could not be decrypted: the key is not configured, does
// not open the data, the data was copied from another place, or it is not encrypted and must be.
func IsUnreadable(err error) bool {
	_, missing := errors.AsType[*MissingKeyError](err)
	_, isClear := errors.AsType[*NotEncryptedError](err)
	return missing || isClear || errors.Is(err, errAltered) || errors.Is(err, errMoved)
}

// KeyID returns the ID of the key of an encrypted payload, "" for any other payload.
func KeyID(p *commonpb.Payload) string {
	if string(p.GetMetadata()[converter.MetadataEncoding]) != EncryptedEncoding {
		return ""
	}
	return string(p.GetMetadata()[MetadataKeyID])
}

// CheckMemo returns an error if a field of the memo of a run cannot be decrypted here, the
// first one by name.
func (c *Converters) CheckMemo(namespace string, info *workflowpb.WorkflowExecutionInfo) error {
	at := c.AtRun(namespace, info)
	memo := info.GetMemo().GetFields()
	for _, name := range slices.Sorted(maps.Keys(memo)) {
		var ignored any
		if err := at.FromPayload(memo[name], &ignored); IsUnreadable(err) {
			return err //nolint:wrapcheck // the caller names the run
		}
	}
	return nil
}

func (r keyring) check(p *commonpb.Payload) error {
	if string(p.GetMetadata()[converter.MetadataEncoding]) != EncryptedEncoding {
		return nil
	}
	if id := KeyID(p); r.read[id] == nil {
		return &MissingKeyError{KeyID: id, Configured: r.ids()}
	}
	return nil
}

// chain is compression, then encryption.
type chain struct {
	*codec
	keys keyring
	// place is where payloads are written and read, if it is known.
	place Place
	// since is set if payloads that are not encrypted are refused.
	since time.Time
}

func newChain(keys keyring) *chain { return &chain{codec: newCodec(), keys: keys} }

// sealed returns the chain that refuses payloads that are not encrypted.
func (c *chain) sealed(since time.Time) *chain { return &chain{c.codec, c.keys, c.place, since} }

// WithSerializationContext returns the chain of a workflow, which binds what it encrypts to it.
func (c *chain) WithSerializationContext(ctx converter.SerializationContext) converter.PayloadCodec {
	if len(c.keys.read) == 0 {
		return c
	}
	return &chain{c.codec, c.keys, placeOf(ctx), c.since}
}

// Encode compresses payloads and encrypts them if there is a key for writing.
func (c *chain) Encode(payloads []*commonpb.Payload) ([]*commonpb.Payload, error) {
	return c.each(payloads, c.encode)
}

// Decode decrypts and decompresses what Encode wrote, with or without a key, and returns
// other payloads unchanged. A key that is not configured is a *MissingKeyError.
func (c *chain) Decode(payloads []*commonpb.Payload) ([]*commonpb.Payload, error) {
	return c.each(payloads, c.decode)
}

func (c *chain) encode(p *commonpb.Payload) (*commonpb.Payload, error) {
	compressed, err := c.codec.encode(p)
	if err != nil || c.keys.write == nil {
		return compressed, err
	}
	return c.keys.write.seal(compressed, c.place)
}

func (c *chain) decode(p *commonpb.Payload) (*commonpb.Payload, error) {
	if err := c.keys.check(p); err != nil {
		return nil, err
	}
	if s := c.keys.read[KeyID(p)]; s != nil {
		opened, err := s.open(p)
		if err == nil {
			err = c.place.check(PlaceOf(p))
		}
		if err != nil {
			return nil, err
		}
		p = opened
	} else if !c.since.IsZero() {
		return nil, &NotEncryptedError{c.since}
	}
	return c.codec.decode(p)
}

// seal encrypts a payload with its metadata for a place: nonce, ciphertext and tag.
func (s *sealer) seal(p *commonpb.Payload, place Place) (*commonpb.Payload, error) {
	plain, err := proto.Marshal(p)
	if err != nil {
		return nil, fmt.Errorf("marshal payload: %w", err)
	}
	metadata := map[string][]byte{converter.MetadataEncoding: []byte(EncryptedEncoding), MetadataKeyID: []byte(s.id)}
	place.addTo(metadata)
	return &commonpb.Payload{Metadata: metadata, Data: s.aead.Seal(nil, nil, plain, place.bound(s.id))}, nil
}

// open decrypts what seal encrypted.
func (s *sealer) open(p *commonpb.Payload) (*commonpb.Payload, error) {
	plain, err := s.aead.Open(nil, nil, p.GetData(), PlaceOf(p).bound(s.id))
	if err != nil {
		return nil, fmt.Errorf("decrypt payload with the key %s: %w", s.id, errAltered)
	}
	return unmarshal(plain)
}
