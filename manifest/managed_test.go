package manifest

import (
	"errors"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/armature-io/armature/resource"
	"github.com/google/go-cmp/cmp"
)

const (
	otherSub = "/subscriptions/22222222-2222-3333-4444-555555555555"
	subnet   = "type: Microsoft.Network/virtualNetworks/subnets@2020-11-01\nname: s\n"
)

// managedResource is a managed resource with the api-version 2021-01-01.
func managedResource(id string, change ...func(*Managed)) Managed {
	m := Managed{ID: mustID(id), Name: mustID(id).Name(), APIVersion: "2021-01-01"}
	for _, c := range change {
		c(&m)
	}
	return m
}

func withLabels(labels ...string) func(*Managed) { return func(m *Managed) { m.Labels = labels } }

func deleted(m *Managed) { m.Deleting = true }

// lookup returns an Options.Managed that returns the resources, and counts its calls and
// keeps the names.
func lookup(resources []Managed, calls *int, names *[]string) func([]string) ([]Managed, error) {
	return func(asked []string) ([]Managed, error) {
		*calls++
		*names = asked
		return resources, nil
	}
}

// TestManaged verifies which managed resource a name means that no manifest has.
func TestManaged(t *testing.T) {
	t.Parallel()
	inGroup := Options{Subscription: sub[len("/subscriptions/"):], ResourceGroup: "g"}
	other := sub + "/resourceGroups/other/providers/Microsoft.Network/virtualNetworks/v"
	foreign := otherSub + "/resourceGroups/g/providers/Microsoft.Network/virtualNetworks/v"
	stack := withLabels("stack=shop", "team=data")
	cases := map[string]struct {
		reason  string
		yaml    string
		options Options
		managed []Managed
		// want is the owner of the last manifest, fault a part of the refusal.
		want, fault string
	}{
		"group of the options": {
			reason: "a manifest without an ID is looked up where manifests without owner are", yaml: subnet + "owner: v\nbody: {}\n",
			options: inGroup, managed: []Managed{managedResource(vnetID), managedResource(other)}, want: vnetID,
		},
		"letter case": {
			reason: "ARM ignores it", yaml: subnet + "owner: V\nbody: {}\n",
			options: Options{Subscription: strings.ToUpper(inGroup.Subscription), ResourceGroup: "G"}, managed: []Managed{managedResource(vnetID)}, want: vnetID,
		},
		"labels": {
			reason: "all labels of the manifest", yaml: subnet + "owner: v\nbody: {}\nlabels: {stack: shop}\n",
			managed: []Managed{managedResource(vnetID), managedResource(other, stack)}, want: other,
		},
		"some labels": {
			reason: "a part of the labels is another stack", yaml: subnet + "owner: v\nbody: {}\nlabels: {stack: shop, env: prod}\n",
			managed: []Managed{managedResource(other, stack)}, fault: `no manifest is named "v", nor a managed resource with the labels env=prod,stack=shop; write the resource ID to use one from elsewhere: ` + other,
		},
		"other group": {
			reason: "the name alone is not enough", yaml: subnet + "owner: v\nbody: {}\n", options: inGroup,
			managed: []Managed{managedResource(other)}, fault: "nor a managed resource in the resource group g in the subscription " + inGroup.Subscription + "; write the resource ID to use one from elsewhere: " + other,
		},
		"other subscription": {
			reason: "labels reach no other subscription than the known one", yaml: subnet + "owner: v\nbody: {}\nlabels: {stack: shop}\n", options: inGroup,
			managed: []Managed{managedResource(foreign, stack)}, fault: "write the resource ID to use one from elsewhere: " + foreign,
		},
		"no home": {
			reason: "a name alone could mean a resource of another team", yaml: subnet + "owner: v\nbody: {}\n",
			managed: []Managed{managedResource(vnetID)}, fault: `where to look for a managed resource is unknown; write group/name or the resource ID, add labels that it has, or give --resource-group and --subscription: ` + vnetID,
		},
		"group in the name": {
			reason: "group/name needs no home", yaml: subnet + "owner: other/v\nbody: {}\n",
			managed: []Managed{managedResource(vnetID), managedResource(other)}, want: other,
		},
		"group of another subscription": {
			reason: "groups of several subscriptions have the same names", yaml: subnet + "owner: g/v\nbody: {}\n", options: inGroup,
			managed: []Managed{managedResource(foreign)}, fault: "write the resource ID to use one from elsewhere: " + foreign,
		},
		"ambiguous": {
			reason: "one in the group, one with the labels: the user has to choose", yaml: subnet + "owner: v\nbody: {}\nlabels: {stack: shop}\n", options: inGroup,
			managed: []Managed{managedResource(vnetID), managedResource(other, stack)}, fault: `"v" is the name of 2 managed resources; write group/name or the resource ID: ` + vnetID + ", " + other,
		},
		"other type": {
			reason: "a subnet is in a network", yaml: subnet + "owner: v\nbody: {}\n", options: inGroup,
			managed: []Managed{managedResource(group + "/providers/Microsoft.Storage/storageAccounts/v")},
			fault:   `the owner must be of type Microsoft.Network/virtualNetworks, and the managed resources named "v" are not; name one of the right type: ` + group + "/providers/Microsoft.Storage/storageAccounts/v",
		},
		"right type": {
			reason: "the type decides between two of one name", yaml: subnet + "owner: v\nbody: {}\n", options: inGroup,
			managed: []Managed{managedResource(group + "/providers/Microsoft.Storage/storageAccounts/v"), managedResource(vnetID)}, want: vnetID,
		},
		"group and resource": {
			reason: "a network is in a resource group, never in a site of the same name", yaml: "type: Microsoft.Network/virtualNetworks@2020-11-01\nname: n\nowner: g\nbody: {}\n",
			options: inGroup, managed: []Managed{managedResource(group + "/providers/Microsoft.Web/sites/g"), managedResource(group)}, want: group,
		},
		"resource as a group": {
			reason: "a network is in a resource group", yaml: "type: Microsoft.Network/virtualNetworks@2020-11-01\nname: n\nowner: g\nbody: {}\n",
			options: inGroup, managed: []Managed{managedResource(group + "/providers/Microsoft.Web/sites/g")},
			fault: `the owner must be a resource group, a subscription or a management group, and the managed resources named "g" are not`,
		},
		"scope of an extension": {
			reason: "a role assignment is on any resource", yaml: "type: Microsoft.Authorization/roleAssignments@2022-04-01\nname: r\nowner: v\nbody: {}\n",
			options: inGroup, managed: []Managed{managedResource(vnetID)}, want: vnetID,
		},
		"being deleted": {
			reason: "it is gone soon", yaml: subnet + "owner: v\nbody: {}\n", options: inGroup,
			managed: []Managed{managedResource(vnetID, deleted)}, fault: vnetID + " is being deleted; apply its manifest to take the deletion back",
		},
		"one being deleted": {
			reason: "a deletion can be taken back: the name stays ambiguous", yaml: subnet + "owner: v\nbody: {}\nlabels: {stack: shop}\n", options: inGroup,
			managed: []Managed{managedResource(vnetID, deleted), managedResource(other, stack)}, fault: vnetID + " (being deleted), " + other,
		},
		"unknown": {
			reason: "neither here nor managed", yaml: account + "body: {}\n---\n" + subnet + "owner: ac\nbody: {}\n", options: inGroup,
			fault: `m.yaml:8:1: owner: neither a manifest nor a managed resource is named "ac" (did you mean acc?); write a name or a resource ID`,
		},
		"chain": {
			reason: "without a group, the chain of names finds the owner", yaml: "type: Microsoft.Network/virtualNetworks/subnets@2020-11-01\nname: v/s\nbody: {}\nlabels: {stack: shop}\n",
			managed: []Managed{managedResource(other, stack)}, want: other,
		},
		"manifest's name": {
			reason: "the name in the manifest of the managed resource counts too", yaml: subnet + "owner: main\nbody: {}\n", options: inGroup,
			managed: []Managed{managedResource(vnetID, func(m *Managed) { m.Name = "main" })}, want: vnetID,
		},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			var calls int
			var names []string
			options := tc.options
			options.Managed = lookup(tc.managed, &calls, &names)
			folder := write(t, map[string]string{"m.yaml": tc.yaml})
			set, err := Load(options, folder)
			if calls != 1 {
				t.Errorf("%s: %d lookups, want 1", tc.reason, calls)
			}
			if tc.fault != "" {
				if issues, ok := errors.AsType[Issues](err); !ok || !strings.Contains(issues.Error(), tc.fault) {
					t.Errorf("%s: got %v, want %q", tc.reason, err, tc.fault)
				}
				return
			}
			if err != nil {
				t.Fatal(err)
			}
			last := set.Resources[len(set.Resources)-1]
			if last.Owner.String() != tc.want || last.OwnerAPIVersion != "2021-01-01" {
				t.Errorf("%s: owner %s@%s, want %s@2021-01-01", tc.reason, last.Owner, last.OwnerAPIVersion, tc.want)
			}
			if len(set.Found) != 1 || set.Found[0].ID.String() != tc.want {
				t.Errorf("%s: the set states %v, want %s", tc.reason, set.Found, tc.want)
			}
		})
	}
}

