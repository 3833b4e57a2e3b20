package starter

import (
	"errors"
	"io/fs"
	"log/slog"
	"net/url"
	"os"
	"strings"

	"github.com/armature-io/armature/caller"
	"github.com/armature-io/armature/starter/internal/cli"
	"github.com/armature-io/armature/starter/internal/page"
	"github.com/spf13/pflag"
)

// clientSecretVariable has the secret itself, so it is no default of a flag: help shows those.
const clientSecretVariable = "ARMATURE_UI_OIDC_CLIENT_SECRET"

// uiLogin are the flags of the shared mode.
type uiLogin struct {
	baseURL, issuer, clientID, secretFile string
	scopes, read                          []string
}

// register adds the flags. Variable returns the value of an environment variable, or "".
func (l *uiLogin) register(flags *pflag.FlagSet, variable func(name string) string) {
	text := func(into *string, flag, name, meaning string) {
		flags.StringVar(into, flag, variable(name), meaning+" (environment: "+name+")")
	}
	text(&l.baseURL, "base-url", "ARMATURE_UI_BASE_URL", "address of the pages for browsers, https://HOST: users log in")
	text(&l.issuer, "oidc-issuer", "ARMATURE_UI_OIDC_ISSUER", "issuer (OpenID Connect) at which users log in, a URL")
	text(&l.clientID, "oidc-client-id", "ARMATURE_UI_OIDC_CLIENT_ID", "ID of the application at the issuer; its redirect URI is https://HOST/login/callback")
	flags.StringVar(&l.secretFile, "oidc-client-secret", "", "`file` with the secret of the application (environment: "+clientSecretVariable+", the secret itself)")
	list := func(into *[]string, flag, name, meaning string) {
		flags.StringSliceVar(into, flag, split(variable(name)), meaning+" (environment: "+name+")")
	}
	list(&l.scopes, "oidc-scopes", "ARMATURE_UI_OIDC_SCOPES", "scopes to ask for beside openid, such as profile")
	list(&l.read, "read", "ARMATURE_UI_READ", "claims of which the ID token of a user needs one to read, NAME=VALUE, for example groups=platform")
}

// split returns the parts of a list of an environment variable.
func split(list string) []string {
	return strings.FieldsFunc(list, func(r rune) bool { return r == ',' || r == ' ' })
}

// shared returns the shared mode, nil if no setting asks for it.
func (a *app) shared(l uiLogin) (*page.Shared, error) {
	secret, _ := a.environment.LookupEnv(clientSecretVariable)
	if l.baseURL+l.issuer+l.clientID+l.secretFile+secret == "" && len(l.scopes)+len(l.read) == 0 {
		return nil, nil //nolint:nilnil // the local mode
	}
	settings := page.SharedSettings{BaseURL: l.baseURL, Issuer: l.issuer, ClientID: l.clientID, ClientSecret: secret, Scopes: l.scopes}
	if l.secretFile != "" {
		content, err := os.ReadFile(l.secretFile)
		if err != nil {
			if failed, ok := errors.AsType[*fs.PathError](err); ok {
				err = failed.Err // a secret that was passed in place of its file stays unnamed
			}
			return nil, cli.BadInput("read the file of --oidc-client-secret: %w; use the path of a file, or set "+clientSecretVariable+" to the secret", err)
		}
		settings.ClientSecret = strings.TrimSpace(string(content))
	}
	for _, text := range l.read {
		claim, err := caller.ParseClaim(strings.TrimSpace(text))
		if err != nil {
			return nil, cli.BadInput("--read: %w", err)
		}
		settings.Read = append(settings.Read, claim)
	}
	shared, err := page.NewShared(settings, a.now, slog.New(slog.NewJSONHandler(a.err, nil)))
	if err != nil {
		return nil, cli.BadInput("%w", err)
	}
	return shared, nil
}

// otherPages reads the addresses of other pages, NAME=ADDRESS.
func otherPages(list []string) ([]page.Other, error) {
	var links []page.Other
	for _, text := range list {
		name, address, _ := strings.Cut(strings.TrimSpace(text), "=")
		parsed, err := url.Parse(address)
		if name == "" || err != nil || parsed.Host == "" || parsed.Scheme != "https" && parsed.Scheme != "http" {
			return nil, cli.BadInput("--others %q: use NAME=ADDRESS, such as staging=https://armature.staging.example.com", text)
		}
		links = append(links, page.Other{Name: name, Address: address})
	}
	return links, nil
}
