package main

import (
	"bytes"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/licenseclassifier/v2/assets"
)

// moduleWith returns a module with these files, by path; a file's folder counts as
// that of a linked package.
func moduleWith(t *testing.T, path, version string, files map[string]string) linkedModule {
	t.Helper()
	m := linkedModule{Path: path, Version: version, Dir: t.TempDir()}
	for name, text := range files {
		file := filepath.Join(m.Dir, name)
		if err := os.MkdirAll(filepath.Dir(file), 0o700); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		m.Packages = append(m.Packages, filepath.Dir(file))
	}
	return m
}

// ownLicense is a license that is allowed: that of this repository.
func ownLicense(t *testing.T) string {
	t.Helper()
	text, err := os.ReadFile(filepath.Join("..", "..", "LICENSE"))
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}

func TestCheckLicenses(t *testing.T) {
	reader, err := newLicenseReader()
	if err != nil {
		t.Fatal(err)
	}
	mit, unlicensed := ownLicense(t), "github.com/nexus-rpc/nexus-proto-annotations"
	text, err := assets.ReadLicenseFile("License/GPL-3.0/license.txt")
	if err != nil {
		t.Fatal(err)
	}
	gpl := string(text)
	cases := map[string]struct {
		reason  string
		path    string
		version string
		files   map[string]string
		want    string
		fault   string
	}{
		"allowed":           {reason: "one license of the list", files: map[string]string{"LICENSE": mit}, want: "MIT"},
		"none":              {reason: "no right to pass it on", files: map[string]string{"a.go": "package a"}, fault: "it has no license file"},
		"not allowed":       {reason: "copyleft", files: map[string]string{"COPYING": gpl}, fault: "not allowed"},
		"second license":    {reason: "both apply", files: map[string]string{"LICENSE": mit, "LICENSE-2": gpl}, fault: "LICENSE-2 has the license GPL-3.0, which is not allowed"},
		"below":             {reason: "a linked package has a license of its own", files: map[string]string{"LICENSE": mit, "a/b/LICENSE.txt": gpl}, fault: "a/b/LICENSE.txt has the license"},
		"unknown":           {reason: "a license that nobody has read", files: map[string]string{"LICENSE": "You may use this on Sundays."}, fault: "no license that the check recognises"},
		"added":             {reason: "a known license with text behind it", files: map[string]string{"LICENSE": mit + strings.Repeat("\nNo company with a name may sell this.", maxUnknownLines+1)}, fault: "lines that belong to no license"},
		"title":             {reason: "a title is no license", files: map[string]string{"LICENSE": "My library\n\n" + mit}, want: "MIT"},
		"source file":       {reason: "code is named like it", files: map[string]string{"LICENSE": mit, "license.go": "package a"}, want: "MIT"},
		"accepted":          {reason: "one version, with a reason", path: unlicensed, version: "v0.1.0", files: map[string]string{"a.go": "package a"}},
		"accepted no more":  {reason: "the next version is checked again", path: unlicensed, version: "v0.2.0", files: map[string]string{"a.go": "package a"}, fault: "it has no license file"},
		"license of others": {reason: "what is not linked does not count", path: standardLibrary, files: map[string]string{"LICENSE": mit, "src/crypto/internal/boring/LICENSE": "OpenSSL"}, want: "MIT"},
		"same, elsewhere":   {reason: "only in the module that the table names", path: "example.com/a", files: map[string]string{"LICENSE": mit, "src/crypto/internal/boring/LICENSE": "OpenSSL"}, fault: "recognises"},
	}
	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			m := moduleWith(t, c.path, c.version, c.files)
			ids, _ := reader.licenses(m)
			var out bytes.Buffer
			err := checkLicenses(&out, reader, []linkedModule{m})
			if c.fault == "" && (err != nil || strings.Join(ids, " ") != c.want) {
				t.Errorf("%s: %v, want %s: %v", c.reason, ids, c.want, err)
			}
			if c.fault != "" && (err == nil || !strings.Contains(err.Error(), c.fault)) {
				t.Errorf("%s: the error is %v, want %q", c.reason, err, c.fault)
			}
		})
	}
}

func TestCompareFolders(t *testing.T) {
	cases := map[string]struct {
		reason        string
		first, second map[string]string
		fault         string
	}{
		"same":      {reason: "the same bytes", first: map[string]string{"a": "1", "b": "2"}, second: map[string]string{"a": "1", "b": "2"}},
		"different": {reason: "one byte", first: map[string]string{"a": "1", "b": "2"}, second: map[string]string{"a": "1", "b": "3"}, fault: "b differs"},
		"missing":   {reason: "a file that the second build lacks", first: map[string]string{"a": "1", "b": "2"}, second: map[string]string{"a": "1"}, fault: "b is in one build only"},
		"more":      {reason: "a file that the first build lacks", first: map[string]string{"a": "1"}, second: map[string]string{"a": "1", "b": "2"}, fault: "b is in one build only"},
		"empty":     {reason: "two builds of nothing are no proof", fault: "no files"},
	}
	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			first, second := moduleWith(t, "", "", c.first).Dir, moduleWith(t, "", "", c.second).Dir
			err := run(t.Context(), &bytes.Buffer{}, []string{"compare", first, second})
			if (err == nil) != (c.fault == "") || err != nil && !strings.Contains(err.Error(), c.fault) {
				t.Errorf("%s: %v", c.reason, err)
			}
		})
	}
}
