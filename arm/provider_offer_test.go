package arm

import (
	"strings"
	"testing"
)

func TestNewestVersion(t *testing.T) {
	const body = `{"resourceTypes":[
		{"resourceType":"clusters","apiVersions":["2024-01-01-preview","2022-02-01","2023-08-15","2021-01-01"]},
		{"resourceType":"clusters/databases","apiVersions":["2024-01-01-preview","2023-01-01-preview"]}]}`
	for kind, want := range map[string]string{
		"Clusters": "2023-08-15", "clusters/databases": "2024-01-01-preview", "clusters/scripts": "",
	} {
		if got := decodeOffers([]byte(body))[strings.ToLower(kind)].Newest(); got != want {
			t.Errorf("%s: got %q, want %q", kind, got, want)
		}
	}
	if got := decodeOffers([]byte(`[]`))["clusters"].Newest(); got != "" {
		t.Errorf("a response of another form returns %q", got)
	}
}
