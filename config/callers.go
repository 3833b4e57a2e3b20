package config

import (
	"errors"
	"fmt"
	"strings"
)

// Callers configures whose tokens the worker verifies.
type Callers struct {
	// Issuers are the issuers with the audience of their tokens, each ISSUER=AUDIENCE; none
	// verifies no tokens.
	Issuers []string
}

// Accepted is an issuer and the audiences of its tokens that are accepted.
type Accepted struct {
	Issuer    string
	Audiences []string
}

// Accepted returns the issuers in the order of their first entries.
func (c Callers) Accepted() ([]Accepted, error) {
	var accepted []Accepted
	var problems []error
	at := map[string]int{}
	for _, entry := range c.Issuers {
		issuer, audience, found := strings.Cut(entry, "=")
		if !found || issuer == "" || audience == "" {
			problems = append(problems, fmt.Errorf("must be ISSUER=AUDIENCE, for example https://token.actions.githubusercontent.com=armature, not %q", entry))
			continue
		}
		i, known := at[issuer]
		if !known {
			i = len(accepted)
			at[issuer], accepted = i, append(accepted, Accepted{Issuer: issuer})
		}
		accepted[i].Audiences = append(accepted[i].Audiences, audience)
	}
	return accepted, errors.Join(problems...)
}

// check checks the section.
func (c Callers) check(p *problems) {
	if _, err := c.Accepted(); err != nil {
		p.add("callers.issuers", "%w", err)
	}
}
