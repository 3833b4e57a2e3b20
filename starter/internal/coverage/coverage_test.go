package coverage

import (
	"bytes"
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	"github.com/armature-io/armature/activities"
	"github.com/armature-io/armature/resource"
	"github.com/armature-io/armature/starter/internal/cli"
	"github.com/armature-io/armature/starter/internal/importer"
	"github.com/google/go-cmp/cmp"
)

// sample returns a report about resources of every class.
func sample(t *testing.T) Report {
	t.Helper()
	found := importer.Result{WithParent: map[string]bool{}}
	for _, text := range []string{group, account, account + "/blobServices/default", container, container + "/immutabilityPolicies/default", lock, network} {
		found.Found = append(found.Found, activities.ImportResourceResult{ID: parse(t, text), Managed: text == lock})
	}
	for _, text := range []string{account + "/blobServices/default", container + "/immutabilityPolicies/default"} {
		found.WithParent[parse(t, text).Key()] = true
	}
	for _, o := range []struct {
		id, typ string
		status  importer.Status
	}{
		{network + "/subnets/a", "", importer.Skipped}, {network + "/subnets/b", "", importer.Skipped},
		{group, "Microsoft.Authorization/locks", importer.NotRead}, {account, "", importer.NotRead},
		{account, "Microsoft.Storage/storageAccounts/views", importer.NotListed}, {account, "Microsoft.Storage/storageAccounts/gone", importer.NotListed},
		{group + "/providers/Microsoft.Sql/servers/tmp", "", importer.NotRead}, {network, "Microsoft.Tmp/things", importer.NotRead},
	} {
		outcome := importer.Outcome{ID: parse(t, o.id), Type: o.typ, Status: o.status, Why: "because", Derived: strings.HasSuffix(o.typ, "/views")}
		if o.typ == "" {
			outcome.Type = outcome.ID.Type()
		}
		found.Outcomes = append(found.Outcomes, outcome)
	}
	ignore, err := ParseIgnore("file", "net\ntmp\nMicrosoft.Tmp/*\ngone")
	if err != nil {
		t.Fatal(err)
	}
	workflows := map[string]bool{}
	for _, text := range []string{group, account, network + "/subnets/a"} {
		workflows[parse(t, text).Key()] = true
	}
	return New([]resource.ID{parse(t, group)}, found, func(id resource.ID) bool { return workflows[id.Key()] }, ignore)
}

// TestNew checks the class of each resource, and that each is counted once.
func TestNew(t *testing.T) {
	t.Parallel()
	r := sample(t)
	var got []string
	for _, class := range r.classes() {
		for _, found := range class.resources {
			got = append(got, fmt.Sprintf("%s: %s %s: %s", class.status, strings.TrimPrefix(found.ID.String(), group), found.Type[strings.LastIndex(found.Type, "/")+1:], found.Why))
		}
	}
	below := func(id string) string { return strings.TrimPrefix(id, group) }
	want := []string{
		// The container is no built-in child, and what comes with it needs a manifest too.
		"unmanaged: " + below(container) + " containers: ", "unmanaged: " + below(container) + "/immutabilityPolicies/default immutabilityPolicies: ",
		"ignored: " + below(network) + " virtualNetworks: net", "ignored: /providers/Microsoft.Sql/servers/tmp servers: tmp",
		"skipped: " + below(account) + "/blobServices/default blobServices: " + withParent, "skipped: " + below(network) + "/subnets/b subnets: because",
		"not listed: " + below(account) + " gone: because",
		"not read:  locks: because", "not read: " + below(account) + " storageAccounts: because",
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("-want +got\n%s", diff)
	}
	// Managed are the group, the account, its lock by the word of the worker, and a subnet that
	// the body of the network has too.
	if want := (Summary{Managed: 4, Unmanaged: 2, Ignored: 2, Skipped: 2, NotRead: 2, NotListed: 1}); r.Summary != want {
		t.Errorf("got %+v, want %+v", r.Summary, want)
	}
	if r.Coverage == nil || *r.Coverage != 66.6 {
		t.Errorf("coverage %v, want 66.6: two thirds, rounded down", r.Coverage)
	}
	if len(r.Unused) != 1 || r.Unused[0].Text != "gone" || r.Unused[0].Line != 4 {
		t.Errorf("patterns without effect: %+v", r.Unused)
	}
	if len(r.Found()) != 2 {
		t.Errorf("%d resources to import, want 2", len(r.Found()))
	}
}

