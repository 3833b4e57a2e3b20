package armsim_test

import (
	"net/url"
	"strings"
	"testing"
	"time"

	"github.com/armature-io/armature/armsim"
)

func TestTokens(t *testing.T) {
	h := newHarness(t, armsim.Options{RequireAuth: true, TenantID: tenant, ClientID: clientID, ClientSecret: planted})
	tests := map[string]struct {
		header, code, reason string
	}{
		"none":         {"", "AuthenticationFailed", "ARM reports a missing header"},
		"other scheme": {"Basic abc", "InvalidAuthenticationToken", "only bearer tokens"},
		"foreign":      {"Bearer abc.def.ghi", "InvalidAuthenticationToken", "not signed by this server"},
		"empty":        {"Bearer ", "InvalidAuthenticationToken", "no token at all"},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			got := h.do("GET", group+version, "", "Authorization", test.header)
			if got.status != 401 || got.code() != test.code || !strings.HasPrefix(got.header.Get("WWW-Authenticate"), "Bearer ") {
				t.Errorf("got %d %s with %q, since %s", got.status, got.code(), got.header.Get("WWW-Authenticate"), test.reason)
			}
		})
	}
	form := url.Values{"grant_type": {"client_credentials"}, "client_id": {clientID}, "client_secret": {planted}, "scope": {"https://x/.default"}}
	ask := func(tenant string, change ...string) response {
		body := url.Values{}
		for k, v := range form {
			body[k] = v
		}
		for i := 0; i+1 < len(change); i += 2 {
			body.Set(change[i], change[i+1])
		}
		return h.do("POST", "/"+tenant+"/oauth2/v2.0/token", body.Encode(), "Content-Type", "application/x-www-form-urlencoded")
	}
	for name, got := range map[string]response{
		"invalid_client": ask(tenant, "client_secret", "x"), "unauthorized_client": ask(tenant, "client_id", "x"),
		"invalid_request": ask("other"), "unsupported_grant_type": ask(tenant, "grant_type", "password"),
	} {
		if got.at("error") != name {
			t.Errorf("got %s, want %s", got.raw, name)
		}
	}
	token, _ := ask(tenant).at("access_token").(string)
	h.want(h.do("GET", group+version, "", "Authorization", "Bearer "+token), 404, "ResourceGroupNotFound")
	h.want(h.do("GET", group+version, "", "Authorization", "Bearer "+token+"x"), 401, "InvalidAuthenticationToken")
	h.pass(2 * time.Hour)
	h.want(h.do("GET", group+version, "", "Authorization", "Bearer "+token), 401, "ExpiredAuthenticationToken")
	strict := newHarness(t, armsim.Options{RequireAuth: true, Audience: "https://other/"})
	token = ask(tenant).at("access_token").(string)
	strict.want(strict.do("GET", group+version, "", "Authorization", "Bearer "+token), 401, "InvalidAuthenticationTokenAudience")
	if raw := ask(tenant, "client_secret", "guess-1").raw; strings.Contains(raw, "guess-1") {
		t.Errorf("the refusal repeats the secret: %s", raw)
	}
}

func TestDenials(t *testing.T) {
	h := newHarness(t, armsim.Options{})
	h.makeGroup()
	h.Deny(armsim.Denial{Scope: "*/RESOURCEGROUPS/rg1*", Method: "PUT"})
	h.want(h.do("PUT", plain+version, `{"location":"westus2"}`), 403, "AuthorizationFailed")
	h.want(h.do("GET", group+version, ""), 200, "")
	h.AllowAll()
	h.want(h.do("PUT", plain+version, `{"location":"westus2"}`), 201, "")
}

func TestThrottle(t *testing.T) {
	h := newHarness(t, armsim.Options{TimeScale: 2, Throttle: armsim.Throttle{Writes: armsim.Bucket{Capacity: 2, RefillPerSecond: 0.1}}})
	h.makeGroup()
	last := h.do("PUT", plain+version, `{"location":"westus2"}`)
	h.want(last, 201, "")
	if left := last.header.Get("x-ms-ratelimit-remaining-subscription-writes"); left != "0" {
		t.Errorf("remaining is %q, want 0", left)
	}
	refused := h.do("PUT", plain+version, `{"location":"westus2"}`)
	h.want(refused, 429, "SubscriptionRequestsThrottled")
	if wait := refused.header.Get("Retry-After"); wait != "5" {
		t.Errorf("Retry-After is %q, want 10 simulated seconds at two in one", wait)
	}
	h.want(h.do("GET", plain+version, ""), 200, "")
	other := "/subscriptions/99999999-2222-3333-4444-555555555555/resourceGroups/rg1"
	h.want(h.do("PUT", other+version, `{"location":"westus2"}`), 201, "")
	h.pass(5 * time.Second)
	h.want(h.do("PUT", plain+version, `{"location":"westus2"}`), 200, "")
}

func TestCommonHeaders(t *testing.T) {
	h := newHarness(t, armsim.Options{})
	got := h.do("GET", group+version, "", "x-ms-correlation-request-id", "corr-1", "x-ms-client-request-id", "client-1", "x-ms-return-client-request-id", "true")
	for name, want := range map[string]string{
		"x-ms-correlation-request-id": "corr-1", "x-ms-client-request-id": "client-1", "x-ms-failure-cause": "gateway",
		"x-ms-ratelimit-remaining-subscription-reads": "249", "Content-Type": "application/json; charset=utf-8",
	} {
		if got.header.Get(name) != want {
			t.Errorf("%s is %q, want %q", name, got.header.Get(name), want)
		}
	}
	if got.header.Get("x-ms-request-id") == "" || got.header.Get("x-ms-routing-request-id") == "" {
		t.Error("request IDs are missing")
	}
}

func TestSeedIsDeterministic(t *testing.T) {
	run := func(seed int64) string {
		h := newHarness(t, armsim.Options{Seed: seed})
		h.makeGroup()
		h.AddFault(armsim.Fault{Method: "GET", Probability: 0.5, Status: 500})
		out := h.do("PUT", vnet+version, `{"location":"westus2"}`).header.Get("Azure-AsyncOperation")
		for range 20 {
			out += h.do("GET", group+version, "").header.Get("X-Ms-Request-Id") + h.do("GET", group+version, "").code()
		}
		return out
	}
	if first := run(1); first != run(1) || first == run(2) {
		t.Error("the same seed gives different responses")
	}
}
