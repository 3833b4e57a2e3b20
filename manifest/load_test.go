package manifest

import (
	"encoding/json"
	"fmt"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/armature-io/armature/resource"
	"github.com/google/go-cmp/cmp"
)

// desired is a golden Desired with the defaults filled in.
func desired(id, version, name, body string, change ...func(*resource.Desired)) resource.Desired {
	d := resource.Desired{
		ID: mustID(id), APIVersion: version, Name: name, Body: json.RawMessage(body),
		Policy: resource.PolicyManage, Interval: time.Hour, DefaultInterval: true, Timeout: 6 * time.Hour,
	}
	d.Owner = d.ID.Owner()
	d.OwnerAPIVersion = resource.ContainerAPIVersion(d.Owner)
	for _, c := range change {
		c(&d)
	}
	return d
}

func mustID(id string) resource.ID {
	var parsed resource.ID
	if err := parsed.UnmarshalText([]byte(id)); err != nil {
		return resource.ID{}
	}
	return parsed
}

func ownerVersion(version string) func(*resource.Desired) {
	return func(d *resource.Desired) { d.OwnerAPIVersion = version }
}

func TestLoad(t *testing.T) {
	const (
		accID  = group + "/providers/Microsoft.Storage/storageAccounts/acc"
		vnet   = "type: Microsoft.Network/virtualNetworks@2020-11-01\nname: v\nowner: " + group + "\nbody: {}\n"
		subnet = "type: Microsoft.Network/virtualNetworks/subnets@2021-05-01\n"
		role   = "type: Microsoft.Authorization/roleAssignments@2022-04-01\nname: r\nbody: {}\n"
		roles  = "/providers/Microsoft.Authorization/roleAssignments/r"
	)
	flags := Options{Subscription: sub[len("/subscriptions/"):], ResourceGroup: "g"}
	acc := func(body string, change ...func(*resource.Desired)) resource.Desired {
		return desired(accID, "2021-04-01", "acc", body, change...)
	}
	v := desired(vnetID, "2020-11-01", "v", "{}")
	cases := map[string]struct {
		reason  string
		yaml    string
		options Options
		want    []resource.Desired
	}{
		"Defaults": {reason: "optional fields have defaults", yaml: account + "body: {}\n", want: []resource.Desired{acc("{}")}},
		"Reconcile": {
			reason: "every field of reconcile is read",
			yaml:   account + "body: {}\nreconcile: {policy: detach-on-delete, interval: 0, timeout: 90s, ignore: [properties.x, \"tags['a.b/c']\"]}\nlabels: {stack: prod}\n",
			want: []resource.Desired{acc("{}", func(d *resource.Desired) {
				d.Policy, d.Interval, d.DefaultInterval, d.Timeout = resource.PolicyDetachOnDelete, 0, false, 90*time.Second
				d.Ignore, d.Labels = []string{"properties.x", "tags['a.b/c']"}, map[string]string{"stack": "prod"}
			})},
		},
		"Observe": {
			reason: "drift is reported and nothing is written",
			yaml:   account + "body: {}\nreconcile: {policy: observe}\n",
			want:   []resource.Desired{acc("{}", func(d *resource.Desired) { d.Policy = resource.PolicyObserve })},
		},
		"Protect": {
			reason: "a delete is refused",
			yaml:   account + "body: {}\nreconcile: {policy: protect}\n",
			want:   []resource.Desired{acc("{}", func(d *resource.Desired) { d.Policy = resource.PolicyProtect })},
		},
		"Numbers": {
			reason: "numbers are exact, words and dates of YAML 1.1 are texts, keys are sorted",
			yaml:   account + "body: {z: 12345678901234567890123, y: 1.0, x: 1, w: on, v: yes, u: 2001-02-03, t: 1e3, s: -0, r: '017', q: ~, p: TRUE, o: <&>, 1: one, off: no}\n",
			want:   []resource.Desired{acc(`{"1":"one","o":"<&>","off":"no","p":true,"q":null,"r":"017","s":-0,"t":1e3,"u":"2001-02-03","v":"yes","w":"on","x":1,"y":1.0,"z":12345678901234567890123}`)},
		},
		"Anchors": {
			reason: "aliases and merge keys are expanded; a stated value wins",
			yaml:   account + "body:\n  a: &a {x: 1, y: 2}\n  b: *a\n  c: {<<: *a, y: 3}\n",
			want:   []resource.Desired{acc(`{"a":{"x":1,"y":2},"b":{"x":1,"y":2},"c":{"x":1,"y":3}}`)},
		},
		"Identity": {reason: "an identity in the body that agrees with the manifest is accepted and removed; ARM takes it from the URL", yaml: account + "body: {id: " + accID + ", name: ACC, type: microsoft.storage/storageAccounts, kind: x}\n", want: []resource.Desired{acc(`{"kind":"x"}`)}},
		"OddNames": {
			reason: "ARM decides about spaces, brackets, upper case and length",
			yaml:   strings.Replace(account, "name: acc", "name: 'A (b) [c] "+strings.Repeat("x", 200)+"'", 1) + "body: {l: [{name: 'a[b]', token: {$secret: env:A}}]}\n",
			want: []resource.Desired{desired(strings.TrimSuffix(accID, "acc")+"A (b) [c] "+strings.Repeat("x", 200), "2021-04-01", "A (b) [c] "+strings.Repeat("x", 200),
				`{"l":[{"name":"a[b]","token":{"$secret":"env:A"}}]}`, func(d *resource.Desired) { d.Secret, d.SecretRefs = []string{"l[0].token"}, []string{"env:A"} })},
		},
		"Flags":      {reason: "without an owner the flags give the resource group", options: flags, yaml: strings.Replace(account, "owner: "+group+"\n", "", 1) + "body: {}\n", want: []resource.Desired{acc("{}")}},
		"GroupFlags": {reason: "the owner of a resource group is the subscription of the flags", options: flags, yaml: "type: Microsoft.Resources/resourceGroups@2021-04-01\nname: g\nbody: {}\n", want: []resource.Desired{desired(group, "2021-04-01", "g", "{}")}},
		"OwnerFirst": {
			reason: "the owner comes first, and its api-version is used to read it",
			yaml:   subnet + "name: s\nowner: v\nbody: {}\n---\n" + vnet,
			want:   []resource.Desired{v, desired(vnetID+"/subnets/s", "2021-05-01", "s", "{}", ownerVersion("2020-11-01"))},
		},
		"OwnerByID": {
			reason: "the ID of a manifest works as owner too, ignoring case",
			yaml:   subnet + "name: s\nowner: " + strings.ToLower(vnetID) + "@2019-01-01\nbody: {}\n---\n" + vnet,
			want:   []resource.Desired{v, desired(strings.ToLower(vnetID)+"/subnets/s", "2021-05-01", "s", "{}", ownerVersion("2020-11-01"))},
		},
		"OwnerVersion": {reason: "ID@api-version states the api-version", yaml: subnet + "name: s\nowner: " + vnetID + "@2019-01-01\nbody: {}\n", want: []resource.Desired{desired(vnetID+"/subnets/s", "2021-05-01", "s", "{}", ownerVersion("2019-01-01"))}},
		"OwnVersion":   {reason: "an ARM parent of the same provider is read with the child's api-version", yaml: subnet + "name: s\nowner: " + vnetID + "\nbody: {}\n", want: []resource.Desired{desired(vnetID+"/subnets/s", "2021-05-01", "s", "{}", ownerVersion("2021-05-01"))}},
		"Chain":        {reason: "a name with slashes names owners in the resource group of the flags", options: flags, yaml: subnet + "name: v/s\nbody: {}\n", want: []resource.Desired{desired(vnetID+"/subnets/s", "2021-05-01", "v/s", "{}", ownerVersion("2021-05-01"))}},
		"ChainManifest": {
			reason: "a manifest with that name and type precedes the flags",
			yaml:   subnet + "name: v/s\nbody: {}\n---\n" + vnet,
			want:   []resource.Desired{v, desired(vnetID+"/subnets/s", "2021-05-01", "v/s", "{}", ownerVersion("2020-11-01"))},
		},
		"Deep": {
			reason: "a longer name of an owner works too, in any order",
			yaml:   "type: C.K/a/b/c@2020-01-01\nname: z\nowner: x/y\nbody: {}\n---\ntype: C.K/a/b@2020-01-01\nname: y\nowner: x\nbody: {}\n---\ntype: C.K/a@2020-01-01\nname: x\nowner: " + group + "\nbody: {}\n",
			want: []resource.Desired{
				desired(group+"/providers/C.K/a/x", "2020-01-01", "x", "{}"),
				desired(group+"/providers/C.K/a/x/b/y", "2020-01-01", "y", "{}", ownerVersion("2020-01-01")),
				desired(group+"/providers/C.K/a/x/b/y/c/z", "2020-01-01", "z", "{}", ownerVersion("2020-01-01")),
			},
		},
		"OwnerByType": {
			reason: "a network and an account may share a name: the required type of the owner decides",
			yaml:   strings.Replace(account, "name: acc", "name: v", 1) + "body: {}\n---\n" + vnet + "---\n" + subnet + "name: s\nowner: v\nbody: {}\n",
			want: []resource.Desired{
				desired(group+"/providers/Microsoft.Storage/storageAccounts/v", "2021-04-01", "v", "{}"), v,
				desired(vnetID+"/subnets/s", "2021-05-01", "s", "{}", ownerVersion("2020-11-01")),
			},
		},
		"ScopeManifest":     {reason: "an extension resource on a manifest", yaml: role + "owner: acc\n---\n" + account + "body: {}\n", want: []resource.Desired{acc("{}"), desired(accID+roles, "2022-04-01", "r", "{}", ownerVersion("2021-04-01"))}},
		"ScopeID":           {reason: "an extension resource on an ID", yaml: role + "owner: " + accID + "@2021-09-01\n", want: []resource.Desired{desired(accID+roles, "2022-04-01", "r", "{}", ownerVersion("2021-09-01"))}},
		"ScopeSubscription": {reason: "an extension resource on a subscription", yaml: role + "owner: " + sub + "\n", want: []resource.Desired{desired(sub+roles, "2022-04-01", "r", "{}")}},
		"ScopeTenant":       {reason: "an extension resource on the tenant has no owner", yaml: role + "owner: /\n", want: []resource.Desired{desired(roles, "2022-04-01", "r", "{}")}},
		"ManagementGroup": {
			reason: "the owner of a management group is the tenant, and a management group is a scope",
			yaml:   "type: Microsoft.Management/managementGroups@2021-04-01\nname: mg\nbody: {}\n---\n" + role + "owner: mg\n",
			want: []resource.Desired{
				desired("/providers/Microsoft.Management/managementGroups/mg", "2021-04-01", "mg", "{}"),
				desired("/providers/Microsoft.Management/managementGroups/mg"+roles, "2022-04-01", "r", "{}", ownerVersion("2021-04-01")),
			},
		},
		"References": {
			reason: "a name, an ID with its api-version, a container, a path; each is listed once, and manifests come first",
			yaml: account + "body:\n  a: {$ref: v}\n  b: [{$ref: V, path: properties.x}]\n  c: {$ref: " + accID + "2@2021-01-01, path: \"l[name=a].b\"}\n  d: {$ref: " + group + "}\n" +
				"---\n" + vnet,
			want: []resource.Desired{v, acc(
				`{"a":"`+vnetID+`","b":[{"$ref":"`+vnetID+`","apiVersion":"2020-11-01","path":"properties.x"}],"c":{"$ref":"`+accID+`2","apiVersion":"2021-01-01","path":"l[name=a].b"},"d":"`+group+`"}`,
				func(d *resource.Desired) {
					d.References = []resource.Reference{{ID: mustID(vnetID), APIVersion: "2020-11-01"}, {ID: mustID(accID + "2"), APIVersion: "2021-01-01"}, {ID: mustID(group), APIVersion: resource.ResourceGroupAPIVersion}}
				})},
		},
		"Secrets": {
			reason: "markers stay in the body and their paths are listed; list elements are identified by name",
			yaml:   account + "body: {password: {$secret: env:A}, l: [{name: x, v: {$secret: 'file:a/b'}}, {v: {$secret: env:B}}]}\n",
			want: []resource.Desired{acc(`{"l":[{"name":"x","v":{"$secret":"file:a/b"}},{"v":{"$secret":"env:B"}}],"password":{"$secret":"env:A"}}`,
				func(d *resource.Desired) {
					d.Secret, d.SecretRefs = []string{"password", "l[name=x].v", "l[1].v"}, []string{"env:A", "file:a/b", "env:B"}
				})},
		},
		"Plain": {
			reason: "tags, references, vault references and what $plain states are plain; so are empty values, permissions and variables",
			yaml:   account + "body: {tags: {apiKey: x, n: y}, key: {$ref: " + group + "}, secret: '@Microsoft.KeyVault(x)', script: 'pwd=$PWD1', sample: {$plain: 'pwd=abcd'}, password: '', permissions: {keys: [get]}, partitionKey: p}\n",
			want: []resource.Desired{acc(`{"key":"`+group+`","partitionKey":"p","password":"","permissions":{"keys":["get"]},"sample":"pwd=abcd","script":"pwd=$PWD1","secret":"@Microsoft.KeyVault(x)","tags":{"apiKey":"x","n":"y"}}`,
				func(d *resource.Desired) {
					d.Plain = []string{"tags.apiKey", "key", "secret", "sample"}
					d.References = []resource.Reference{{ID: mustID(group), APIVersion: resource.ResourceGroupAPIVersion}}
				})},
		},
		"InlineOther": {reason: "an inline child without a manifest of its own is allowed", yaml: vnet[:len(vnet)-len("body: {}\n")] + "body: {properties: {subnets: [{name: a}]}}\n---\n" + subnet + "name: s\nowner: v\nbody: {}\n", want: []resource.Desired{
			desired(vnetID, "2020-11-01", "v", `{"properties":{"subnets":[{"name":"a"}]}}`),
			desired(vnetID+"/subnets/s", "2021-05-01", "s", "{}", ownerVersion("2020-11-01")),
		}},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			dir := write(t, map[string]string{"m.yaml": tc.yaml})
			set, err := Load(tc.options, dir)
			if err != nil {
				t.Fatalf("\n%s\n%v", tc.reason, err)
			}
			for _, got := range set.Resources {
				checkDerived(t, got)
			}
			if diff := cmp.Diff(textOf(t, tc.want), textOf(t, set.Resources)); diff != "" {
				t.Errorf("\n%s\n-want +got:\n%s", tc.reason, diff)
			}
			if len(set.Sources) != len(set.Resources) {
				t.Errorf("\n%s\n%d sources for %d resources", tc.reason, len(set.Sources), len(set.Resources))
			}
		})
	}
}

