package e2e

import (
	"bytes"
	"cmp"
	"context"
	"crypto/tls"
	"crypto/x509"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/Azure/azure-sdk-for-go/sdk/azcore"
	"github.com/Azure/azure-sdk-for-go/sdk/azcore/cloud"
	"github.com/Azure/azure-sdk-for-go/sdk/azcore/policy"
	"github.com/Azure/azure-sdk-for-go/sdk/azidentity"

	"github.com/armature-io/armature/dev/internal/freeport"
	"github.com/armature-io/armature/dev/internal/harness"
)

// Variables of TestAddress (docs/contributing/simulator.md). Without addressVariable it starts
// armsim as a process.
const (
	addressVariable = "E2E_ARM"
	folderVariable  = "E2E_MANIFESTS"
	paramsVariable  = "E2E_PARAMS"
	timeoutVariable = "E2E_TIMEOUT"
)

// endpoint is an ARM endpoint of which the test knows only the address and a credential.
type endpoint struct {
	*harness.World
	variables  []string // of the worker
	client     *http.Client
	credential azcore.TokenCredential // nil sends no token
	scope      string
	folder     string
	params     []string // flags of each command with -f
	timeout    string   // of each command that waits
}

// managed is a resource of the manifests.
type managed struct{ ID, Name string }

// TestAddress creates the resources of a folder of manifests at an endpoint, by default armsim
// in another process, and plays what every provider has to allow: a pass without a write, the
// correction of a foreign PATCH, an import without a write, and the deletion.
func TestAddress(t *testing.T) {
	t.Parallel()
	e := &endpoint{folder: os.Getenv(folderVariable), timeout: cmp.Or(os.Getenv(timeoutVariable), "5m")}
	for _, param := range strings.FieldsFunc(os.Getenv(paramsVariable), func(r rune) bool { return r == ',' }) {
		e.params = append(e.params, "--param", param)
	}
	if e.folder == "" {
		e.folder = filepath.Join("testdata", "address")
	}
	var err error
	if e.folder, err = filepath.Abs(e.folder); err != nil {
		t.Fatal(err)
	}
	start := e.configure(t)
	e.World = harness.New(t, binaries, harness.Options{ARM: e.variables})
	start()
	e.connect()
	worker := e.StartWorker(harness.WorkerOptions{})

	e.do("apply", "--wait")
	all := e.managed()
	created := writes(e.World, worker)
	e.do("reconcile", "--wait")
	e.do("plan")
	if now := writes(e.World, worker); now != created {
		t.Errorf("%d writes of a pass without a difference", now-created)
	}
	e.correct(all)

	targets, versions := []string{"import", "-o", "imported"}, map[string]string{}
	for _, r := range all {
		versions[r.ID] = e.version(r.ID)
		targets = append(targets, r.ID+"@"+versions[r.ID])
	}
	forgetAll(e.World)
	before := writes(e.World, worker)
	e.MustCLI(targets...)
	e.MustCLI("plan", "-f", "imported")
	e.MustCLI("apply", "-f", "imported", "--wait", "--timeout", e.timeout)
	if now := writes(e.World, worker); now != before {
		t.Errorf("%d writes of an import and its apply", now-before)
	}
	e.do("delete", "--cascade", "--with-data", "--yes", "--wait")
	for id, version := range versions {
		if status, body := e.send(http.MethodGet, id, version, nil); status != http.StatusNotFound {
			t.Errorf("after the deletion %s has status %d: %v", id, status, body)
		}
	}
}

// do runs a command on the manifests that must succeed.
func (e *endpoint) do(command string, flags ...string) {
	e.T.Helper()
	args := append([]string{command, "-f", e.folder}, e.params...)
	if slices.Contains(flags, "--wait") {
		flags = append(flags, "--timeout", e.timeout)
	}
	e.MustCLI(append(args, flags...)...)
}

// managed returns the managed resources.
func (e *endpoint) managed() []managed {
	e.T.Helper()
	var all []managed
	if out := e.MustCLI("get", "-o", "json").Out; json.Unmarshal([]byte(out), &all) != nil || len(all) == 0 {
		e.T.Fatalf("no managed resources in %s", out)
	}
	return all
}

// version returns the api-version of a managed resource.
func (e *endpoint) version(id string) string {
	e.T.Helper()
	status, err := e.Status(id)
	if err != nil {
		e.T.Fatal(err)
	}
	return status.APIVersion
}

