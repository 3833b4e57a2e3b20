package issuer

import (
	"crypto/rand"
	"crypto/sha256"
	"html/template"
	"maps"
	"net/http"
	"net/url"
	"strings"
)

// Application is a program whose users log in at the issuer, with the authorization code
// flow (RFC 6749, section 4.1), and with PKCE (RFC 7636) if it sends a challenge.
type Application struct {
	ID, Secret string
	// Callback is the only address to which users return.
	Callback string
	// Audiences are those of access tokens, by the scope that asks for one. An access token
	// without such a scope is opaque, as one for the issuer itself.
	Audiences map[string]string
	// Users are the claims of each user beside the subject, by subject. They replace claims of
	// the login: an issuer that is not honest.
	Users map[string]map[string]any
}

// session is a login for which a code or a refresh token stands.
type session struct {
	user, scope, nonce string
	// challenge is the hash of the verifier that the exchange must have, "" for none.
	challenge string
}

// Register makes an application known. It replaces one with the same ID.
func (i *Issuer) Register(application Application) {
	i.mu.Lock()
	defer i.mu.Unlock()
	if i.applications == nil {
		i.applications, i.sessions = map[string]Application{}, map[string]session{}
	}
	i.applications[application.ID] = application
}

// loginPage asks for the name of the user. A password would test nothing here.
var loginPage = template.Must(template.New("login").Parse(`<!doctype html><title>Login</title>
<main><form method="post"><label>Name <input name="user"></label> <button>Log in</button></form></main>
`))

// authorize shows the page at which a user logs in, and sends users back with a code.
func (i *Issuer) authorize(w http.ResponseWriter, r *http.Request) {
	query := r.URL.Query()
	application, found := i.application(query.Get("client_id"))
	if !found || query.Get("redirect_uri") != application.Callback || query.Get("response_type") != "code" ||
		query.Has("code_challenge") && query.Get("code_challenge_method") != "S256" {
		http.Error(w, "no such application, callback, response type or challenge: "+r.URL.RawQuery, http.StatusBadRequest)
		return
	}
	if r.Method != http.MethodPost {
		_ = loginPage.Execute(w, nil)
		return
	}
	user := r.PostFormValue("user")
	if _, found := application.Users[user]; !found {
		http.Error(w, "no such user: "+user, http.StatusForbidden)
		return
	}
	code := i.remember(session{user: user, scope: query.Get("scope"), nonce: query.Get("nonce"), challenge: query.Get("code_challenge")})
	answer := url.Values{"code": {code}, "state": {query.Get("state")}}
	http.Redirect(w, r, application.Callback+"?"+answer.Encode(), http.StatusSeeOther)
}

// exchange answers a code or a refresh token, each of which counts once, with tokens.
func (i *Issuer) exchange(w http.ResponseWriter, r *http.Request) {
	id, secret, _ := r.BasicAuth()
	application, found := i.application(id)
	if !found || secret != application.Secret {
		http.Error(w, `{"error": "invalid_client"}`, http.StatusUnauthorized)
		return
	}
	grant := "code"
	if r.PostFormValue("grant_type") == "refresh_token" {
		grant = "refresh_token"
		i.Refreshes.Add(1)
	}
	i.mu.Lock()
	login, found := i.sessions[r.PostFormValue(grant)]
	delete(i.sessions, r.PostFormValue(grant))
	i.mu.Unlock()
	verifier := sha256.Sum256([]byte(r.PostFormValue("code_verifier")))
	if !found || login.challenge != "" && login.challenge != encode(verifier[:]) {
		http.Error(w, `{"error": "invalid_grant"}`, http.StatusBadRequest)
		return
	}
	i.write(w, map[string]any{
		"token_type": "Bearer", "expires_in": 3600, "access_token": i.accessToken(application, login), "id_token": i.idToken(application, login),
		"refresh_token": i.remember(session{user: login.user, scope: login.scope}),
	})
}

func (i *Issuer) accessToken(application Application, login session) string {
	for scope := range strings.FieldsSeq(login.scope) {
		if audience := application.Audiences[scope]; audience != "" {
			return i.Token(audience, login.user, application.Users[login.user])
		}
	}
	return rand.Text()
}

func (i *Issuer) idToken(application Application, login session) string {
	claims := maps.Clone(application.Users[login.user])
	if claims == nil {
		claims = map[string]any{}
	}
	if _, forged := claims["nonce"]; login.nonce != "" && !forged {
		claims["nonce"] = login.nonce
	}
	return i.Token(application.ID, login.user, claims)
}

// remember returns a text that stands for a login.
func (i *Issuer) remember(login session) string {
	i.mu.Lock()
	defer i.mu.Unlock()
	text := rand.Text()
	i.sessions[text] = login
	return text
}

func (i *Issuer) application(id string) (Application, bool) {
	i.mu.Lock()
	defer i.mu.Unlock()
	application, found := i.applications[id]
	return application, found
}
