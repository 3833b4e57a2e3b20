package caller

import (
	"context"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"slices"
	"strings"
)

// Group verifies the tokens of several issuers, such as the one of pipelines and the one of
// people.
type Group []*Verifier

// Verify returns the caller that a token names, as the verifier of its issuer does. It
// refuses a token of any other issuer.
func (g Group) Verify(ctx context.Context, token string) (Caller, error) {
	if len(token) > maxTokenSize {
		return Caller{}, tooLarge(token)
	}
	issuer := statedIssuer(token)
	var refusal error = &RefusedError{fmt.Sprintf("its issuer is %q, want %s", plainText(issuer), strings.Join(g.issuers(), " or "))}
	for _, verifier := range g {
		if verifier.options.Issuer != issuer {
			continue
		}
		caller, err := verifier.Verify(ctx, token)
		if err == nil {
			return caller, nil
		}
		if IsRefusal(refusal) { // the token may be for a verifier that cannot verify it now
			refusal = err
		}
	}
	return Caller{}, refusal
}

func (g Group) issuers() []string {
	var issuers []string
	for _, verifier := range g {
		if !slices.Contains(issuers, verifier.options.Issuer) {
			issuers = append(issuers, verifier.options.Issuer)
		}
	}
	return issuers
}

// statedIssuer returns the issuer that a token states, which nothing has verified yet; ""
// for none.
func statedIssuer(token string) string {
	parts := strings.Split(token, ".")
	if len(parts) != 3 {
		return ""
	}
	encoded, err := base64.RawURLEncoding.DecodeString(parts[1])
	if err != nil {
		return ""
	}
	var claims struct {
		Issuer string `json:"iss"`
	}
	if json.Unmarshal(encoded, &claims) != nil {
		return ""
	}
	return claims.Issuer
}
