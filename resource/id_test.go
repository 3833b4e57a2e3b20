package resource

import (
	"strings"
	"testing"
)

func TestWorkflowID(t *testing.T) {
	const group = "/subscriptions/11111111-2222-3333-4444-555555555555/resourceGroups/"
	long := group + strings.Repeat("g", 90) + "/providers/Microsoft.Example/things/" + strings.Repeat("t", 100)
	cases := map[string]struct{ reason, id, want string }{
		"lower case": {
			reason: "IDs that are equal for ARM have one workflow",
			id:     group + "RG (1) [x]", want: strings.ToLower(group) + "rg (1) [x]",
		},
		"beyond ASCII": {
			reason: "the SDK sends the workflow ID in a gRPC header, which allows only printable ASCII",
			id:     group + "Gr\u00fcn", want: strings.ToLower(group) + "gr%c3%bcn",
		},
		"Kelvin sign": {
			reason: "it looks like a k and is another resource",
			id:     group + "\u212aelvin", want: strings.ToLower(group) + "%e2%84%aaelvin",
		},
		"dotted I": {
			reason: "its lower case would be an i",
			id:     group + "\u0130d", want: strings.ToLower(group) + "%c4%b0d",
		},
		"long": {
			reason: "SQL stores allow 255 characters",
			id:     long, want: strings.ToLower(long)[:150] + "~86f979825d549205dbee0b37eedcc522",
		},
		"long beyond ASCII": {
			reason: "only the encoded ID is too long",
			id:     group + strings.Repeat("\u00fc", 60), want: strings.ToLower(group) + strings.Repeat("%c3%bc", 13) + "%c3%b~83698d3e0bcf4f27ca6e5548149475ec",
		},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			id, err := ParseID(tc.id)
			if err != nil {
				t.Fatal(err)
			}
			got := id.WorkflowID()
			if got != tc.want {
				t.Errorf("%s:\ngot  %s\nwant %s", tc.reason, got, tc.want)
			}
			back, err := ParseWorkflowID(got)
			if isCut := strings.Contains(got, "~"); isCut != (err != nil) || !isCut && !back.Equal(id) {
				t.Errorf("%s: the resource of %s is %s, %v", tc.reason, got, back, err)
			}
			if len(got) > maxWorkflowIDBytes {
				t.Errorf("the workflow ID has %d bytes", len(got))
			}
		})
	}
}
