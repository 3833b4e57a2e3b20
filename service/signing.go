package service

import (
	"crypto/ed25519"
	"errors"
	"fmt"
	"time"

	"github.com/armature-io/armature/config"
	"github.com/armature-io/armature/internal/signing"
)

// newVerifier returns the verifier of the configured keys, nil without one.
func newVerifier(settings config.Signing, namespace string) (*signing.Verifier, error) {
	var keys []ed25519.PublicKey
	var problems []error
	for _, text := range settings.PublicKeys {
		key, err := signing.ParsePublicKey(text)
		if err != nil {
			problems = append(problems, fmt.Errorf("signing.public-keys: %w", err))
		}
		keys = append(keys, key)
	}
	if len(keys) == 0 || len(problems) > 0 {
		return nil, errors.Join(problems...)
	}
	verifier := signing.NewVerifier(keys, namespace, time.Now)
	verifier.MaxSpecAge = settings.MaxAge
	return verifier, nil
}
