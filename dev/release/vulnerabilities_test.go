package main

import (
	"bytes"
	"compress/gzip"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
)

// advisory states that url.Parse of the standard library is vulnerable in every version.
const advisory = `{
	"schema_version": "1.3.1", "id": "GO-2026-9999", "modified": "2026-01-01T00:00:00Z", "published": "2026-01-01T00:00:00Z",
	"details": "A vulnerability for tests.",
	"affected": [{
		"package": {"name": "stdlib", "ecosystem": "Go"},
		"ranges": [{"type": "SEMVER", "events": [{"introduced": "0"}]}],
		"ecosystem_specific": {"imports": [{"path": "net/url", "symbols": ["Parse"]}]}
	}]
}`

// vulnerabilityDatabase serves a database in the form of vuln.go.dev: empty, or with
// the advisory.
func vulnerabilityDatabase(t *testing.T, withAdvisory bool) string {
	t.Helper()
	files := map[string]string{"/index/db.json": `{"modified": "2026-01-01T00:00:00Z"}`, "/index/modules.json": "[]"}
	if withAdvisory {
		files["/index/modules.json"] = `[{"path": "stdlib", "vulns": [{"id": "GO-2026-9999", "modified": "2026-01-01T00:00:00Z"}]}]`
		files["/ID/GO-2026-9999.json"] = advisory
	}
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		text, found := files[strings.TrimSuffix(r.URL.Path, ".gz")]
		switch {
		case !found:
			http.NotFound(w, r)
		case strings.HasSuffix(r.URL.Path, ".gz"):
			zip := gzip.NewWriter(w)
			_, _ = zip.Write([]byte(text))
			_ = zip.Close()
		default:
			_, _ = w.Write([]byte(text))
		}
	}))
	t.Cleanup(server.Close)
	return server.URL
}

// Only a database that cannot be reached skips the check: a finding, a server without
// a database and code that does not compile fail.
func TestCheckVulnerabilities(t *testing.T) {
	// Nothing listens on port 1; a port that was closed can be that of the next server.
	const closed = "http://127.0.0.1:1"
	broken := httptest.NewServer(http.NotFoundHandler())
	t.Cleanup(broken.Close)
	empty, planted := vulnerabilityDatabase(t, false), vulnerabilityDatabase(t, true)
	const calls, harmless = "package main\n\nimport \"net/url\"\n\nfunc main() { _, _ = url.Parse(\"a\") }\n", "package main\n\nfunc main() {}\n"
	cases := map[string]struct {
		reason, database, code string
		required               bool
		output, fault          string
	}{
		"finding":               {reason: "the code calls what is vulnerable", database: planted, code: calls, output: "GO-2026-9999", fault: "govulncheck found one"},
		"not called":            {reason: "the code does not", database: planted, code: harmless, output: "No vulnerabilities found"},
		"nothing known":         {reason: "the database has nothing", database: empty, code: calls, output: "No vulnerabilities found"},
		"does not compile":      {reason: "no check, no result", database: empty, code: "package main\n\nfunc main() { missing() }\n", fault: "govulncheck found one, or failed"},
		"unreachable":           {reason: "no connection", database: closed, code: calls, output: "SKIPPED: check for known vulnerabilities: the vulnerability database cannot be reached"},
		"unreachable, required": {reason: "a release does not skip", database: closed, code: calls, required: true, fault: "cannot be reached"},
		"no database":           {reason: "a server that answers can be reached", database: broken.URL, code: calls, fault: "status 404"},
	}
	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			root := moduleWith(t, "", "", map[string]string{"go.mod": "module example.com/tool\n\ngo 1.26.0\n", "main.go": c.code}).Dir
			args := []string{"vulnerabilities", "--root", root, "--database", c.database}
			if c.required {
				args = append(args, "--required")
			}
			var out bytes.Buffer
			err := run(t.Context(), &out, args)
			if !strings.Contains(out.String(), c.output) {
				t.Errorf("%s: the output lacks %q:\n%s", c.reason, c.output, out.String())
			}
			if (err == nil) != (c.fault == "") || err != nil && !strings.Contains(err.Error(), c.fault) {
				t.Errorf("%s: the error is %v, want %q\n%s", c.reason, err, c.fault, out.String())
			}
		})
	}
}