// text returns each resource as one line of JSON, as histories keep it.
func textOf(t *testing.T, resources []resource.Desired) []string {
	t.Helper()
	var lines []string
	for _, d := range resources {
		raw, err := json.Marshal(d)
		if err != nil {
			t.Fatal(err)
		}
		lines = append(lines, string(raw))
	}
	return lines
}

func TestLoadFiles(t *testing.T) {
	m := func(name string) string {
		return strings.Replace(account, "name: acc", "name: "+name, 1) + "body: {}\n"
	}
	asJSON := func(name string) string {
		return fmt.Sprintf("{\"type\": \"A.B/c@2020-01-01\",\n \"name\": %q, \"owner\": %q,\n \"body\": {\"emoji\": \"\\ud83d\\ude00\", \"n\": 1.0}}\n", name, group)
	}
	dir := write(t, map[string]string{
		"b.yaml": "# only a comment\n---\n" + m("b1") + "---\n---\n" + m("b2"), "a.yml": m("a"), "sub/c.json": asJSON("c1") + asJSON("c2"),
		"sub/list.JSON": "[" + asJSON("l1") + "," + asJSON("l2") + "]", "empty.yaml": "", "readme.md": "no manifest", ".git/x.yaml": "broken: [", ".hidden.yaml": "broken: [",
	})
	set, err := Load(Options{Stdin: strings.NewReader(asJSON("in"))}, dir, filepath.Join(dir, "a.yml"), "-")
	if err != nil {
		t.Fatal(err)
	}
	var got []string
	for _, d := range set.Resources {
		source := set.Sources[d.ID.Key()]
		got = append(got, strings.TrimPrefix(d.Name+" "+strings.TrimPrefix(source.String(), dir+"/"), ""))
	}
	want := []string{"a a.yml:1", "b1 b.yaml:3", "b2 b.yaml:9", "c1 sub/c.json:1", "c2 sub/c.json:4", "l1 sub/list.JSON:1", "l2 sub/list.JSON:4", "in -:1"}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("folders are sorted, a file is read once, hidden names are skipped\n-want +got:\n%s", diff)
	}
	if body := string(set.Resources[3].Body); body != `{"emoji":"😀","n":1.0}` {
		t.Errorf("the JSON body became %s", body)
	}
	if _, err := Load(Options{Stdin: strings.NewReader(m("in"))}, "-"); err != nil {
		t.Errorf("YAML from stdin: %v", err)
	}
}

