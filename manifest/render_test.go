package manifest

import (
	"bytes"
	"errors"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"go.yaml.in/yaml/v3"
)

// projectText is a project that the tests change.
const projectText = `params:
  env: {kind: text, one-of: [dev, prod]}
  sku: {kind: text, one-of: [Standard_LRS, Standard_ZRS], default: Standard_LRS}
  replicas: {kind: number, default: 1}
  zones: {kind: list, default: ["1"]}
  note: {kind: text, required: false}
  key: {kind: secret, default: {$secret: env:KEY}}
environments:
  dev:
    subscription: 11111111-2222-3333-4444-555555555555
    resource-group: app-dev
    params: {env: dev}
  prod:
    subscription: 22222222-2222-3333-4444-555555555555
    resource-group: app-prod
    credential: prod
    params: {env: prod, sku: Standard_ZRS, key: {$secret: 'keyvault:https://v.vault.azure.net/secrets/key'}}
    labels: {env: prod, team: data}
    patches: [overlays/prod/*.yaml]
`

// projectManifests are manifests of that project.
const projectManifests = `type: Microsoft.Storage/storageAccounts@2023-05-01
name: {$text: "st${params.env}data"}
alias: data
body:
  location: westus2
  kind: StorageV2
  sku: {name: {$param: sku}}
  zones: {$param: zones}
  tags: {env: {$param: env}, note: {$param: note}}
labels: {team: web}
---
type: Microsoft.Web/sites@2023-12-01
name: {$text: "api-${params.env}"}
alias: api
body:
  properties:
    key: {$param: key}
    count: {$param: replicas}
    url: {$text: "${params.env}:${ref.data.properties.primaryEndpoints.blob}x"}
---
type: Microsoft.Authorization/roleAssignments@2022-04-01
name: {$guid: [{$ref: data}, {$ref: api}, reader]}
owner: data
body: {properties: {principalId: {$ref: api, path: identity.principalId}, id: {$guid: [a, b, c]}}}
`

const projectPatch = `name: data
body: {SKU: {tier: Premium}, kind: null, properties: {minimumTlsVersion: TLS1_2}}
---
name: api
type: Microsoft.Web/sites@2024-04-01
reconcile: {interval: 2h}
`

// projectFolder writes the files of a project, changed by replacements, and returns its folder.
func projectFolder(t *testing.T, replacements ...string) string {
	t.Helper()
	folder := t.TempDir()
	for name, text := range map[string]string{
		"armature.yaml": projectText, "main.yaml": projectManifests, "overlays/prod/patch.yaml": projectPatch,
	} {
		for i := 0; i+1 < len(replacements); i += 2 {
			text = strings.ReplaceAll(text, replacements[i], replacements[i+1])
		}
		writeFile(t, filepath.Join(folder, name), text)
	}
	return folder
}

func writeFile(t *testing.T, path, text string) {
	t.Helper()
	if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
}

func renderedText(t *testing.T, options Options, paths ...string) string {
	t.Helper()
	set, err := Render(options, paths...)
	if err != nil {
		t.Fatal(err)
	}
	var text bytes.Buffer
	for _, m := range set.Manifests {
		raw, err := yaml.Marshal(m.Document)
		if err != nil {
			t.Fatal(err)
		}
		text.WriteString("---\n" + string(raw))
	}
	return text.String()
}

func TestRender(t *testing.T) {
	t.Parallel()
	got := renderedText(t, Options{Environment: "prod", Params: []string{"replicas=3"}}, projectFolder(t))
	want := `---
type: Microsoft.Storage/storageAccounts@2023-05-01
name: stproddata
alias: data
body:
    location: westus2
    sku:
        name: Standard_ZRS
        tier: Premium
    zones:
        - "1"
    tags:
        env: prod
    properties:
        minimumTlsVersion: TLS1_2
labels:
    team: web
    env: prod
reconcile:
    credential: prod
---
type: Microsoft.Web/sites@2024-04-01
name: api-prod
alias: api
body:
    properties:
        key:
            $secret: keyvault:https://v.vault.azure.net/secrets/key
        count: 3
        url:
            $text: prod:${ref.data.properties.primaryEndpoints.blob}x
reconcile:
    interval: 2h
    credential: prod
labels:
    env: prod
    team: data
---
type: Microsoft.Authorization/roleAssignments@2022-04-01
name:
    $guid:
        - $ref: data
        - $ref: api
        - reader
owner: data
body:
    properties:
        principalId:
            $ref: api
            path: identity.principalId
        id: a98fa280-e03f-5afa-8d8e-92d0a9c201e8
labels:
    env: prod
    team: data
reconcile:
    credential: prod
`
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("rendered (-want +got):\n%s", diff)
	}
}

// TestEnvironments loads the same folder for two environments.
func TestEnvironments(t *testing.T) {
	t.Parallel()
	folder := projectFolder(t)
	ids := map[string][]string{}
	for _, env := range []string{"dev", "prod"} {
		set, err := Load(Options{Environment: env}, folder)
		if err != nil {
			t.Fatal(err)
		}
		for _, d := range set.Resources {
			ids[env] = append(ids[env], d.ID.String())
			checkDerived(t, d)
		}
	}
	const dev, prod = "/subscriptions/11111111-2222-3333-4444-555555555555/resourceGroups/app-dev", "/subscriptions/22222222-2222-3333-4444-555555555555/resourceGroups/app-prod"
	storage := func(group, env string) string {
		return group + "/providers/Microsoft.Storage/storageAccounts/st" + env + "data"
	}
	site := func(group, env string) string { return group + "/providers/Microsoft.Web/sites/api-" + env }
	assignment := func(group, env string) string {
		return storage(group, env) + "/providers/Microsoft.Authorization/roleAssignments/" + guidOf([]string{storage(group, env), site(group, env), "reader"})
	}
	want := map[string][]string{
		"dev":  {storage(dev, "dev"), site(dev, "dev"), assignment(dev, "dev")},
		"prod": {storage(prod, "prod"), site(prod, "prod"), assignment(prod, "prod")},
	}
	if diff := cmp.Diff(want, ids); diff != "" {
		t.Errorf("IDs (-want +got):\n%s", diff)
	}
}

