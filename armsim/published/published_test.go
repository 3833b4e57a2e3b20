package published

import (
	"encoding/binary"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/armature-io/armature/internal/azuretypes"
	"github.com/google/go-cmp/cmp"
	"github.com/klauspost/compress/zstd"
)

func TestLookup(t *testing.T) {
	tests := map[string]struct {
		resourceType, version string
		want                  string
		reason                string
	}{
		"exact":      {"Microsoft.Storage/storageAccounts", "2023-01-01", "Microsoft.Storage/storageAccounts@2023-01-01", "the version is published"},
		"any case":   {"microsoft.storage/STORAGEACCOUNTS", "2023-01-01", "Microsoft.Storage/storageAccounts@2023-01-01", "types have no letter case"},
		"between":    {"Microsoft.Storage/storageAccounts", "2023-01-02", "Microsoft.Storage/storageAccounts@2023-01-01", "the nearest earlier version is the likeliest"},
		"child":      {"Microsoft.Storage/storageAccounts/blobServices/containers", "2023-01-01", "Microsoft.Storage/storageAccounts/blobServices/containers@2023-01-01", "children are types of their own"},
		"too early":  {"Microsoft.Storage/storageAccounts", "2001-01-01", "", "later versions say nothing about an earlier one"},
		"no type":    {"Microsoft.Storage/accounts", "2023-01-01", "", "it is not published"},
		"no service": {"Microsoft.Example/things", "2023-01-01", "", "it is not published"},
		"read only":  {"Microsoft.Storage/locations/usages", "2023-01-01", "", "it cannot be written"},
		"no slash":   {"Microsoft.Storage", "2023-01-01", "", "it is no type"},
		"empty":      {"", "", "", "it is no type"},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			found, err := Lookup(test.resourceType, test.version)
			if err != nil {
				t.Fatal(err)
			}
			got := ""
			if found != nil {
				got = found.Name + "@" + found.Version
			}
			if got != test.want {
				t.Errorf("got %q, want %q, since %s", got, test.want, test.reason)
			}
		})
	}
}

// TestShape reads one shape of every kind.
func TestShape(t *testing.T) {
	account, err := Lookup("Microsoft.Storage/storageAccounts", "2023-01-01")
	if err != nil || account == nil {
		t.Fatal(account, err)
	}
	at := func(path string) *Property {
		node, found := account.Body, (*Property)(nil)
		for name := range strings.SplitSeq(path, ".") {
			if node.Kind == List {
				node = node.Item
			}
			if found = node.Field(name); found == nil {
				t.Fatalf("no %s in %s", name, path)
			}
			node = found.Type
		}
		return found
	}
	for path, want := range map[string]Property{
		"KIND":                                           {Name: "kind", Flags: Required, Type: &Node{Kind: OpenChoice}},
		"properties.allowBlobPublicAccess":               {Name: "allowBlobPublicAccess", Type: &Node{Kind: Boolean}},
		"properties.creationTime":                        {Name: "creationTime", Flags: ReadOnly, Type: &Node{Kind: Text}},
		"properties.networkAcls.defaultAction":           {Name: "defaultAction", Flags: Required, Type: &Node{Kind: Choice}},
		"properties.networkAcls.ipRules":                 {Name: "ipRules", Type: &Node{Kind: List}},
		"properties.networkAcls.ipRules.value":           {Name: "value", Flags: Required, Type: &Node{Kind: Text}},
		"properties.keyPolicy":                           {Name: "keyPolicy", Type: &Node{Kind: Object}},
		"properties.sasPolicy.sasExpirationPeriod":       {Name: "sasExpirationPeriod", Flags: Required, Type: &Node{Kind: Text}},
		"properties.keyPolicy.keyExpirationPeriodInDays": {Name: "keyExpirationPeriodInDays", Flags: Required, Type: &Node{Kind: Integer}},
	} {
		got := at(path)
		if got.Name != want.Name || got.Flags != want.Flags || got.Type.Kind != want.Type.Kind {
			t.Errorf("%s is %s, flags %d, kind %d; want %s, flags %d, kind %d", path, got.Name, got.Flags, got.Type.Kind, want.Name, want.Flags, want.Type.Kind)
		}
	}
	if diff := cmp.Diff([]string{"Allow", "Deny"}, slices.Sorted(slices.Values(at("properties.networkAcls.defaultAction").Type.Values))); diff != "" {
		t.Errorf("allowed values (-want +got)\n%s", diff)
	}
	if account.Body.Field("tags").Type.Additional == nil || account.Body.Field("colour") != nil {
		t.Error("tags take any name, and an account has no colour")
	}
}

