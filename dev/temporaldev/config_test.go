package temporaldev

import (
	"testing"

	enumspb "go.temporal.io/api/enums/v1"
	"go.temporal.io/server/common/dynamicconfig"
)

func TestSearchAttributeRefresh(t *testing.T) {
	attributes := map[string]enumspb.IndexedValueType{"ReconcilePhase": enumspb.INDEXED_VALUE_TYPE_KEYWORD}
	cases := map[string]struct {
		reason     string
		attributes map[string]enumspb.IndexedValueType
		isNew      bool
		want       bool
	}{
		"all registered":  {reason: "no worker registers any", attributes: attributes, isNew: true, want: false},
		"none":            {reason: "the worker registers them", isNew: true, want: true},
		"existing folder": {reason: "a newer worker may need more than the folder has", attributes: attributes, want: true},
	}
	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			_, got := dynamicConfig(Options{SearchAttributes: c.attributes}, c.isNew)[dynamicconfig.ForceSearchAttributesCacheRefreshOnRead.Key()]
			if got != c.want {
				t.Errorf("%s: refresh is %t, want %t", c.reason, got, c.want)
			}
		})
	}
}
