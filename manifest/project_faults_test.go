package manifest

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// TestProjectFaults changes the project by one mistake each.
func TestProjectFaults(t *testing.T) {
	t.Parallel()
	cases := map[string]struct {
		replace []string
		env     string
		params  []string
		want    []string
	}{
		"unknown section":       {replace: []string{"environments:\n", "x: 1\nenvironments:\n"}, want: []string{"armature.yaml:8:1: x: unknown field; allowed: params, environments"}},
		"params no mapping":     {replace: []string{projectText, "params: [a]\n"}, env: "-", want: []string{"armature.yaml:1:9: params: found a list; params are a mapping, write them like {sku: {kind: text, default: S1}}"}},
		"declaration":           {replace: []string{"note: {kind: text, required: false}", "note: text"}, want: []string{"armature.yaml:6:9: params.note: found a text; a parameter is declared by a mapping, write it like {kind: text, default: x}"}},
		"kind misspelt":         {replace: []string{"kind: number", "kind: numbr"}, want: []string{`armature.yaml:4:20: params.replicas.kind: "numbr" is not a kind (did you mean number?); allowed: text, number, boolean, list, mapping, secret`}},
		"kind missing":          {replace: []string{"kind: number, ", ""}, want: []string{"armature.yaml:4:3: params.replicas.kind: is missing"}},
		"name":                  {replace: []string{"note: {kind", "a-note: {kind"}, want: []string{`armature.yaml:6:3: params.a-note: "a-note" is not a name of a parameter`}},
		"field of declaration":  {replace: []string{"required: false", "optional: true"}, want: []string{"armature.yaml:6:22: params.note.optional: unknown field; allowed: kind, one-of, default, required, description"}},
		"default of wrong kind": {replace: []string{"default: 1}", "default: one}"}, want: []string{"armature.yaml:4:37: params.replicas.default: the parameter replicas is a number; found a text"}},
		"text as number":        {replace: []string{"params: {env: dev}", "params: {env: 5}"}, want: []string{"armature.yaml:12:19: environments.dev.params.env: the parameter env is a text; found a number; put it in quotes"}},
		"default not allowed":   {replace: []string{"default: Standard_LRS", "default: Standard_LR"}, want: []string{`armature.yaml:3:68: params.sku.default: "Standard_LR" is not allowed (did you mean "Standard_LRS"?); allowed: "Standard_LRS", "Standard_ZRS"`}},
		"one-of of wrong kind":  {replace: []string{"one-of: [dev, prod]", "one-of: [dev, 1]"}, want: []string{"armature.yaml:2:35: params.env.one-of[1]: the parameter env is a text; found a number; put it in quotes"}},
		"required and default":  {replace: []string{"default: 1}", "default: 1, required: true}"}, want: []string{"armature.yaml:4:50: params.replicas.required: is true beside a default"}},
		"undeclared value":      {replace: []string{"params: {env: dev}", "params: {env: dev, skuu: x}"}, want: []string{`armature.yaml:12:24: environments.dev.params.skuu: the parameter "skuu" is not declared (did you mean sku?)`}},
		"value not allowed":     {replace: []string{"params: {env: dev}", "params: {env: qa}"}, want: []string{`armature.yaml:12:19: environments.dev.params.env: "qa" is not allowed; allowed: "dev", "prod"`}},
		"no value":              {replace: []string{"    params: {env: dev}\n", ""}, want: []string{`main.yaml:2:15: name: the parameter "env" has no value; add it to environments.dev.params`}},
		"subscription":          {replace: []string{"11111111-2222", "prod-2222"}, want: []string{`armature.yaml:10:19: environments.dev.subscription: the subscription "prod-2222-3333-4444-555555555555" is not a GUID`}},
		"no environment":        {env: "-", want: []string{"--env: is missing: ", "declares the environments dev, prod; name one of them"}},
		"unknown environment":   {env: "prd", want: []string{`--env: "prd" is not an environment of `, "(did you mean prod?); there are dev, prod"}},
		"flag without value":    {params: []string{"sku"}, want: []string{`--param: "sku" is not name=value; write it like sku=P1`}},
		"flag undeclared":       {params: []string{"sk=1"}, want: []string{`--param: the parameter "sk" is not declared (did you mean sku?)`}},
		"flag of wrong kind":    {params: []string{"replicas=many"}, want: []string{`--param: replicas: "many" is not a number in JSON`}},
		"flag not allowed":      {params: []string{"sku=P1"}, want: []string{`--param: sku: "P1" is not allowed; allowed: "Standard_LRS", "Standard_ZRS"`}},
		"secret as text":        {replace: []string{"default: {$secret: env:KEY}", "default: abc"}, want: []string{"armature.yaml:7:32: params.key.default: the parameter key is a secret; write {$secret: env:NAME}"}},
		"undeclared in body":    {replace: []string{"{$param: sku}", "{$param: skus}"}, want: []string{`main.yaml:7:15: body.sku.name: the parameter "skus" is not declared (did you mean sku?)`}},
		"marker with others":    {replace: []string{"{$param: sku}", "{$param: sku, a: 1}"}, want: []string{"main.yaml:7:15: body.sku.name: $param must be the only property; remove the others"}},
		"syntax of text":        {replace: []string{`"api-${params.env}"`, `"api-${params.env +}"`}, want: []string{"main.yaml:13:15: name: $text: line 1, column 19 of the text: Syntax error"}},
		"undeclared in text":    {replace: []string{`"api-${params.env}"`, `"api-${params.en}"`}, want: []string{`main.yaml:13:15: name: $text: the parameter "en" is not declared (did you mean env?)`}},
		"list in text":          {replace: []string{`"api-${params.env}"`, `"api-${params.zones}"`}, want: []string{"main.yaml:13:15: name: $text: ${params.zones} is list; a text, a number or a boolean is needed"}},
		"secret in text":        {replace: []string{`"api-${params.env}"`, `"api-${params.key}"`}, want: []string{`main.yaml:13:15: name: $text: the parameter "key" is a secret, which a text cannot contain`}},
		"optional in text":      {replace: []string{`"api-${params.env}"`, `"api-${params.note}"`}, want: []string{`main.yaml:13:15: name: the parameter "note" has no value`}},
		"params and ref":        {replace: []string{`${ref.data.properties`, `${ref.data[params.env].properties`}, want: []string{"reads both params and ref; write one ${} for each"}},
		"unknown ref":           {replace: []string{`${ref.data.`, `${ref.dat.`}, want: []string{`main.yaml:19:10: body.properties.url: $text: no manifest is named "dat"; did you mean data?`}},
		"ref in a name":         {replace: []string{`"api-${params.env}"`, `"api-${ref.data.id}"`}, want: []string{"main.yaml:13:15: name: $text: values of other resources are known in a body only; remove ${ref...}"}},
		"patch of nothing":      {env: "prod", replace: []string{"name: api\n", "name: apis\n"}, want: []string{`overlays/prod/patch.yaml:4:7: name: no manifest of type Microsoft.Web/sites@2024-04-01 is named "apis" (did you mean api?)`}},
		"patch without name":    {env: "prod", replace: []string{"name: api\n", "nam: api\n"}, want: []string{"overlays/prod/patch.yaml:4:1: name: is missing; write the name or the alias of the manifest that the patch changes"}},
		"patch without change":  {env: "prod", replace: []string{"type: Microsoft.Web/sites@2024-04-01\nreconcile: {interval: 2h}\n", "type: Microsoft.Web/sites\n"}, want: []string{"overlays/prod/patch.yaml:4:1: changes nothing"}},
		"patch is invalid":      {env: "prod", replace: []string{"interval: 2h", "intervall: 2h"}, want: []string{"overlays/prod/patch.yaml:6:13: reconcile.intervall: unknown field; did you mean interval?"}},
		"patch of other type":   {env: "prod", replace: []string{"type: Microsoft.Web/sites@2024-04-01", "type: Microsoft.Web/sit@2024-04-01"}, want: []string{`overlays/prod/patch.yaml:4:7: name: no manifest of type Microsoft.Web/sit@2024-04-01 is named "api"`}},
		"pattern of nothing":    {replace: []string{"overlays/prod/*.yaml", "overlay/*.yaml"}, want: []string{`environments.prod.patches[0]: no file matches "overlay/*.yaml"`}},
		"pattern outside":       {replace: []string{"overlays/prod/*.yaml", "../*.yaml"}, want: []string{"environments.prod.patches[0]: write a file or a pattern inside the folder"}},
		"alias twice":           {replace: []string{"alias: api", "alias: data"}, want: []string{`"data" is the name of 2 manifests`}},
		"guid of itself":        {replace: []string{"name: {$guid: [{$ref: data}", "alias: me\nname: {$guid: [{$ref: me}"}, want: []string{"name: $guid: the name of me follows from this one; name another resource"}},
		"secret literal":        {replace: []string{"key: {$param: key}", "adminPassword: {$param: env}"}, want: []string{"main.yaml:17:20: body.properties.adminPassword: is a literal secret"}},
		"text under a secret":   {replace: []string{"url: {$text", "adminPassword: {$text"}, want: []string{"body.properties.adminPassword: $text is no secret, but the property has the name of one"}},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			folder := projectFolder(t, tc.replace...)
			options := Options{Environment: "dev", Params: tc.params}
			switch tc.env {
			case "-":
				options.Environment = ""
			case "":
			default:
				options.Environment = tc.env
			}
			_, err := Load(options, folder)
			issues, _ := errors.AsType[Issues](err)
			got := strings.ReplaceAll(issues.Error(), folder+string(filepath.Separator), "")
			for _, want := range tc.want {
				if !strings.Contains(got, want) {
					t.Errorf("want %q in:\n%s", want, got)
				}
			}
			if len(issues) > 3 {
				t.Errorf("one mistake causes %d issues:\n%s", len(issues), got)
			}
		})
	}
}

