package docs

import (
	"strings"
	"testing"

	"github.com/armature-io/armature/resource"
)

// TestFindReason verifies that each reason of the code has a whole paragraph.
func TestFindReason(t *testing.T) {
	t.Parallel()
	for _, info := range resource.Reasons() {
		r, found := FindReason(strings.ToLower(string(info.Reason)))
		if !found || r.Reason != string(info.Reason) || r.Means == "" || r.Acts == "" || r.Do == "" || r.Retry == "" {
			t.Errorf("docs/troubleshooting.md has %+v about %s, want all four lines", r, info.Reason)
		}
		if text := r.Means + r.Do; strings.Contains(text, "](") || strings.Contains(text, "above") {
			t.Errorf("%s: %q is not complete without the page", info.Reason, text)
		}
	}
	if r, found := FindReason("QuotaExceeded"); !found || r.Means != azureCode || r.Do != "It needs a higher quota, or lower usage elsewhere." {
		t.Errorf("QuotaExceeded is %+v", r)
	}
	if r, found := FindReason("code"); found {
		t.Errorf("the head of a table is %+v", r)
	}
}
