package config

import "github.com/armature-io/armature/internal/keyref"

// Encryption configures the encryption of payloads.
type Encryption struct {
	// Keys are references to the keys for reading, each ID=KIND:PLACE.
	Keys []string
	// WriteKey is the ID of the key for writing; "" writes clear payloads.
	WriteKey string `mapstructure:"write-key"`
	// Require is the time from which on runs have no clear payloads, in RFC 3339; "" for never.
	Require string
}

// check adds the problems of form, and returns the references.
func (e Encryption) check(p *problems) []keyref.Ref {
	refs, err := keyref.Parse(e.Keys)
	if err != nil {
		p.add("encryption.keys", "%w", err)
		return nil
	}
	if err := keyref.CheckWriteKey(refs, e.WriteKey); err != nil {
		p.add("encryption.write-key", "%w", err)
	}
	if _, err := keyref.ParseRequire(e.Require, e.WriteKey); err != nil {
		p.add("encryption.require", "%w", err)
	}
	return refs
}

// files returns the files of keys, by what names them.
func (e Encryption) files() map[string]string {
	files := map[string]string{}
	refs, _ := keyref.Parse(e.Keys) // check reports the error
	for _, ref := range refs {
		if ref.Kind == keyref.File || ref.Kind == keyref.Wrapped {
			files["encryption.keys "+ref.ID] = ref.At
		}
	}
	return files
}