// TestProjectPlaces names projects and patches where manifests are expected.
func TestProjectPlaces(t *testing.T) {
	t.Parallel()
	folder, second := projectFolder(t), projectFolder(t)
	writeFile(t, filepath.Join(second, "main.yaml"), strings.ReplaceAll(projectManifests, "Microsoft.Web", "Microsoft.Webs"))
	cases := map[string]struct {
		options Options
		paths   []string
		want    string
	}{
		"project as manifest": {Options{Environment: "dev"}, []string{filepath.Join(folder, ProjectFile)}, "is the project's file and no manifest; name the folder of the manifests"},
		"patch as manifest":   {Options{Environment: "dev"}, []string{folder, filepath.Join(folder, "overlays/prod/patch.yaml")}, "is a patch of the environment prod and no manifest"},
		"two projects":        {Options{Environment: "dev"}, []string{folder, second}, "is a second project beside"},
		"no project":          {Options{Environment: "dev"}, []string{filepath.Join(folder, "overlays")}, `--env: there is no armature.yaml beside the manifests, which would declare the environment "dev"`},
		"other subscription":  {Options{Environment: "dev", Subscription: "33333333-2222-3333-4444-555555555555"}, []string{folder}, "environments.dev.subscription: is 11111111-2222-3333-4444-555555555555, but --subscription is 33333333-2222-3333-4444-555555555555; omit the flag"},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			if _, err := Load(tc.options, tc.paths...); err == nil || !strings.Contains(err.Error(), tc.want) {
				t.Errorf("want %q, got %v", tc.want, err)
			}
		})
	}
}