// correct sends the JSON merge patch in NAME.patch of each resource that has one, as another
// client, and waits until Azure shows none of its values.
func (e *endpoint) correct(all []managed) {
	e.T.Helper()
	patches := 0
	for _, r := range all {
		text, err := os.ReadFile(filepath.Join(e.folder, r.Name+".patch"))
		if err != nil {
			continue
		}
		patches++
		patch, version := map[string]any{}, e.version(r.ID)
		if err := json.Unmarshal(text, &patch); err != nil {
			e.T.Fatalf("%s.patch: %v", r.Name, err)
		}
		if status, body := e.send(http.MethodPatch, r.ID, version, text); status >= http.StatusMultipleChoices {
			e.T.Fatalf("PATCH of %s: %d %v", r.ID, status, body)
		}
		e.Until(time.Minute, "the foreign change of "+r.Name, func() (bool, string) {
			_, body := e.send(http.MethodGet, r.ID, version, nil)
			return has(body, patch), fmt.Sprint(body)
		})
		e.MustCLI("reconcile", r.ID, "--wait", "--timeout", e.timeout)
		e.Until(time.Minute, "the correction of "+r.Name, func() (bool, string) {
			_, body := e.send(http.MethodGet, r.ID, version, nil)
			return hasNone(body, patch), fmt.Sprint(body)
		})
	}
	if patches == 0 {
		e.T.Errorf("%s has no file NAME.patch: no correction was tested", e.folder)
	}
	e.do("plan")
}

// has reports whether a body shows all values of a merge patch.
func has(body any, patch map[string]any) bool {
	return all(body, patch, func(shown, sent any) bool { return fmt.Sprint(shown) == fmt.Sprint(sent) })
}

// hasNone reports whether a body shows no value of a merge patch.
func hasNone(body any, patch map[string]any) bool {
	return all(body, patch, func(shown, sent any) bool { return fmt.Sprint(shown) != fmt.Sprint(sent) })
}

// all reports whether each value of a patch, and the value at its path in a body, meet a condition.
func all(body any, patch map[string]any, condition func(shown, sent any) bool) bool {
	members, _ := body.(map[string]any)
	for name, sent := range patch {
		if inner, nested := sent.(map[string]any); nested {
			if !all(members[name], inner, condition) {
				return false
			}
		} else if !condition(members[name], sent) {
			return false
		}
	}
	return true
}

// written are the lines of the worker's metrics that count writes.
var written = regexp.MustCompile(`(?m)^armature_arm_requests_total\{[^}]*method="(?:PUT|PATCH|DELETE)"[^}]*\} (\d+)`)

// writes returns the number of PUTs, PATCHes and DELETEs that a worker has sent.
func writes(w *harness.World, worker *harness.Worker) int {
	w.T.Helper()
	code, text := worker.Get("/metrics")
	if code != http.StatusOK {
		w.T.Fatalf("metrics: %d %s", code, text)
	}
	sum := 0
	for _, line := range written.FindAllStringSubmatch(text, -1) {
		n, err := strconv.Atoi(line[1])
		if err != nil {
			w.T.Fatal(err)
		}
		sum += n
	}
	if sum == 0 {
		w.T.Fatalf("the metrics count no write:\n%s", text)
	}
	return sum
}

// configure sets the variables of the endpoint, and returns a function that starts it.
func (e *endpoint) configure(t *testing.T) func() {
	t.Helper()
	if address := os.Getenv(addressVariable); address != "" {
		e.variables = slices.DeleteFunc(os.Environ(), func(variable string) bool {
			return !strings.HasPrefix(variable, "ARMATURE_AZURE_") && !strings.HasPrefix(variable, "AZURE_")
		})
		e.variables = append(e.variables, "ARMATURE_AZURE_CLOUD=custom", "ARMATURE_AZURE_ENDPOINT="+address,
			"ARMATURE_MASK_KEY=env:E2E_MASK_KEY", "E2E_MASK_KEY="+strings.Repeat("e2", 32))
		return func() {}
	}
	ports, err := freeport.Reserve(0)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(ports.Release)
	address, ca := freeport.Address(ports.Numbers[0]), filepath.Join(t.TempDir(), "ca.pem")
	e.variables = append(e.variables, "ARMATURE_AZURE_CLOUD=custom",
		"ARMATURE_AZURE_ENDPOINT=https://"+address, "ARMATURE_AZURE_AUTHORITY_HOST=https://"+address, "ARMATURE_AZURE_CA_FILE="+ca,
		"ARMATURE_AZURE_CREDENTIAL=client-secret", "AZURE_TENANT_ID="+harness.TenantID, "AZURE_CLIENT_ID="+harness.ClientID, "AZURE_CLIENT_SECRET="+harness.ClientSecret)
	return func() { e.startSimulator(address, ca) }
}