// TestVariants selects a variant by the discriminator.
func TestVariants(t *testing.T) {
	rule, err := Lookup("Microsoft.Kusto/clusters/databases", "2023-08-15")
	if err != nil || rule == nil {
		t.Fatal(rule, err)
	}
	if rule.Body.Kind != Variants || rule.Body.Discriminator != "kind" {
		t.Fatalf("kind %d, discriminator %q", rule.Body.Kind, rule.Body.Discriminator)
	}
	if rule.Body.Variant("readwrite") != rule.Body.Variant("ReadWrite") || rule.Body.Variant("ReadWrite") == nil || rule.Body.Variant("other") != nil {
		t.Error("variants are found in any letter case, and only published ones")
	}
}

// TestAll decodes every provider, from several goroutines at once.
func TestAll(t *testing.T) {
	var group sync.WaitGroup
	for range 4 {
		group.Go(func() {
			all, err := All()
			if err != nil || len(all) < 20_000 {
				t.Errorf("%d types, %v", len(all), err)
			}
			for _, published := range all {
				if published.Body.Kind != Object && published.Body.Kind != Variants {
					t.Errorf("the body of %s@%s is no object", published.Name, published.Version)
				}
			}
		})
	}
	group.Wait()
}

// TestDamagedData cuts and changes the data: an error, never a panic.
func TestDamagedData(t *testing.T) {
	read := func(from []byte) error {
		index, err := readIndex(from)
		for _, p := range index {
			if _, frame := p.types(); frame != nil {
				err = frame
			}
		}
		return err
	}
	small := smallData(t)
	if err := read(small); err != nil {
		t.Fatal(err)
	}
	for i := range small {
		if read(small[:i]) == nil {
			t.Errorf("%d of %d bytes are read without an error", i, len(small))
		}
		changed := slices.Clone(small)
		changed[i] ^= 0x7f
		_ = read(changed) // a changed text is no error
	}
}

// smallData returns the data of the provider with the smallest frame.
func smallData(t *testing.T) []byte {
	t.Helper()
	d := decoder{rest: azuretypes.Packed()[len(header):]}
	directory, err := unpack(d.cut(d.size()))
	if err != nil {
		t.Fatal(err)
	}
	var name string
	var smallest []byte
	for range directory.size() {
		provider := directory.text()
		if frame := d.cut(directory.number()); smallest == nil || len(frame) < len(smallest) {
			name, smallest = provider, frame
		}
	}
	raw := append([]byte{1, byte(len(name)), byte(len(name))}, name...)
	raw = binary.AppendUvarint(append(raw, 1, 0), uint64(len(smallest)))
	packer, err := zstd.NewWriter(nil)
	if err != nil {
		t.Fatal(err)
	}
	packed := packer.EncodeAll(raw, nil)
	return slices.Concat(binary.AppendUvarint([]byte(header), uint64(len(packed))), packed, smallest)
}

func BenchmarkDecodeNetwork(b *testing.B) {
	for b.Loop() {
		index, err := readIndex(azuretypes.Packed())
		if err != nil {
			b.Fatal(err)
		}
		if _, err := index["microsoft.network"].types(); err != nil {
			b.Fatal(err)
		}
	}
}