// TestOneFileOfAProject verifies that a file finds the aliases of its folder, takes nothing else
// along, and does not meet the faults of other files.
func TestOneFileOfAProject(t *testing.T) {
	folder := t.TempDir()
	for file, text := range map[string]string{
		"armature.yaml": "params: {env: {kind: text}}\nenvironments: {dev: {params: {env: dev}, resource-group: rg, subscription: 11111111-2222-3333-4444-555555555555, patches: [patch.yaml]}}\n",
		"patch.yaml":    "name: id\nbody: {tags: {env: dev}}\n",
		"01-id.yaml":    "type: Microsoft.ManagedIdentity/userAssignedIdentities@2023-01-31\nname: {$text: \"id-${params.env}\"}\nalias: id\nbody: {location: westeurope}\n",
		"02-web.yaml":   "type: Microsoft.Web/sites@2022-09-01\nname: web\nbody: {location: westeurope, tags: {id: {$ref: id}}}\n",
		"03-wrong.yaml": "type: Microsoft.Web/sites@2022-09-01\nname: wrong\nbody: {location: westeurope, tags: {id: {$ref: nobody}}}\n",
	} {
		if err := os.WriteFile(filepath.Join(folder, file), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	set, err := Load(Options{Environment: "dev"}, filepath.Join(folder, "02-web.yaml"))
	if err != nil {
		t.Fatal(err)
	}
	if len(set.Resources) != 1 || set.Resources[0].Name != "web" || len(set.Resources[0].References) != 1 || set.Resources[0].References[0].ID.Name() != "id-dev" {
		t.Errorf("one file has %+v", set.Resources)
	}
	report := Validate(Options{Environment: "dev", Open: true}, filepath.Join(folder, "02-web.yaml"))
	if report.Manifests != 1 || len(report.Files) != 1 || len(report.Issues) != 0 {
		t.Errorf("one file is validated as %+v", report)
	}
}
