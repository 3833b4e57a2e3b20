// Package importer renders what was read from Azure as manifests.
package importer

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"slices"
	"strconv"
	"strings"

	"github.com/armature-io/armature/activities"
	"github.com/armature-io/armature/manifest"
	"github.com/armature-io/armature/resource"
	"github.com/armature-io/armature/starter/internal/cli"
	"github.com/armature-io/armature/starter/internal/console"
	"go.yaml.in/yaml/v3"
)

// bodyOrder sorts the members that people read first to the top of a body; members
// with the same number are sorted by name.
var bodyOrder = map[string]int{"location": -4, "kind": -3, "sku": -2, "identity": -1, "tags": 1, "properties": 2}

// Reconcile is what is written into the section reconcile of every manifest; "" writes
// nothing. Credential is also the one that the user named for the read.
type Reconcile struct{ Credential, Adopt, Policy string }

// fields returns the fields that are stated.
func (r Reconcile) fields() map[string]any {
	fields := map[string]any{}
	for name, text := range map[string]string{"credential": r.Credential, "adopt": r.Adopt, "policy": r.Policy} {
		if text != "" {
			fields[name] = text
		}
	}
	return fields
}

// Manifest returns the manifest of an imported resource; equal results give equal
// manifests.
func Manifest(result activities.ImportResourceResult, how Reconcile) (string, error) {
	body, err := resource.DecodeBody(result.Body)
	if err != nil {
		return "", fmt.Errorf("read the body of %s: %w", result.ID, err)
	}
	markers := dropMarkers(body, "")
	slices.Sort(markers)
	root := &yaml.Node{Kind: yaml.MappingNode}
	add := func(name string, value *yaml.Node) {
		root.Content = append(root.Content, textNode(name), value)
	}
	add("type", textNode(result.ID.Type()+"@"+result.APIVersion))
	add("name", textNode(result.ID.Name()))
	if owner := ownerText(result); owner != "" {
		add("owner", textNode(owner))
	}
	content := valueNode(body, 0)
	if len(body) == 0 {
		content.Style = yaml.FlowStyle
	}
	add("body", content)
	if fields := how.fields(); len(fields) > 0 {
		add("reconcile", valueNode(fields, 0))
	}
	var text bytes.Buffer
	for _, path := range result.Secrets {
		// Quoted: names in Azure are data, and a line break would end the comment.
		fmt.Fprintf(&text, "# Secret omitted: %s; set it with {$secret: env:NAME}.\n", strings.Trim(strconv.QuoteToASCII(path), `"`))
	}
	for _, path := range markers {
		fmt.Fprintf(&text, "# Omitted: %s; a manifest would resolve it as a marker.\n", strings.Trim(strconv.QuoteToASCII(path), `"`))
	}
	written, err := Encode(root, text.String())
	if err == nil {
		err = checkManifest(written, result.ID)
	}
	if err != nil {
		return "", fmt.Errorf("write the manifest of %s: %w; nothing was written", result.ID, err)
	}
	return string(written), nil
}

// Encode returns a manifest as YAML below its comments, which are complete lines. It reads
// back as exactly one document with the values of root: a name or value of others never
// becomes another document or member.
func Encode(root *yaml.Node, comments string) ([]byte, error) {
	text := bytes.NewBufferString(comments)
	encoder := yaml.NewEncoder(text)
	encoder.SetIndent(2)
	cli.QuoteNodes(root)
	if err := encoder.Encode(root); err != nil {
		return nil, fmt.Errorf("encode it: %w", err)
	}
	written := console.YAML(text.Bytes())
	decoder := yaml.NewDecoder(bytes.NewReader(written))
	var document, more yaml.Node
	if err := decoder.Decode(&document); err != nil {
		return nil, fmt.Errorf("it does not read back: %w", err)
	}
	if err := decoder.Decode(&more); !errors.Is(err, io.EOF) {
		return nil, errors.New("it reads back as more than one document")
	}
	if len(document.Content) != 1 || !equalNodes(document.Content[0], root) {
		return nil, errors.New("it reads back with other values")
	}
	return written, nil
}

// Manifests returns the manifests of results, without the items of bodies that are results
// themselves. It returns the results that can be written with their manifests, and an error
// for each other one.
func Manifests(results []activities.ImportResourceResult, how Reconcile) (written []activities.ImportResourceResult, texts []string, refused []error) {
	for _, result := range withoutInline(results) {
		text, err := Manifest(result, how)
		if err != nil {
			refused = append(refused, err)
			continue
		}
		written, texts = append(written, result), append(texts, text)
	}
	return written, texts, refused
}

