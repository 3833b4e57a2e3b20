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

func newDoor(host, first string, now func() time.Time, announce func(string)) *door {
	_, port, _ := net.SplitHostPort(host)
	// A browser sends cookies to all ports of a host.
	d := &door{host: host, cookie: "armature-ui-" + port, first: first, now: now, announce: announce, sessions: map[secret]time.Time{}}
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

// gate returns the gate of the local mode: any other name may be one that a foreign page made
// resolve to this computer.
func (d *door) gate() gate {
	_, port, _ := net.SplitHostPort(d.host)
	return gate{scheme: "http", hosts: []string{d.host, net.JoinHostPort("localhost", port)}}
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
