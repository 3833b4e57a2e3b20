package main

import (
	"bytes"
	"context"
	"debug/buildinfo"
	"encoding/base64"
	"encoding/hex"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"runtime/debug"
	"slices"
	"strings"

	"github.com/CycloneDX/cyclonedx-go"
	"github.com/google/uuid"
)

const (
	// sbomSuffix follows the name of the program in the name of its bill of materials.
	sbomSuffix = ".cdx.json"

	// noticesName is the file with the licenses and notices of all linked modules.
	noticesName = "third-party-licenses.txt"
)

// sbomCommand writes into a folder of programs: the bill of materials of each, the
// licenses of what they link, and the sums of all files. Everything follows from the
// programs and the sources; there is no time in it, so that two runs give the same bytes.
func sbomCommand(ctx context.Context, o options, folder string) error {
	programs, err := programsOf(folder)
	if err != nil {
		return err
	}
	root, err := filepath.Abs(o.root)
	if err != nil {
		return err
	}
	reader, err := newLicenseReader()
	if err != nil {
		return err
	}
	modules, err := linkedModules(ctx, root, o.platforms, o.packages)
	if err != nil {
		return err
	}
	sums, err := os.ReadFile(filepath.Join(root, "go.sum"))
	if err != nil {
		return err
	}
	packages, err := npmPackages(root)
	if err != nil {
		return err
	}
	for _, program := range programs {
		b := bill{version: o.version, root: root, sums: string(sums), modules: modules, packages: packages, reader: reader}
		bom, err := b.of(ctx, program)
		if err != nil {
			return fmt.Errorf("bill of materials of %s: %w", filepath.Base(program), err)
		}
		var out bytes.Buffer
		if err := cyclonedx.NewBOMEncoder(&out, cyclonedx.BOMFileFormatJSON).SetPretty(true).EncodeVersion(bom, cyclonedx.SpecVersion1_6); err != nil {
			return err
		}
		if err := os.WriteFile(program+sbomSuffix, out.Bytes(), 0o644); err != nil { //nolint:gosec // it is published
			return err
		}
	}
	var notices bytes.Buffer
	if err := writeNotices(&notices, withPackages(modules, packages)); err != nil {
		return err
	}
	if err := os.WriteFile(filepath.Join(folder, noticesName), notices.Bytes(), 0o644); err != nil { //nolint:gosec // it is published
		return err
	}
	return writeSums(folder)
}

// programsOf returns the paths of the programs in a folder, which are all files but
// those that the release program writes itself.
func programsOf(folder string) ([]string, error) {
	sums, err := fileSums(folder)
	if err != nil {
		return nil, err
	}
	var programs []string
	for _, name := range sortedNames(sums) {
		if !strings.HasSuffix(name, sbomSuffix) && name != noticesName {
			programs = append(programs, filepath.Join(folder, name))
		}
	}
	if len(programs) == 0 {
		return nil, fmt.Errorf("%s has no programs; run make dist", folder)
	}
	return programs, nil
}

// bill makes bills of materials from what the linker wrote into programs.
type bill struct {
	version, root string

	// sums is the text of go.sum.
	sums string

	modules  []linkedModule
	packages []npmPackage
	reader   *licenseReader
}

// of returns the bill of materials of a program.
func (b bill) of(ctx context.Context, program string) (*cyclonedx.BOM, error) {
	info, err := buildinfo.ReadFile(program)
	if err != nil {
		return nil, err
	}
	sum, err := fileSum(program)
	if err != nil {
		return nil, err
	}
	own, err := b.ownComponent(info, filepath.Base(program), sum)
	if err != nil {
		return nil, err
	}
	components, err := b.components(info)
	if err != nil {
		return nil, err
	}
	hasPackages, err := embeds(ctx, b.root, info.Main.Path, info.Path)
	if err != nil {
		return nil, err
	}
	for _, p := range b.packages {
		if !hasPackages {
			break
		}
		c, err := p.component(b.reader)
		if err != nil {
			return nil, err
		}
		components = append(components, c)
	}
	refs := make([]string, 0, len(components))
	for _, c := range components {
		refs = append(refs, c.BOMRef)
	}
	bom := cyclonedx.NewBOM()
	bom.SerialNumber = "urn:uuid:" + uuid.NewSHA1(uuid.NameSpaceURL, []byte("sha256:"+sum)).String()
	bom.Metadata = &cyclonedx.Metadata{Component: &own}
	bom.Components = &components
	// A program names what it links, and not which module asked for it.
	bom.Dependencies = &[]cyclonedx.Dependency{{Ref: own.BOMRef, Dependencies: &refs}}
	return bom, nil
}

