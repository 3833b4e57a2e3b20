package webui

import (
	"encoding/json"
	"fmt"
	"net/http"
	"net/url"
	"strings"
	"time"

	"github.com/chromedp/chromedp"

	"github.com/armature-io/armature/dev/temporaldev"
)

// nobody checks that without a login the Web UI shows its login page, and that neither it
// nor the codec server answers a page that asks all the same.
func (s site) nobody() {
	s.T.Helper()
	b, page := s.browser(), s.body()
	b.open(page)
	b.untilTrue("the Web UI asks for a login", `location.pathname === '/login' && document.body.textContent.includes('Continue to SSO')`)
	if all := s.requests(); len(all) > 0 {
		s.T.Errorf("the login page sent requests to the codec server: %v", all)
	}
	api := s.ui.LoginAddress() + "/api/v1/namespaces/" + temporaldev.Namespace + "/workflows/" + url.PathEscape(s.WorkflowID(firewall))
	for address, options := range map[string]string{api: `{}`, s.decode: decodeNothing} {
		if got := status(b, address, options); got != http.StatusUnauthorized {
			s.T.Errorf("%s without a login: got %d, want 401", address, got)
		}
	}
	s.logged("", http.StatusUnauthorized)
}

// member checks that a member reads bodies and details.
func (s site) member() {
	s.T.Helper()
	b := s.browser()
	s.login(b, member)
	b.open(s.body())
	if shown := b.until(planted, "destinationAddressPrefix"); strings.Contains(shown, sealed) {
		s.T.Errorf("the page shows encrypted payloads: %s", shown)
	}
	b.open(s.page("user-metadata"))
	b.until("Current Details", "Ready: in sync", "Last decisions")
	s.logged(member, http.StatusOK)
	s.expired(b)
}

// expired checks what a page does whose tokens have expired, as one that was left open over
// night: the API of the Web UI refuses the ID token, and the page renews both. As long as
// the ID token is valid, an expired access token stays.
func (s site) expired(b *browser) {
	s.T.Helper()
	ops := map[string]any{"groups": []string{"ops"}}
	past := map[string]any{"groups": []string{"ops"}, "exp": time.Now().Add(-time.Hour).Unix()}
	renewed := s.issuer.Refreshes.Load()
	s.keepTokens(b, s.issuer.Token(codecAudience, member, past), s.issuer.Token(webUIClient, member, ops))
	b.open(s.body())
	b.until(sealed, deniedMessage)
	if got := s.issuer.Refreshes.Load(); got != renewed {
		s.T.Errorf("the page renewed its tokens %d times although the ID token is valid: docs/encryption.md says otherwise", got-renewed)
	}
	s.keepTokens(b, s.issuer.Token(codecAudience, member, past), s.issuer.Token(webUIClient, member, past))
	b.open(s.body())
	b.until(planted)
	if got := s.issuer.Refreshes.Load(); got == renewed {
		s.T.Error("the page shows the body, and did not renew its tokens")
	}
}

// keepTokens replaces the tokens of a session where the Web UI keeps them.
func (s site) keepTokens(b *browser, access, id string) {
	s.T.Helper()
	session, err := json.Marshal(map[string]string{"accessToken": access, "idToken": id, "name": member})
	if err != nil {
		s.T.Fatal(err)
	}
	evaluate[chromedp.Void](b, fmt.Sprintf("localStorage.setItem('AuthUser', %q)", session))
}

// stranger checks that a user without the allowed claim reads nothing.
func (s site) stranger() {
	s.T.Helper()
	b := s.browser()
	s.login(b, stranger)
	b.open(s.body())
	if shown := b.until(sealed, deniedMessage); strings.Contains(shown, planted) {
		s.T.Errorf("the page shows the body: %s", shown)
	}
	s.logged(stranger, http.StatusForbidden)
}

// idToken checks that an ID token is enough where access tokens are opaque.
func (s site) idToken() {
	s.T.Helper()
	b := s.browser()
	s.login(b, member)
	b.open(s.body())
	b.until(planted)
	s.logged(member, http.StatusOK)
}

// clear checks that the Web UI sends nothing to a codec server without TLS, although that
// decodes for all.
func (s site) clear() {
	s.T.Helper()
	b := s.browser()
	s.login(b, member)
	b.open(s.body())
	if shown := b.until(sealed, deniedMessage); strings.Contains(shown, planted) {
		s.T.Errorf("the page shows the body: %s", shown)
	}
	if got := status(b, s.decode, decodeNothing); got != http.StatusOK {
		s.T.Errorf("the codec server answers the page with %d, want 200: the test tests nothing", got)
	}
}

// decodeNothing are the options of a request that needs no key.
const decodeNothing = `{method: 'POST', headers: {'Content-Type': 'application/json', 'X-Namespace': 'default'}, body: '{"payloads": []}'}`

// status returns the status of a request that the page sends, -1 without a response.
func status(b *browser, address, options string) int {
	b.t.Helper()
	evaluate[chromedp.Void](b, fmt.Sprintf(`{window.answer = undefined;
fetch(%q, %s).then(response => { window.answer = response.status }, problem => { window.answer = -1 })}`, address, options))
	b.untilTrue("a response arrives", "window.answer !== undefined")
	return evaluate[int](b, "window.answer")
}
