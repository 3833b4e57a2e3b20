package page

import (
	"bytes"
	"io"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"net/url"
	"strings"
	"testing"
	"time"

	"github.com/armature-io/armature/caller"
	"github.com/armature-io/armature/internal/testonly/issuer"
	"github.com/armature-io/armature/starter/internal/backend"
	"github.com/armature-io/armature/workflows"
)

const (
	sharedHost = "armature.example.com"
	uiClient   = "armature-ui"
	uiSecret   = "ui-secret-0815"
)

// team is a server whose users log in at an issuer.
type team struct {
	*world
	t      *testing.T
	issuer *issuer.Issuer
	server *Server
	log    *bytes.Buffer
}

func newTeam(t *testing.T, records ...backend.Record) *team {
	t.Helper()
	m := &team{world: newWorld(records...), t: t, issuer: issuer.Start(t), log: &bytes.Buffer{}}
	m.now = time.Now() // as the issuer has it
	in := func(d time.Duration) int64 { return m.now.Add(d).Unix() }
	platform := []string{"staff", "platform"}
	m.issuer.Register(issuer.Application{
		ID: uiClient, Secret: uiSecret, Callback: "https://" + sharedHost + "/login/callback",
		Users: map[string]map[string]any{
			"ann": {"groups": platform, "name": "Ann <b>"}, "eve": {"groups": []string{"staff"}},
			"many": {"_claim_names": map[string]string{"groups": "src1"}, "_claim_sources": map[string]any{"src1": map[string]string{"endpoint": "https://graph.example.com/"}}},
			"long": {"groups": platform, "exp": in(48 * time.Hour)}, "old": {"groups": platform, "exp": in(-2 * time.Minute)}, "just": {"groups": platform, "exp": in(-30 * time.Second)},
			"audience": {"groups": platform, "aud": "grafana"}, "issuer": {"groups": platform, "iss": "https://login.example.org"}, "nonce": {"groups": platform, "nonce": "of-another-login"},
		},
	})
	m.server = m.newServer(m.settings())
	return m
}

func (m *team) settings() SharedSettings {
	return SharedSettings{
		BaseURL: "https://" + sharedHost, Issuer: m.issuer.URL, ClientID: uiClient, ClientSecret: uiSecret, Scopes: []string{"profile"},
		Read: []caller.Claim{{Name: "groups", Value: "platform"}},
	}
}

func (m *team) newServer(settings SharedSettings) *Server {
	m.t.Helper()
	options := m.options()
	options.Others = []Other{{Name: "staging", Address: "https://armature.staging.example.com"}}
	var err error
	if options.Shared, err = NewShared(settings, m.clock, slog.New(slog.NewJSONHandler(m.log, nil))); err != nil {
		m.t.Fatal(err)
	}
	return New(options, "0.0.0.0:8420")
}

// visitor is a browser of the team.
type visitor struct {
	*team
	cookies map[string]*http.Cookie
}

func (m *team) visitor() *visitor { return &visitor{team: m, cookies: map[string]*http.Cookie{}} }

// send sends a request with further headers, in pairs, and keeps cookies as a browser does.
func (v *visitor) send(method, path string, headers ...string) *httptest.ResponseRecorder {
	v.t.Helper()
	request := httptest.NewRequestWithContext(v.t.Context(), method, path, nil)
	request.Host = sharedHost
	for i := 0; i+1 < len(headers); i += 2 {
		if headers[i] == "Host" {
			request.Host = headers[i+1]
		}
		request.Header.Set(headers[i], headers[i+1])
	}
	for _, cookie := range v.cookies {
		request.AddCookie(cookie)
	}
	answer := httptest.NewRecorder()
	v.server.Handler().ServeHTTP(answer, request)
	for _, cookie := range answer.Result().Cookies() {
		v.cookies[cookie.Name] = cookie
		if cookie.MaxAge < 0 {
			delete(v.cookies, cookie.Name)
		}
	}
	return answer
}

func (v *visitor) get(path string, headers ...string) *httptest.ResponseRecorder {
	v.t.Helper()
	return v.send(http.MethodGet, path, headers...)
}

// back is the request of a browser that another site sent here.
func (v *visitor) back(path string) *httptest.ResponseRecorder {
	v.t.Helper()
	return v.get(path, "Sec-Fetch-Site", "cross-site", "Sec-Fetch-Mode", "navigate", "Sec-Fetch-Dest", "document")
}