func TestLoadManySources(t *testing.T) {
	runIssues(t, map[string]issueCase{
		"AllFiles": {
			reason: "all issues of all files, in order",
			files:  map[string]string{"b.yaml": "x: 1\n", "a.json": "{\n \"type\": \"A.B/c\",\n \"name\": 5,\n \"body\": {\"a\": 1,\n \"a\": 2}}", "c.json": "{\"type\":\n\n x}"},
			want: "a.json:2:2: type: \"A.B/c\" has no api-version; write it like A.B/c@2023-08-15\n" +
				"a.json:3:2: name: found a number; a name is a text, write it in quotes\n" +
				"a.json:5:2: body.a: duplicate key, first in line 4; remove one\n" +
				"b.yaml:1:1: is no manifest: that is a mapping with the fields type, name, alias, owner, body, reconcile, labels, outputs, export; found other fields; correct it, or move the file elsewhere\n" +
				"c.json:3: broken JSON: invalid character 'x' looking for beginning of value; check commas, quotes and brackets here (JSON has no comments)",
		},
		"TwoFiles": {
			reason: "a resource in two files is reported with both positions",
			files:  map[string]string{"a.yaml": account + "body: {}\n", "b.yaml": "# comment\n" + account + "body: {}\n"},
			want:   "b.yaml:3:1: name: the manifest in a.yaml:1 has the same resource ID: " + group + "/providers/Microsoft.Storage/storageAccounts/acc" + "; keep one of the two",
		},
		"NoFiles":   {reason: "a folder without manifests is a mistake", files: map[string]string{"x.txt": ""}, want: "DIR: the folder contains no *.yaml, *.yml or *.json file; name another folder, or files"},
		"NoContent": {reason: "so are files without manifests", files: map[string]string{"x.yaml": "# nothing\n"}, want: "DIR: no manifest found; write one with type, name and body, or name another file"},
		"Options":   {reason: "flags are checked like manifests", options: Options{Subscription: "prod", ResourceGroup: "a/b"}, yaml: account + "body: {}\n", want: "--subscription: the subscription \"prod\" is not a GUID; write its ID, like 11111111-2222-3333-4444-555555555555\n--resource-group: the segment \"a/b\" contains '/'; / \\ ? # % and control characters are not allowed"},
		"Large":     {reason: "a body over the limit is refused with both sizes", yaml: account + "body: {a: " + strings.Repeat("x", resource.MaxBodyBytes) + "}\n", want: "m.yaml:4:7: body: takes 524296 bytes as JSON; at most 524288 are allowed"},
		"Deep":      {reason: "deep JSON is bounded", files: map[string]string{"a.json": strings.Repeat("[", 200)}, want: "a.json:1: broken JSON: values are nested deeper than 100 levels; flatten it"},
		"Cut":       {reason: "a file that ends early", files: map[string]string{"a.json": "{\"type\": \"a\","}, want: "a.json:1: broken JSON: unexpected end of file; close brackets and quotes, or get the complete file"},
	})
	for name, paths := range map[string][]string{
		"no manifest given; name files, folders or \"-\" for stdin":                                    nil,
		"/no/such/file: cannot be read: no such file or directory; check the path and its permissions": {"/no/such/file"},
		"-: stdin is not available; name a file or a folder":                                           {"-"},
	} {
		if _, err := Load(Options{}, paths...); err == nil || err.Error() != name {
			t.Errorf("Load(%q) = %v, want %s", paths, err, name)
		}
	}
}

// TestOrder checks that a large load is ordered, and fast: indexes, no scans.
func TestOrder(t *testing.T) {
	const count = 3000
	var b strings.Builder
	for i := range count {
		fmt.Fprintf(&b, "type: A.B/c@2020-01-01\nname: n%d\nowner: %s\nbody: {", i, group)
		if i+1 < count {
			fmt.Fprintf(&b, "next: {$ref: n%d}", i+1)
		}
		b.WriteString("}\n---\n")
	}
	set, err := Load(Options{Stdin: strings.NewReader(b.String())}, "-")
	if err != nil {
		t.Fatal(err)
	}
	for i, d := range set.Resources {
		if want := fmt.Sprintf("n%d", count-1-i); d.Name != want {
			t.Fatalf("resource %d is %s, want %s", i, d.Name, want)
		}
	}
}
