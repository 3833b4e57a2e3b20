package main

import (
	"bytes"
	"encoding/json"
	"os"
	"path/filepath"
	"runtime"
	"runtime/debug"
	"strings"
	"testing"

	"github.com/CycloneDX/cyclonedx-go"
	"github.com/google/go-cmp/cmp"
	"github.com/santhosh-tekuri/jsonschema/v6"
)

// Hashes of a module that the program of the tests links, as the go.sum of the product
// has them.
const (
	uuidVersion = "v1.6.0"
	uuidSum     = "github.com/google/uuid " + uuidVersion + " h1:NIvaJDMOsjHA8n1jAhLSgzrAzy1Hgr+hNrb57e+94F0="
	uuidModSum  = "github.com/google/uuid " + uuidVersion + "/go.mod h1:TIyPZe4MgqvfeYDBFedMoGGpEw/LqOeaOT+nhxU+yHo="
)

// builtProgram returns a module with one dependency and its program in a folder dist.
func builtProgram(t *testing.T) (root, dist string) {
	t.Helper()
	root = moduleWith(t, "", "", map[string]string{
		"LICENSE":     ownLicense(t),
		"go.mod":      "module example.com/tool\n\ngo 1.26.0\n\nrequire github.com/google/uuid " + uuidVersion + "\n",
		"go.sum":      uuidSum + "\n" + uuidModSum + "\n",
		"cmd/main.go": "package main\n\nimport \"github.com/google/uuid\"\n\nfunc main() { println(uuid.NewString()) }\n",
	}).Dir
	dist = filepath.Join(root, "dist")
	if _, err := runGo(t.Context(), root, []string{"CGO_ENABLED=0"}, "build", "-trimpath", "-buildvcs=false", "-o", filepath.Join(dist, "tool"), "./cmd"); err != nil {
		t.Fatal(err)
	}
	return root, dist
}

// sbomArgs are the arguments that write the bill of materials of the program of the tests.
func sbomArgs(root, dist string) []string {
	return []string{"sbom", "--root", root, "--version", "v1.2.3", "--packages", "./cmd", "--platforms", runtime.GOOS + "/" + runtime.GOARCH, dist}
}

// The bill of materials names the program, its module with version, license and hash,
// and the standard library; it is valid, the sums cover it, and it is the same twice.
func TestSBOM(t *testing.T) {
	root, dist := builtProgram(t)
	if err := run(t.Context(), nil, sbomArgs(root, dist)); err != nil {
		t.Fatal(err)
	}
	text := readText(t, filepath.Join(dist, "tool"+sbomSuffix))
	validate(t, text)
	var bom cyclonedx.BOM
	if err := json.Unmarshal([]byte(text), &bom); err != nil {
		t.Fatal(err)
	}
	own := bom.Metadata.Component
	sum, err := fileSum(filepath.Join(dist, "tool"))
	if err != nil || own.Version != "v1.2.3" || own.PackageURL != "pkg:golang/example.com/tool@v1.2.3#cmd" || (*own.Hashes)[0].Value != sum {
		t.Errorf("the program is %+v, its hash is %s: %v", own, sum, err)
	}
	got := map[string][]string{}
	for _, c := range *bom.Components {
		fields := []string{c.PackageURL, (*c.Licenses)[0].License.ID}
		if c.Hashes != nil {
			fields = append(fields, (*c.Hashes)[0].Value)
		}
		got[c.Name] = fields
	}
	version := strings.TrimPrefix(runtime.Version(), "go")
	want := map[string][]string{
		"stdlib": {"pkg:golang/stdlib@" + version, "BSD-3-Clause"},
		// The hash of go.sum in hexadecimal, by base64 -d | xxd -p.
		"github.com/google/uuid": {"pkg:golang/github.com/google/uuid@" + uuidVersion, "BSD-3-Clause", "348bda24330eb231c0f27d630212d2833ac0cf2d4782bfa136b6f9edefbde05d"},
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("components (-want +got):\n%s", diff)
	}
	notices := readText(t, filepath.Join(dist, noticesName))
	for _, want := range []string{"github.com/google/uuid " + uuidVersion + ": LICENSE", "Copyright (c) 2009,2014 Google Inc.", "stdlib " + version + ": LICENSE"} {
		if !strings.Contains(notices, want) {
			t.Errorf("%s lacks %q", noticesName, want)
		}
	}
	sums := readText(t, filepath.Join(dist, sumsName))
	for _, name := range []string{"tool", "tool" + sbomSuffix, noticesName} {
		if sum, err := fileSum(filepath.Join(dist, name)); err != nil || !strings.Contains(sums, sum+"  "+name+"\n") {
			t.Errorf("%s lacks %s of %s: %v", sumsName, sum, name, err)
		}
	}
	if err := run(t.Context(), nil, sbomArgs(root, dist)); err != nil {
		t.Fatal(err)
	}
	if again := readText(t, filepath.Join(dist, sumsName)); again != sums {
		t.Errorf("a second run gives other files (-first +second):\n%s", cmp.Diff(sums, again))
	}
}

