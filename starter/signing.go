package starter

import (
	"github.com/armature-io/armature/internal/signing"
	"github.com/armature-io/armature/starter/internal/backend"
	"github.com/spf13/cobra"
)

// addSigningKey adds the flag with the key.
func (a *app) addSigningKey(c *cobra.Command) {
	c.Flags().StringVar(&a.signingKey, "signing-key", "", "sign with the private key in this `file` (environment: "+backend.SigningKeyVariable+", a file or the key itself)")
}

// signer returns the signer of a connection, nil without a key. Only what the user passed
// is signed: manifests, and IDs that the command shows. What a worker returns is not.
func (a *app) signer(b *connection) (*signing.Signer, error) {
	return backend.LoadSigner(a.signingKey, a.environment, b.namespace, a.now)
}
