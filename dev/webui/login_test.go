package webui

import (
	"encoding/base64"
	"encoding/json"
	"fmt"
	"os"
	"strings"
	"testing"
	"time"

	"github.com/chromedp/chromedp"
	uiconfig "github.com/temporalio/ui-server/v2/server/config"

	"github.com/armature-io/armature/armsim"
	"github.com/armature-io/armature/dev/internal/harness"
	"github.com/armature-io/armature/dev/temporaldev"
	"github.com/armature-io/armature/internal/testonly/issuer"
)

// What is registered at the issuer: the Web UI, an API for the codec server, and users.
const (
	webUIClient   = "web-ui"
	webUISecret   = "web-ui-secret-4712"
	codecAudience = "api://armature-codec"
	codecScope    = codecAudience + "/read"
	member        = "ann" // in the group that may read
	stranger      = "eve"
	// planted is in the body of the firewall.
	planted = "allow-rule-01"
	// deniedMessage is what pages show where the codec server decodes nothing.
	deniedMessage = "Ask the platform team for the group ops"
)

// sealed is the metadata of an encrypted payload, as pages show it.
var sealed = base64.StdEncoding.EncodeToString([]byte("binary/aes-256-gcm"))

// company is a world with encrypted payloads whose users log in.
type company struct {
	*harness.World
	issuer      *issuer.Issuer
	certificate certificate
}

// TestLogin opens the history of a resource, which is encrypted, in a Web UI with a login,
// and lets the codec server of the product decide by the tokens that the browser forwards.
func TestLogin(t *testing.T) {
	if os.Getenv(chromiumVariable) == "" {
		t.Skip("no browser: `make test-webui` installs Chromium and runs this test")
	}
	c := company{
		World:  harness.New(t, binaries, harness.Options{Simulator: armsim.Options{TimeScale: 600}, Converters: converters(t)}),
		issuer: issuer.Start(t),
	}
	c.certificate = newCertificate(t, c.World)
	c.Env = append(c.Env, "PAYLOAD_KEY="+strings.Repeat("01", 32), "ARMATURE_ENCRYPTION_KEYS=one=env:PAYLOAD_KEY", "ARMATURE_ENCRYPTION_WRITE_KEY=one")
	c.StartWorker(harness.WorkerOptions{})
	c.Write("stack/group.yaml", groupManifest)
	c.Write("stack/firewall.yaml", firewallManifest())
	c.MustCLI("apply", "-f", "stack", "--wait", "--timeout", "90s")

	allowed := c.open([]string{"openid", "profile", "offline_access", codecScope}, c.oidc(codecAudience)...)
	t.Run("without login", func(t *testing.T) { allowed.on(t).nobody() })
	t.Run("member", func(t *testing.T) { allowed.on(t).member() })
	t.Run("stranger", func(t *testing.T) { allowed.on(t).stranger() })
	t.Run("ID token", func(t *testing.T) {
		c.onTest(t).open([]string{"openid"}, c.oidc(webUIClient)...).idToken()
	})
	t.Run("without TLS", func(t *testing.T) { c.onTest(t).open([]string{"openid", codecScope}).clear() })
}

func (c company) onTest(t *testing.T) company { c.World = c.On(t); return c }

// oidc returns the flags of a codec server that serves members.
func (c company) oidc(audience string) []string {
	return []string{
		"--oidc-issuer", c.issuer.URL, "--oidc-audience", audience, "--oidc-allow", "groups=ops",
		"--tls-cert", c.certificate.file, "--tls-key", c.certificate.key,
	}
}

// site is a Web UI with a login, and the codec server that it uses.
type site struct {
	company
	ui    *temporaldev.UI
	codec *harness.Worker
	// decode is the URL of the codec server for requests of pages.
	decode string
}

