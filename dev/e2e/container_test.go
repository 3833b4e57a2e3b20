package e2e

import (
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"sync"
	"testing"
)

// container is a blob container without authentication: Get Blob, and Put Blob with the
// conditions that Azure documents
// (learn.microsoft.com/rest/api/storageservices/specifying-conditional-headers-for-blob-service-operations).
type container struct {
	mu     sync.Mutex
	blobs  map[string][]byte
	etags  map[string]string
	number int
}

// startContainer serves a container until the end of the test and returns its URL.
func startContainer(t *testing.T) string {
	t.Helper()
	server := httptest.NewServer(&container{blobs: map[string][]byte{}, etags: map[string]string{}})
	t.Cleanup(server.Close)
	return server.URL + "/fence"
}

func (c *container) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	c.mu.Lock()
	defer c.mu.Unlock()
	refuse := func(status int, code string) {
		w.Header().Set("x-ms-error-code", code)
		w.WriteHeader(status)
	}
	name := r.URL.Path
	content, known := c.blobs[name]
	switch {
	case r.Method == http.MethodGet && !known:
		refuse(http.StatusNotFound, "BlobNotFound")
	case r.Method == http.MethodGet:
		w.Header().Set("ETag", c.etags[name])
		_, _ = w.Write(content)
	case r.Method != http.MethodPut:
		refuse(http.StatusMethodNotAllowed, "UnsupportedHttpVerb")
	case r.Header.Get("If-None-Match") == "*" && known:
		refuse(http.StatusConflict, "BlobAlreadyExists")
	case r.Header.Get("If-Match") != "" && r.Header.Get("If-Match") != c.etags[name]:
		refuse(http.StatusPreconditionFailed, "ConditionNotMet")
	default:
		written, err := io.ReadAll(r.Body)
		if err != nil {
			refuse(http.StatusBadRequest, "IncompleteBody")
			return
		}
		c.number++
		c.blobs[name], c.etags[name] = written, fmt.Sprintf(`"0x%X"`, c.number)
		w.WriteHeader(http.StatusCreated)
	}
}
