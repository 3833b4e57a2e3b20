package arm

import (
	"context"
	"encoding/pem"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/Azure/azure-sdk-for-go/sdk/azcore"
	"github.com/Azure/azure-sdk-for-go/sdk/azcore/cloud"
	"github.com/Azure/azure-sdk-for-go/sdk/azcore/policy"
	"github.com/google/go-cmp/cmp"
)

func TestCloudConfiguration(t *testing.T) {
	type want struct{ endpoint, audience, authority string }
	cases := map[string]struct {
		reason   string
		options  CloudOptions
		want     want
		wantErrs []string
	}{
		"Default":    {"the zero value is the public cloud", CloudOptions{}, want{"https://management.azure.com", "https://management.core.windows.net/", "https://login.microsoftonline.com/"}, nil},
		"Government": {"azcore knows it", CloudOptions{Name: "government"}, want{"https://management.usgovcloudapi.net", "https://management.core.usgovcloudapi.net/", "https://login.microsoftonline.us/"}, nil},
		"China":      {"azcore knows it", CloudOptions{Name: "china"}, want{"https://management.chinacloudapi.cn", "https://management.core.chinacloudapi.cn/", "https://login.chinacloudapi.cn/"}, nil},
		"PrivateLink": {"another endpoint keeps the cloud's audience", CloudOptions{Endpoint: "https://arm.corp.example/"},
			want{"https://arm.corp.example", "https://management.core.windows.net/", "https://login.microsoftonline.com/"}, nil},
		"Custom": {"the audience of a custom cloud is its endpoint", CloudOptions{Name: "custom", Endpoint: "https://arm.stack.example", AuthorityHost: "https://login.stack.example"},
			want{"https://arm.stack.example", "https://arm.stack.example", "https://login.stack.example"}, nil},
		"CustomAudience": {"a configured audience is used", CloudOptions{Name: "custom", Endpoint: "http://127.0.0.1:8080", Audience: "api://x/"},
			want{"http://127.0.0.1:8080", "api://x/", ""}, nil},
		"Unknown":      {"the choices are named", CloudOptions{Name: "azure"}, want{}, []string{`cloud "azure"`, "public, government, china or custom"}},
		"NoEndpoint":   {"a custom cloud needs one", CloudOptions{Name: "custom"}, want{}, []string{"endpoint required"}},
		"PlainHTTP":    {"tokens do not travel in clear text", CloudOptions{Name: "custom", Endpoint: "http://arm.example"}, want{}, []string{"loopback only"}},
		"FakeLoopback": {"a host that only starts like loopback is refused", CloudOptions{Name: "custom", Endpoint: "http://127.0.0.1.evil.example"}, want{}, []string{"loopback only"}},
		"AllAtOnce": {"all problems are reported at once", CloudOptions{Name: "custom", Endpoint: "ftp://x", AuthorityHost: "http://login.example"}, want{},
			[]string{"configure endpoint", "configure authority host"}},
		"UserInURL": {"a password in the endpoint would reach logs", CloudOptions{Endpoint: "https://u:hunter2@arm.example"}, want{}, []string{"must not have user"}},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			got, err := CloudConfiguration(tc.options)
			if (err != nil) != (tc.wantErrs != nil) {
				t.Fatalf("%s: got error %v", tc.reason, err)
			}
			for _, part := range tc.wantErrs {
				if !strings.Contains(err.Error(), part) || strings.Contains(err.Error(), "hunter2") {
					t.Errorf("%s: error %q lacks %q", tc.reason, err, part)
				}
			}
			service := got.Services[cloud.ResourceManager]
			if diff := cmp.Diff(tc.want, want{strings.TrimSuffix(service.Endpoint, "/"), service.Audience, got.ActiveDirectoryAuthorityHost}, cmp.AllowUnexported(want{})); diff != "" {
				t.Errorf("%s (-want +got):\n%s", tc.reason, diff)
			}
		})
	}
}

func TestNewClientRefuses(t *testing.T) {
	cases := map[string]struct {
		reason  string
		options Options
		want    string
	}{
		"NoneBeyondLoopback": {"without a credential requests go to a simulator only", Options{Cloud: cloudAt("https://arm.example")}, "loopback only"},
		"PublicWithoutOne":   {"the zero value is the public cloud, which needs one", Options{}, "loopback only"},
		"PlainHTTP":          {"a token is not sent in clear text", Options{Cloud: cloudAt("http://arm.example"), Credential: fixedToken{}}, "plain HTTP"},
	}
	for name, tc := range cases {
		if _, err := NewClient(tc.options); err == nil || !strings.Contains(err.Error(), tc.want) {
			t.Errorf("%s: %s: got %v", name, tc.reason, err)
		}
	}
	if _, err := NewClient(Options{Credential: fixedToken{}}); err != nil {
		t.Errorf("the zero value with a credential: %v", err)
	}
}