// begin logs in at the issuer, and returns the path to which the issuer sends the browser.
func (v *visitor) begin(user, to string) string {
	v.t.Helper()
	answer := v.get("/login?" + url.Values{"to": {to}}.Encode())
	location := answer.Header().Get("Location")
	if answer.Code != http.StatusSeeOther || !strings.HasPrefix(location, v.issuer.URL+"/authorize?") {
		v.t.Fatalf("the login answers %d to %q: %s", answer.Code, location, answer.Body)
	}
	client := http.Client{CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }}
	response, err := client.PostForm(location, url.Values{"user": {user}})
	if err != nil {
		v.t.Fatal(err)
	}
	defer response.Body.Close()
	path, found := strings.CutPrefix(response.Header.Get("Location"), "https://"+sharedHost)
	if !found {
		body, _ := io.ReadAll(response.Body)
		v.t.Fatalf("the issuer answers %s to %q: %s", response.Status, response.Header.Get("Location"), body)
	}
	return path
}

// login logs in and returns the answer to the callback.
func (v *visitor) login(user, to string) *httptest.ResponseRecorder {
	v.t.Helper()
	return v.back(v.begin(user, to))
}

func TestLogin(t *testing.T) {
	m := newTeam(t, record(t, cluster, workflows.PhaseReady))
	v := m.visitor()
	closed := v.get("/graph?q=adx")
	if body := closed.Body.String(); closed.Code != http.StatusUnauthorized || strings.Contains(body, "kusto") || !strings.Contains(body, `content="0;url=/login?to=%2Fgraph%3Fq%3Dadx"`) {
		t.Errorf("without a session: %d\n%s", closed.Code, body)
	}
	answer := v.login("ann", "/graph?q=adx")
	if answer.Code != http.StatusSeeOther || answer.Header().Get("Location") != "/graph?q=adx" {
		t.Fatalf("the callback answers %d to %q\n%s", answer.Code, answer.Header().Get("Location"), answer.Body)
	}
	if len(v.cookies) != 1 {
		t.Errorf("the browser keeps %v, want the session alone", v.cookies)
	}
	cookie := v.cookies[sessionCookie]
	if !cookie.HttpOnly || !cookie.Secure || cookie.SameSite != http.SameSiteLaxMode || cookie.Path != "/" || cookie.Domain != "" || !strings.HasPrefix(cookie.Name, "__Host-") || len(cookie.Value) > 1000 {
		t.Errorf("the cookie is %s", cookie)
	}
	page := v.back("/graph?q=adx")
	for _, want := range []string{"adx", "Ann &lt;b&gt;", "Log out", `href="https://armature.staging.example.com"`} {
		if page.Code != http.StatusOK || !strings.Contains(page.Body.String(), want) {
			t.Errorf("the page (%d) has no %q:\n%s", page.Code, want, page.Body)
		}
	}
	if out := v.send(http.MethodPost, "/logout", "Origin", "https://"+sharedHost, "Sec-Fetch-Site", "same-origin"); out.Code != http.StatusOK || len(v.cookies) > 0 {
		t.Errorf("the logout answers %d and leaves %v", out.Code, v.cookies)
	}
	for _, want := range []string{`"msg":"login","issuer":"` + m.issuer.URL + `","subject":"ann"`, `"msg":"logout","subject":"ann"`} {
		if !strings.Contains(m.log.String(), want) || strings.Contains(m.log.String(), "eyJ") {
			t.Errorf("the log has no %s, or has a token:\n%s", want, m.log)
		}
	}
}

