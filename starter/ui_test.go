package starter

import (
	"bufio"
	"context"
	"io"
	"net/http"
	"net/http/cookiejar"
	"net/url"
	"strings"
	"testing"

	"github.com/armature-io/armature/resource"
	"github.com/armature-io/armature/workflows"
)

// TestSharedUI checks that variables start the shared mode, on an address of all interfaces.
func TestSharedUI(t *testing.T) {
	w := newWorld()
	w.environment = append(w.environment, "ARMATURE_UI_BASE_URL=https://armature.example.com", "ARMATURE_UI_OIDC_ISSUER=https://login.example.com",
		"ARMATURE_UI_OIDC_CLIENT_ID=ui", "ARMATURE_UI_OIDC_CLIENT_SECRET=s3cr3t", "ARMATURE_UI_READ=groups=platform,groups=oncall", "ARMATURE_UI_OTHERS=staging=https://armature.staging.example.com")
	reader, writer := io.Pipe()
	w.app.out = writer
	ctx, stop := context.WithCancel(t.Context())
	code := make(chan int, 1)
	go func() {
		code <- run(ctx, w.app, []string{"ui", "--listen", "0.0.0.0:0"})
		writer.Close()
	}()
	address, err := bufio.NewReader(reader).ReadString('\n')
	stop()
	if got := <-code; got != 0 || err != nil || address != "https://armature.example.com/\n" {
		t.Errorf("exit code %d, %q, %v: %s", got, address, err, w.err)
	}
	w = newWorld()
	w.environment = append(w.environment, "ARMATURE_UI_OIDC_CLIENT_SECRET=s3cr3t")
	if got := run(t.Context(), w.app, []string{"ui", "--help"}); got != 0 || strings.Contains(w.out.String()+w.err.String(), "s3cr3t") {
		t.Errorf("help shows the secret:\n%s%s", w.out, w.err)
	}
}

// TestUI opens the pages as a browser does: the printed address, then the pages behind it.
func TestUI(t *testing.T) {
	w := newWorld()
	w.temporal.manage(t, cluster, workflows.Status{Phase: workflows.PhaseFailed, Condition: resource.Condition{Reason: "SkuNotAvailable", Severity: resource.SeverityError, Message: "no capacity", LastTransitionTime: noon()}})
	reader, writer := io.Pipe()
	w.app.out = writer
	ctx, stop := context.WithCancel(t.Context())
	code := make(chan int, 1)
	go func() {
		code <- run(ctx, w.app, []string{"ui"})
		writer.Close()
	}()
	lines := bufio.NewReader(reader)
	address, err := lines.ReadString('\n')
	if err != nil {
		t.Fatal(err)
	}
	go func() { _, _ = io.Copy(io.Discard, lines) }()
	jar, err := cookiejar.New(nil)
	if err != nil {
		t.Fatal(err)
	}
	client := http.Client{Jar: jar}
	get := func(address string) string {
		t.Helper()
		response, err := client.Get(address)
		if err != nil {
			t.Fatal(err)
		}
		defer response.Body.Close()
		body, err := io.ReadAll(response.Body)
		if err != nil || response.StatusCode != http.StatusOK {
			t.Fatalf("%s answers %s: %v\n%s", address, response.Status, err, body)
		}
		return string(body)
	}
	if page := get(strings.TrimSpace(address)); !strings.Contains(page, "1 cause needs a person") || !strings.Contains(page, "the owner of the manifest") {
		t.Errorf("the overview is\n%s", page)
	}
	base, _, _ := strings.Cut(address, "/?")
	id := url.Values{"id": {cluster}}.Encode()
	if page := get(base + "/resource?" + id); !strings.Contains(page, "no capacity") || !strings.Contains(page, "portal.azure.com") {
		t.Errorf("the page of the resource is\n%s", page)
	}
	if page := get(base + "/resource/history?" + id); !strings.Contains(page, "DELETE") || !strings.Contains(page, "accepted") {
		t.Errorf("the history is\n%s", page)
	}
	stop()
	if got := <-code; got != 0 {
		t.Errorf("Ctrl-C ends with exit code %d: %s", got, w.err)
	}
}
