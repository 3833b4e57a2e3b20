package coverage

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/armature-io/armature/resource"
	"github.com/google/go-cmp/cmp"
)

const (
	subscription = "/subscriptions/11111111-2222-3333-4444-555555555555"
	group        = subscription + "/resourceGroups/rg1"
	account      = group + "/providers/Microsoft.Storage/storageAccounts/store"
	container    = account + "/blobServices/default/containers/data"
	lock         = account + "/providers/Microsoft.Authorization/locks/keep"
	network      = group + "/providers/Microsoft.Network/virtualNetworks/net"
)

func parse(t *testing.T, text string) resource.ID {
	t.Helper()
	id, err := resource.ParseID(text)
	if err != nil {
		t.Fatal(err)
	}
	return id
}

// TestIgnore checks which of five resources the lines of an ignore file match, and which lines
// match none of them.
func TestIgnore(t *testing.T) {
	t.Parallel()
	all := []string{group, account, container, lock, network}
	for name, c := range map[string]struct {
		reason string
		lines  []string
		want   []string
		unused []string
	}{
		"nothing":           {reason: "no line", want: nil},
		"comments":          {reason: "no pattern", lines: []string{"# all", "", "  "}},
		"an ID":             {reason: "with everything in it", lines: []string{account}, want: []string{account, container, lock}},
		"letter case":       {reason: "Azure ignores it", lines: []string{strings.ToUpper(account)}, want: []string{account, container, lock}},
		"only below":        {reason: "not the resource itself", lines: []string{account + "/**"}, want: []string{container, lock}},
		"part of a name":    {reason: "a segment is matched whole", lines: []string{account[:len(account)-1]}, unused: []string{account[:len(account)-1]}},
		"wildcards":         {reason: "a star stays in its segment", lines: []string{"/subscriptions/*/resourceGroups/rg?/providers/*/virtualNetworks/n*"}, want: []string{network}},
		"any depth":         {reason: "in the middle of an ID", lines: []string{"/**/containers/data"}, want: []string{container}},
		"a type":            {reason: "with its child types, and not what is attached", lines: []string{"Microsoft.Storage/storageAccounts"}, want: []string{account, container}},
		"child types":       {reason: "not the type itself", lines: []string{"microsoft.storage/storageaccounts/**"}, want: []string{container}},
		"a namespace":       {reason: "all its types", lines: []string{"Microsoft.Network/*"}, want: []string{network}},
		"any namespace":     {reason: "a type with any provider", lines: []string{"*/locks"}, want: []string{lock}},
		"a name":            {reason: "with everything in it", lines: []string{"stor*"}, want: []string{account, container, lock}},
		"the name of group": {reason: "everything is in it", lines: []string{"rg1"}, want: all},
		"taken back":        {reason: "the last line that matches decides", lines: []string{group, "!" + account, "*/locks"}, want: []string{group, lock, network}},
		"taken back first":  {reason: "a later line overrules it", lines: []string{"!net", group}, want: all},
		"without effect":    {reason: "it is named", lines: []string{"net", "Microsoft.Sql/*", "!gone"}, want: []string{network}, unused: []string{"Microsoft.Sql/*", "!gone"}},
		"escaped":           {reason: "a name may begin with a sign", lines: []string{`\#x`, `\!x`}, unused: []string{`\#x`, `\!x`}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			ignore, err := ParseIgnore("file", strings.Join(c.lines, "\n"))
			if err != nil {
				t.Fatal(err)
			}
			var got, unused []string
			for _, text := range all {
				if id := parse(t, text); ignore.Of(id, id.Type()) != nil {
					got = append(got, text)
				}
			}
			for _, p := range ignore.Unused() {
				unused = append(unused, p.Text)
			}
			if diff := cmp.Diff(c.want, got); diff != "" {
				t.Errorf("%s: ignored (-want +got)\n%s", c.reason, diff)
			}
			if diff := cmp.Diff(c.unused, unused); diff != "" {
				t.Errorf("%s: without effect (-want +got)\n%s", c.reason, diff)
			}
		})
	}
}

// TestIgnoreErrors checks that a line that matches nothing by its form is refused with its
// place.
func TestIgnoreErrors(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct{ reason, line, want string }{
		"empty":   {"a sign without a pattern", "!", "file:2: the pattern is empty"},
		"root":    {"it would match everything", "/", "file:2: the pattern is empty"},
		"segment": {"neither an ID nor a type", "resourceGroups/rg1", "file:2: a pattern with a slash is an ID"},
		"bracket": {"no end", "/subscriptions/[a", "file:2: the pattern [a has a bracket"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			if _, err := ParseIgnore("file", "# first\n"+c.line); err == nil || !strings.Contains(err.Error(), c.want) {
				t.Errorf("%s: got %v, want %q", c.reason, err, c.want)
			}
		})
	}
}

// TestReadIgnore checks that the default file may be absent, and a named one may not.
func TestReadIgnore(t *testing.T) {
	t.Chdir(t.TempDir())
	if ignore, err := ReadIgnore(""); err != nil || ignore.File != "" {
		t.Errorf("without a file: %+v, %v", ignore, err)
	}
	if _, err := ReadIgnore("none"); err == nil || !strings.Contains(err.Error(), "none") {
		t.Errorf("a named file that is absent: %v", err)
	}
	if err := os.WriteFile(filepath.Join(".", IgnoreFile), []byte("net\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	ignore, err := ReadIgnore("")
	if err != nil || ignore.File != IgnoreFile || ignore.Of(parse(t, network), "") == nil {
		t.Errorf("the default file: %+v, %v", ignore, err)
	}
}
