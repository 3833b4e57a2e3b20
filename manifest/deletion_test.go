package manifest

import (
	"strings"
	"testing"

	"github.com/armature-io/armature/resource"
	"github.com/google/go-cmp/cmp"
)

// TestDeletion reads parameters of a DELETE; numbers and booleans are their texts.
func TestDeletion(t *testing.T) {
	got := loaded(t, withField("reconcile: {delete: {query: {forceDeletion: true, retries: 3, unmanageAction.resources: delete}, purge: true}}"))
	want := resource.Deletion{Query: map[string]string{"forceDeletion": "true", "retries": "3", "unmanageAction.resources": "delete"}, Purge: true}
	if diff := cmp.Diff(want, got.Deletion); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
	if none := loaded(t, withField("reconcile: {}")); !none.Deletion.IsZero() {
		t.Errorf("a manifest without it states %+v", none.Deletion)
	}
}

// TestDeletionIssues refuses what a URL must not carry.
func TestDeletionIssues(t *testing.T) {
	cases := map[string]struct{ reason, query, want string }{
		"version":  {"the requests have one", "{Api-Version: '2023-01-01'}", "cannot be set"},
		"secret":   {"URLs are logged", "{password: abc}", "is that of a secret"},
		"marker":   {"a reference to a secret is no text", "{x: {$secret: env:A}}", "found a mapping"},
		"name":     {"it would end the parameter", "{'a&b': c}", "not the name of a parameter"},
		"value":    {"a URL is bounded", "{x: " + strings.Repeat("a", 300) + "}", "longer than 256 bytes"},
		"too many": {"a URL is bounded", "{a: 1, b: 1, c: 1, d: 1, e: 1, f: 1, g: 1, h: 1, i: 1}", "at most 8"},
	}
	for name, tc := range cases {
		_, err := Load(Options{Stdin: strings.NewReader(withField("reconcile: {delete: {query: " + tc.query + "}}"))}, "-")
		if err == nil || !strings.Contains(err.Error(), tc.want) {
			t.Errorf("%s (%s): %v, want %q", name, tc.reason, err, tc.want)
		}
	}
}
