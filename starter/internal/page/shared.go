package page

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"time"

	"github.com/armature-io/armature/caller"
	"github.com/armature-io/armature/internal/text"
	"github.com/coreos/go-oidc/v3/oidc"
	"golang.org/x/oauth2"
)

// SharedSettings state who may read the pages, and where.
type SharedSettings struct {
	// BaseURL is the address of the pages for browsers, https://HOST.
	BaseURL string
	// Issuer is where users log in. ClientID and ClientSecret are those of the pages there.
	Issuer, ClientID, ClientSecret string
	// Scopes are asked for beside openid.
	Scopes []string
	// Read are the claims of which the ID token of a user needs one.
	Read []caller.Claim
}

// Shared lets in the users of an issuer (OpenID Connect Core 1.0, code flow with PKCE). It
// keeps nothing: a session is an encrypted cookie, which ends with the program at the latest.
type Shared struct {
	host string
	// suffix has the port of the host for the names of cookies: a browser sends them to all
	// ports, and other pages on the host would end the session.
	suffix   string
	verifier *caller.Verifier
	// config lacks the addresses of the issuer, which it publishes.
	config oauth2.Config
	client *http.Client
	sealer sealer
	now    func() time.Time
	log    *slog.Logger
}

// NewShared returns the shared mode, or every problem of its settings. It sends no request.
func NewShared(settings SharedSettings, now func() time.Time, log *slog.Logger) (*Shared, error) {
	var problems []error
	base, err := url.Parse(settings.BaseURL)
	if err != nil || base.Scheme != "https" || base.Hostname() == "" || base.User != nil || strings.Trim(base.Path, "/") != "" || base.RawQuery != "" || base.Fragment != "" {
		problems = append(problems, fmt.Errorf("--base-url %q: use https and a host without a path, such as https://armature.example.com", settings.BaseURL))
		base = &url.URL{}
	}
	if settings.ClientID == "" || settings.ClientSecret == "" {
		problems = append(problems, errors.New("set --oidc-client-id and --oidc-client-secret: the issuer gives both to a registered application"))
	}
	if len(settings.Read) == 0 {
		problems = append(problems, fmt.Errorf("set --read: the claims of users who may read, such as groups=platform; iss=%s is every user of the issuer", cmp.Or(settings.Issuer, "ISSUER")))
	}
	// A token without the client ID as its audience was made for another program.
	verifier, err := caller.New(caller.Options{Issuer: settings.Issuer, Audiences: []string{cmp.Or(settings.ClientID, "-")}, Allow: settings.Read, Now: now})
	if err != nil {
		problems = append(problems, fmt.Errorf("--oidc-issuer: %w", err))
	}
	seals, err := newSealer()
	if err != nil {
		problems = append(problems, err)
	}
	if err := errors.Join(problems...); err != nil {
		return nil, err
	}
	host := strings.ToLower(strings.TrimSuffix(base.Host, ":443")) // as browsers write it
	suffix := ""
	if port := base.Port(); port != "" && port != "443" {
		suffix = "-" + port
	}
	return &Shared{
		host: host, suffix: suffix, verifier: verifier, sealer: seals, now: now, log: log,
		config: oauth2.Config{
			ClientID: settings.ClientID, ClientSecret: settings.ClientSecret,
			RedirectURL: "https://" + host + callbackPath, Scopes: append([]string{oidc.ScopeOpenID}, settings.Scopes...),
		},
		// A redirect would take the secret of the application along.
		client: &http.Client{Timeout: exchangeTimeout, CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }},
	}, nil
}

const (
	// attemptLifetime is how long a user may take to log in.
	attemptLifetime = 10 * time.Minute
	// exchangeTimeout bounds the exchange of a code for a token.
	exchangeTimeout = 15 * time.Second
	// maxReturnPath and maxName keep cookies below 4096 bytes, beyond which browsers drop them.
	maxReturnPath, maxName = 1500, 200

	// The prefix __Host- keeps other hosts of the domain from setting a cookie.
	sessionCookie = "__Host-armature-ui"
	attemptCookie = "__Host-armature-ui-login"

	loginPath    = "/login"
	callbackPath = "/login/callback"
	logoutPath   = "/logout"
	healthPath   = "/healthz"

	returnParameter  = "to"
	anotherParameter = "another"
)

// session is what a cookie says about a user. Tokens stay out of it.
type session struct {
	Subject string `json:"subject"`
	Name    string `json:"name"`
}

// attempt is a login that has begun. Its cookie ties it to the browser.
type attempt struct {
	State    string `json:"state"`
	Nonce    string `json:"nonce"`
	Verifier string `json:"verifier"`
	// To is the page that the user asked for.
	To string `json:"to"`
}