// TestRenderIsPure renders the same files twice, and in every order of paths.
func TestRenderIsPure(t *testing.T) {
	t.Parallel()
	folder := projectFolder(t)
	writeFile(t, filepath.Join(folder, "other.yaml"), "type: Microsoft.Network/virtualNetworks@2023-05-01\nname: {$text: 'v-${params.env}'}\nbody: {location: {$param: env}}\n")
	first := renderedText(t, Options{Environment: "prod"}, folder)
	if again := renderedText(t, Options{Environment: "prod"}, folder); again != first {
		t.Errorf("rendering again differs:\n%s", cmp.Diff(first, again))
	}
	a, b := filepath.Join(folder, "main.yaml"), filepath.Join(folder, "other.yaml")
	for _, paths := range [][]string{{a, b}, {b, a}, {b, a, b}} {
		if got := renderedText(t, Options{Environment: "prod"}, paths...); got != first {
			t.Errorf("%v: rendering differs:\n%s", paths, cmp.Diff(first, got))
		}
	}
}

// TestWithoutProject checks that manifests without a project mean what they meant, also
// if one is in a file with the name of a project.
func TestWithoutProject(t *testing.T) {
	t.Parallel()
	folder := t.TempDir()
	text := "type: Microsoft.Network/virtualNetworks@2023-05-01\nname: v1\nowner: " + group + "\nbody: {location: westus2, tags: {a: '${x}'}}\n"
	writeFile(t, filepath.Join(folder, ProjectFile), text)
	set, err := Load(Options{}, folder)
	if err != nil {
		t.Fatal(err)
	}
	if len(set.Resources) != 1 || string(set.Resources[0].Body) != `{"location":"westus2","tags":{"a":"${x}"}}` {
		t.Errorf("got %+v", set.Resources)
	}
}

// TestRenderedSizeIsBounded repeats a large parameter.
func TestRenderedSizeIsBounded(t *testing.T) {
	t.Parallel()
	folder := t.TempDir()
	items := strings.Repeat("x, ", 10_000)
	writeFile(t, filepath.Join(folder, ProjectFile), "params: {big: {kind: list, default: ["+items+"]}}\n")
	writeFile(t, filepath.Join(folder, "m.yaml"), "type: A.B/cs@2023-01-01\nname: c\nowner: "+group+"\nbody:\n  list: ["+strings.Repeat("{$param: big}, ", 1000)+"]\n")
	_, err := Load(Options{}, folder)
	if err == nil || !strings.Contains(err.Error(), "parameters add more than 200000 values") {
		t.Errorf("got %v", err)
	}
	if issues, _ := errors.AsType[Issues](err); len(issues) > 2 {
		t.Errorf("%d issues", len(issues))
	}
}

// TestMergePatch checks the examples of RFC 7396, appendix A, as far as documents are
// mappings.
func TestMergePatch(t *testing.T) {
	t.Parallel()
	cases := map[[2]string]string{
		{`{"a":"b"}`, `{"a":"c"}`}:                          `{"a":"c"}`,
		{`{"a":"b"}`, `{"b":"c"}`}:                          `{"a":"b","b":"c"}`,
		{`{"a":"b"}`, `{"a":null}`}:                         `{}`,
		{`{"a":"b","b":"c"}`, `{"a":null}`}:                 `{"b":"c"}`,
		{`{"a":["b"]}`, `{"a":"c"}`}:                        `{"a":"c"}`,
		{`{"a":"c"}`, `{"a":["b"]}`}:                        `{"a":["b"]}`,
		{`{"a":{"b":"c"}}`, `{"a":{"b":"d","c":null}}`}:     `{"a":{"b":"d"}}`,
		{`{"a":[{"b":"c"}]}`, `{"a":[1]}`}:                  `{"a":[1]}`,
		{`{"e":null}`, `{"a":1}`}:                           `{"a":1,"e":null}`,
		{`{}`, `{"a":{"bb":{"ccc":null}}}`}:                 `{"a":{"bb":{}}}`,
		{`{"a":{"$ref":"x"}}`, `{"a":{"$secret":"y"}}`}:     `{"a":{"$secret":"y"}}`,
		{`{"body":{"SKU":{}}}`, `{"body":{"sku":{"a":1}}}`}: `{"body":{"SKU":{"a":1}}}`,
	}
	for _, in := range slices.SortedFunc(maps.Keys(cases), func(a, b [2]string) int { return strings.Compare(a[0]+a[1], b[0]+b[1]) }) {
		l := &loader{keepForeign: true}
		target, patch := l.readJSON("t", []byte(in[0])), l.readJSON("p", []byte(in[1]))
		before := target[0].compact()
		if got := mergePatch(target[0], patch[0], 0).compact(); got != cases[in] {
			t.Errorf("%s with %s: got %s, want %s", in[0], in[1], got, cases[in])
		}
		if target[0].compact() != before {
			t.Errorf("%s was changed", in[0])
		}
	}
}
