package secrets

import (
	"strings"
	"testing"
)

// BenchmarkScrub measures the search in the message of an error, with one password and one
// connection string.
func BenchmarkScrub(b *testing.B) {
	values := []string{"TeamB-Pa55word-9x/a", "DefaultEndpointsProtocol=https;AccountName=things;AccountKey=" + strings.Repeat("kJ3+x/Q9vT7m", 7) + "=="}
	for name, text := range map[string]string{
		"plain":   strings.Repeat("The resource operation completed with terminal provisioning state Failed. ", 13),
		"escaped": strings.Repeat(`{\"message\":\"The resource \\\"a%2Fb\\\" is not found &amp; cannot be created\"} `, 13),
	} {
		b.Run(name, func(b *testing.B) {
			b.SetBytes(int64(len(text)))
			for b.Loop() {
				Scrub(text, values)
			}
		})
	}
}