func (s *Shared) gate() gate {
	// The session cookie is Lax, so a link arrives with it. No GET changes anything.
	return gate{scheme: "https", hosts: []string{s.host}, opensLinks: true}
}

// handle adds the pages of the login.
func (s *Shared) handle(mux *http.ServeMux) {
	mux.HandleFunc("GET "+loginPath, s.begin)
	mux.HandleFunc("GET "+callbackPath, s.callback)
	mux.HandleFunc("POST "+logoutPath, s.logout)
}

// sessionKey is the key of the context for the session of a request.
type sessionKey struct{}

// userName returns the name of the user of a request, "" in the local mode.
func userName(ctx context.Context) string {
	user, _ := ctx.Value(sessionKey{}).(session)
	return user.Name
}

// guard lets in requests with a session. Others get a page that leads to the login by itself:
// after a redirect, the policy would refuse the issuer to the form of the search.
func (s *Shared) guard(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		var user session
		if s.read(r, sessionCookie, &user) {
			next.ServeHTTP(w, r.WithContext(context.WithValue(r.Context(), sessionKey{}, user)))
			return
		}
		m := message{Title: "Log in", Text: "Your session has ended, or has not begun.", Action: "Log in", Href: loginPath}
		if r.Method == http.MethodGet {
			m.Href += "?" + url.Values{returnParameter: {ownPath(r.URL.RequestURI())}}.Encode()
			m.Refresh = true
		}
		writeMessage(w, http.StatusUnauthorized, m)
	})
}

// begin sends the browser to the issuer.
func (s *Shared) begin(w http.ResponseWriter, r *http.Request) {
	endpoint, err := s.verifier.Endpoint(r.Context())
	if err != nil {
		s.refuse(w, err)
		return
	}
	to := ownPath(r.URL.Query().Get(returnParameter))
	a := attempt{State: oauth2.GenerateVerifier(), Nonce: oauth2.GenerateVerifier(), Verifier: oauth2.GenerateVerifier(), To: to}
	if err := s.write(w, attemptCookie, a, s.now().Add(attemptLifetime)); err != nil {
		s.refuse(w, err)
		return
	}
	config := s.config
	config.Endpoint = endpoint
	options := []oauth2.AuthCodeOption{oidc.Nonce(a.Nonce), oauth2.S256ChallengeOption(a.Verifier)}
	if r.URL.Query().Has(anotherParameter) {
		options = append(options, oauth2.SetAuthURLParam("prompt", "select_account"))
	}
	http.Redirect(w, r, config.AuthCodeURL(a.State, options...), http.StatusSeeOther)
}

// callback ends a login that this browser began.
func (s *Shared) callback(w http.ResponseWriter, r *http.Request) {
	var a attempt
	begun := s.read(r, attemptCookie, &a)
	s.remove(w, attemptCookie)
	query := r.URL.Query()
	switch {
	case !begun || a.State == "" || query.Get("state") != a.State:
		s.log.Warn("login refused", "error", "it did not begin in this browser")
		writeMessage(w, http.StatusForbidden, message{
			Title: "This login did not begin here", Text: "It began in another browser or tab, or more than 10 minutes ago.", Action: "Log in", Href: loginPath,
		})
		return
	case query.Has("error"):
		s.refuse(w, &caller.RefusedError{Reason: "the issuer reports " + query.Get("error") + " " + query.Get("error_description")})
		return
	}
	user, err := s.finish(r.Context(), query.Get("code"), a)
	if err != nil {
		s.refuse(w, err)
		return
	}
	end := s.now().Add(sessionLifetime)
	if user.Expiry.Before(end) {
		end = user.Expiry
	}
	name := cmp.Or(user.Text("name"), user.Text("preferred_username"), user.Text("email"), user.Subject)
	if err := s.write(w, sessionCookie, session{Subject: text.Cut(user.Subject, maxName), Name: text.Cut(name, maxName)}, end); err != nil {
		s.refuse(w, err)
		return
	}
	s.log.Info("login", "issuer", user.Issuer, "subject", user.Subject, "end", end.UTC())
	http.Redirect(w, r, ownPath(a.To), http.StatusSeeOther)
}