// startSimulator runs armsim until the end of the test.
func (e *endpoint) startSimulator(address, ca string) {
	e.T.Helper()
	root, err := harness.Root(e.T.Context())
	if err != nil {
		e.T.Fatal(err)
	}
	program := filepath.Join(e.Folder, "armsim")
	if err := harness.BuildProgram(e.T.Context(), root, "./armsim/cmd", program); err != nil {
		e.T.Fatal(err)
	}
	args := []string{"--listen", address, "--https", "--ca-out", ca, "--time-scale", "60", "--require-auth", "--tenant", harness.TenantID, "--client-id", harness.ClientID}
	ctx, stop := context.WithCancel(context.Background()) // the test's own ends before the worker
	command := exec.CommandContext(ctx, program, args...)
	command.Env = append(os.Environ(), "ARMSIM_CLIENT_SECRET="+harness.ClientSecret)
	if err := command.Start(); err != nil {
		e.T.Fatal(err)
	}
	e.T.Cleanup(func() {
		stop()
		_ = command.Wait() // it was killed
	})
	e.Until(30*time.Second, "armsim serves", func() (bool, string) {
		out, err := exec.CommandContext(e.T.Context(), program, append(args, "--probe")...).CombinedOutput()
		return err == nil, string(out)
	})
}

// variable returns the value of a variable of the worker; the last one counts.
func (e *endpoint) variable(name string) string {
	for _, variable := range slices.Backward(e.variables) {
		if text, ok := strings.CutPrefix(variable, name+"="); ok {
			return text
		}
	}
	return ""
}

// connect makes a client of the endpoint that is not Armature.
func (e *endpoint) connect() {
	e.T.Helper()
	value := e.variable
	roots, err := x509.SystemCertPool()
	if err != nil {
		e.T.Fatal(err)
	}
	if file := value("ARMATURE_AZURE_CA_FILE"); file != "" {
		pem, err := os.ReadFile(file)
		if err != nil || !roots.AppendCertsFromPEM(pem) {
			e.T.Fatalf("no certificate in %s: %v", file, err)
		}
	}
	transport := &http.Transport{Proxy: http.ProxyFromEnvironment, TLSClientConfig: &tls.Config{RootCAs: roots, MinVersion: tls.VersionTLS12}}
	e.T.Cleanup(transport.CloseIdleConnections)
	e.client = &http.Client{Transport: transport, Timeout: time.Minute}
	e.scope = cmp.Or(value("ARMATURE_AZURE_AUDIENCE"), value("ARMATURE_AZURE_ENDPOINT")) + "/.default"
	options := policy.ClientOptions{Transport: e.client, Cloud: cloud.Configuration{ActiveDirectoryAuthorityHost: value("ARMATURE_AZURE_AUTHORITY_HOST")}}
	switch value("ARMATURE_AZURE_CREDENTIAL") {
	case "none":
		return
	case "client-secret":
		e.credential, err = azidentity.NewClientSecretCredential(value("AZURE_TENANT_ID"), value("AZURE_CLIENT_ID"), value("AZURE_CLIENT_SECRET"),
			&azidentity.ClientSecretCredentialOptions{ClientOptions: options, DisableInstanceDiscovery: true})
	default:
		e.credential, err = azidentity.NewDefaultAzureCredential(&azidentity.DefaultAzureCredentialOptions{ClientOptions: options, DisableInstanceDiscovery: true})
	}
	if err != nil {
		e.T.Fatal(err)
	}
}

// send sends a request as another client, and returns the status and the body.
func (e *endpoint) send(method, id, version string, body []byte) (int, map[string]any) {
	e.T.Helper()
	request, err := http.NewRequestWithContext(e.T.Context(), method, e.variable("ARMATURE_AZURE_ENDPOINT")+id+"?api-version="+version, bytes.NewReader(body))
	if err != nil {
		e.T.Fatal(err)
	}
	request.Header.Set("Content-Type", "application/json")
	if e.credential != nil {
		token, err := e.credential.GetToken(e.T.Context(), policy.TokenRequestOptions{Scopes: []string{e.scope}})
		if err != nil {
			e.T.Fatal(err)
		}
		request.Header.Set("Authorization", "Bearer "+token.Token)
	}
	response, err := e.client.Do(request)
	if err != nil {
		e.T.Fatal(err)
	}
	defer func() { _ = response.Body.Close() }()
	content, err := io.ReadAll(response.Body)
	if err != nil {
		e.T.Fatal(err)
	}
	decoded := map[string]any{}
	if json.Unmarshal(content, &decoded) != nil {
		decoded["text"] = string(content)
	}
	return response.StatusCode, decoded
}
