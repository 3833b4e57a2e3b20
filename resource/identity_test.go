package resource

import "testing"

func TestIdentityDiffers(t *testing.T) {
	t.Parallel()
	const guid, location, etag = "properties.resourceGuid", "location", ETagMember
	cases := map[string]struct {
		reason        string
		before, after Identity
		want          string
	}{
		"equal":          {reason: "nothing differs", before: Identity{guid: "a", location: "westus2"}, after: Identity{guid: "A", location: "westus2"}},
		"another GUID":   {reason: "Azure sets a GUID once", before: Identity{guid: "a"}, after: Identity{guid: "b"}, want: guid},
		"elsewhere":      {reason: "no resource changes its location", before: Identity{location: "westus2"}, after: Identity{location: "eastus"}, want: location},
		"another ETag":   {reason: "each write changes it", before: Identity{guid: "a", etag: "1"}, after: Identity{guid: "a", etag: "2"}},
		"ETag alone":     {reason: "a different one proves nothing", before: Identity{etag: "1"}, after: Identity{etag: "2"}},
		"equal ETag":     {reason: "it proves sameness", before: Identity{guid: "a", etag: "1"}, after: Identity{guid: "b", etag: "1"}},
		"hidden now":     {reason: "a service may hide members during a deletion", before: Identity{guid: "a"}, after: Identity{location: "westus2"}},
		"shown later":    {reason: "a service shows an identity once it has one", before: Identity{location: "westus2"}, after: Identity{guid: "a", location: "westus2"}},
		"nothing before": {reason: "the deletion has not read it yet", after: Identity{guid: "a"}},
	}
	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			if got := c.before.Differs(c.after); got != c.want {
				t.Errorf("%q differs, want %q: %s", got, c.want, c.reason)
			}
		})
	}
}
