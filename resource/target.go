package resource

// Target is what a request needs to read a resource and to mask the result.
type Target struct {
	ID         ID     `json:"id"`
	APIVersion string `json:"apiVersion"`
	// Credential names one of the worker's credentials; "" leaves the choice to
	// the subscription (arm.WithCredential).
	Credential string `json:"credential,omitempty"`
	// Plain are the paths of texts that look like credentials and stay readable.
	Plain []string `json:"plain,omitempty"`
	// Secret are the paths that are always masked.
	Secret []string `json:"secret,omitempty"`
	// SecretRefs are the references of secrets (env:NAME). Their values are masked
	// wherever they occur.
	SecretRefs []string `json:"secretRefs,omitempty"`
	// Parts are the paths of the parts that the manifest states something of, and that other
	// requests than the GET return.
	Parts []string `json:"parts,omitempty"`
}

// Target returns the part of the desired state that a read needs.
func (d Desired) Target() Target {
	return Target{
		ID: d.ID, APIVersion: d.APIVersion, Credential: d.Credential,
		Plain: d.Plain, Secret: d.Secret, SecretRefs: d.SecretRefs,
	}
}
