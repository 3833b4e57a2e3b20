package drift_test

import (
	"fmt"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/armature-io/armature/drift"
)

func TestLeaves(t *testing.T) {
	opts := drift.Options{Type: "Microsoft.Storage/storageAccounts", Facts: factsOf("Microsoft.Storage/storageAccounts"), APIVersion: "2023-01-01", Key: []byte("key"), KeepOthers: true}
	desired := object(t, `{"properties":{"accessTier":"Hot","rules":[{"name":"a","x":1}],"secret":{"$secret":"env:A"}}}`)
	after := opts
	after.Put, after.Sent = true, true
	opts.Baseline = drift.NewBaseline(object(t, `{"properties":{"accessTier":"Hot"}}`), object(t, `{"properties":{"accessTier":"Hot","minimumTlsVersion":"TLS1_0"}}`), after)
	payload := object(t, `{"properties":{"accessTier":"Hot","minimumTlsVersion":"TLS1_0","rules":[{"name":"a","x":1,"y":2},{"name":"b"}],"secret":"s",
		"networkAcls":{"bypass":"None","ipRules":[{"value":"1"}]},"empty":{}}}`)
	list := func(opts drift.Options) (texts []string) {
		leaves, _ := drift.Leaves(payload, desired, opts)
		for _, leaf := range leaves {
			texts = append(texts, fmt.Sprintf("%s own=%t refused=%t", leaf.Path, leaf.Own, leaf.Refused))
		}
		return texts
	}
	want := []string{
		"properties.empty own=false refused=false", "properties.minimumTlsVersion own=true refused=false",
		"properties.networkAcls.bypass own=false refused=false", "properties.networkAcls.ipRules own=false refused=false",
		"properties.rules[name=a].y own=false refused=false", "properties.rules[name=b] own=false refused=false",
	}
	if diff := cmp.Diff(want, list(opts)); diff != "" {
		t.Errorf("leaves (-want +got)\n%s", diff)
	}
	leaves, stated := drift.Leaves(payload, desired, opts)
	if len(stated) != 4 { // the name of the rule, too
		t.Errorf("stated %v", stated)
	}
	opts.Baseline = opts.Baseline.WithRefused(desired, leaves[1:2], opts)
	if got := list(opts)[1]; got != "properties.minimumTlsVersion own=true refused=true" {
		t.Error(got)
	}
	opts.Baseline = opts.Baseline.WithRefused(desired, leaves[2:3], opts)
	if got := list(opts); got[1] != "properties.minimumTlsVersion own=true refused=true" || got[2] != "properties.networkAcls.bypass own=false refused=true" {
		t.Error(got)
	}
	// The next baseline keeps what was refused, as long as the manifest stays.
	opts.Put, opts.Sent = true, true
	if next := drift.NewBaseline(desired, payload, opts); next.Refused == nil {
		t.Error("the next baseline has no refused values")
	}
	if next := drift.NewBaseline(object(t, `{}`), payload, opts); next.Refused != nil {
		t.Error("refused values outlive the body of the manifest")
	}
	for _, leaf := range leaves[2:4] {
		leaf.Path.Remove(payload)
	}
	if diff := cmp.Diff(object(t, `{"properties":{"accessTier":"Hot","minimumTlsVersion":"TLS1_0","rules":[{"name":"a","x":1,"y":2},{"name":"b"}],"secret":"s","empty":{}}}`), payload); diff != "" {
		t.Errorf("after the removal (-want +got)\n%s", diff)
	}
}

// TestRefusedIsBounded bounds the refused values of a baseline.
func TestRefusedIsBounded(t *testing.T) {
	opts := drift.Options{Key: []byte("key")}
	payload := map[string]any{}
	for i := range 200 {
		payload[fmt.Sprintf("p%d", i)] = i
	}
	leaves, _ := drift.Leaves(payload, nil, opts)
	if bytes := len(drift.Baseline{}.WithRefused(nil, leaves, opts).Refused.Leaves); bytes > 50*8 {
		t.Errorf("200 refused values take %d bytes", bytes)
	}
}
