package backend

import (
	"cmp"
	"context"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/Azure/azure-sdk-for-go/sdk/azidentity"
	"github.com/armature-io/armature/activities"
	"github.com/armature-io/armature/internal/encryption"
	"github.com/armature-io/armature/internal/payload"
	"github.com/armature-io/armature/starter/internal/cli"
)

// EncryptionKeys are the keys of a command line, which override the variables: references,
// separated by commas or spaces, and the ID of the key that encrypts.
type EncryptionKeys struct{ Keys, WriteKey string }

// Load returns the converters of the flags and variables, with those of an embedder. Keys in key vaults are read with
// Azure's default credential (az login, AZURE_*).
func (k EncryptionKeys) Load(ctx context.Context, environment cli.Environment, embedded payload.Options) (*payload.Converters, error) {
	keys, _ := environment.LookupEnv(encryption.KeysVariable)
	writeKey, _ := environment.LookupEnv(encryption.WriteKeyVariable)
	require, _ := environment.LookupEnv(encryption.RequireVariable)
	settings := encryption.Settings{
		Keys:     strings.FieldsFunc(cmp.Or(k.Keys, keys), func(r rune) bool { return r == ',' || r == ' ' }),
		WriteKey: cmp.Or(k.WriteKey, writeKey), Require: require,
	}
	converters, err := encryption.Load(ctx, settings, encryption.Sources{LookupEnv: environment.LookupEnv, Vault: openVault}, embedded)
	if err != nil {
		return nil, cli.BadInput("%w; --encryption-keys and %s have the same form as in the worker's configuration", err, encryption.KeysVariable)
	}
	return converters, nil
}

func openVault() (encryption.Vault, error) {
	credential, err := azidentity.NewDefaultAzureCredential(nil)
	if err != nil {
		return nil, fmt.Errorf("find a credential for the key vault: %w", err)
	}
	return encryption.NewVault(credential, nil) //nolint:wrapcheck // the caller names the key
}

const encryptionCheck = "encryption"

// EncryptionFindings returns what doctor reports about the keys of a worker and of this CLI: nothing
// where neither has any.
func EncryptionFindings(worker *payload.Status, here payload.Status) []activities.Finding {
	if worker == nil {
		worker = &payload.Status{} // an older one, or one without keys
	}
	if len(worker.Keys) == 0 && len(here.Keys) == 0 {
		return nil
	}
	found := activities.Finding{Check: encryptionCheck, State: activities.FindingOK}
	failed := func(message, advice string) []activities.Finding {
		found.State, found.Message, found.Advice = activities.FindingError, message, advice
		return []activities.Finding{found}
	}
	for _, id := range slices.Sorted(maps.Keys(worker.Keys)) {
		if own := here.Keys[id]; own != "" && own != worker.Keys[id] {
			return failed(fmt.Sprintf("the worker and this armature have different keys under the ID %s (check values %s and %s)", id, worker.Keys[id], own),
				"give both the same key; a new key needs a new ID")
		}
	}
	switch {
	case here.WriteKey != "" && worker.Keys[here.WriteKey] == "":
		return failed("the worker that responded has no key "+here.WriteKey+", with which this armature encrypts",
			"add the key to encryption.keys of all workers before it is used to write")
	case worker.WriteKey != "" && here.Keys[worker.WriteKey] == "":
		return failed("the worker encrypts with the key "+worker.WriteKey+", which this armature does not have", "add it to "+encryption.KeysVariable)
	case worker.WriteKey != here.WriteKey:
		found.State = activities.FindingWarn
		found.Message = fmt.Sprintf("the worker %s, and this armature %s", writes(worker.WriteKey), writes(here.WriteKey))
		found.Advice = "once all sides have both keys, set encryption.write-key (" + encryption.WriteKeyVariable + ") to the same ID everywhere"
	case worker.WriteKey == "":
		found.State, found.Message = activities.FindingWarn, "both sides have keys for reading, and write clear payloads"
		found.Advice = "set encryption.write-key (" + encryption.WriteKeyVariable + ") to encrypt, or leave it so while encryption is introduced or removed"
	default:
		found.Message = fmt.Sprintf("worker and armature encrypt with the key %s (check value %s)", here.WriteKey, here.Keys[here.WriteKey])
	}
	for _, id := range slices.Sorted(maps.Keys(here.Keys)) {
		if worker.Keys[id] == "" && found.State == activities.FindingOK {
			found.State, found.Message = activities.FindingWarn, found.Message+"; the worker lacks the key "+id
			found.Advice = "add it to encryption.keys of all workers while workflows are encrypted with it"
		}
	}
	return []activities.Finding{found}
}

func writes(id string) string {
	if id == "" {
		return "writes clear payloads"
	}
	return "encrypts with the key " + id
}
