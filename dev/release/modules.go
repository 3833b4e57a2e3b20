package main

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
)

// standardLibrary is the module path that Go's vulnerability database uses for the
// standard library, and scanners with it.
const standardLibrary = "stdlib"

// linkedModule is a module of which at least one package is linked into a program.
type linkedModule struct {
	Path, Version string

	// Dir is the module's folder in the module cache, or GOROOT.
	Dir string

	// Packages are the folders of the linked packages, sorted. They matter because
	// a folder can have a license of its own.
	Packages []string
}

// linkedModules returns the modules that the packages link on any of the platforms
// (GOOS/GOARCH), the standard library included, without the module in root itself.
func linkedModules(ctx context.Context, root string, platforms, packages []string) ([]linkedModule, error) {
	found := map[string]*linkedModule{}
	folders := map[string]map[string]bool{}
	for _, platform := range platforms {
		goos, goarch, ok := strings.Cut(platform, "/")
		if !ok {
			return nil, fmt.Errorf("platform %q is not GOOS/GOARCH", platform)
		}
		list, err := listPackages(ctx, root, goos, goarch, packages)
		if err != nil {
			return nil, fmt.Errorf("list packages for %s: %w", platform, err)
		}
		for _, p := range list {
			m := p.module()
			if m == nil {
				continue
			}
			if found[m.Path] == nil {
				found[m.Path], folders[m.Path] = m, map[string]bool{}
			}
			folders[m.Path][p.Dir] = true
		}
	}
	for _, m := range found {
		if m.Path == standardLibrary {
			version, goroot, err := toolchain(ctx, root)
			if err != nil {
				return nil, err
			}
			m.Version, m.Dir = version, goroot
		}
		m.Packages = slices.Sorted(maps.Keys(folders[m.Path]))
	}
	modules := make([]linkedModule, 0, len(found))
	for _, m := range found {
		modules = append(modules, *m)
	}
	slices.SortFunc(modules, func(a, b linkedModule) int { return cmp.Compare(a.Path, b.Path) })
	return modules, nil
}

// listedPackage is what `go list -json` prints of a package.
type listedPackage struct {
	Dir      string
	Standard bool
	Module   *listedModule
}

type listedModule struct {
	Path, Version, Dir string
	Main               bool
	Replace            *listedModule
}

// module returns the module to which the package belongs, with a replacement in the
// place of the module that it replaces. It returns nil for the product's own packages.
func (p listedPackage) module() *linkedModule {
	switch {
	case p.Standard:
		return &linkedModule{Path: standardLibrary}
	case p.Module == nil || p.Module.Main:
		return nil
	case p.Module.Replace != nil:
		r := p.Module.Replace
		return &linkedModule{Path: r.Path, Version: r.Version, Dir: r.Dir}
	}
	return &linkedModule{Path: p.Module.Path, Version: p.Module.Version, Dir: p.Module.Dir}
}

// listPackages returns the packages and all that they import, as they are built for
// a release: without cgo.
func listPackages(ctx context.Context, root, goos, goarch string, packages []string) ([]listedPackage, error) {
	args := append([]string{"list", "-deps", "-json=Dir,Standard,Module"}, packages...)
	out, err := runGo(ctx, root, []string{"CGO_ENABLED=0", "GOOS=" + goos, "GOARCH=" + goarch}, args...)
	if err != nil {
		return nil, err
	}
	var list []listedPackage
	for decoder := json.NewDecoder(bytes.NewReader(out)); ; {
		var p listedPackage
		switch err := decoder.Decode(&p); {
		case errors.Is(err, io.EOF):
			return list, nil
		case err != nil:
			return nil, err
		}
		list = append(list, p)
	}
}

// toolchain returns the version of Go without its prefix, and the folder of its sources.
func toolchain(ctx context.Context, root string) (version, goroot string, err error) {
	out, err := runGo(ctx, root, nil, "env", "GOVERSION", "GOROOT")
	if err != nil {
		return "", "", err
	}
	first, second, _ := strings.Cut(strings.TrimSpace(string(out)), "\n")
	return strings.TrimPrefix(first, "go"), filepath.Clean(second), nil
}

// runGo runs a Go command in a folder and returns its output.
func runGo(ctx context.Context, folder string, env []string, args ...string) ([]byte, error) {
	command := exec.CommandContext(ctx, "go", args...)
	command.Dir, command.Env = folder, append(os.Environ(), env...)
	var stderr bytes.Buffer
	command.Stderr = &stderr
	out, err := command.Output()
	if err != nil {
		return nil, fmt.Errorf("go %s: %w\n%s", strings.Join(args, " "), err, stderr.String())
	}
	return out, nil
}
