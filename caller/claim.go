package caller

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"time"
)

// Claim is a claim of a token and a value that it has, or contains.
type Claim struct{ Name, Value string }

// ParseClaim reads NAME=VALUE, such as groups=platform.
func ParseClaim(text string) (Claim, error) {
	name, value, found := strings.Cut(text, "=")
	if !found || name == "" || value == "" {
		return Claim{}, fmt.Errorf("read claim %q: use NAME=VALUE, for example groups=platform", text)
	}
	return Claim{Name: name, Value: value}, nil
}

// String returns NAME=VALUE.
func (c Claim) String() string { return c.Name + "=" + c.Value }

// Caller is the verified sender of a request.
type Caller struct {
	// Issuer and Subject identify it: a subject is unique for its issuer only.
	Issuer, Subject string
	// Expiry is the end of the token.
	Expiry time.Time
	claims map[string]json.RawMessage
}

// spaced are the claims whose text is a list that spaces separate (RFC 8693, section 4.2,
// and Entra ID's name of it).
var spaced = []string{"scope", "scp"}

// Has reports whether the token has a claim with the value: as its text, as an element of
// its list, or as a word of its scopes. Case counts.
func (c Caller) Has(claim Claim) bool {
	raw := c.claims[claim.Name]
	var text string
	if json.Unmarshal(raw, &text) == nil {
		return text == claim.Value || slices.Contains(spaced, claim.Name) && slices.Contains(strings.Fields(text), claim.Value)
	}
	var list []json.RawMessage
	if json.Unmarshal(raw, &list) != nil {
		return false
	}
	return slices.ContainsFunc(list, func(element json.RawMessage) bool {
		var text string
		return json.Unmarshal(element, &text) == nil && text == claim.Value
	})
}

// omits reports whether the issuer left a claim out and names a place from which to read it
// (OpenID Connect Core 1.0, section 5.6.2): Entra ID does so with groups beyond 200.
func (c Caller) omits(claim Claim) bool {
	var places map[string]json.RawMessage
	return json.Unmarshal(c.claims["_claim_names"], &places) == nil && places[claim.Name] != nil
}

// Text returns a claim that is a text, such as preferred_username, and "" for any other.
// A user may be able to choose it: decide by Subject or a list of the issuer.
func (c Caller) Text(name string) string {
	var text string
	if json.Unmarshal(c.claims[name], &text) != nil {
		return ""
	}
	return text
}
