// Package chart renders the Helm chart of deploy/helm with Helm's own engine and checks the
// result without a cluster: objects of Kubernetes by decoding them strictly into the API's
// types, custom resources by the schemas that their projects publish, and what no schema
// knows, such as a volume that nothing mounts, by rules of its own.
package chart

import (
	"bufio"
	"bytes"
	"errors"
	"fmt"
	"io"
	"path/filepath"
	"slices"
	"strings"

	"helm.sh/helm/v3/pkg/chart/loader"
	"helm.sh/helm/v3/pkg/chartutil"
	"helm.sh/helm/v3/pkg/engine"
	utilyaml "k8s.io/apimachinery/pkg/util/yaml"
	"sigs.k8s.io/yaml"
)

// Folder is the chart's folder in the repository.
const Folder = "deploy/helm/armature"

// Object is a rendered object.
type Object struct {
	APIVersion, Kind, Name string
	// Template is the file that it comes from.
	Template string
	// YAML is the document, Content its decoded form.
	YAML    []byte
	Content map[string]any
}

// String returns the kind and name of the object.
func (o Object) String() string { return o.Kind + " " + o.Name }

// Release is the release that is rendered.
type Release struct {
	Name, Namespace string
	// Existing are the objects of the cluster at an upgrade, which templates look up. Without
	// them the chart is rendered as helm template does.
	Existing []Object
}

// Render renders the chart as helm template does: values override the chart's own, and are
// checked by its schema.
func Render(root string, release Release, values map[string]any) ([]Object, error) {
	loaded, err := loader.LoadDir(filepath.Join(root, Folder))
	if err != nil {
		return nil, fmt.Errorf("load chart: %w", err)
	}
	// The oldest version of Kubernetes that the chart supports.
	capabilities := chartutil.DefaultCapabilities.Copy()
	capabilities.KubeVersion = chartutil.KubeVersion{Version: "v1.29.0", Major: "1", Minor: "29"}
	if !chartutil.IsCompatibleRange(loaded.Metadata.KubeVersion, capabilities.KubeVersion.Version) {
		return nil, fmt.Errorf("load chart: it requires Kubernetes %s", loaded.Metadata.KubeVersion)
	}
	options := chartutil.ReleaseOptions{Name: release.Name, Namespace: release.Namespace, Revision: 1, IsInstall: release.Existing == nil, IsUpgrade: release.Existing != nil}
	all, err := chartutil.ToRenderValues(loaded, values, options, capabilities)
	if err != nil {
		return nil, fmt.Errorf("read values: %w", err)
	}
	var files map[string]string
	if release.Existing == nil {
		files, err = engine.Render(loaded, all)
	} else {
		files, err = engine.RenderWithClientProvider(loaded, all, newCluster(release))
	}
	if err != nil {
		return nil, fmt.Errorf("render: %w", err)
	}
	var objects []Object
	for file, content := range files {
		if strings.Contains(content, "<no value>") {
			return nil, fmt.Errorf("render %s: a value is missing:\n%s", file, content)
		}
		if strings.HasSuffix(file, ".txt") {
			continue
		}
		found, err := split(file, content)
		if err != nil {
			return nil, err
		}
		objects = append(objects, found...)
	}
	slices.SortFunc(objects, func(a, b Object) int { return strings.Compare(a.String(), b.String()) })
	return objects, nil
}

// Values reads a file of values.
func Values(path string) (map[string]any, error) {
	values, err := chartutil.ReadValuesFile(path)
	if err != nil {
		return nil, fmt.Errorf("read %s: %w", path, err)
	}
	return values, nil
}

// split returns the objects of a rendered file.
func split(file, content string) ([]Object, error) {
	var objects []Object
	reader := utilyaml.NewYAMLReader(bufio.NewReader(strings.NewReader(content)))
	for {
		document, err := reader.Read()
		if errors.Is(err, io.EOF) {
			return objects, nil
		}
		if err != nil {
			return nil, fmt.Errorf("split %s: %w", file, err)
		}
		var decoded map[string]any
		if err := yaml.UnmarshalStrict(document, &decoded); err != nil {
			return nil, fmt.Errorf("read %s: %w\n%s", file, err, document)
		}
		if len(decoded) == 0 {
			continue // comments only
		}
		object := Object{Template: file, YAML: bytes.Clone(document), Content: decoded}
		object.APIVersion, _ = decoded["apiVersion"].(string)
		object.Kind, _ = decoded["kind"].(string)
		metadata, _ := decoded["metadata"].(map[string]any)
		object.Name, _ = metadata["name"].(string)
		objects = append(objects, object)
	}
}
