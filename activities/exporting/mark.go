package exporting

import (
	"crypto/sha256"
	"encoding/hex"
	"maps"
	"unicode/utf8"

	"github.com/armature-io/armature/internal/jsontree"
	"github.com/armature-io/armature/resource"
)

// hash returns the keyed hash of a value, "" where the key is no secret.
func (e *Exporter) hash(export resource.Export, value string) string {
	if e.settings.Hash == nil {
		return ""
	}
	return e.settings.Hash([]byte("export\x00" + export.To + "\x00" + value))
}

// tagsOf returns the tags of the secret of an export.
func tagsOf(export resource.Export, mark string) map[string]string {
	tags := map[string]string{}
	maps.Copy(tags, export.Tags)
	tags[resource.ExportTag] = mark
	return tags
}

// sameTags reports whether a secret has the tags of an export. Others are kept until the next
// version.
func sameTags(stored, stated map[string]string) bool {
	for name, value := range stated {
		if stored[name] != value {
			return false
		}
	}
	return true
}

// markOf returns the value of ExportTag: the ID of the resource, or a hash of one that is
// too long for a tag.
func markOf(id resource.ID) string {
	if text := id.String(); utf8.RuneCountInString(text) <= resource.MaxSecretTagRunes {
		return text
	}
	sum := sha256.Sum256([]byte(id.Key()))
	return "sha256:" + hex.EncodeToString(sum[:])
}

// minLongText is the length in bytes from which a text in the answer of an action may be a
// key. Shorter ones are names.
const minLongText = 16

// longTexts returns the texts of an answer that may be keys.
func longTexts(answer any) []string {
	var found []string
	for value := range jsontree.All(answer) {
		if text, _ := value.(string); len(text) >= minLongText {
			found = append(found, text)
		}
	}
	return found
}
