package main

import (
	"bytes"
	"compress/gzip"
	"context"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"time"

	"golang.org/x/mod/semver"
	"helm.sh/helm/v3/pkg/chart/loader"

	"github.com/armature-io/armature/dev/images"
	"github.com/armature-io/armature/dev/internal/archive"
)

const (
	// notesName is the file of the release notes.
	notesName = "notes.md"
	// chartFolder has the Helm chart, below the root.
	chartFolder = "deploy/helm/armature"
)

// packCommand adds images, Helm chart and release notes to a folder with programs.
func packCommand(ctx context.Context, o options, folder string) error {
	folder, err := filepath.Abs(folder)
	if err != nil {
		return err
	}
	if err := images.Build(ctx, images.Options{
		Dockerfile: filepath.Join(o.root, "Dockerfile"), Programs: folder, Folder: folder,
		Tag: o.version, Platforms: o.platforms, Time: o.time,
	}); err != nil {
		return err
	}
	chart, err := packChart(o.root, o.version, o.time)
	if err != nil {
		return err
	}
	notes, err := releaseNotes(o.root, o.version)
	if err != nil {
		return err
	}
	for name, content := range map[string][]byte{chartName(o.version): chart, notesName: []byte(notes.text)} {
		if err := os.WriteFile(filepath.Join(folder, name), content, 0o644); err != nil {
			return err
		}
	}
	return writeSums(folder)
}

// chartVersion returns the version of the chart. Helm accepts semantic versions only: a build
// without a version of a release has one below all releases.
func chartVersion(version string) string {
	if semver.IsValid(version) {
		return strings.TrimPrefix(version, "v")
	}
	return "0.0.0+" + strings.Trim(regexp.MustCompile(`[^0-9A-Za-z-]+`).ReplaceAllString(version, "-"), "-")
}

// chartName returns the name of the chart's archive, as helm package chooses it.
func chartName(version string) string { return "armature-" + chartVersion(version) + ".tgz" }

// packChart returns the archive of the Helm chart, with the version of the release, and its images
// as the default of the values. `helm package` would write the time of the call.
func packChart(root, version string, modified time.Time) ([]byte, error) {
	chart, err := loader.LoadDir(filepath.Join(root, filepath.FromSlash(chartFolder)))
	if err != nil {
		return nil, fmt.Errorf("load chart: %w", err)
	}
	packed := map[string][]byte{}
	for _, file := range chart.Raw { // without those of .helmignore
		packed["armature/"+file.Name] = file.Data
	}
	about := string(packed["armature/Chart.yaml"])
	for field, value := range map[string]string{"version": chartVersion(version), "appVersion": version} {
		line := regexp.MustCompile(`(?m)^` + field + `: .*$`)
		if len(line.FindAllString(about, -1)) != 1 {
			return nil, fmt.Errorf("read chart: %s is not one line of Chart.yaml", field)
		}
		about = line.ReplaceAllLiteralString(about, field+": "+value)
	}
	packed["armature/Chart.yaml"] = []byte(about)
	var out bytes.Buffer
	compressed := gzip.NewWriter(&out)
	if err := archive.Write(compressed, packed, modified); err != nil {
		return nil, err
	}
	if err := compressed.Close(); err != nil {
		return nil, fmt.Errorf("compress chart: %w", err)
	}
	return out.Bytes(), nil
}