// dropMarkers removes the members of a body that are, or list, objects that a manifest
// would read as markers, and returns their paths: a value in Azure must not make a worker
// resolve one of its secrets.
func dropMarkers(value any, path string) (dropped []string) {
	switch value := value.(type) {
	case map[string]any:
		for name, member := range value {
			at := strings.TrimPrefix(path+"."+name, ".")
			if hasMarker(member) {
				delete(value, name)
				dropped = append(dropped, at)
				continue
			}
			dropped = append(dropped, dropMarkers(member, at)...)
		}
	case []any:
		for i, item := range value {
			dropped = append(dropped, dropMarkers(item, fmt.Sprintf("%s[%d]", path, i))...)
		}
	}
	return dropped
}

// hasMarker reports whether a value is a marker, or a list with one.
func hasMarker(value any) bool {
	switch value := value.(type) {
	case map[string]any:
		for _, marker := range resource.Markers() {
			if _, found := value[marker]; found {
				return true
			}
		}
	case []any:
		return slices.ContainsFunc(value, hasMarker)
	}
	return false
}

// checkManifest checks that what was written loads as the manifest of the ID.
func checkManifest(written []byte, id resource.ID) error {
	set, err := manifest.Load(manifest.Options{Stdin: bytes.NewReader(written)}, "-")
	if err != nil {
		return fmt.Errorf("it does not load: %w", err)
	}
	if len(set.Resources) != 1 || !set.Resources[0].ID.Equal(id) {
		return errors.New("it loads as another resource")
	}
	return nil
}

// equalNodes reports whether two nodes have the same values in the same order.
func equalNodes(a, b *yaml.Node) bool {
	return a.Kind == b.Kind && a.Value == b.Value && a.ShortTag() == b.ShortTag() && slices.EqualFunc(a.Content, b.Content, equalNodes)
}

// ownerText returns the owner as a manifest names it: "/" for the tenant, and with an
// api-version if a loader cannot know it.
func ownerText(result activities.ImportResourceResult) string {
	owner := result.ID.Owner()
	switch {
	case owner.IsZero() && strings.HasPrefix(result.ID.Key(), "/providers/"):
		return "/"
	case owner.IsZero() && result.ID.Subscription() != "":
		return "/subscriptions/" + result.ID.Subscription()
	case result.OwnerAPIVersion != "":
		return owner.String() + "@" + result.OwnerAPIVersion
	}
	return owner.String()
}

func textNode(text string) *yaml.Node {
	node := &yaml.Node{}
	node.SetString(text)
	return node
}

// valueNode returns a JSON value as YAML; numbers keep every digit.
func valueNode(value any, depth int) *yaml.Node {
	switch value := value.(type) {
	case map[string]any:
		node := &yaml.Node{Kind: yaml.MappingNode}
		for _, name := range memberOrder(value, depth) {
			node.Content = append(node.Content, textNode(name), valueNode(value[name], depth+1))
		}
		return node
	case []any:
		node := &yaml.Node{Kind: yaml.SequenceNode}
		for _, item := range value {
			node.Content = append(node.Content, valueNode(item, depth+1))
		}
		return node
	case json.Number:
		tag := "!!int"
		if strings.ContainsAny(value.String(), ".eE") {
			tag = "!!float"
		}
		return &yaml.Node{Kind: yaml.ScalarNode, Tag: tag, Value: value.String()}
	case bool:
		return &yaml.Node{Kind: yaml.ScalarNode, Tag: "!!bool", Value: fmt.Sprint(value)}
	case string:
		return textNode(value)
	}
	return &yaml.Node{Kind: yaml.ScalarNode, Tag: "!!null", Value: "null"}
}

// memberOrder returns the names of the members, sorted; depth 0 uses bodyOrder.
func memberOrder(object map[string]any, depth int) []string {
	names := make([]string, 0, len(object))
	for name := range object {
		names = append(names, name)
	}
	slices.SortFunc(names, func(a, b string) int {
		if depth == 0 && bodyOrder[a] != bodyOrder[b] {
			return bodyOrder[a] - bodyOrder[b]
		}
		return strings.Compare(a, b)
	})
	return names
}
