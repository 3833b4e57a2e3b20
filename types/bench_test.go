package types

import (
	"testing"

	"github.com/armature-io/armature/internal/azuretypes"
)

// BenchmarkDecode decodes the directory and the frame of one provider, as the first
// lookup does, and the types of all providers.
func BenchmarkDecode(b *testing.B) {
	for _, name := range []string{"Microsoft.Network", "Microsoft.Storage", ""} {
		b.Run("provider="+name, func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				x, err := readIndex(azuretypes.Packed())
				if err != nil {
					b.Fatal(err)
				}
				for _, p := range x.providers {
					if name != "" && p.name != name {
						continue
					}
					if shapes, err := p.load(); err != nil || len(shapes) == 0 {
						b.Fatalf("%s: %v", p.name, err)
					}
				}
			}
		})
	}
}