// open starts a Web UI that asks users to log in and wants tokens with some scopes, and a
// codec server with some flags.
func (c company) open(scopes []string, flags ...string) site {
	c.T.Helper()
	address, scheme := c.FreeAddress(), "http"
	if len(flags) > 0 {
		scheme = "https"
	}
	endpoint := scheme + "://" + address
	ui, err := temporaldev.StartUI(c.T.Context(), c.Temporal.Address(), temporaldev.UIOptions{
		Codec: &uiconfig.Codec{Endpoint: endpoint, PassAccessToken: true, DefaultErrorMessage: deniedMessage},
		Login: &uiconfig.AuthProvider{Type: "oidc", ProviderURL: c.issuer.URL, ClientID: webUIClient, ClientSecret: webUISecret, Scopes: scopes},
	})
	if err != nil {
		c.T.Fatal(err)
	}
	c.T.Cleanup(func() { _ = ui.Stop() })
	c.issuer.Register(issuer.Application{
		ID: webUIClient, Secret: webUISecret, Callback: ui.Callback(), Audiences: map[string]string{codecScope: codecAudience},
		Users: map[string]map[string]any{member: {"groups": []string{"ops", "staff"}}, stranger: {"groups": []string{"staff"}}},
	})
	codec := c.StartWorker(harness.WorkerOptions{
		Args: append([]string{"codec", "--listen", address, "--origins", ui.LoginAddress()}, flags...), NotReady: true,
	})
	c.Until(30*time.Second, "the codec server runs", func() (bool, string) {
		return strings.Contains(codec.Log(), "codec server at "+endpoint), codec.Log()
	})
	return site{company: c, ui: ui, codec: codec, decode: endpoint + "/decode"}
}

func (s site) on(t *testing.T) site { s.World = s.On(t); return s }

// browser starts a browser without a session, which trusts the codec server.
func (s site) browser() *browser {
	s.T.Helper()
	return openBrowser(s.T, chromedp.Flag("ignore-certificate-errors-spki-list", s.certificate.pin))
}

// page returns the URL of a page about the latest run of the firewall's workflow.
func (s site) page(name string) string {
	s.T.Helper()
	path := strings.TrimPrefix(s.ui.WorkflowAddress(s.WorkflowID(firewall)), s.ui.Address())
	return s.ui.LoginAddress() + path + "/" + s.RunID(firewall) + "/" + name
}

// body returns the URL of the event with the applied body.
func (s site) body() string {
	s.T.Helper()
	for _, event := range s.History(firewall).GetEvents() {
		if event.GetWorkflowExecutionUpdateAcceptedEventAttributes() != nil {
			return s.page(fmt.Sprintf("history/events/%d", event.GetEventId()))
		}
	}
	s.T.Fatalf("no update of %s", firewall)
	return ""
}

// login logs a user in, from the Web UI's own page.
func (s site) login(b *browser, user string) {
	s.T.Helper()
	b.open(s.ui.LoginAddress())
	b.untilTrue("the Web UI asks for a login", `document.querySelector('[data-testid=login-button]') !== null`)
	b.do("press the button", chromedp.Click(`[data-testid=login-button]`))
	b.untilTrue("the issuer asks for the name", `document.querySelector('input[name=user]') !== null`)
	b.do("enter the name", chromedp.SendKeys(`input[name=user]`, user))
	b.do("log in", chromedp.Click(`button`))
	b.untilTrue("the Web UI lists workflows", `location.origin === '`+s.ui.LoginAddress()+`' && location.pathname.endsWith('/workflows')`)
}

// request is a line of the codec server's log.
type request struct {
	Path, Namespace, Origin, Issuer, Subject, Error string
	Status                                          int
}

// requests returns the requests that the codec server has logged.
func (s site) requests() []request {
	s.T.Helper()
	var all []request
	for line := range strings.Lines(s.codec.Log()) {
		var one request
		if strings.HasPrefix(line, "{") && strings.HasSuffix(line, "\n") {
			if err := json.Unmarshal([]byte(line), &one); err != nil {
				s.T.Fatalf("read %q: %v", line, err)
			}
			all = append(all, one)
		}
	}
	return all
}

// logged checks that the codec server logged requests of a subject, all with one status.
func (s site) logged(subject string, status int) {
	s.T.Helper()
	var found []request
	s.Until(30*time.Second, fmt.Sprintf("the codec server logs a request of %q", subject), func() (bool, string) {
		for _, r := range s.requests() {
			if r.Subject == subject {
				found = append(found, r)
			}
		}
		return len(found) > 0, s.codec.Log()
	})
	for _, r := range found {
		known := subject == "" || r.Issuer == s.issuer.URL
		if r.Status != status || !known || r.Path != "/decode" || r.Namespace != temporaldev.Namespace || r.Origin != s.ui.LoginAddress() {
			s.T.Errorf("the codec server logged %+v", r)
		}
	}
	if strings.Contains(s.codec.Log(), "eyJ") {
		s.T.Errorf("the log contains a token:\n%s", s.codec.Log())
	}
}
