package page

import (
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/armature-io/armature/starter/internal/backend"
	"github.com/armature-io/armature/workflows"
)

func TestDoor(t *testing.T) {
	cases := map[string]struct {
		reason  string
		method  string
		path    string
		headers []string
		// alone sends no cookie.
		alone  bool
		status int
		// says is in the page.
		says string
	}{
		"with a session":     {reason: "the normal way", status: 200, says: "Everything is Ready"},
		"localhost":          {reason: "a name of this computer that no other site can have", headers: []string{"Host", "localhost:8420"}, status: 200},
		"without a session":  {reason: "no page without the printed address", alone: true, status: 401, says: "armature ui"},
		"resource alone":     {reason: "no page at all", alone: true, path: "/resource?id=" + cluster, status: 401},
		"history alone":      {reason: "no page at all", alone: true, path: "/resource/history?id=" + cluster, status: 401},
		"wrong token":        {reason: "a guess", alone: true, path: "/?token=AAAA", status: 401},
		"foreign host":       {reason: "a name that a page made resolve to this computer", headers: []string{"Host", "evil.example:8420"}, status: 421},
		"other port":         {reason: "another server on this computer", headers: []string{"Host", "127.0.0.1:1"}, status: 421},
		"foreign origin":     {reason: "a script of another site", headers: []string{"Origin", "http://evil.example"}, status: 403},
		"null origin":        {reason: "a sandboxed frame", headers: []string{"Origin", "null"}, status: 403},
		"own origin":         {reason: "the page's own script", headers: []string{"Origin", "http://" + testHost, "Sec-Fetch-Site", "same-origin"}, status: 200},
		"cross-site request": {reason: "an image or script of another site", headers: []string{"Sec-Fetch-Site", "cross-site", "Sec-Fetch-Mode", "no-cors"}, status: 403},
		"other local server": {reason: "cookies are sent to all ports of a host", headers: []string{"Sec-Fetch-Site", "same-site", "Sec-Fetch-Mode", "cors"}, status: 403},
		"framed":             {reason: "a frame of another site", headers: []string{"Sec-Fetch-Site", "cross-site", "Sec-Fetch-Mode", "navigate", "Sec-Fetch-Dest", "iframe"}, status: 403},
		"linked":             {reason: "a link in an alert needs a click here", path: "/graph?phase=Blocked", headers: []string{"Sec-Fetch-Site", "cross-site", "Sec-Fetch-Mode", "navigate", "Sec-Fetch-Dest", "document"}, status: 403, says: `href="/graph?phase=Blocked"`},
		"post":               {reason: "nothing can be changed", method: http.MethodPost, status: 405},
		"unknown page":       {reason: "an error in words", path: "/etc/passwd", status: 404, says: "There is no page"},
		"not an ID":          {reason: "an error in words", path: "/resource?id=nonsense", status: 404, says: "no resource ID"},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			b := newWorld(record(t, cluster, workflows.PhaseReady)).visit(t)
			if tc.alone {
				b.cookies = nil
			}
			method, path := tc.method, tc.path
			if method == "" {
				method = http.MethodGet
			}
			if path == "" {
				path = "/"
			}
			answer := b.send(method, path, tc.headers...)
			if answer.Code != tc.status || !strings.Contains(answer.Body.String(), tc.says) {
				t.Errorf("%s: status %d, want %d and %q in\n%s", tc.reason, answer.Code, tc.status, tc.says, answer.Body)
			}
			if policy := answer.Header().Get("Content-Security-Policy"); !strings.Contains(policy, "frame-ancestors 'none'") || strings.Contains(policy, "unsafe") {
				t.Errorf("the policy is %q", policy)
			}
			if answer.Code != 200 && strings.Contains(answer.Body.String(), "adx") {
				t.Errorf("a refusal names a resource:\n%s", answer.Body)
			}
		})
	}
}

func TestTokenOpensOnce(t *testing.T) {
	w := newWorld()
	b := w.visit(t)
	cookie := b.cookies[0]
	if !cookie.HttpOnly || cookie.SameSite != http.SameSiteStrictMode || cookie.Path != "/" || !strings.HasSuffix(cookie.Name, "8420") {
		t.Errorf("the cookie is %s", cookie)
	}
	if len(w.announced) != 1 {
		t.Fatalf("announced %q, want the address for the next browser", w.announced)
	}
	next := strings.TrimPrefix(w.announced[0], "http://"+testHost)
	stranger := &browser{t: t, server: b.server}
	first := stranger.get(next)
	if first.Code != http.StatusSeeOther || strings.Contains(first.Header().Get("Location"), "token") {
		t.Errorf("the second address answers %d to %q", first.Code, first.Header().Get("Location"))
	}
	if again := stranger.get(next); again.Code != http.StatusUnauthorized {
		t.Errorf("an address works twice: %d", again.Code)
	}
	if answer := b.get(next + "&by=stack"); answer.Code != http.StatusSeeOther || answer.Header().Get("Location") != "/?by=stack" {
		t.Errorf("with a session a used address answers %d to %q", answer.Code, answer.Header().Get("Location"))
	}
	w.pass(sessionLifetime)
	if answer := b.get("/"); answer.Code != http.StatusUnauthorized {
		t.Errorf("a session of %s answers %d", sessionLifetime, answer.Code)
	}
}

func TestListen(t *testing.T) {
	for address, reason := range map[string]string{
		"0.0.0.0:0": "all interfaces", ":0": "all interfaces", "192.0.2.1:0": "another computer could ask", "example.com:80": "a name may be any address", "8420": "no port",
	} {
		if listener, err := Listen(t.Context(), address, false); err == nil {
			listener.Close()
			t.Errorf("%s is served: %s", address, reason)
		}
	}
	listener, err := Listen(t.Context(), "127.0.0.1:0", false)
	if err != nil {
		t.Fatal(err)
	}
	listener.Close()
}

func TestUnchanged(t *testing.T) {
	w := newWorld(record(t, cluster, workflows.PhaseReady), record(t, network, workflows.PhaseReady, labeled("stack=prod")))
	b := w.visit(t)
	for _, path := range []string{"/", "/graph", "/resource?id=" + cluster, "/resource/history?id=" + cluster} {
		first := b.get(path)
		tag := first.Header().Get("ETag")
		w.pass(10 * time.Second)
		again := b.get(path, "If-None-Match", tag)
		if first.Code != 200 || tag == "" || again.Code != http.StatusNotModified || again.Body.Len() > 0 {
			t.Errorf("%s answers %d with %q, then %d with %d bytes", path, first.Code, tag, again.Code, again.Body.Len())
		}
	}
	tag := b.get("/").Header().Get("ETag")
	w.listed = []backend.Record{record(t, cluster, workflows.PhaseFailed)}
	w.pass(10 * time.Second)
	if answer := b.get("/", "If-None-Match", tag); answer.Code != 200 || !strings.Contains(answer.Body.String(), "Failed") {
		t.Errorf("a changed state answers %d:\n%s", answer.Code, answer.Body)
	}
}