// fixedToken is a credential that always succeeds.
type fixedToken struct{}

func (fixedToken) GetToken(context.Context, policy.TokenRequestOptions) (azcore.AccessToken, error) {
	return azcore.AccessToken{Token: "a-planted-token", ExpiresOn: time.Now().Add(time.Hour)}, nil
}

func TestTokenStaysOnTheHost(t *testing.T) {
	var leaked []string
	elsewhere := httptest.NewServer(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) {
		leaked = append(leaked, r.Header.Get("Authorization"))
	}))
	t.Cleanup(elsewhere.Close)
	server := newScript(t,
		reply{302, map[string]string{"Location": elsewhere.URL}, ``},
		reply{202, map[string]string{"Location": elsewhere.URL}, ``},
		reply{200, nil, `{"value":[],"nextLink":"` + elsewhere.URL + `"}`},
		reply{200, nil, `{}`})
	client, id := server.client(t, func(o *Options) { o.Credential = fixedToken{} }), parseID(t, clusterID)
	_, _ = client.Get(testContext(t), id, apiVersion)
	_, _ = client.Delete(testContext(t), id, apiVersion, DeleteOptions{})
	_, _ = client.List(testContext(t), id, "databases", apiVersion, 10)
	_, _ = client.Poll(testContext(t), `{"via":"location","poller":"{\"type\":\"RawMessage\",\"token\":{\"type\":\"loc\",\"pollURL\":\"`+elsewhere.URL+`\"}}"}`)
	if len(leaked) != 0 {
		t.Errorf("another host received %q", leaked)
	}
	if _, err := client.Get(testContext(t), id, apiVersion); err != nil {
		t.Fatal(err)
	}
	for _, seen := range server.requests() {
		if seen.header.Get("Authorization") != "Bearer a-planted-token" {
			t.Errorf("%s was sent without the token", seen.uri)
		}
	}
}

// caOf writes the certificate of a test server to a file and returns its path.
func caOf(t *testing.T, server *httptest.Server) string {
	t.Helper()
	file := filepath.Join(t.TempDir(), "ca.pem")
	block := pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: server.Certificate().Raw})
	if err := os.WriteFile(file, block, 0o600); err != nil {
		t.Fatal(err)
	}
	return file
}

func TestNewTransport(t *testing.T) {
	server := httptest.NewTLSServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(http.StatusOK) }))
	t.Cleanup(server.Close)
	noPEM := filepath.Join(t.TempDir(), "no.pem")
	if err := os.WriteFile(noPEM, []byte("nothing"), 0o600); err != nil {
		t.Fatal(err)
	}
	cases := map[string]struct {
		reason  string
		options TransportOptions
		made    bool
		reaches bool
	}{
		"SystemOnly":       {"an unknown authority is refused", TransportOptions{}, true, false},
		"CAFile":           {"the file's authority is trusted", TransportOptions{CAFile: caOf(t, server)}, true, true},
		"SkipLoopback":     {"a simulator may be trusted blindly", TransportOptions{SkipVerify: true, Cloud: cloudAt(server.URL)}, true, true},
		"SkipElsewhere":    {"any other host is verified", TransportOptions{SkipVerify: true, Cloud: cloudAt("https://arm.example")}, false, false},
		"SkipWithoutCloud": {"an unknown host is verified", TransportOptions{SkipVerify: true}, false, false},
		"CAFileMissing":    {"a missing file is an error", TransportOptions{CAFile: noPEM + ".gone"}, false, false},
		"CAFileNoPEM":      {"so is one without a certificate", TransportOptions{CAFile: noPEM}, false, false},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			transport, err := NewTransport(tc.options)
			if (err == nil) != tc.made {
				t.Fatalf("%s: got %v", tc.reason, err)
			}
			if err != nil {
				return
			}
			request, err := http.NewRequestWithContext(testContext(t), http.MethodGet, server.URL, nil)
			if err != nil {
				t.Fatal(err)
			}
			response, err := transport.Do(request)
			if err == nil {
				_ = response.Body.Close()
			}
			if (err == nil) != tc.reaches {
				t.Errorf("%s: got %v", tc.reason, err)
			}
		})
	}
}
