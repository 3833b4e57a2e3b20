package drift_test

import (
	"testing"

	"github.com/armature-io/armature/drift"
)

// TestKeptValueEnds checks that a difference that a PUT left ends with the first read of the
// desired value: the same foreign value is drift then.
func TestKeptValueEnds(t *testing.T) {
	desired := body(t, []byte(`{"properties":{"minimumTlsVersion":"TLS1_2","allowBlobPublicAccess":false}}`))
	foreign := body(t, []byte(`{"properties":{"minimumTlsVersion":"TLS1_0","allowBlobPublicAccess":true}}`))
	half := body(t, []byte(`{"properties":{"minimumTlsVersion":"TLS1_2","allowBlobPublicAccess":true}}`))
	opts := drift.Options{Type: "microsoft.storage/storageaccounts", APIVersion: "2023-01-01", Key: []byte("key"), KeepOthers: true}
	put := opts
	put.Put, put.Sent = true, true
	put.Reasons = drift.Compare(desired, foreign, opts).Differences
	opts.Baseline = stored(t, drift.NewBaseline(desired, foreign, put))
	if found := drift.Compare(desired, foreign, opts); !found.InSync || len(found.NotTaken) != 2 {
		t.Fatalf("after the PUT: %+v", found)
	}
	opts.Baseline = stored(t, opts.Baseline.WithoutEnded(drift.Compare(desired, half, opts)))
	found := drift.Compare(desired, foreign, opts)
	if len(found.Differences) != 1 || found.Differences[0].Path != "properties.minimumTlsVersion" || len(found.NotTaken) != 1 {
		t.Errorf("after a read of one desired value: %+v", found)
	}
}