// finish exchanges the code for an ID token and verifies it.
func (s *Shared) finish(ctx context.Context, code string, a attempt) (caller.Caller, error) {
	config := s.config
	var err error
	if config.Endpoint, err = s.verifier.Endpoint(ctx); err != nil {
		return caller.Caller{}, err
	}
	token, err := config.Exchange(context.WithValue(ctx, oauth2.HTTPClient, s.client), code, oauth2.VerifierOption(a.Verifier))
	if refused, ok := errors.AsType[*oauth2.RetrieveError](err); ok && refused.Response.StatusCode < http.StatusInternalServerError {
		return caller.Caller{}, &caller.RefusedError{Reason: "the issuer gave no token for the code: " + cmp.Or(refused.ErrorCode, refused.Response.Status)}
	}
	if err != nil {
		return caller.Caller{}, &caller.UnavailableError{Err: err}
	}
	id, _ := token.Extra("id_token").(string)
	user, err := s.verifier.Verify(ctx, id)
	if err != nil {
		return caller.Caller{}, err
	}
	switch {
	case user.Text("nonce") != a.Nonce:
		return caller.Caller{}, &caller.RefusedError{Reason: "it was made for another login (nonce)"}
	case !user.Expiry.After(s.now()): // the accepted difference of clocks is no session
		return caller.Caller{}, &caller.RefusedError{Reason: "it has expired; compare the clocks of the issuer and of this server"}
	}
	return user, nil
}

// refuse shows why a login failed.
func (s *Shared) refuse(w http.ResponseWriter, err error) {
	status, m := http.StatusServiceUnavailable, message{Title: "You cannot log in now", Text: err.Error(), Action: "Try again", Href: loginPath}
	attributes := []any{"error", err}
	if denied, ok := errors.AsType[*caller.NotAllowedError](err); ok {
		attributes = append(attributes, "issuer", denied.Caller.Issuer, "subject", denied.Caller.Subject)
		status = http.StatusForbidden
		m = message{
			Title: "You may not read these pages", Text: err.Error() + ". These pages are for users with one of these claims; the administrator of the issuer grants them.",
			Action: "Log in as another user", Href: loginPath + "?" + anotherParameter,
		}
	} else if caller.IsRefusal(err) {
		status, m.Title = http.StatusForbidden, "The login failed"
	}
	s.log.Warn("login refused", attributes...)
	writeMessage(w, status, m)
}

// logout ends the session of a browser. The session of the issuer stays.
func (s *Shared) logout(w http.ResponseWriter, r *http.Request) {
	var user session
	if s.read(r, sessionCookie, &user) {
		s.log.Info("logout", "subject", user.Subject)
	}
	s.remove(w, sessionCookie)
	writeMessage(w, http.StatusOK, message{Title: "Logged out", Text: "The session of the issuer stays: it may ask for no password at the next login.", Action: "Log in", Href: loginPath})
}

// write sets an encrypted cookie. Lax, because the browser comes back from another site.
func (s *Shared) write(w http.ResponseWriter, name string, value any, end time.Time) error {
	name += s.suffix
	content, err := s.sealer.seal(name, value, end)
	if err != nil {
		return err
	}
	http.SetCookie(w, &http.Cookie{
		Name: name, Value: content, Path: "/", Secure: true, HttpOnly: true, SameSite: http.SameSiteLaxMode, MaxAge: max(int(end.Sub(s.now()).Seconds()), 1),
	})
	return nil
}

// read reports whether a request has a cookie that was sealed here and has not ended.
func (s *Shared) read(r *http.Request, name string, value any) bool {
	name += s.suffix
	cookie, err := r.Cookie(name)
	return err == nil && s.sealer.open(name, cookie.Value, value, s.now()) == nil
}

func (s *Shared) remove(w http.ResponseWriter, name string) {
	http.SetCookie(w, &http.Cookie{Name: name + s.suffix, Path: "/", Secure: true, HttpOnly: true, SameSite: http.SameSiteLaxMode, MaxAge: -1})
}

// ownPath returns the path and query of a page here, and "/" for any other address: a forged
// link must not lead elsewhere after the login, or back to it.
func ownPath(address string) string {
	parsed, err := url.Parse(address)
	if err != nil || len(address) > maxReturnPath || parsed.IsAbs() || parsed.Host != "" || strings.ContainsRune(address, '\\') ||
		!strings.HasPrefix(parsed.Path, "/") || strings.HasPrefix(parsed.Path, "//") ||
		slices.ContainsFunc([]string{loginPath, logoutPath}, func(path string) bool { return strings.HasPrefix(parsed.Path, path) }) {
		return "/"
	}
	return parsed.RequestURI()
}

// answerProbes answers the probes of a cluster, which know no host name and have no session.
func answerProbes(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.URL.Path != healthPath {
			next.ServeHTTP(w, r)
			return
		}
		w.Header().Set("Content-Type", "text/plain; charset=utf-8")
		_, _ = w.Write([]byte("ok\n"))
	})
}
