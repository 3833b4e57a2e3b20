package main

import (
	"os"
	"path/filepath"
	"testing"
)

// manifests writes files into a new folder and returns it.
func manifests(t *testing.T, files map[string]string) string {
	t.Helper()
	folder := t.TempDir()
	for name, text := range files {
		if err := os.WriteFile(filepath.Join(folder, name), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	return folder
}

// adx is a folder with a cluster and its database.
func adx(t *testing.T) string {
	t.Helper()
	return manifests(t, map[string]string{"adx.yaml": `type: Microsoft.Kusto/clusters@2023-08-15
name: adx
owner: ` + group + `
body: {location: westus2, sku: {name: Standard_E2d_v5, tier: Standard}}
---
type: Microsoft.Kusto/clusters/databases@2023-08-15
name: telemetry
owner: adx
body: {location: westus2, kind: ReadWrite}
`})
}