// TestManagedReferences verifies that every kind of reference finds managed resources, by
// one lookup of all names, and that it is a dependency like one that is written as an ID.
func TestManagedReferences(t *testing.T) {
	t.Parallel()
	vault := group + "/providers/Microsoft.KeyVault/vaults/kv"
	web := group + "/providers/Microsoft.Web/sites/web"
	text := account + `body:
  properties:
    network: {$ref: v}
    host: {$ref: web, path: properties.defaultHostName}
    url: {$text: 'https://${ref.kv.properties.vaultUri}/x'}
reconcile: {dependsOn: [acc2, plan]}
---
type: Microsoft.Storage/storageAccounts@2021-04-01
name: acc2
owner: ` + group + `
body: {}
---
type: Microsoft.Authorization/roleAssignments@2022-04-01
name: {$guid: [{$ref: db}, reader]}
owner: acc2
body: {}
`
	written := text
	resources := []Managed{
		managedResource(vnetID), managedResource(vault), managedResource(web),
		managedResource(group + "/providers/Microsoft.Web/serverfarms/plan"), managedResource(group + "/providers/Microsoft.Sql/servers/db"),
	}
	for _, m := range resources {
		name := m.ID.Name()
		written = strings.ReplaceAll(written, "{$ref: "+name+"}", "{$ref: "+m.ID.String()+"}")
		written = strings.ReplaceAll(written, "{$ref: "+name+",", "{$ref: "+m.ID.String()+"@2021-01-01,")
		written = strings.ReplaceAll(written, ", "+name+"]", ", "+m.ID.String()+"@2021-01-01]")
	}
	written = strings.ReplaceAll(written, vnetID+"}", vnetID+"@2021-01-01}")
	var calls int
	var names []string
	options := Options{Managed: lookup(resources, &calls, &names), ResourceGroup: "g", Subscription: sub[len("/subscriptions/"):]}
	found, err := Load(options, write(t, map[string]string{"m.yaml": text}))
	if err != nil {
		t.Fatal(err)
	}
	if want := []string{"db", "kv", "plan", "v", "web"}; calls != 1 || !slices.Equal(names, want) {
		t.Errorf("%d lookups of %v, want one of %v", calls, names, want)
	}
	stated, err := Load(options, write(t, map[string]string{"m.yaml": strings.ReplaceAll(written, "ref.kv.", `ref["`+vault+`@2021-01-01"].`)}))
	if err != nil {
		t.Fatal(err)
	}
	if calls != 1 {
		t.Errorf("%d lookups, want none where the file names every resource", calls)
	}
	for i, got := range found.Resources {
		want := stated.Resources[i]
		got.Body, want.Body = nil, nil
		if diff := cmp.Diff(want, got, cmp.Comparer(func(a, b resource.ID) bool { return a.Equal(b) })); diff != "" {
			t.Errorf("with names instead of IDs (-IDs +names):\n%s", diff)
		}
	}
}

