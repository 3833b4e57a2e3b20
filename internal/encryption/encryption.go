// Package encryption reads the keys of payloads from where the configuration says: files,
// environment variables and key vaults. Worker, CLI and codec server share it. It must not
// know what is encrypted: package payload does that.
package encryption

import (
	"context"
	"encoding/base64"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"strings"
	"time"

	"github.com/armature-io/armature/internal/keyref"
	"github.com/armature-io/armature/internal/payload"
)

// Bounds of reading keys.
const (
	// maxKeyFile is the largest file with a key in bytes.
	maxKeyFile = 64 << 10
	// vaultTimeout bounds all requests for one key, with their retries.
	vaultTimeout = 30 * time.Second
)

// Variables of the configuration, the same for worker, CLI and codec server.
const (
	KeysVariable     = "ARMATURE_ENCRYPTION_KEYS"
	WriteKeyVariable = "ARMATURE_ENCRYPTION_WRITE_KEY"
	RequireVariable  = "ARMATURE_ENCRYPTION_REQUIRE"
)

// Settings are the section encryption of the configuration. The zero value encrypts nothing.
type Settings struct {
	// Keys are references to the keys for reading, each ID=KIND:PLACE.
	Keys []string
	// WriteKey is the ID of the key for writing; "" writes clear payloads.
	WriteKey string
	// Require is the time from which on runs have no clear payloads, in RFC 3339; "" for never.
	Require string
}

// Vault reads from key vaults.
type Vault interface {
	// Secret returns the value of a secret, by its identifier (https://...).
	Secret(ctx context.Context, identifier string) (string, error)
	// Unwrap returns what a key of a vault has wrapped, by the key's identifier.
	Unwrap(ctx context.Context, identifier, algorithm string, wrapped []byte) ([]byte, error)
}

// Sources are where keys are read from.
type Sources struct {
	// LookupEnv returns an environment variable; nil means os.LookupEnv.
	LookupEnv func(name string) (string, bool)
	// Vault opens the connection to key vaults. It is called for keys that need one.
	Vault func() (Vault, error)
}

// Load returns the converters of the settings, with the base converters of options. The
// error names each key that cannot be read, and never its bytes.
func Load(ctx context.Context, settings Settings, sources Sources, options payload.Options) (*payload.Converters, error) {
	refs, err := keyref.Parse(settings.Keys)
	if err == nil {
		err = keyref.CheckWriteKey(refs, settings.WriteKey)
	}
	if err == nil {
		options.Require, err = keyref.ParseRequire(settings.Require, settings.WriteKey)
	}
	if err != nil {
		return nil, fmt.Errorf("encryption: %w", err)
	}
	if settings.WriteKey != "" && os.Getenv(memoFlagVariable) == "0" {
		return nil, fmt.Errorf("encryption: %s=0 makes the Temporal SDK write memos in clear; remove the variable", memoFlagVariable)
	}
	var problems []error
	for _, ref := range refs {
		secret, err := read(ctx, ref, sources)
		if err != nil {
			problems = append(problems, fmt.Errorf("encryption.keys: read the key %s from %s: %w", ref.ID, ref, err))
		}
		options.Keys = append(options.Keys, payload.Key{ID: ref.ID, Secret: secret})
	}
	if err := errors.Join(problems...); err != nil {
		return nil, err
	}
	options.WriteKey = settings.WriteKey
	converters, err := payload.New(options)
	if err != nil {
		return nil, fmt.Errorf("encryption: %w", err)
	}
	return converters, nil
}

// memoFlagVariable overrides whether the SDK encodes memos with the data converter (flag 7
// of sdk-go, SDKFlagMemoUserDCEncode).
const memoFlagVariable = "TEMPORAL_SDK_FLAG_7"

// read returns the bytes of a key.
func read(ctx context.Context, ref keyref.Ref, sources Sources) ([]byte, error) {
	switch ref.Kind {
	case keyref.Env:
		lookup := sources.LookupEnv
		if lookup == nil {
			lookup = os.LookupEnv
		}
		text, _ := lookup(ref.At)
		if text == "" {
			return nil, errors.New("the variable is not set, or empty")
		}
		return parseKey(text)
	case keyref.File:
		text, err := readFile(ref.At)
		if err != nil {
			return nil, err
		}
		return parseKey(string(text))
	}
	if sources.Vault == nil {
		return nil, errors.New("no key vault can be reached from here")
	}
	vault, err := sources.Vault()
	if err != nil {
		return nil, err
	}
	ctx, cancel := context.WithTimeout(ctx, vaultTimeout)
	defer cancel()
	if ref.Kind == keyref.Wrapped {
		return unwrap(ctx, ref.At, vault)
	}
	text, err := vault.Secret(ctx, ref.At)
	if err != nil {
		return nil, err //nolint:wrapcheck // the caller names the key and its place
	}
	return parseKey(text)
}

func readFile(path string) ([]byte, error) {
	info, err := os.Stat(path)
	if err != nil {
		return nil, err //nolint:wrapcheck // its text names the file
	}
	if info.Size() > maxKeyFile {
		return nil, fmt.Errorf("the file has %d bytes, more than %d", info.Size(), maxKeyFile)
	}
	return os.ReadFile(path) //nolint:wrapcheck // as above
}

// errKeyForm never repeats the key.
var errKeyForm = fmt.Errorf("the key must be %d random bytes in hex or base64; generate one with openssl rand -hex %d", payload.KeySize, payload.KeySize)

// parseKey parses a key in hex or base64.
func parseKey(text string) ([]byte, error) {
	text = strings.TrimSpace(text)
	if key, err := hex.DecodeString(text); err == nil && len(key) == payload.KeySize {
		return key, nil
	}
	plain := strings.NewReplacer("-", "+", "_", "/").Replace(strings.TrimRight(text, "="))
	if key, err := base64.RawStdEncoding.DecodeString(plain); err == nil && len(key) == payload.KeySize {
		return key, nil
	}
	return nil, errKeyForm
}

// wrappedKey is a file with a wrapped key: the response of Key Vault's wrapkey.
type wrappedKey struct {
	// KID is the identifier of the key that wrapped it, with its version.
	KID string `json:"kid"`
	// Algorithm is Key Vault's name of the algorithm; "" is RSA-OAEP-256.
	Algorithm string `json:"alg"`
	// Value is the wrapped key in base64url.
	Value string `json:"value"`
}

var errWrappedForm = errors.New(`the file must be the response of Key Vault's wrapkey: {"kid": "https://VAULT.vault.azure.net/keys/NAME/VERSION", "value": "..."}, and "alg" unless it is RSA-OAEP-256`)

// unwrap returns the key in a file that a key of a vault unwraps.
func unwrap(ctx context.Context, path string, vault Vault) ([]byte, error) {
	text, err := readFile(path)
	if err != nil {
		return nil, err
	}
	var file wrappedKey
	if json.Unmarshal(text, &file) != nil || !strings.HasPrefix(file.KID, "https://") {
		return nil, errWrappedForm
	}
	wrapped, err := base64.RawURLEncoding.DecodeString(strings.TrimRight(file.Value, "="))
	if err != nil || len(wrapped) == 0 {
		return nil, errWrappedForm
	}
	if file.Algorithm == "" {
		file.Algorithm = "RSA-OAEP-256"
	}
	key, err := vault.Unwrap(ctx, file.KID, file.Algorithm, wrapped)
	if err != nil {
		return nil, err //nolint:wrapcheck // the caller names the key and its place
	}
	if len(key) != payload.KeySize {
		return nil, errKeyForm
	}
	return key, nil
}
