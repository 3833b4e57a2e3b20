package types

import "testing"

// BenchmarkDecode decodes the directory and the frame of one provider, as the first
// lookup does, and the types of all providers.
func BenchmarkDecode(b *testing.B) {
	for _, name := range []string{"Microsoft.Network", "Microsoft.Storage", ""} {
		b.Run("provider="+name, func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				x, err := readIndex(published)
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