// What does not fit the sources gets no bill of materials.
func TestSBOMRefuses(t *testing.T) {
	root, dist := builtProgram(t)
	cases := map[string]struct {
		reason, file, text, want string
	}{
		"other hash":    {"Go compares the module with go.sum", "go.sum", strings.Replace(uuidSum, "NIva", "AAAA", 1) + "\n" + uuidModSum + "\n", "checksum mismatch"},
		"other sources": {"the sources no longer import the module", "cmd/main.go", "package main\n\nfunc main() {}\n", "from other sources"},
		"no program":    {"a file that Go did not link", "dist/notes.md", "text", "notes.md"},
	}
	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			file := filepath.Join(root, c.file)
			before, readErr := os.ReadFile(file)
			if err := os.WriteFile(file, []byte(c.text), 0o600); err != nil {
				t.Fatal(err)
			}
			err := run(t.Context(), nil, sbomArgs(root, dist))
			if err == nil || !strings.Contains(err.Error(), c.want) {
				t.Errorf("%s: the error is %v, want %q", c.reason, err, c.want)
			}
			if readErr != nil {
				err = os.Remove(file)
			} else {
				err = os.WriteFile(file, before, 0o600)
			}
			if err != nil {
				t.Fatal(err)
			}
		})
	}
	if err := run(t.Context(), nil, sbomArgs(root, dist)); err != nil {
		t.Errorf("the unchanged program gets none either: %v", err)
	}
	linked := debug.Module{Path: "github.com/google/uuid", Version: uuidVersion, Sum: strings.Fields(uuidSum)[2]}
	for sums, want := range map[string]bool{uuidSum + "\n": true, strings.Replace(uuidSum, "NIva", "AAAA", 1) + "\n": false, "": false} {
		if _, err := (bill{sums: sums}).checkedSum(linked); (err == nil) != want {
			t.Errorf("a program that links %s beside %q: %v", linked.Sum, sums, err)
		}
	}
}

// validate compares a bill of materials with the published schema.
func validate(t *testing.T, text string) {
	t.Helper()
	out, err := runGo(t.Context(), ".", nil, "list", "-m", "-f", "{{.Dir}}", "github.com/CycloneDX/cyclonedx-go")
	if err != nil {
		t.Fatal(err)
	}
	folder, compiler := filepath.Join(strings.TrimSpace(string(out)), "schema"), jsonschema.NewCompiler()
	for name, file := range map[string]string{
		"bom-1.6.schema.json": "bom-1.6.schema.json", "spdx.schema.json": "spdx.schema.json", "jsf-0.82.schema.json": "jsf-0.82.schemax.json",
	} {
		schema, err := jsonschema.UnmarshalJSON(strings.NewReader(readText(t, filepath.Join(folder, file))))
		if err != nil {
			t.Fatal(err)
		}
		if err := compiler.AddResource("http://cyclonedx.org/schema/"+name, schema); err != nil {
			t.Fatal(err)
		}
	}
	schema, err := compiler.Compile("http://cyclonedx.org/schema/bom-1.6.schema.json")
	if err != nil {
		t.Fatal(err)
	}
	bom, err := jsonschema.UnmarshalJSON(bytes.NewReader([]byte(text)))
	if err != nil {
		t.Fatal(err)
	}
	if err := schema.Validate(bom); err != nil {
		t.Error(err)
	}
}

func readText(t *testing.T, file string) string {
	t.Helper()
	text, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}