// TestManagedNotNeeded verifies that nothing is looked up where the files define every name.
func TestManagedNotNeeded(t *testing.T) {
	t.Parallel()
	text := "type: Microsoft.Network/virtualNetworks@2020-11-01\nname: v\nalias: net\nowner: " + group + "\nbody: {}\n---\n" + subnet +
		"owner: net\nbody: {a: {$ref: v}, b: {$text: '${ref.net.id}'}}\nreconcile: {dependsOn: [g/v]}\n"
	options := Options{Managed: func([]string) ([]Managed, error) { return nil, errors.New("looked up") }}
	set, err := Load(options, write(t, map[string]string{"m.yaml": text}))
	if err != nil || len(set.Resources) != 2 {
		t.Errorf("got %d resources and %v", len(set.Resources), err)
	}
}

// TestManagedUnreachable verifies that a lookup that fails is the error, unless a manifest
// has a fault that needs no lookup.
func TestManagedUnreachable(t *testing.T) {
	t.Parallel()
	failed := errors.New("no server")
	options := Options{Managed: func([]string) ([]Managed, error) { return nil, failed }}
	text := subnet + "owner: v\nbody: {a: {$ref: w}}\n"
	if _, err := Load(options, write(t, map[string]string{"m.yaml": text})); !errors.Is(err, failed) {
		t.Errorf("got %v, want the error of the lookup", err)
	}
	_, err := Load(options, write(t, map[string]string{"m.yaml": text + "labels: [a]\n"}))
	if issues, ok := errors.AsType[Issues](err); !ok || len(issues) != 1 {
		t.Errorf("got %v, want the fault alone", err)
	}
}

