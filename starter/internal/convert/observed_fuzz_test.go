package convert

import (
	"bytes"
	"encoding/json"
	"reflect"
	"strings"
	"testing"

	"github.com/armature-io/armature/manifest"
	"github.com/armature-io/armature/resource"
	"github.com/armature-io/armature/starter/internal/cli"
)

// FuzzObserved checks that whatever names and values are in Azure, an import is one
// document of the resource that was read, with its values, also among others, and that
// nothing in it acts on a terminal.
func FuzzObserved(f *testing.F) {
	const injected = "x\n---\ntype: Microsoft.Authorization/roleAssignments@2022-04-01\nname: 1\nowner: /subscriptions/s\n---\n#"
	for _, seed := range [][3]string{
		{`{"location":"westus2","properties":{"a":[1,2.50,-0,1e400,null,true,"",{}]}}`, "properties.secret", "adx"}, {injected, injected, "adx"}, {"a\x1b\u202e\u2028\x85", "a\x1b\u202e\u2028\r", "a\u202eb"},
		{`{"a":{"$secret":"env:X"},"b":[{"$ref":"c"}],"c":{"$plain":1}}`, "", "::error::x"}, {"##vso[task.x]\n ::error::x", "##[error]", "##[x]"}, {`{"":{"":""},"<<":{"a":1},"~":"~","null":"null","yes":"no","1":"0x1F","2001-01-01":"1_000","!!binary":"!x","&a":"*a","? a":"- b","%YAML":"--- |","\t":"\t"}`, "", "~"},
		{`{"name":"x","id":"y","type":"z","apiVersion":"a","properties":{"password":"literal","value":"x\r\ny\n\n"}}`, "properties.password", "[0]"},
	} {
		f.Add(seed[0], seed[1], seed[2])
	}
	f.Fuzz(func(t *testing.T, body, secret, name string) {
		id, err := resource.ParseID(readGroup + "/providers/Microsoft.Kusto/clusters/" + name)
		if err != nil || strings.Contains(name, "/") {
			id, _ = resource.ParseID(readCluster)
		}
		if read, err := resource.DecodeBody([]byte(body)); err != nil || read == nil {
			encoded, _ := json.Marshal(map[string]any{"properties": map[string]any{body: secret, "list": []string{body}}, "tags": map[string]string{secret: body}})
			body = string(encoded)
		}
		made, err := FromObserved(Options{}, []Observed{{ID: id, APIVersion: "2023-08-15", Body: json.RawMessage(body), Comments: []string{secret}}})
		if err != nil {
			t.Fatal(err)
		}
		text := made[0].Text
		if err := made[0].Err; err != nil {
			if strings.Contains(err.Error(), "reads back") || strings.Contains(err.Error(), "another resource") {
				t.Fatalf("%q: %v", body, err)
			}
			return
		}
		other := written(t, Observed{ID: id.Owner(), APIVersion: "2021-04-01", Body: json.RawMessage(`{"location":"westus2"}`), Comments: []string{secret}})
		set, err := manifest.Load(manifest.Options{Stdin: strings.NewReader(text + "---\n" + other + "---\n" + strings.Replace(other, "rg1", "rg2", 1))}, "-")
		if err != nil || len(set.Resources) != 3 {
			t.Fatalf("%d manifests: %v\n%s", len(set.Resources), err, text)
		}
		for _, desired := range set.Resources {
			if desired.ID.Equal(id) {
				checkBody(t, body, desired.Body)
			}
		}
		var out bytes.Buffer
		if _, err := cli.NewWriter(&out, cli.NewInk()).Write([]byte(text)); err != nil || out.String() != text {
			t.Fatalf("the writer changes\n%q to\n%q: %v", text, &out, err)
		}
	})
}

// checkBody checks that a body is the one that was read, without its markers.
func checkBody(t *testing.T, read string, written json.RawMessage) {
	t.Helper()
	want, err := resource.DecodeBody([]byte(read))
	if err != nil {
		t.Fatal(err)
	}
	dropMarkers(want, "")
	got, err := resource.DecodeBody(written)
	if err != nil || !reflect.DeepEqual(want, got) {
		t.Fatalf("%q became %q: %v", read, written, err)
	}
}
