package main

import (
	"bytes"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

const productRoot = "../.."

func TestNpmPackages(t *testing.T) {
	packages, err := npmPackages(productRoot)
	if err != nil {
		t.Fatal(err)
	}
	reader, err := newLicenseReader()
	if err != nil {
		t.Fatal(err)
	}
	licenses := map[string]string{}
	for _, p := range packages {
		c, err := p.component(reader)
		if err != nil {
			t.Fatal(err)
		}
		name, _, _ := strings.Cut(strings.TrimPrefix(c.PackageURL, "pkg:npm/"), "@")
		licenses[name] = (*c.Licenses)[0].License.ID
		if sum := (*c.Hashes)[0].Value; len(sum) != 128 {
			t.Errorf("%s has the hash %s, want SHA-512", p.Path, sum)
		}
	}
	want := map[string]string{"%40dagrejs/dagre": "MIT", "%40dagrejs/graphlib": "MIT", "htmx.org": "0BSD"}
	if diff := cmp.Diff(want, licenses); diff != "" {
		t.Errorf("licenses of the packages (-want +got):\n%s", diff)
	}
	broken := packages[0]
	broken.Dir = t.TempDir()
	if _, err := broken.component(reader); err == nil {
		t.Error("a package without a license is accepted")
	}
}

func TestEmbeds(t *testing.T) {
	const module = "github.com/armature-io/armature"
	for program, want := range map[string]bool{"/starter/cmd": true, "/worker": false} {
		if got, err := embeds(t.Context(), productRoot, module, module+program); got != want || err != nil {
			t.Errorf("%s embeds files of npm packages: %t, %v, want %t", program, got, err, want)
		}
	}
}

func TestCheckPackages(t *testing.T) {
	cases := map[string]struct {
		reason, answer string
		required, ok   bool
		says           string
	}{
		"none":        {reason: "the normal answer", answer: `{"auditReportVersion":2,"metadata":{"vulnerabilities":{"total":0}}}`, ok: true, says: "no known vulnerabilities"},
		"one":         {reason: "a finding stops a release", answer: `{"auditReportVersion":2,"metadata":{"vulnerabilities":{"total":1}}}`},
		"unreachable": {reason: "a registry that does not answer skips the check, with a line", answer: `{"message":"405","error":{}}`, ok: true, says: "SKIPPED"},
		"required":    {reason: "a release skips nothing", answer: `{"message":"405","error":{}}`, required: true},
		"no npm":      {reason: "as a registry that does not answer", ok: true, says: "SKIPPED"},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			folder := t.TempDir()
			t.Setenv("PATH", folder+":/usr/bin:/bin")
			script := "#!/bin/sh\nexit 127\n"
			if tc.answer != "" {
				script = "#!/bin/sh\necho '" + tc.answer + "'\nexit 1\n"
			}
			if err := os.WriteFile(filepath.Join(folder, "npm"), []byte(script), 0o700); err != nil { //nolint:gosec // a program
				t.Fatal(err)
			}
			var out bytes.Buffer
			err := checkPackages(t.Context(), &out, options{root: productRoot, required: tc.required})
			if (err == nil) != tc.ok || !strings.Contains(out.String(), tc.says) {
				t.Errorf("%s: %v\n%s", tc.reason, err, out.String())
			}
		})
	}
}
