package author

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"path"
	"slices"
	"strings"

	"github.com/armature-io/armature/manifest"
)

// Paths of the files for editors, below the folder of manifests.
const (
	File      = ".armature/schema.json"
	RulesFile = ".armature/rules.schema.json"
	Settings  = ".vscode/settings.json"
)

// Mapping is a schema with the patterns of the files that it is for.
type Mapping struct {
	Schema string
	Globs  []string
}

// settingsKey is the setting of the YAML extension of Visual Studio Code that maps
// schemas to files.
const settingsKey = "yaml.schemas"

// ErrComments means that settings are not plain JSON: rewriting them would lose their
// comments.
var ErrComments = errors.New("the file has comments or is not JSON")

// Globs returns the patterns of the YAML files with manifests, relative to the folder:
// all files of a folder below it that has manifests only, else each file. The file names
// of the documents are relative to the folder, with slashes. The server reads *.yaml as
// **/*.yaml, which would include files that init does not read, such as .github.
func Globs(documents []manifest.Document) []string {
	isManifest := map[string]bool{}
	mixed := map[string]bool{}
	for _, d := range documents {
		if !IsYAML(d.File) {
			continue
		}
		isManifest[d.File] = isManifest[d.File] || d.Type != ""
	}
	for file, ok := range isManifest {
		if !ok {
			mixed[path.Dir(file)] = true
		}
	}
	globs := map[string]bool{}
	for file, ok := range isManifest {
		switch {
		case !ok:
		case mixed[path.Dir(file)], path.Dir(file) == ".":
			globs[file] = true
		default:
			globs[path.Join(path.Dir(file), "*"+path.Ext(file))] = true
		}
	}
	return keys(globs)
}

// IsYAML reports whether a file is one that an editor's YAML server reads.
func IsYAML(file string) bool {
	return slices.Contains([]string{".yaml", ".yml"}, strings.ToLower(path.Ext(file)))
}

// member is one setting; its value keeps its text.
type member struct {
	name  string
	value json.RawMessage
}

// MergeSettings returns settings in which schemas are mapped to their globs. Other
// settings stay as they are, in their order; nil is an absent file. It returns
// ErrComments for settings that are not plain JSON.
func MergeSettings(settings []byte, mappings []Mapping) ([]byte, error) {
	members, err := decodeMembers(settings)
	if err != nil {
		return nil, err
	}
	at := slices.IndexFunc(members, func(m member) bool { return m.name == settingsKey })
	if at < 0 {
		at = len(members)
		members = append(members, member{name: settingsKey, value: json.RawMessage("{}")})
	}
	schemas, err := decodeMembers(members[at].value)
	if err != nil {
		return nil, fmt.Errorf("read %s: %w", settingsKey, err)
	}
	for _, mapping := range mappings {
		value, err := json.Marshal(mapping.Globs)
		if err != nil {
			return nil, fmt.Errorf("write settings: %w", err)
		}
		if i := slices.IndexFunc(schemas, func(m member) bool { return m.name == mapping.Schema }); i >= 0 {
			schemas[i].value = value
		} else {
			schemas = append(schemas, member{name: mapping.Schema, value: value})
		}
	}
	members[at].value = encodeMembers(schemas)
	var out bytes.Buffer
	if err := json.Indent(&out, encodeMembers(members), "", indentOf(settings)); err != nil {
		return nil, fmt.Errorf("write settings: %w", err)
	}
	out.WriteByte('\n')
	return out.Bytes(), nil
}

// SettingsSnippet returns what a user adds to settings that MergeSettings refuses.
func SettingsSnippet(mappings []Mapping) string {
	merged, err := MergeSettings(nil, mappings)
	if err != nil {
		return "" // globs are texts, which always encode
	}
	lines := strings.Split(strings.TrimSpace(string(merged)), "\n")
	return strings.Join(lines[1:len(lines)-1], "\n")
}

// decodeMembers returns the members of a JSON object in their order.
func decodeMembers(raw []byte) ([]member, error) {
	if len(bytes.TrimSpace(raw)) == 0 {
		return nil, nil
	}
	if !json.Valid(raw) {
		return nil, ErrComments
	}
	decoder := json.NewDecoder(bytes.NewReader(raw))
	if token, err := decoder.Token(); err != nil || token != json.Delim('{') {
		return nil, errors.New("it is not a JSON object")
	}
	var members []member
	for decoder.More() {
		token, err := decoder.Token()
		if err != nil {
			return nil, fmt.Errorf("read settings: %w", err)
		}
		name, _ := token.(string)
		var value json.RawMessage
		if err := decoder.Decode(&value); err != nil {
			return nil, fmt.Errorf("read settings: %w", err)
		}
		members = append(members, member{name, value})
	}
	return members, nil
}

func encodeMembers(members []member) []byte {
	var out bytes.Buffer
	out.WriteByte('{')
	for i, m := range members {
		if i > 0 {
			out.WriteByte(',')
		}
		fmt.Fprintf(&out, "%s:%s", jsonText(m.name), m.value)
	}
	out.WriteByte('}')
	return out.Bytes()
}

// jsonText returns a text as JSON, without escapes that JSON does not need.
func jsonText(text string) []byte {
	var out bytes.Buffer
	encoder := json.NewEncoder(&out)
	encoder.SetEscapeHTML(false)
	if err := encoder.Encode(text); err != nil {
		return []byte(`""`) // a text always encodes
	}
	return bytes.TrimSpace(out.Bytes())
}

// indentOf returns the indentation of the first indented line, two blanks if there is
// none.
func indentOf(settings []byte) string {
	for _, line := range bytes.Split(settings, []byte("\n")) {
		rest := bytes.TrimLeft(line, " \t")
		if len(rest) > 0 && len(rest) < len(line) {
			return string(line[:len(line)-len(rest)])
		}
	}
	return "  "
}
