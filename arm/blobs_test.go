package arm

import (
	"context"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/Azure/azure-sdk-for-go/sdk/azcore"
	"github.com/Azure/azure-sdk-for-go/sdk/azcore/policy"
)

// container is a blob container with the conditions of Put Blob and Get Blob
// (learn.microsoft.com/rest/api/storageservices/specifying-conditional-headers-for-blob-service-operations).
type container struct {
	mu     sync.Mutex
	blobs  map[string]string
	etags  map[string]string
	number int
	status int
	tokens []string
}

func (c *container) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.tokens = append(c.tokens, r.Header.Get("Authorization"))
	deny := func(status int, code string) {
		w.Header().Set("x-ms-error-code", code)
		w.WriteHeader(status)
	}
	body, known := c.blobs[r.URL.Path]
	switch {
	case c.status != 0:
		deny(c.status, "ServerBusy")
	case r.Header.Get("x-ms-version") == "":
		deny(http.StatusBadRequest, "MissingRequiredHeader")
	case !strings.HasPrefix(r.URL.Path, "/fence/"):
		deny(http.StatusNotFound, "ContainerNotFound")
	case r.Method == http.MethodGet && !known:
		deny(http.StatusNotFound, "BlobNotFound")
	case r.Method == http.MethodGet:
		w.Header().Set("ETag", c.etags[r.URL.Path])
		_, _ = io.WriteString(w, body)
	case r.Method != http.MethodPut || r.Header.Get("x-ms-blob-type") != "BlockBlob":
		deny(http.StatusBadRequest, "InvalidHeaderValue")
	case r.Header.Get("If-None-Match") == "*" && known:
		deny(http.StatusConflict, "BlobAlreadyExists")
	case r.Header.Get("If-Match") != "" && r.Header.Get("If-Match") != c.etags[r.URL.Path]:
		deny(http.StatusPreconditionFailed, "ConditionNotMet")
	default:
		content, _ := io.ReadAll(r.Body)
		c.number++
		c.blobs[r.URL.Path], c.etags[r.URL.Path] = string(content), fmt.Sprintf(`"0x%d"`, c.number)
		w.WriteHeader(http.StatusCreated)
	}
}

// scopedToken is a credential that records the scopes it is asked for.
type scopedToken struct{ scopes []string }

func (f *scopedToken) GetToken(_ context.Context, options policy.TokenRequestOptions) (azcore.AccessToken, error) {
	f.scopes = append(f.scopes, options.Scopes...)
	return azcore.AccessToken{Token: "t0ken", ExpiresOn: time.Now().Add(time.Hour)}, nil
}

func TestBlobs(t *testing.T) {
	t.Parallel()
	store := &container{blobs: map[string]string{}, etags: map[string]string{}}
	server := httptest.NewTLSServer(store)
	defer server.Close()
	credential := &scopedToken{}
	blobs, err := NewBlobs(BlobOptions{Container: server.URL + "/fence/", Credential: credential, Transport: server.Client()})
	if err != nil {
		t.Fatal(err)
	}
	checkConditions(t, blobs)
	if credential.scopes[0] != storageScope || store.tokens[0] != "Bearer t0ken" {
		t.Errorf("token of %v, sent as %q", credential.scopes, store.tokens[0])
	}
	store.status = http.StatusServiceUnavailable
	if _, _, err := blobs.Read(t.Context(), "s/a.json"); err == nil || !strings.Contains(err.Error(), "503 ServerBusy") {
		t.Errorf("a failed read is %v", err)
	}
	if written, err := blobs.Write(t.Context(), "s/b.json", nil, ""); written || err == nil {
		t.Errorf("a failed write is %t, %v", written, err)
	}
	store.status = 0
	other, err := NewBlobs(BlobOptions{Container: server.URL + "/missing", Credential: credential, Transport: server.Client()})
	if err != nil {
		t.Fatal(err)
	}
	if _, _, err := other.Read(t.Context(), "s/a.json"); err == nil || !strings.Contains(err.Error(), "ContainerNotFound") {
		t.Errorf("a missing container looks like a missing document: %v", err)
	}
}

// checkConditions writes one document with conditions that hold and conditions that do not.
func checkConditions(t *testing.T, blobs *Blobs) {
	t.Helper()
	write := func(document, etag string, want bool) {
		t.Helper()
		if written, err := blobs.Write(t.Context(), "s/a.json", []byte(document), etag); written != want || err != nil {
			t.Errorf("write %s at %q: %t, %v; want %t", document, etag, written, err, want)
		}
	}
	if document, etag, err := blobs.Read(t.Context(), "s/a.json"); document != nil || etag != "" || err != nil {
		t.Errorf("an absent document is %q, %q, %v", document, etag, err)
	}
	write("one", "", true)
	write("two", "", false)
	_, first, err := blobs.Read(t.Context(), "s/a.json")
	if err != nil || first == "" {
		t.Fatalf("no ETag, %v", err)
	}
	write("two", first, true)
	write("three", first, false)
	document, _, err := blobs.Read(t.Context(), "s/a.json")
	if string(document) != "two" || err != nil {
		t.Errorf("the document is %q, %v; want the second write alone", document, err)
	}
}

func TestBlobContainers(t *testing.T) {
	t.Parallel()
	cases := map[string]struct {
		reason, url string
		credential  azcore.TokenCredential
		valid       bool
	}{
		"Azure":        {reason: "the normal form", url: "https://a.blob.core.windows.net/fence", credential: &scopedToken{}, valid: true},
		"NoContainer":  {reason: "an account is no container", url: "https://a.blob.core.windows.net/", credential: &scopedToken{}},
		"Plain":        {reason: "a token never leaves in clear", url: "http://a.blob.core.windows.net/fence", credential: &scopedToken{}},
		"Signed":       {reason: "a signature in a setting is a secret", url: "https://a.blob.core.windows.net/fence?sig=x", credential: &scopedToken{}},
		"NoCredential": {reason: "anonymous writes are for tests", url: "https://a.blob.core.windows.net/fence"},
		"Loopback":     {reason: "a double on this machine", url: "http://127.0.0.1:1/fence", valid: true},
	}
	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			if _, err := NewBlobs(BlobOptions{Container: c.url, Credential: c.credential}); (err == nil) != c.valid {
				t.Errorf("%v: %s", err, c.reason)
			}
		})
	}
}
