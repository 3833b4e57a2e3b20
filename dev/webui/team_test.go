package webui

import (
	"crypto/sha256"
	"encoding/base64"
	"net/http/httptest"
	"net/http/httputil"
	"net/url"
	"os"
	"strings"
	"testing"
	"time"

	"github.com/chromedp/cdproto/cdp"
	"github.com/chromedp/cdproto/network"
	"github.com/chromedp/chromedp"

	"github.com/armature-io/armature/armsim"
	"github.com/armature-io/armature/dev/internal/harness"
	"github.com/armature-io/armature/internal/testonly/issuer"
)

const (
	pagesClient = "armature-ui"
	pagesSecret = "armature-ui-secret-0815"
)

// team is the shared mode of `armature ui` behind a proxy with a certificate, as an Ingress is.
type team struct {
	pages
	issuer *issuer.Issuer
}

// TestTeam logs users in to the pages of `armature ui`, and out.
func TestTeam(t *testing.T) {
	if os.Getenv(chromiumVariable) == "" {
		t.Skip("no browser: `make test-webui` installs Chromium and runs this test")
	}
	t.Parallel()
	w := harness.New(t, binaries, harness.Options{Simulator: armsim.Options{TimeScale: 600}})
	w.StartWorker(harness.WorkerOptions{})
	w.Write("stack/group.yaml", groupManifest)
	w.Write("stack/firewall.yaml", firewallManifest())
	w.MustCLI("apply", "-f", "stack", "--wait", "--timeout", "90s")
	m := openTeam(t, w)
	m.watch()
	for _, step := range []struct {
		name string
		do   func(team)
	}{{"refused", team.refused}, {"login", team.login}, {"search", team.search}, {"expired", team.expired}, {"logout", team.logout}} {
		t.Run(step.name, func(t *testing.T) {
			own := m
			own.story = m.on(t)
			step.do(own)
			if found := evaluate[string](own.b, `JSON.stringify(window.violations ?? [])`); found != "[]" {
				t.Errorf("the policy refused %s", found)
			}
		})
	}
}

// openTeam starts the pages, the proxy and a browser that trusts it.
func openTeam(t *testing.T, w *harness.World) team {
	t.Helper()
	listen := w.FreeAddress()
	proxy := httptest.NewTLSServer(&httputil.ReverseProxy{Rewrite: func(r *httputil.ProxyRequest) {
		r.SetURL(&url.URL{Scheme: "http", Host: listen})
		r.Out.Host = r.In.Host
	}})
	t.Cleanup(proxy.Close)
	m := team{issuer: issuer.Start(t)}
	m.register(proxy.URL, time.Hour)
	key := sha256.Sum256(proxy.Certificate().RawSubjectPublicKeyInfo)
	browser := openBrowser(t, chromedp.Flag("ignore-certificate-errors-spki-list", base64.StdEncoding.EncodeToString(key[:])))
	m.pages = pages{story: story{World: w, b: browser}, address: proxy.URL}
	m.program = w.StartPages("--listen", listen, "--base-url", proxy.URL, "--oidc-issuer", m.issuer.URL, "--oidc-client-id", pagesClient,
		"--oidc-client-secret", w.Write("client-secret", pagesSecret+"\n"), "--read", "groups=ops", "--others", "staging=https://armature.staging.example.com")
	if m.program.Address != proxy.URL+"/" {
		t.Errorf("the command prints %s", m.program.Address)
	}
	return m
}

// register makes the pages known to the issuer. The tokens of the member are valid for a time.
func (m team) register(address string, valid time.Duration) {
	m.issuer.Register(issuer.Application{
		ID: pagesClient, Secret: pagesSecret, Callback: address + "/login/callback",
		Users: map[string]map[string]any{
			member:   {"groups": []string{"ops"}, "name": "Ann Example", "exp": time.Now().Add(valid).Unix()},
			stranger: {"groups": []string{"staff"}},
		},
	})
}

// enter logs in at the page of the issuer.
func (m team) enter(user string) {
	m.T.Helper()
	m.b.untilTrue("the issuer asks for the name", `location.origin === '`+m.issuer.URL+`' && document.querySelector('input[name=user]') !== null`)
	m.b.do("enter the name", chromedp.SendKeys(`input[name=user]`, user))
	m.b.do("log in", chromedp.Click(`button`))
}

// forget removes the cookies of the browser.
func (m team) forget() {
	m.T.Helper()
	if _, err := chromedp.Call(m.b.ctx, network.ClearBrowserCookies, cdp.Empty{}); err != nil {
		m.T.Fatal(err)
	}
}

// at waits until the browser is at a page of the team.
func (m team) at(path string) {
	m.T.Helper()
	m.b.untilTrue("the browser is at "+path, `location.href === '`+m.address+path+`'`)
}

func (m team) refused() {
	m.b.open(m.address + "/graph?q=nsg")
	m.enter(stranger)
	m.b.until("You may not read these pages", "groups=ops", "Log in as another user")
	m.accessible()
	m.b.do("log in as another user", chromedp.Click(`main a.button`))
	m.b.untilTrue("the issuer offers other accounts", `new URLSearchParams(location.search).get('prompt') === 'select_account'`)
}

func (m team) login() {
	m.b.open(m.address + "/graph?q=nsg")
	m.enter(member)
	m.at("/graph?q=nsg")
	m.b.until("what matches", "demo-nsg")
	m.b.untilTrue("the page names the user", `document.querySelector("header form.user").textContent.includes("Ann Example")`)
	m.b.do("open the other pages", chromedp.Click(`header details.others summary`))
	m.b.untilTrue("the link leads to the other namespace", `document.querySelector('header nav a[href="https://armature.staging.example.com"]').checkVisibility()`)
	m.accessible()
	if cookies := evaluate[string](m.b, `document.cookie`); cookies != "" {
		m.T.Errorf("a script reads the cookies %q", cookies)
	}
}

// search submits a form whose answer needs a login: the policy allows forms to lead here alone.
func (m team) search() {
	m.show("/", "Everything is Ready")
	evaluate[string](m.b, `(htmx.trigger = () => {}, "")`) // the script would notice first
	m.forget()
	evaluate[string](m.b, `(document.getElementById("search").value = "demo", document.querySelector("form.search").requestSubmit(), "")`)
	m.enter(member)
	m.at("/graph?q=demo")
	m.b.until("demo-nsg")
}

// expired checks that a page that stays open leads to the login when the token ends, and back.
func (m team) expired() {
	m.forget()
	m.b.open(m.address + "/?by=stack")
	m.b.untilTrue("the issuer asks for the name", `document.querySelector('input[name=user]') !== null`)
	m.register(m.address, 10*time.Second)
	m.enter(member)
	m.at("/?by=stack")
	m.register(m.address, time.Hour)
	m.enter(member) // without an action of the user
	m.at("/?by=stack")
	m.b.until("Everything is Ready")
}

func (m team) logout() {
	m.show("/", "Everything is Ready")
	m.b.do("log out", chromedp.Click(`header form.user button`))
	m.b.until("Logged out")
	m.accessible()
	m.b.open(m.address + "/")
	m.b.untilTrue("the issuer asks for the name", `location.origin === '`+m.issuer.URL+`'`)
	if strings.Contains(evaluate[string](m.b, `document.referrer`), "/") {
		m.T.Error("the issuer sees which page the user came from")
	}
}
