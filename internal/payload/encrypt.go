package payload

import (
	"errors"
	"fmt"

	commonpb "go.temporal.io/api/common/v1"
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

// KeyID returns the ID of the key of an encrypted payload, "" for any other payload.
func KeyID(p *commonpb.Payload) string {
	if string(p.GetMetadata()[converter.MetadataEncoding]) != EncryptedEncoding {
		return ""
	}
	return string(p.GetMetadata()[MetadataKeyID])
}

// CheckReadable returns a *MissingKeyError if the payload was encrypted with a key that the
// converters do not have.
func (c *Converters) CheckReadable(p *commonpb.Payload) error { return c.keys.check(p) }

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
}

func newChain(keys keyring) *chain { return &chain{codec: newCodec(), keys: keys} }

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
	return c.keys.write.seal(compressed)
}

func (c *chain) decode(p *commonpb.Payload) (*commonpb.Payload, error) {
	if err := c.keys.check(p); err != nil {
		return nil, err
	}
	if s := c.keys.read[KeyID(p)]; s != nil {
		opened, err := s.open(p)
		if err != nil {
			return nil, err
		}
		p = opened
	}
	return c.codec.decode(p)
}

// seal encrypts a payload with its metadata: nonce, ciphertext and tag.
func (s *sealer) seal(p *commonpb.Payload) (*commonpb.Payload, error) {
	plain, err := proto.Marshal(p)
	if err != nil {
		return nil, fmt.Errorf("marshal payload: %w", err)
	}
	return &commonpb.Payload{
		Metadata: map[string][]byte{converter.MetadataEncoding: []byte(EncryptedEncoding), MetadataKeyID: []byte(s.id)},
		Data:     s.aead.Seal(nil, nil, plain, s.bound),
	}, nil
}

// open decrypts what seal encrypted.
func (s *sealer) open(p *commonpb.Payload) (*commonpb.Payload, error) {
	plain, err := s.aead.Open(nil, nil, p.GetData(), s.bound)
	if err != nil {
		return nil, fmt.Errorf("decrypt payload with the key %s: %w", s.id, errAltered)
	}
	return unmarshal(plain)
}

// boundTo returns the authenticated data, which binds the encoding and the ID of the key to
// the ciphertext.
func boundTo(id string) []byte { return []byte(EncryptedEncoding + "\x00" + id) }