// ownComponent describes the program itself.
func (b bill) ownComponent(info *debug.BuildInfo, name, sum string) (cyclonedx.Component, error) {
	purl := packageURL(info.Main.Path, b.version)
	if folder := strings.TrimPrefix(info.Path, info.Main.Path+"/"); folder != info.Path {
		purl += "#" + folder
	}
	ids, err := b.reader.licenses(linkedModule{Path: info.Main.Path, Dir: b.root})
	if err != nil {
		return cyclonedx.Component{}, err
	}
	settings := []cyclonedx.Property{{Name: "armature:go", Value: info.GoVersion}}
	for _, s := range info.Settings {
		settings = append(settings, cyclonedx.Property{Name: "armature:build:" + s.Key, Value: s.Value})
	}
	return cyclonedx.Component{
		BOMRef: purl, Type: cyclonedx.ComponentTypeApplication, Name: name, Version: b.version, PackageURL: purl,
		Hashes:     &[]cyclonedx.Hash{{Algorithm: cyclonedx.HashAlgoSHA256, Value: sum}},
		Licenses:   licenseChoices(ids),
		Properties: &settings,
	}, nil
}

// components describes the linked modules, sorted by path, and the standard library.
func (b bill) components(info *debug.BuildInfo) ([]cyclonedx.Component, error) {
	linked := []debug.Module{{Path: standardLibrary, Version: strings.TrimPrefix(info.GoVersion, "go")}}
	for _, m := range info.Deps {
		if m.Replace != nil {
			m = m.Replace
		}
		linked = append(linked, *m)
	}
	slices.SortFunc(linked, func(x, y debug.Module) int { return strings.Compare(x.Path, y.Path) })
	components := make([]cyclonedx.Component, 0, len(linked))
	for _, m := range linked {
		c, err := b.component(m)
		if err != nil {
			return nil, fmt.Errorf("module %s %s: %w", m.Path, m.Version, err)
		}
		components = append(components, c)
	}
	return components, nil
}

// component describes one linked module.
func (b bill) component(m debug.Module) (cyclonedx.Component, error) {
	at := slices.IndexFunc(b.modules, func(l linkedModule) bool { return l.Path == m.Path && l.Version == m.Version })
	if at < 0 {
		return cyclonedx.Component{}, errors.New("the program links it and the sources do not: the program is from other sources; run make dist")
	}
	ids, err := b.reader.licenses(b.modules[at])
	if err != nil {
		return cyclonedx.Component{}, err
	}
	purl := packageURL(m.Path, m.Version)
	c := cyclonedx.Component{
		BOMRef: purl, Type: cyclonedx.ComponentTypeLibrary, Name: m.Path, Version: m.Version, PackageURL: purl,
		Licenses: licenseChoices(ids),
	}
	if m.Path == standardLibrary {
		return c, nil
	}
	sum, err := b.checkedSum(m)
	if err != nil {
		return cyclonedx.Component{}, err
	}
	c.Hashes = &[]cyclonedx.Hash{{Algorithm: cyclonedx.HashAlgoSHA256, Value: sum}}
	return c, nil
}

// checkedSum returns the hash of a module in hexadecimal: that of go.sum, which is the
// SHA-256 of the list of all its files with their SHA-256.
func (b bill) checkedSum(m debug.Module) (string, error) {
	if !strings.Contains("\n"+b.sums, fmt.Sprintf("\n%s %s %s\n", m.Path, m.Version, m.Sum)) {
		return "", fmt.Errorf("its hash %q is not the one of go.sum", m.Sum)
	}
	sum, err := base64.StdEncoding.DecodeString(strings.TrimPrefix(m.Sum, "h1:"))
	if err != nil {
		return "", fmt.Errorf("read its hash %q: %w", m.Sum, err)
	}
	return hex.EncodeToString(sum), nil
}

// packageURL returns the package URL of a version of a module.
func packageURL(path, version string) string {
	return "pkg:golang/" + path + "@" + strings.ReplaceAll(version, "+", "%2B")
}

// licenseChoices are licenses of which all apply.
func licenseChoices(ids []string) *cyclonedx.Licenses {
	if len(ids) == 0 {
		return nil
	}
	choices := cyclonedx.Licenses{}
	for _, id := range ids {
		choices = append(choices, cyclonedx.LicenseChoice{License: &cyclonedx.License{ID: id}})
	}
	return &choices
}
