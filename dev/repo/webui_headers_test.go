package repo

import (
	"io/fs"
	"net/http"
	"net/http/httptest"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/armature-io/armature/internal/payload"
	"github.com/temporalio/ui-server/v2/ui"
)

// TestWebUIHeaders reads from the program of the Web UI which headers it sends to a codec
// server, and asks for each in a preflight: a header that is not allowed keeps the browser
// from sending the request at all.
func TestWebUIHeaders(t *testing.T) {
	assets, err := ui.Assets()
	if err != nil {
		t.Fatal(err)
	}
	// The literal with X-Namespace, and what is added to it until it is sent.
	call := regexp.MustCompile(`\{([^{}]*"X-Namespace"[^{}]*)\}(.{0,900}?)fetch\(`)
	literal := regexp.MustCompile(`"([A-Za-z-]+)":`)
	added := regexp.MustCompile(`\.(Authorization)=|\["([A-Za-z-]+)"\]=`)
	headers := map[string]bool{}
	err = fs.WalkDir(assets, ".", func(path string, _ fs.DirEntry, err error) error {
		if err != nil || !strings.HasSuffix(path, ".js") {
			return err
		}
		text, err := fs.ReadFile(assets, path)
		for _, found := range call.FindAllStringSubmatch(string(text), -1) {
			for _, header := range literal.FindAllStringSubmatch(found[1], -1) {
				headers[header[1]] = true
			}
			for _, header := range added.FindAllStringSubmatch(found[2], -1) {
				headers[header[1]+header[2]] = true
			}
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{"Authorization", "Authorization-Extras", "Content-Type", "X-Namespace"} {
		if !headers[want] {
			t.Errorf("the program of the Web UI sends no %s any more, or this test does not find it: %v", want, headers)
		}
	}
	const origin = "https://ui.example.com"
	for header := range headers {
		preflight := httptest.NewRequest(http.MethodOptions, "/decode?preserveStorageRefs=true", nil)
		preflight.Header.Set("Origin", origin)
		preflight.Header.Set("Access-Control-Request-Method", http.MethodPost)
		preflight.Header.Set("Access-Control-Request-Headers", strings.ToLower(header))
		response := httptest.NewRecorder()
		payload.Handler(origin).ServeHTTP(response, preflight)
		allowed := strings.Split(strings.ToLower(strings.ReplaceAll(response.Header().Get("Access-Control-Allow-Headers"), " ", "")), ",")
		if !slices.Contains(allowed, strings.ToLower(header)) {
			t.Errorf("the codec server does not allow %s, which the Web UI sends: %v", header, allowed)
		}
	}
}
