package page

import (
	"crypto/rand"
	"crypto/sha256"
	"crypto/subtle"
	"net"
	"net/http"
	"net/url"
	"sync"
	"time"
)

const (
	// sessionLifetime is how long a browser may use its cookie.
	sessionLifetime = 12 * time.Hour
	// tokenParameter has the token in the address that the command prints.
	tokenParameter = "token"
)

// policy allows files of this server alone: no inline script or style, no other host, no
// frame.
const policy = "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self'; connect-src 'self'; " +
	"form-action 'self'; base-uri 'none'; frame-ancestors 'none'"

// secret is the hash of a token or of a cookie: the server keeps neither.
type secret [sha256.Size]byte

func hash(text string) secret { return sha256.Sum256([]byte(text)) }

func (s secret) matches(text string) bool {
	other := hash(text)
	return subtle.ConstantTimeCompare(s[:], other[:]) == 1
}

// door lets in the browsers of the user who started the command. An address with a token
// opens it once; the browser then has a cookie that no script can read and no other site
// sends.
type door struct {
	host   string
	cookie string
	// first is the path of the first page.
	first    string
	now      func() time.Time
	announce func(address string)

	mu sync.Mutex
	// token opens the door once, next is its text. Its use announces another one.
	token secret
	next  string
	// sessions has the end of each session.
	sessions map[secret]time.Time
}

func newDoor(host string, now func() time.Time, announce func(string)) *door {
	_, port, _ := net.SplitHostPort(host)
	// A browser sends cookies to all ports of a host.
	d := &door{host: host, cookie: "armature-ui-" + port, first: "/", now: now, announce: announce, sessions: map[secret]time.Time{}}
	d.renew()
	return d
}

// renew replaces the token. The caller holds the lock, or owns the door alone.
func (d *door) renew() {
	d.next = rand.Text()
	d.token = hash(d.next)
}

// address returns the address that opens the page once.
func (d *door) address() string {
	d.mu.Lock()
	defer d.mu.Unlock()
	return "http://" + d.host + d.first + "?" + url.Values{tokenParameter: {d.next}}.Encode()
}

// isOwnHost reports whether a Host header names this server. Any other name may be one that
// a foreign page made resolve to this computer.
func (d *door) isOwnHost(host string) bool {
	_, port, _ := net.SplitHostPort(d.host)
	return host == d.host || host == net.JoinHostPort("localhost", port)
}

// check refuses requests of other sites and to other names, and adds the headers of all
// answers.
func (d *door) check(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		for name, value := range map[string]string{
			"Content-Security-Policy": policy, "X-Content-Type-Options": "nosniff", "X-Frame-Options": "DENY", "Referrer-Policy": "no-referrer",
			"Cross-Origin-Opener-Policy": "same-origin", "Cross-Origin-Resource-Policy": "same-origin", "Cache-Control": "no-store",
		} {
			w.Header().Set(name, value)
		}
		origin, site := r.Header.Get("Origin"), r.Header.Get("Sec-Fetch-Site")
		switch {
		case !d.isOwnHost(r.Host):
			writeMessage(w, http.StatusMisdirectedRequest, message{Title: "Another host", Text: "This page is served at " + d.host + " alone."})
		case origin != "" && origin != "http://"+r.Host:
			writeMessage(w, http.StatusForbidden, message{Title: "Another site", Text: "Requests of other sites are refused."})
		case site == "cross-site" || site == "same-site":
			// A link on another page, such as an alert, arrives without the cookie. A click
			// here sends it.
			m := message{Title: "This link came from another site", Text: "Requests of other sites are refused."}
			if r.Method == http.MethodGet && r.Header.Get("Sec-Fetch-Mode") == "navigate" && r.Header.Get("Sec-Fetch-Dest") == "document" && !r.URL.Query().Has(tokenParameter) {
				m = message{Title: m.Title, Text: "Open it if you trust it.", Action: "Open the page", Href: r.URL.RequestURI()}
			}
			writeMessage(w, http.StatusForbidden, m)
		default:
			next.ServeHTTP(w, r)
		}
	})
}

// guard lets in requests with the cookie of a session, and exchanges the token for one.
func (d *door) guard(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		query := r.URL.Query()
		hasSession := d.hasSession(r)
		if token := query.Get(tokenParameter); token != "" {
			if cookie := d.exchange(token); cookie != nil {
				http.SetCookie(w, cookie)
				hasSession = true
				d.announce(d.address())
			}
			if hasSession {
				query.Del(tokenParameter)
				http.Redirect(w, r, (&url.URL{Path: r.URL.Path, RawQuery: query.Encode()}).String(), http.StatusSeeOther)
				return
			}
		}
		if !hasSession {
			writeMessage(w, http.StatusUnauthorized, message{
				Title: "Not signed in",
				Text:  "Open the address that `armature ui` printed last. Each address works once, and a session lasts 12 hours.",
			})
			return
		}
		next.ServeHTTP(w, r)
	})
}

// hasSession reports whether a request has the cookie of a session.
func (d *door) hasSession(r *http.Request) bool {
	cookie, err := r.Cookie(d.cookie)
	if err != nil {
		return false
	}
	d.mu.Lock()
	defer d.mu.Unlock()
	return d.now().Before(d.sessions[hash(cookie.Value)])
}

// exchange returns the cookie of a new session for the token, nil for any other text.
func (d *door) exchange(token string) *http.Cookie {
	d.mu.Lock()
	defer d.mu.Unlock()
	if !d.token.matches(token) {
		return nil
	}
	d.renew()
	value := rand.Text()
	now := d.now()
	for key, end := range d.sessions {
		if now.After(end) {
			delete(d.sessions, key)
		}
	}
	d.sessions[hash(value)] = now.Add(sessionLifetime)
	return &http.Cookie{Name: d.cookie, Value: value, Path: "/", HttpOnly: true, SameSite: http.SameSiteStrictMode, MaxAge: int(sessionLifetime.Seconds())}
}
