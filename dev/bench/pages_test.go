package bench

import (
	"fmt"
	"io"
	"net/http"
	"net/http/cookiejar"
	"os"
	"strings"
	"testing"
	"time"

	"github.com/armature-io/armature/dev/internal/harness"
)

const (
	// pageInterval is how often a visible page asks.
	pageInterval = 5 * time.Second
	pagesMinute  = time.Minute
	maxRequests  = 30
)

// TestPages measures the pages of `armature ui` for ten thousand resources: bytes and time of
// the first page, memory, and requests to Temporal in a minute without, with one and with
// five visible pages.
func TestPages(t *testing.T) {
	if os.Getenv(partVariable) == "all" {
		t.Skip("takes minutes; make bench BENCH=pages runs it")
	}
	binaries := requirePart(t, "pages")
	w := harness.New(t, binaries, harness.Options{})
	w.SeedReady(listedCount, crowd{subscriptions: 10, kind: thingType}.id)
	meter := w.Meter()
	pages := w.StartPages()
	browser := newPageBrowser(t)
	all := figures{}
	browser.get(t, pages.Address) // the session
	base, _, _ := strings.Cut(pages.Address, "/?")
	measure := func(name, path string) {
		begun := time.Now()
		bytes := browser.get(t, base+path)
		all["pages."+name+"_seconds"], all["pages."+name+"_bytes"] = time.Since(begun).Seconds(), float64(bytes)
	}
	measure("overview", "/")
	measure("graph", "/graph")
	measure("search", "/graph?q=t77")
	for _, visible := range []int{0, 1, 5} {
		meter.Reset()
		unchanged := 0
		ticker := time.NewTicker(pageInterval)
		for begun := time.Now(); time.Since(begun) < pagesMinute; <-ticker.C {
			for i := range visible {
				if browser.get(t, base+[]string{"/", "/graph"}[i%2]) == 0 {
					unchanged++
				}
			}
		}
		ticker.Stop()
		sent := 0
		for method, n := range meter.Requests() {
			t.Logf("%d pages: %s %d", visible, method, n)
			sent += n
		}
		all[fmt.Sprintf("pages.requests_a_minute_%d", visible)] = float64(sent)
		all[fmt.Sprintf("pages.unchanged_%d", visible)] = float64(unchanged)
		if sent > maxRequests {
			t.Errorf("%d visible pages cost %d requests in a minute, want at most %d", visible, sent, maxRequests)
		}
	}
	used, err := usageOf(pages.Process.Pid)
	if err != nil {
		t.Fatal(err)
	}
	all["pages.memory_mb"], all["pages.max_memory_mb"], all["pages.cpu_seconds"] = used.rss/mega, used.maxRSS/mega, used.cpu.Seconds()
	all.print(t)
	if !t.Failed() {
		all.merge(t)
	}
}

// pageBrowser is a client with cookies and the tags of the pages that it has.
type pageBrowser struct {
	client http.Client
	tags   map[string]string
}

func newPageBrowser(t *testing.T) *pageBrowser {
	t.Helper()
	jar, err := cookiejar.New(nil)
	if err != nil {
		t.Fatal(err)
	}
	return &pageBrowser{client: http.Client{Jar: jar}, tags: map[string]string{}}
}

// get asks for a page and returns the bytes of its body, 0 if it did not change.
func (b *pageBrowser) get(t *testing.T, address string) int64 {
	t.Helper()
	request, err := http.NewRequestWithContext(t.Context(), http.MethodGet, address, nil)
	if err != nil {
		t.Fatal(err)
	}
	if tag := b.tags[address]; tag != "" {
		request.Header.Set("If-None-Match", tag)
	}
	response, err := b.client.Do(request)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = response.Body.Close() }()
	if response.StatusCode != http.StatusOK && response.StatusCode != http.StatusNotModified {
		t.Fatalf("%s answers %s", address, response.Status)
	}
	b.tags[address] = response.Header.Get("ETag")
	bytes, err := io.Copy(io.Discard, response.Body)
	if err != nil {
		t.Fatal(err)
	}
	return bytes
}
