package arm

import (
	"net/url"
	"strings"

	"github.com/armature-io/armature/resource"
)

// isOtherResource reports whether a body has the ID of another resource than the one that
// was asked for, and returns that ID: a proxy or a cache mixed up two responses. Case does
// not count, nor do escapes, spaces and the revision of an API (";rev=2"). Some services
// return another form of the ID: without the leading slash, below another parent, or in
// another type. As long as subscription, resource group and name agree, those are accepted,
// and so is a body without an ID or with one that is not ARM's.
//
// Of the 754 recorded reads of the test corpus, 599 have exactly the ID asked for and 155
// the same in another case.
func isOtherResource(asked resource.ID, body []byte) (string, bool) {
	text, _ := decodeView[struct {
		ID any `json:"id"`
	}](body).ID.(string)
	want, got := idParts(asked.String()), idParts(text)
	if got == nil {
		return "", false
	}
	different := differ(want["subscriptions"], got["subscriptions"]) || differ(want["resourcegroups"], got["resourcegroups"])
	if want["type"] == got["type"] {
		different = different || want["names"] != got["names"]
	} else {
		different = different || want["name"] != got["name"]
	}
	return text, different
}

// differ reports whether two parts that both IDs have are different.
func differ(a, b string) bool { return a != "" && b != "" && a != b }

// idParts returns what identifies a resource, in a form that compares; nil for a text that
// is no ID.
func idParts(text string) map[string]string {
	segments := strings.Split(strings.Trim(strings.TrimSpace(text), "/"), "/")
	for i, segment := range segments {
		if plain, err := url.PathUnescape(segment); err == nil {
			segment = plain
		}
		segment, _, _ = strings.Cut(segment, ";")
		segments[i] = strings.ToLower(strings.ReplaceAll(segment, " ", ""))
	}
	if len(segments) < 2 || segments[0] != "subscriptions" && segments[0] != "providers" {
		return nil
	}
	parts := map[string]string{"name": segments[len(segments)-1]}
	for i := 0; i+1 < min(len(segments), 4); i += 2 {
		parts[segments[i]] = segments[i+1]
	}
	var types, names []string
	begin := 0
	for i, segment := range segments {
		if segment == "providers" {
			begin = i + 1
		}
	}
	for i := begin; i < len(segments); i++ {
		if (i-begin)%2 == 0 && i > begin || begin == 0 && i%2 == 1 {
			names = append(names, segments[i])
		} else {
			types = append(types, segments[i])
		}
	}
	parts["type"], parts["names"] = strings.Join(types, "/"), strings.Join(names, "/")
	return parts
}