// TestShow checks every format.
func TestShow(t *testing.T) {
	t.Parallel()
	summary := "Coverage: 66.6 % (4 of 6 resources managed), 2 unmanaged, 2 ignored, 2 not read."
	for name, c := range map[string]struct {
		reason string
		format cli.Format
		want   []string
		not    string
	}{
		"table":    {"the names", cli.FormatTable, []string{"NAME ", "store/default/data ", "Microsoft.Storage/storageAccounts/blobServices/containers ", "  rg1\n", "\n" + summary + "\n"}, "servers/tmp"},
		"wide":     {"all classes with reasons", cli.FormatWide, []string{"STATUS", "unmanaged ", container, "ignored ", "/servers/tmp\n", "skipped ", withParent, "not read", summary}, "\x1b"},
		"markdown": {"a comment", cli.FormatMarkdown, []string{MarkdownMarker + "\n**" + summary + "**", "- ` ", container + " `\n", "Not read:", "1 pattern matches no unmanaged resource"}, "servers/tmp"},
		"yaml":     {"the names of JSON", cli.FormatYAML, []string{"coverage: 66.6", "unmanaged: 2", "unusedPatterns:", "line: 4"}, "found"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			var out bytes.Buffer
			if err := sample(t).Show(&out, c.format); err != nil {
				t.Fatal(err)
			}
			for _, part := range c.want {
				if !strings.Contains(out.String(), part) {
					t.Errorf("%s: no %q in\n%s", c.reason, part, &out)
				}
			}
			if strings.Contains(out.String(), c.not) {
				t.Errorf("%s: %q in\n%s", c.reason, c.not, &out)
			}
		})
	}
}

// TestShowNothing checks a scope with nothing in it: no percentage of zero, and lists in JSON.
func TestShowNothing(t *testing.T) {
	t.Parallel()
	r := New(nil, importer.Result{}, func(resource.ID) bool { return false }, Ignore{})
	var text, raw bytes.Buffer
	if err := r.Show(&text, cli.FormatTable); err != nil || text.String() != "Coverage: nothing to manage.\n" {
		t.Errorf("got %q, %v", &text, err)
	}
	if err := r.Show(&raw, cli.FormatJSON); err != nil {
		t.Fatal(err)
	}
	var read map[string]any
	if err := json.Unmarshal(raw.Bytes(), &read); err != nil {
		t.Fatal(err)
	}
	if list, isList := read["unmanaged"].([]any); !isList || len(list) > 0 || read["coverage"] != nil {
		t.Errorf("got %s", &raw)
	}
}

// TestNames checks that a lock is named with the resource that it is on.
func TestNames(t *testing.T) {
	t.Parallel()
	var found []Resource
	for _, text := range []string{group, container, lock} {
		id := parse(t, text)
		found = append(found, resourceOf(id, id.Type(), ""))
	}
	if diff := cmp.Diff([]string{"rg1", "store/default/data", "keep on store"}, names(found)); diff != "" {
		t.Errorf("-want +got\n%s", diff)
	}
}

// TestMarkdownIsShort checks that a comment of many resources fits, and counts the rest.
func TestMarkdownIsShort(t *testing.T) {
	t.Parallel()
	var found importer.Result
	for i := range 3000 {
		found.Found = append(found.Found, activities.ImportResourceResult{ID: parse(t, fmt.Sprintf("%s/providers/Microsoft.Network/routeTables/a`b-%d", group, i))})
	}
	text := New(nil, found, func(resource.ID) bool { return false }, Ignore{}).markdown()
	shown := strings.Count(text, "\n- `` ")
	if len(text) > maxMarkdown || shown < 100 || !strings.Contains(text, fmt.Sprintf("- and %d more", 3000-shown)) {
		t.Errorf("%d bytes with %d resources", len(text), shown)
	}
}