// TestLoginRefused checks that each login but an honest one ends without a session.
func TestLoginRefused(t *testing.T) {
	cases := map[string]struct {
		reason string
		user   string
		// forge changes the callback.
		forge  func(m *team, v *visitor, callback string) string
		status int
		says   string
	}{
		"not allowed":     {reason: "a user without a claim of the list", user: "eve", status: 403, says: "groups=platform"},
		"too many groups": {reason: "Entra ID sends no groups beyond 200", user: "many", status: 403, says: "left groups out"},
		"other audience":  {reason: "a token for another program", user: "audience", status: 403, says: "its audience is"},
		"other issuer":    {reason: "another tenant of the same keys", user: "issuer", status: 403, says: "issued by a different provider"},
		"nonce":           {reason: "a token of another login", user: "nonce", status: 403, says: "another login"},
		"expired":         {reason: "a token from before", user: "old", status: 403, says: "it expired at"},
		"just expired":    {reason: "it would lead to the next login at once, for ever", user: "just", status: 403, says: "compare the clocks"},
		"state": {reason: "an answer that this server did not ask for", user: "ann", status: 403, says: "another browser", forge: func(_ *team, _ *visitor, callback string) string {
			return strings.Replace(callback, "state=", "state=x", 1)
		}},
		"no state": {reason: "the same", user: "ann", status: 403, says: "another browser", forge: func(_ *team, _ *visitor, callback string) string {
			return callback[:strings.Index(callback, "&state=")]
		}},
		"other browser": {reason: "an attacker sends a user the end of the attacker's login", user: "ann", status: 403, says: "another browser", forge: func(_ *team, v *visitor, callback string) string {
			v.cookies = map[string]*http.Cookie{}
			return callback
		}},
		"other login": {reason: "a code of a user in the login of an attacker, which PKCE refuses", user: "ann", status: 403, says: "gave no token", forge: func(m *team, v *visitor, callback string) string {
			stolen, _ := url.Parse(m.visitor().begin("ann", "/"))
			own, _ := url.Parse(callback)
			query := own.Query()
			query.Set("code", stolen.Query().Get("code"))
			return own.Path + "?" + query.Encode()
		}},
		"twice": {reason: "a callback from the history of the browser", user: "ann", status: 403, says: "another browser", forge: func(_ *team, v *visitor, callback string) string {
			v.back(callback)
			delete(v.cookies, sessionCookie)
			return callback
		}},
		"late": {reason: "a login page that was left open", user: "ann", status: 403, says: "10 minutes", forge: func(m *team, _ *visitor, callback string) string {
			m.pass(attemptLifetime)
			return callback
		}},
		"error": {reason: "the issuer refused the user", user: "ann", status: 403, says: "access_denied &lt;script&gt;", forge: func(_ *team, _ *visitor, callback string) string {
			return callback + "&error=access_denied&error_description=%3Cscript%3E"
		}},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			m := newTeam(t)
			v := m.visitor()
			callback := v.begin(tc.user, "/")
			if tc.forge != nil {
				callback = tc.forge(m, v, callback)
			}
			answer := v.back(callback)
			if answer.Code != tc.status || !strings.Contains(answer.Body.String(), tc.says) || len(v.cookies) > 0 {
				t.Errorf("%s: status %d, want %d, %q and no cookie, have %v\n%s", tc.reason, answer.Code, tc.status, tc.says, v.cookies, answer.Body)
			}
			if again := v.get("/"); again.Code != http.StatusUnauthorized || !strings.Contains(m.log.String(), "login refused") {
				t.Errorf("%s: afterwards %d, the log is %s", tc.reason, again.Code, m.log)
			}
			if strings.Contains(m.log.String(), "eyJ") || strings.Contains(answer.Body.String(), "eyJ") {
				t.Errorf("a token is shown:\n%s\n%s", m.log, answer.Body)
			}
		})
	}
}

func TestIssuerDown(t *testing.T) {
	m := newTeam(t)
	m.issuer.Down.Store(true)
	if answer := m.visitor().get("/login"); answer.Code != http.StatusServiceUnavailable || !strings.Contains(answer.Body.String(), "503") {
		t.Errorf("the login answers %d\n%s", answer.Code, answer.Body)
	}
}

func TestSessionEnds(t *testing.T) {
	for user, lifetime := range map[string]time.Duration{"ann": time.Hour, "long": sessionLifetime} {
		m := newTeam(t)
		v := m.visitor()
		v.login(user, "/")
		m.pass(lifetime - 2*time.Second)
		if answer := v.get("/"); answer.Code != http.StatusOK {
			t.Errorf("%s: %d before the end", user, answer.Code)
		}
		m.pass(2 * time.Second)
		if answer := v.get("/"); answer.Code != http.StatusUnauthorized {
			t.Errorf("%s: %d after %s", user, answer.Code, lifetime)
		}
	}
}

