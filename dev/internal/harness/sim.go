package harness

import (
	"bytes"
	"crypto/tls"
	"crypto/x509"
	"encoding/json"
	"io"
	"net/http"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/armature-io/armature/armsim"
)

// defaultTimeScale simulates a minute of Azure in a second.
const defaultTimeScale = 60

// defaultManualApproval is the simulated time after which the private endpoint of
// the examples that requires an approval is approved.
const defaultManualApproval = 10 * time.Minute

// Sim is a client of the simulator's control API.
type Sim struct {
	t      testing.TB
	server *armsim.Server // nil in another process
	url    string
	client *http.Client
	tls    bool
	// elsewhere are the variables of another endpoint, nil for a simulator.
	elsewhere []string
	// proxy is the URL of the proxy to key vaults, "" for none.
	proxy string
}

func startSim(t testing.TB, folder string, options Options) *Sim {
	t.Helper()
	if options.ARM != nil {
		return &Sim{t: t, elsewhere: options.ARM}
	}
	set := options.Simulator
	if set.TimeScale == 0 {
		set.TimeScale = defaultTimeScale
	}
	if set.ManualApproval == 0 {
		set.ManualApproval = defaultManualApproval
	}
	caFile := ""
	if options.TLS {
		caFile = filepath.Join(folder, "armsim-ca.pem")
		set.RequireAuth, set.TenantID = true, TenantID
		set.ClientID, set.ClientSecret = ClientID, ClientSecret
	}
	var hosts []string
	if options.Vaults {
		set.VaultSuffix, hosts = VaultSuffix, []string{"*." + VaultSuffix}
	}
	server, err := armsim.New(set).Listen(armsim.ListenOptions{TLS: options.TLS, CAFile: caFile, Hosts: hosts})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = server.Close() })
	s := &Sim{t: t, server: server, url: server.URL(), tls: options.TLS, client: &http.Client{Timeout: 10 * time.Second}}
	if options.Vaults {
		s.proxy = startVaultProxy(t, strings.TrimPrefix(server.URL(), "https://"))
	}
	if options.TLS {
		pool := x509.NewCertPool()
		pool.AppendCertsFromPEM(server.CA())
		s.client.Transport = &http.Transport{TLSClientConfig: &tls.Config{RootCAs: pool, MinVersion: tls.VersionTLS12}}
	}
	return s
}

// URL returns the simulator's base URL.
func (s *Sim) URL() string { return s.url }

// Stop stops the simulator, so that ARM is unreachable for the rest of the test.
func (s *Sim) Stop() { _ = s.server.Close() }

// Call sends one request to the control API, such as Call("POST", "/faults",
// armsim.Fault{...}, nil). It encodes in and decodes into out as JSON unless nil.
func (s *Sim) Call(method, path string, in, out any) {
	s.t.Helper()
	var body io.Reader
	if in != nil {
		data, err := json.Marshal(in)
		if err != nil {
			s.t.Fatal(err)
		}
		body = bytes.NewReader(data)
	}
	request, err := http.NewRequestWithContext(s.t.Context(), method, s.URL()+"/_sim"+path, body)
	if err != nil {
		s.t.Fatal(err)
	}
	request.Header.Set("Content-Type", "application/json")
	response, err := s.client.Do(request)
	if err != nil {
		s.t.Fatal(err)
	}
	defer func() { _ = response.Body.Close() }()
	content, err := io.ReadAll(response.Body)
	if err != nil {
		s.t.Fatal(err)
	}
	if response.StatusCode >= 300 {
		s.t.Fatalf("%s /_sim%s: %s\n%s", method, path, response.Status, content)
	}
	if out == nil {
		return
	}
	if err := json.Unmarshal(content, out); err != nil {
		s.t.Fatalf("%s /_sim%s: %v\n%s", method, path, err, content)
	}
}

// Counters returns the numbers of requests since the start or the last Reset.
func (s *Sim) Counters() armsim.Counters {
	s.t.Helper()
	var counters armsim.Counters
	s.Call(http.MethodGet, "/counters", nil, &counters)
	return counters
}

// Count returns the number of requests of a method to a resource ID, without
// polls of operations.
func (s *Sim) Count(method, id string) int {
	s.t.Helper()
	return s.Counters().ByID[strings.ToLower(id)][method]
}

// Reset clears the request log and the counters; resources stay.
func (s *Sim) Reset() {
	s.t.Helper()
	s.Call(http.MethodPost, "/reset", nil, nil)
}

// Requests returns the request log, oldest first. The query is "" or a filter such
// as "?method=PUT".
func (s *Sim) Requests(query string) []armsim.Request {
	s.t.Helper()
	var requests []armsim.Request
	s.Call(http.MethodGet, "/requests"+query, nil, &requests)
	return requests
}

// Patch changes a resource outside of Armature, by a JSON merge patch.
func (s *Sim) Patch(id string, patch map[string]any) {
	s.t.Helper()
	s.Call(http.MethodPatch, "/resources", map[string]any{"id": id, "patch": patch}, nil)
}

// environment returns the variables with which a worker reaches the simulator, or another
// endpoint.
func (s *Sim) environment() []string {
	if s.elsewhere != nil {
		return s.elsewhere
	}
	env := []string{"ARMATURE_AZURE_CLOUD=custom", "ARMATURE_AZURE_ENDPOINT=" + s.URL()}
	if !s.tls {
		return append(env, "ARMATURE_AZURE_CREDENTIAL=none")
	}
	if s.proxy != "" {
		env = append(env, "ARMATURE_AZURE_VAULT_SUFFIX="+VaultSuffix, "HTTPS_PROXY="+s.proxy)
	}
	return append(env,
		"ARMATURE_AZURE_CREDENTIAL=client-secret",
		"ARMATURE_AZURE_AUTHORITY_HOST="+s.URL(),
		"ARMATURE_AZURE_CA_FILE="+s.server.CAFile(),
		"AZURE_TENANT_ID="+TenantID,
		"AZURE_CLIENT_ID="+ClientID,
		"AZURE_CLIENT_SECRET="+ClientSecret,
	)
}
