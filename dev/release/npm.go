package main

import (
	"context"
	"encoding/base64"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"

	"github.com/CycloneDX/cyclonedx-go"
)

const (
	// npmFolder has the files of npm packages that a program embeds, below their names, with the
	// package-lock.json that pins them.
	npmFolder = "starter/internal/page/static/npm"
	// embedder is the package whose programs have these files in them.
	embedder = "starter/internal/page"
)

// npmPackage is a package of which files are embedded.
type npmPackage struct {
	linkedModule
	// Integrity is the hash of the package, as in package-lock.json: sha512-BASE64.
	Integrity string
}

// npmPackages returns the packages of package-lock.json, sorted by name; none if sources embed no
// package.
func npmPackages(root string) ([]npmPackage, error) {
	raw, err := os.ReadFile(filepath.Join(root, filepath.FromSlash(npmFolder), "package-lock.json"))
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return nil, nil
	case err != nil:
		return nil, err
	}
	var lock struct {
		Packages map[string]struct {
			Version, Integrity string
		}
	}
	if err := json.Unmarshal(raw, &lock); err != nil {
		return nil, fmt.Errorf("read package-lock.json: %w", err)
	}
	var packages []npmPackage
	for _, key := range slices.Sorted(maps.Keys(lock.Packages)) {
		if name, ok := strings.CutPrefix(key, "node_modules/"); ok {
			packages = append(packages, npmPackage{
				linkedModule: linkedModule{Path: name, Version: lock.Packages[key].Version, Dir: filepath.Join(root, filepath.FromSlash(npmFolder), filepath.FromSlash(name))},
				Integrity:    lock.Packages[key].Integrity,
			})
		}
	}
	return packages, nil
}

// withPackages returns the modules and the npm packages, all of which have licenses.
func withPackages(modules []linkedModule, packages []npmPackage) []linkedModule {
	all := slices.Clone(modules)
	for _, p := range packages {
		all = append(all, p.linkedModule)
	}
	return all
}

// embeds reports whether a main package has the files of npm packages in it.
func embeds(ctx context.Context, root, module, mainPackage string) (bool, error) {
	out, err := runGo(ctx, root, nil, "list", "-deps", mainPackage)
	if err != nil {
		return false, err
	}
	return slices.Contains(strings.Fields(string(out)), module+"/"+embedder), nil
}

// component describes an npm package.
func (p npmPackage) component(reader *licenseReader) (cyclonedx.Component, error) {
	ids, err := reader.licenses(p.linkedModule)
	if err != nil {
		return cyclonedx.Component{}, fmt.Errorf("npm package %s %s: %w", p.Path, p.Version, err)
	}
	sum, err := base64.StdEncoding.DecodeString(strings.TrimPrefix(p.Integrity, "sha512-"))
	if err != nil {
		return cyclonedx.Component{}, fmt.Errorf("npm package %s: read its hash %q: %w", p.Path, p.Integrity, err)
	}
	purl := "pkg:npm/" + strings.Replace(p.Path, "@", "%40", 1) + "@" + p.Version
	return cyclonedx.Component{
		BOMRef: purl, Type: cyclonedx.ComponentTypeLibrary, Name: p.Path, Version: p.Version, PackageURL: purl, Licenses: licenseChoices(ids),
		Hashes: &[]cyclonedx.Hash{{Algorithm: cyclonedx.HashAlgoSHA512, Value: hex.EncodeToString(sum)}},
	}, nil
}

// audit is the answer of `npm audit --json`. Without an answer of the registry it has no
// version.
type audit struct {
	Version  int `json:"auditReportVersion"`
	Message  string
	Metadata struct {
		Vulnerabilities struct{ Total int }
	}
}

// checkPackages asks the registry of npm about known vulnerabilities of the embedded packages.
// As with the database of Go, only a registry that does not answer skips it.
func checkPackages(ctx context.Context, w io.Writer, o options) error {
	if packages, err := npmPackages(o.root); len(packages) == 0 {
		return err
	}
	command := exec.CommandContext(ctx, "npm", "audit", "--package-lock-only", "--json")
	command.Dir = filepath.Join(o.root, filepath.FromSlash(npmFolder))
	out, failed := command.Output()
	var answer audit
	err := json.Unmarshal(out, &answer)
	switch {
	case err != nil && failed == nil:
		return fmt.Errorf("read the answer of npm audit: %w", err)
	case answer.Version == 0 && o.required:
		return fmt.Errorf("check npm packages for known vulnerabilities: %w: %s", errors.Join(failed, err), answer.Message)
	case answer.Version == 0:
		fmt.Fprintf(w, "SKIPPED: check of npm packages for known vulnerabilities: no answer of the registry (%v %s)\n", failed, answer.Message)
		return nil
	case answer.Metadata.Vulnerabilities.Total > 0:
		_, _ = w.Write(out)
		return fmt.Errorf("check npm packages: %d known vulnerabilities (above); update the packages: make page-files", answer.Metadata.Vulnerabilities.Total)
	}
	fmt.Fprintln(w, "npm packages: no known vulnerabilities")
	return nil
}
