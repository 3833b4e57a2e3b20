package backend

import (
	"errors"
	"io/fs"
	"os"
	"slices"
	"strings"
	"time"

	"github.com/armature-io/armature/activities"
	"github.com/armature-io/armature/internal/signing"
	"github.com/armature-io/armature/starter/internal/cli"
)

// SigningKeyVariable is the environment variable with the private key: its file, or its text in PEM.
const SigningKeyVariable = "ARMATURE_SIGNING_KEY"

// LoadSigner returns the signer for a namespace. It is nil, which signs nothing, where neither
// the flag nor the environment has a key.
func LoadSigner(file string, environment cli.Environment, namespace string, now func() time.Time) (*signing.Signer, error) {
	source, text := "--signing-key "+file, []byte(nil)
	if file == "" {
		value, _ := environment.LookupEnv(SigningKeyVariable)
		if value == "" {
			return nil, nil //nolint:nilnil // a nil signer signs nothing
		}
		source, file = SigningKeyVariable, value
		if strings.Contains(value, "-----BEGIN") {
			text = []byte(value)
		}
	}
	if text == nil {
		var err error
		if text, err = os.ReadFile(file); err != nil {
			if failed, ok := errors.AsType[*fs.PathError](err); ok {
				err = failed.Err // a key that was passed in place of its file stays unnamed
			}
			return nil, cli.BadInput("read the key of %s: %w", sourceName(source), err)
		}
	}
	key, err := signing.ParsePrivateKey(text)
	if err != nil {
		return nil, cli.BadInput("read the key of %s: %w", sourceName(source), err)
	}
	return signing.NewSigner(key, namespace, now), nil
}

// sourceName returns the flag or the variable without its value.
func sourceName(source string) string {
	name, _, _ := strings.Cut(source, " ")
	return name
}

// SignatureFindings returns what doctor reports about signatures: nothing where neither side has
// a key.
func SignatureFindings(worker *activities.SignatureStatus, key *signing.Signer) []activities.Finding {
	found := activities.Finding{Check: "signatures", State: activities.FindingOK}
	switch {
	case worker == nil && key == nil:
		return nil
	case worker == nil:
		found.State, found.Message = activities.FindingWarn, "a key is configured here, and the worker that responded checks no signatures"
		found.Advice = "set signing.public-keys in the configuration of all workers (docs/security.md)"
	case key == nil:
		found.State, found.Message = activities.FindingWarn, "the worker writes signed specs only, and no key is configured here: what is applied from here is not written"
		found.Advice = "pass --signing-key FILE, or set " + SigningKeyVariable
	case !slices.Contains(worker.Keys, key.KeyID()):
		found.State, found.Message = activities.FindingError, "the worker does not accept the key "+key.KeyID()+"; it accepts "+strings.Join(worker.Keys, ", ")
		found.Advice = "add the public key to signing.public-keys of all workers, or sign with another key"
	default:
		found.Message = "the worker accepts the key " + key.KeyID()
	}
	if worker != nil && !worker.Required && found.State != activities.FindingError {
		found.State, found.Message = activities.FindingWarn, found.Message+"; it only warns (signing.mode)"
		found.Advice = "set signing.mode to require when all manifests were applied with a key"
	}
	return []activities.Finding{found}
}