// TestForgedSession checks that no cookie is a session but the one of a login here.
func TestForgedSession(t *testing.T) {
	m := newTeam(t)
	v := m.visitor()
	v.begin("ann", "/")
	attempt := v.cookies[attemptCookie].Value
	other := &visitor{team: &team{world: m.world, t: t, issuer: m.issuer, server: m.newServer(m.settings()), log: m.log}, cookies: map[string]*http.Cookie{}}
	other.login("ann", "/")
	foreign := other.cookies[sessionCookie].Value
	for reason, value := range map[string]string{
		"a login that has not ended": attempt, "of another server": foreign, "clear": "eyJlbmQiOiIyMDk5LTAxLTAxVDAwOjAwOjAwWiIsInZhbHVlIjp7fX0",
		"empty": "", "no base64": "*", "changed": foreign[:len(foreign)-2] + "AA",
	} {
		v.cookies = map[string]*http.Cookie{sessionCookie: {Name: sessionCookie, Value: value}}
		if answer := v.get("/"); answer.Code != http.StatusUnauthorized {
			t.Errorf("%s: %d", reason, answer.Code)
		}
	}
}

// TestReturn checks that a login leads to pages of this server alone.
func TestReturn(t *testing.T) {
	m := newTeam(t)
	for to, want := range map[string]string{
		"/resource?id=" + cluster: "/resource?id=" + cluster, "/?by=stack": "/?by=stack", "": "/",
		"https://evil.example": "/", "//evil.example": "/", "/\\evil.example": "/", "\\\\evil.example": "/", "///evil.example": "/", "/%2Fevil.example": "/",
		"javascript:alert(1)": "/", "evil.example": "/", "/\tx": "/", "/login?to=/login": "/", "/login/callback": "/", "/logout": "/", "/" + strings.Repeat("a", maxReturnPath): "/",
	} {
		if answer := m.visitor().login("ann", to); answer.Code != http.StatusSeeOther || answer.Header().Get("Location") != want {
			t.Errorf("%q leads to %q (%d), want %q", to, answer.Header().Get("Location"), answer.Code, want)
		}
	}
}

// TestSharedGate checks requests with a session that are not those of the pages themselves.
func TestSharedGate(t *testing.T) {
	cases := map[string]struct {
		reason, method, path string
		headers              []string
		status               int
	}{
		"own":              {reason: "the normal way", status: 200},
		"link":             {reason: "a link in an alert opens the page", headers: []string{"Sec-Fetch-Site", "cross-site", "Sec-Fetch-Mode", "navigate", "Sec-Fetch-Dest", "document"}, status: 200},
		"foreign host":     {reason: "a name that resolves to this server", headers: []string{"Host", "evil.example"}, status: 421},
		"address":          {reason: "an address is no name of the pages", headers: []string{"Host", "192.0.2.1:8420"}, status: 421},
		"forwarded host":   {reason: "any client can send it", headers: []string{"Host", "evil.example", "X-Forwarded-Host", sharedHost, "Forwarded", "host=" + sharedHost}, status: 421},
		"foreign origin":   {reason: "a script of another site", headers: []string{"Origin", "https://evil.example"}, status: 403},
		"plain origin":     {reason: "a page without TLS, which a network can write", headers: []string{"Origin", "http://" + sharedHost}, status: 403},
		"null origin":      {reason: "a sandboxed frame", headers: []string{"Origin", "null"}, status: 403},
		"cross-site":       {reason: "an image of another site", headers: []string{"Sec-Fetch-Site", "cross-site", "Sec-Fetch-Mode", "no-cors", "Sec-Fetch-Dest", "image"}, status: 403},
		"framed":           {reason: "a frame of another site", headers: []string{"Sec-Fetch-Site", "cross-site", "Sec-Fetch-Mode", "navigate", "Sec-Fetch-Dest", "iframe"}, status: 403},
		"foreign logout":   {reason: "a form of another site", method: http.MethodPost, path: "/logout", headers: []string{"Origin", "https://evil.example", "Sec-Fetch-Site", "cross-site", "Sec-Fetch-Mode", "navigate", "Sec-Fetch-Dest", "document"}, status: 403},
		"linked logout":    {reason: "a link changes nothing", path: "/logout", status: 404},
		"post":             {reason: "nothing can be changed", method: http.MethodPost, status: 405},
		"token":            {reason: "the token of the local mode", path: "/?token=AAAA", status: 200},
		"probe":            {reason: "the kubelet knows no name", path: "/healthz", headers: []string{"Host", "10.0.0.7:8420"}, status: 200},
		"beside the probe": {reason: "only the probe", path: "/healthz/", headers: []string{"Host", "10.0.0.7:8420"}, status: 421},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			m := newTeam(t, record(t, cluster, workflows.PhaseReady))
			v := m.visitor()
			v.login("ann", "/")
			method, path := tc.method, tc.path
			if method == "" {
				method = http.MethodGet
			}
			if path == "" {
				path = "/"
			}
			answer := v.send(method, path, tc.headers...)
			if answer.Code != tc.status || v.cookies[sessionCookie] == nil {
				t.Errorf("%s: status %d, want %d and the session\n%s", tc.reason, answer.Code, tc.status, answer.Body)
			}
			if policy := answer.Header().Get("Content-Security-Policy"); path != "/healthz" && (!strings.Contains(policy, "frame-ancestors 'none'") || strings.Contains(policy, "http")) {
				t.Errorf("the policy is %q", policy)
			}
		})
	}
	m := newTeam(t)
	if answer := m.visitor().get("/healthz"); answer.Code != http.StatusOK || answer.Body.String() != "ok\n" {
		t.Errorf("a probe without a session: %d %q", answer.Code, answer.Body)
	}
}

