package main

import (
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// newRegistry serves one image of many platforms and one of a single platform, for
// requests with a token.
func newRegistry(t *testing.T) (host string, client registry) {
	t.Helper()
	var server *httptest.Server
	server = httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		kinds := map[string]string{
			"/v2/team/many/manifests/1.2":   "application/vnd.oci.image.index.v1+json",
			"/v2/team/single/manifests/1.2": "application/vnd.oci.image.manifest.v1+json",
		}
		switch kind := kinds[r.URL.Path]; {
		case r.URL.Path == "/token":
			if r.URL.Query().Get("scope") != "repository:pull" {
				w.WriteHeader(http.StatusForbidden)
				return
			}
			_, _ = w.Write([]byte(`{"token":"anonymous"}`))
		case r.Header.Get("Authorization") != "Bearer anonymous":
			w.Header().Set("WWW-Authenticate", `Bearer realm="`+server.URL+`/token",service="registry",scope="repository:pull"`)
			w.WriteHeader(http.StatusUnauthorized)
		case kind == "":
			w.WriteHeader(http.StatusNotFound)
		default:
			w.Header().Set("Content-Type", kind)
			w.Header().Set("Docker-Content-Digest", "sha256:"+strings.Repeat("1", 64))
		}
	}))
	t.Cleanup(server.Close)
	return strings.TrimPrefix(server.URL, "http://"), registry{client: server.Client(), scheme: "http"}
}

func TestPin(t *testing.T) {
	host, client := newRegistry(t)
	digest, old := "@sha256:"+strings.Repeat("1", 64), "@sha256:"+strings.Repeat("0", 64)
	cases := map[string]struct{ reason, text, want, err string }{
		"compose":      {"a tag gets its digest", "    image: HOST/team/many:1.2\n", "    image: HOST/team/many:1.2" + digest + "\n", ""},
		"Dockerfile":   {"the name of the stage stays", "FROM HOST/team/many:1.2 AS build\n", "FROM HOST/team/many:1.2" + digest + " AS build\n", ""},
		"platform":     {"a stage that runs on the platform of the builder", "FROM --platform=$BUILDPLATFORM HOST/team/many:1.2 AS build\n", "FROM --platform=$BUILDPLATFORM HOST/team/many:1.2" + digest + " AS build\n", ""},
		"another one":  {"a new tag has a new digest", "image: HOST/team/many:1.2" + old + "\n", "image: HOST/team/many:1.2" + digest + "\n", ""},
		"own image":    {"it is built here", "image: armature/worker:local\n", "image: armature/worker:local\n", ""},
		"scratch":      {"it is no image", "FROM scratch AS worker\n", "FROM scratch AS worker\n", ""},
		"one platform": {"its digest would be wrong elsewhere", "image: HOST/team/single:1.2\n", "image: HOST/team/single:1.2\n", "no index of platforms"},
		"absent":       {"a wrong tag", "image: HOST/team/many:9\n", "image: HOST/team/many:9\n", "404"},
	}
	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			got, err := pin(t.Context(), client, strings.ReplaceAll(c.text, "HOST", host))
			if diff := cmp.Diff(strings.ReplaceAll(c.want, "HOST", host), got); diff != "" {
				t.Errorf("%s (-want +got):\n%s", c.reason, diff)
			}
			if (err == nil) != (c.err == "") || err != nil && !strings.Contains(err.Error(), c.err) {
				t.Errorf("%s: got %v, want %q", c.reason, err, c.err)
			}
		})
	}
}

func TestSplit(t *testing.T) {
	for image, want := range map[string][2]string{
		"golang":                   {"registry-1.docker.io", "library/golang"},
		"temporalio/server":        {"registry-1.docker.io", "temporalio/server"},
		"ghcr.io/team/image":       {"ghcr.io", "team/image"},
		"localhost:5000/team/name": {"localhost:5000", "team/name"},
	} {
		if host, name := split(image); host != want[0] || name != want[1] {
			t.Errorf("%s: got %s %s, want %v", image, host, name, want)
		}
	}
}
