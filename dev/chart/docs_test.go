package chart

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"sigs.k8s.io/yaml"
)

// deploy/helm/armature/README.md describes every value, and no value that does not exist.
func TestDocsDescribeValues(t *testing.T) {
	page, err := os.ReadFile(filepath.Join(root, "deploy/helm/armature/README.md"))
	if err != nil {
		t.Fatal(err)
	}
	content, err := os.ReadFile(filepath.Join(root, Folder, "values.yaml"))
	if err != nil {
		t.Fatal(err)
	}
	var values map[string]any
	if err := yaml.UnmarshalStrict(content, &values); err != nil {
		t.Fatal(err)
	}
	known := map[string]bool{}
	for name, value := range values {
		known[name] = true
		if inner, ok := value.(map[string]any); ok {
			for key := range inner {
				known[name+"."+key] = true
			}
		}
	}
	described := map[string]bool{}
	_, table, _ := strings.Cut(string(page), "\n## Values\n")
	table, _, _ = strings.Cut(table, "\n## ")
	for line := range strings.Lines(table) {
		cells := strings.Split(line, "|")
		if len(cells) < 3 {
			continue
		}
		for i, name := range strings.Split(cells[1], "`") {
			if i%2 == 1 {
				described[name] = true
			}
		}
	}
	for name := range described {
		if !known[name] {
			t.Errorf("deploy/helm/armature/README.md describes %s, which is no value", name)
		}
	}
	for name := range known {
		top, _, inside := strings.Cut(name, ".")
		inner, _ := values[name].(map[string]any)
		if !inside && len(inner) > 0 || described[name] || described[top] {
			continue
		}
		t.Errorf("deploy/helm/armature/README.md does not describe %s", name)
	}
}
