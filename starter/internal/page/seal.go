package page

import (
	"crypto/aes"
	"crypto/cipher"
	"crypto/rand"
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"time"
)

// sealer encrypts what browsers keep in cookies, with a key that ends with the program.
type sealer struct{ aead cipher.AEAD }

func newSealer() (sealer, error) {
	key := make([]byte, 32)
	_, _ = rand.Read(key) // it never fails
	block, err := aes.NewCipher(key)
	if err != nil {
		return sealer{}, fmt.Errorf("make the key of cookies: %w", err)
	}
	aead, err := cipher.NewGCMWithRandomNonce(block)
	if err != nil {
		return sealer{}, fmt.Errorf("make the key of cookies: %w", err)
	}
	return sealer{aead}, nil
}

// sealed is the clear content of a cookie.
type sealed struct {
	End   time.Time       `json:"end"`
	Value json.RawMessage `json:"value"`
}

var errSeal = errors.New("it is not sealed here, or has ended")

// seal returns a value that open returns until its end, for the same name only.
func (s sealer) seal(name string, value any, end time.Time) (string, error) {
	inner, err := json.Marshal(value)
	if err != nil {
		return "", fmt.Errorf("seal %s: %w", name, err)
	}
	text, err := json.Marshal(sealed{End: end, Value: inner})
	if err != nil {
		return "", fmt.Errorf("seal %s: %w", name, err)
	}
	return base64.RawURLEncoding.EncodeToString(s.aead.Seal(nil, nil, text, []byte(name))), nil
}

// open reads a sealed value.
func (s sealer) open(name, text string, value any, now time.Time) error {
	encrypted, err := base64.RawURLEncoding.DecodeString(text)
	if err != nil {
		return errSeal
	}
	opened, err := s.aead.Open(nil, nil, encrypted, []byte(name))
	if err != nil {
		return errSeal
	}
	var content sealed
	if json.Unmarshal(opened, &content) != nil || !now.Before(content.End) || json.Unmarshal(content.Value, value) != nil {
		return errSeal
	}
	return nil
}
