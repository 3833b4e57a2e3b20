package starter

import (
	"fmt"
	"strings"
	"testing"
)

// TestLookupRequests counts the lists of an apply: one for all names that the manifests do
// not define, as long as a query has room for them. Where they define each name, a list of
// one workflow shows whether the namespace is encrypted.
func TestLookupRequests(t *testing.T) {
	const rule = "type: Microsoft.Kusto/clusters/databases/scripts@2023-08-15\nname: s%d\nowner: " + cluster + "/databases/d00001\nbody: {}\nreconcile: {dependsOn: [d%05d]}\n---\n"
	cases := map[string]struct {
		reason string
		names  int
		want   int
	}{
		"none":     {reason: "the file names all that it needs: one list of one workflow, for encryption", want: 1},
		"one":      {reason: "one query", names: 1, want: 1},
		"fifty":    {reason: "one query with fifty names", names: 50, want: 1},
		"too many": {reason: "more names are found in the list of all: one page of 250 and two of 1,000", names: 60, want: 3},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			f, w := startFrontend(t, "postgres12", 2000)
			text := strings.Replace(fmt.Sprintf(rule, 0, 0), "reconcile: {dependsOn: [d00000]}\n", "", 1)
			for i := range tc.names {
				text += fmt.Sprintf(rule, i+1, i+1)
			}
			folder := manifests(t, map[string]string{"scripts.yaml": text})
			// The server does not start workflows: every spec that is sent fails.
			if w.run("apply", "-f", folder, "--validation", "off"); f.sent("ExecuteMultiOperation") != tc.names+1 {
				t.Fatalf("%d specs were sent, want %d: %s", f.sent("ExecuteMultiOperation"), tc.names+1, w.err)
			}
			if lists := f.sent("ListWorkflowExecutions"); lists != tc.want {
				t.Errorf("%s: %d lists of pages %v, want %d", tc.reason, lists, f.pages, tc.want)
			}
			if queries, reads := f.sent("QueryWorkflow"), f.sent("DescribeWorkflowExecution"); queries+reads > 0 {
				t.Errorf("%s: %d queries and %d descriptions, want none", tc.reason, queries, reads)
			}
		})
	}
}