// TestOpenNames verifies that a check without a server says what is left open, and still
// finds everything else.
func TestOpenNames(t *testing.T) {
	t.Parallel()
	text := account + "body: {properties: {isHnsEnabled: 1, x: {$ref: network}}}\n---\n" + subnet + "owner: ac\nbody: {}\n"
	folder := write(t, map[string]string{"m.yaml": text})
	const ref, owner = `body.properties.x: $ref: "network" has no manifest here; plan and apply look for a managed resource of this name`, `owner: "ac" has no manifest here (did you mean acc?); plan and apply look for a managed resource of this name`
	for validation, severity := range map[Validation]Severity{"": SeverityWarning, ValidationStrict: SeverityFault, ValidationOff: SeverityWarning} {
		report := Validate(Options{Open: true, Validation: validation}, folder)
		var open []string
		for _, issue := range report.Issues {
			if issue.Rule == OpenName && issue.Severity == severity {
				open = append(open, issue.Text())
			}
		}
		if diff := cmp.Diff([]string{ref, owner}, open); diff != "" {
			t.Errorf("validation %q (-want +got):\n%s", validation, diff)
		}
		if isChecked := strings.Contains(report.Issues.Error(), "isHnsEnabled: found the number 1"); isChecked == (validation == ValidationOff) {
			t.Errorf("validation %q: the body was checked: %v", validation, isChecked)
		}
	}
	rendered, err := Render(Options{Open: true}, folder)
	if err != nil || len(rendered.Manifests) != 2 {
		t.Fatalf("render returned %d manifests and %v", len(rendered.Manifests), err)
	}
	for i, want := range []string{ref, owner} {
		if open := rendered.Manifests[i].Open; len(open) != 1 || open[0].Text() != want {
			t.Errorf("rendered manifest %d leaves open %v, want %q", i, open, want)
		}
	}
	if _, err := Load(Options{Open: true}, folder); err == nil {
		t.Error("a load leaves names open")
	}
}

