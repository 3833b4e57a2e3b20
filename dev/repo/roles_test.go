package repo

import (
	"regexp"
	"strings"
	"testing"

	"go.temporal.io/server/common/api"
)

// TestRolesInDocs compares the roles that docs/contributing/security.md names for calls with what the
// server's default authorizer asks for.
func TestRolesInDocs(t *testing.T) {
	access := map[string]api.Access{"read": api.AccessReadOnly, "write": api.AccessWrite, "admin": api.AccessAdmin}
	row := regexp.MustCompile("(?m)^\\| `(read|write|admin)` \\| ([^|]*) \\|")
	call := regexp.MustCompile("`([A-Za-z]+)`")
	compared := 0
	for _, match := range row.FindAllStringSubmatch(read(t, "docs/contributing/security.md"), -1) {
		for _, name := range call.FindAllStringSubmatch(match[2], -1) {
			prefix := api.WorkflowServicePrefix
			if strings.HasSuffix(name[1], "SearchAttributes") {
				prefix = api.OperatorServicePrefix
			}
			compared++
			if got := api.GetMethodMetadata(prefix + name[1]); got.Access != access[match[1]] || got.Scope != api.ScopeNamespace {
				t.Errorf("%s needs access %v in scope %v of the server; docs/contributing/security.md has %s", name[1], got.Access, got.Scope, match[1])
			}
		}
	}
	if compared < 10 {
		t.Errorf("found %d calls in docs/contributing/security.md", compared)
	}
}