func TestSharedSettings(t *testing.T) {
	m := newTeam(t)
	cases := map[string]struct {
		reason string
		change func(*SharedSettings)
		want   string
	}{
		"http":      {"cookies and codes would be readable", func(s *SharedSettings) { s.BaseURL = "http://armature.example.com" }, "--base-url"},
		"path":      {"cookies of a host have no path", func(s *SharedSettings) { s.BaseURL += "/armature" }, "without a path"},
		"no base":   {"there is no other way to know the host", func(s *SharedSettings) { s.BaseURL = "" }, "--base-url"},
		"issuer":    {"another machine could sign tokens", func(s *SharedSettings) { s.Issuer = "http://login.example.com" }, "--oidc-issuer"},
		"client":    {"tokens of other programs", func(s *SharedSettings) { s.ClientID = "" }, "--oidc-client-id"},
		"secret":    {"a code would be enough", func(s *SharedSettings) { s.ClientSecret = "" }, "--oidc-client-secret"},
		"all users": {"a public issuer has users everywhere", func(s *SharedSettings) { s.Read = nil }, "set --read"},
		"none":      {"all problems at once", func(s *SharedSettings) { *s = SharedSettings{} }, "--read"},
	}
	for name, tc := range cases {
		settings := m.settings()
		tc.change(&settings)
		if _, err := NewShared(settings, m.clock, slog.New(slog.DiscardHandler)); err == nil || !strings.Contains(err.Error(), tc.want) || strings.Contains(err.Error(), uiSecret) {
			t.Errorf("%s: %s: got %v, want %q", name, tc.reason, err, tc.want)
		}
	}
	settings := m.settings()
	settings.BaseURL = "https://Armature.Example.com:443/"
	shared, err := NewShared(settings, m.clock, slog.New(slog.DiscardHandler))
	if err != nil || shared.host != sharedHost || shared.config.RedirectURL != "https://"+sharedHost+"/login/callback" {
		t.Errorf("a host as people write it: %+v, %v", shared, err)
	}
	settings.BaseURL = "https://[2001:db8::1]:8443"
	shared, err = NewShared(settings, m.clock, slog.New(slog.DiscardHandler))
	if err != nil {
		t.Fatal(err)
	}
	answer := httptest.NewRecorder()
	shared.logout(answer, httptest.NewRequestWithContext(t.Context(), http.MethodPost, "/logout", nil))
	if cookies := answer.Result().Cookies(); len(cookies) != 1 || cookies[0].Name != "__Host-armature-ui-8443" {
		t.Errorf("with a port the cookies are %v: pages on other ports of the host have others", cookies)
	}
	settings = m.settings()
	settings.Read = []caller.Claim{{Name: "iss", Value: m.issuer.URL}}
	m.server = m.newServer(settings)
	if answer := m.visitor().login("eve", "/"); answer.Code != http.StatusSeeOther {
		t.Errorf("every user of the issuer: %d\n%s", answer.Code, answer.Body)
	}
	listener, err := Listen(t.Context(), "0.0.0.0:0", true)
	if err != nil {
		t.Fatalf("all addresses, with a login: %v", err)
	}
	listener.Close()
}