// TestTargets verifies which manifests a target keeps.
func TestTargets(t *testing.T) {
	t.Parallel()
	text := "type: Microsoft.Network/virtualNetworks@2020-11-01\nname: v\nowner: " + group + "\nbody: {}\n---\n" + subnet + "owner: v\nalias: inner\nbody: {}\n---\n" +
		account + "body: {x: {$ref: inner}}\n---\ntype: Microsoft.Storage/storageAccounts@2021-04-01\nname: acc2\nowner: " + group + "\nbody: {}\nreconcile: {dependsOn: [acc]}\n---\n" +
		"type: Microsoft.Storage/storageAccounts@2021-04-01\nname: acc\nowner: " + sub + "/resourceGroups/g2\nbody: {}\n"
	text = strings.Replace(text, "dependsOn: [acc]", "dependsOn: [g/acc]", 1)
	cases := map[string]struct {
		reason  string
		targets []string
		want    []string
		along   []string
		fault   string
	}{
		"owner":          {reason: "the owner first", targets: []string{"inner"}, want: []string{"v", "v/s"}, along: []string{"v"}},
		"child name":     {reason: "the chain of names", targets: []string{"v/s"}, want: []string{"v", "v/s"}, along: []string{"v"}},
		"reference":      {reason: "a reference, and its owner", targets: []string{"g/acc"}, want: []string{"v", "v/s", "acc"}, along: []string{"v", "v/s"}},
		"dependsOn":      {reason: "what is needed needs others", targets: []string{"acc2"}, want: []string{"v", "v/s", "acc", "acc2"}, along: []string{"v", "v/s", "acc"}},
		"no dependents":  {reason: "what needs a target stays", targets: []string{"v"}, want: []string{"v"}},
		"several":        {reason: "a named one does not come along", targets: []string{"v", "inner"}, want: []string{"v", "v/s"}},
		"resource ID":    {reason: "IDs are names", targets: []string{strings.ToUpper(vnetID[:15]) + vnetID[15:]}, want: []string{"v"}},
		"unknown":        {reason: "with the nearest name", targets: []string{"inne"}, fault: `--target: no manifest is named "inne"; did you mean inner?`},
		"unknown, far":   {reason: "no name is near", targets: []string{"zzz"}, fault: `--target: no manifest is named "zzz"; write the name of one of the 5 manifests`},
		"unknown ID":     {reason: "an ID without a manifest", targets: []string{group}, fault: "--target: no manifest has the resource ID " + group},
		"no resource ID": {reason: "not an ID", targets: []string{"/x"}, fault: "--target: parse resource ID"},
		"ambiguous":      {reason: "two accounts", targets: []string{"acc"}, fault: `--target: "acc" is the name of 2 manifests; write group/name, owner/name or the resource ID: ` + group + "/providers/Microsoft.Storage/storageAccounts/acc (m.yaml:12)"},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			folder := write(t, map[string]string{"m.yaml": text})
			set, err := Load(Options{Targets: tc.targets}, folder)
			if tc.fault != "" {
				got := ""
				if err != nil {
					got = strings.ReplaceAll(err.Error(), folder+string(filepath.Separator), "")
				}
				if !strings.Contains(got, tc.fault) {
					t.Errorf("%s: got %v, want %q", tc.reason, got, tc.fault)
				}
				return
			}
			if err != nil {
				t.Fatal(err)
			}
			var got, along []string
			for _, d := range set.Resources {
				got = append(got, d.ID.Short())
			}
			for _, id := range set.Along {
				along = append(along, id.Short())
			}
			if !slices.Equal(got, tc.want) || !slices.Equal(along, tc.along) || set.LeftOut != 5-len(tc.want) || len(set.Sources) != len(tc.want) {
				t.Errorf("%s: got %v with %v along and %d left out, want %v with %v along", tc.reason, got, along, set.LeftOut, tc.want, tc.along)
			}
		})
	}
}
