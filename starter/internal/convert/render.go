package convert

import (
	"bytes"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"

	"github.com/armature-io/armature/manifest"
	"github.com/armature-io/armature/resource"
	"github.com/armature-io/armature/starter/internal/cli"
	"go.yaml.in/yaml/v3"
)

// File is a file of manifests: those of one resource group.
type File struct {
	Name, Text string
	Count      int
}

// separator is the line between two documents.
const separator = "---\n"

// bodyOrder sorts the members that people read first to the top of a body.
var bodyOrder = []string{"location", "kind", "sku", "identity"}

// render returns the files, and reads them back: what a plan would refuse is a fault or a
// note with its place in the source.
func (c *conversion) render() []File {
	if len(c.faults) > 0 {
		return nil
	}
	c.countNames()
	texts := map[string][]string{}
	lines := 0
	var starts []int
	var all strings.Builder
	for _, r := range c.resources {
		text, err := c.document(r)
		if err != nil {
			c.faultOf(r, r.line, "%v", err)
			continue
		}
		texts[fileOf(r.id)] = append(texts[fileOf(r.id)], text)
		starts = append(starts, lines+1)
		all.WriteString(text + separator)
		lines += strings.Count(text, "\n") + 1
	}
	if len(c.faults) > 0 {
		return nil
	}
	c.check(all.String(), starts)
	var files []File
	for _, name := range slices.Sorted(maps.Keys(texts)) {
		files = append(files, File{Name: name + ".yaml", Text: strings.Join(texts[name], separator), Count: len(texts[name])})
	}
	return files
}

// check loads what was written as a plan does.
func (c *conversion) check(text string, starts []int) {
	for _, issue := range manifest.Validate(manifest.Options{Facts: cli.TypeFacts, Stdin: strings.NewReader(text)}, "-").Issues {
		i, found := slices.BinarySearch(starts, issue.Line)
		if !found {
			i--
		}
		if i < 0 {
			c.file = ""
			c.fault(0, "%s", issue.Text())
			continue
		}
		r := c.resources[i]
		issue.File, issue.Column, issue.Line = r.file, 0, r.line
		if rest, inBody := strings.CutPrefix(issue.Path, "body."); inBody {
			if path, err := resource.ParsePath(rest); err == nil {
				issue.Line = max(r.line, r.body.at(path).line)
			}
		}
		if issue.Rule == manifest.InvalidManifest {
			c.faults = append(c.faults, issue)
			continue
		}
		if issue.Severity == manifest.SeverityFault {
			issue.Message += " (a plan refuses it: mend the source or the manifest, or write reconcile: {validation: warn})"
		}
		issue.Severity = manifest.SeverityWarning
		c.notes = append(c.notes, issue)
	}
}

// document returns the manifest of a resource as YAML, with a comment about its source.
func (c *conversion) document(r *Resource) (string, error) {
	root := &yaml.Node{Kind: yaml.MappingNode}
	add := func(name string, node *yaml.Node) { root.Content = append(root.Content, textNode(name), node) }
	add("type", textNode(r.id.Type()+"@"+r.version))
	add("name", textNode(r.id.Name()))
	add("owner", textNode(c.ownerOf(r)))
	sortBody(r.body)
	add("body", r.body.node(func(v *value) string { return c.nameOf(r, v.id, v.version) }))
	if reconcile := c.reconcileOf(r); len(reconcile.Content) > 0 {
		add("reconcile", reconcile)
	}
	text, err := Encode(root, r.comment())
	if err != nil {
		return "", fmt.Errorf("write the manifest of %s: %w", r.id, err)
	}
	return string(text), nil
}

// comment returns the lines above the manifest of a resource.
func (r *Resource) comment() string {
	lines := r.comments
	if lines == nil {
		from := fmt.Sprintf("%s:%d", r.file, r.line)
		if r.label != "" {
			from += " " + r.label
		}
		// Quoted: names are data, and a line break would end the comment.
		lines = []string{"From " + strings.Trim(strconv.QuoteToASCII(from), `"`)}
	}
	var text strings.Builder
	for _, line := range lines {
		text.WriteString("# " + line + "\n")
	}
	return text.String()
}

// ownerOf returns the owner of a resource as a manifest names it.
func (c *conversion) ownerOf(r *Resource) string {
	owner := r.id.Owner()
	switch {
	case owner.IsZero() && r.id.Subscription() != "":
		return "/subscriptions/" + r.id.Subscription()
	case owner.IsZero():
		return "/"
	}
	return c.nameOf(r, owner, r.ownerVersion)
}

// reconcileOf returns how a resource is reconciled.
func (c *conversion) reconcileOf(r *Resource) *yaml.Node {
	node := &yaml.Node{Kind: yaml.MappingNode}
	add := func(name string, value *yaml.Node) { node.Content = append(node.Content, textNode(name), value) }
	texts := func(name, text string) {
		if text != "" {
			add(name, textNode(text))
		}
	}
	policy := r.policy
	if policy == "" {
		policy = c.options.Policy
	}
	texts("policy", policy)
	if r.put != "patch" {
		texts("adopt", c.options.Adopt)
	}
	texts("put", r.put)
	texts("validation", r.validation)
	texts("credential", c.options.Credential)
	lists := func(name string, items []string) {
		if len(items) == 0 {
			return
		}
		list := &yaml.Node{Kind: yaml.SequenceNode}
		for _, item := range items {
			list.Content = append(list.Content, textNode(item))
		}
		add(name, list)
	}
	lists("ignore", r.ignore)
	var needs []string
	for _, id := range r.needs {
		needs = append(needs, c.nameOf(r, id, ""))
	}
	lists("dependsOn", needs)
	if r.query != nil {
		add("delete", &yaml.Node{Kind: yaml.MappingNode, Content: []*yaml.Node{textNode("query"), r.query.node(nil)}})
	}
	return node
}

// sortBody sorts the members of a body: those of bodyOrder, others by name, then tags and
// properties. Members below keep the order of the source.
func sortBody(body *value) {
	rank := func(name string) int {
		if i := slices.Index(bodyOrder, name); i >= 0 {
			return i - len(bodyOrder)
		}
		return slices.Index([]string{"tags", "properties"}, name) + 1
	}
	slices.SortStableFunc(body.fields, func(a, b field) int {
		if order := rank(a.name) - rank(b.name); order != 0 {
			return order
		}
		return strings.Compare(a.name, b.name)
	})
}

// fileOf returns the name of the file for a resource, without its extension: that of its
// resource group, else "subscription" or "tenant". Groups of the same name in several
// subscriptions share a file.
func fileOf(id resource.ID) string {
	switch {
	case id.ResourceGroup() != "":
		return SafeName(id.ResourceGroup(), "group")
	case id.Subscription() != "":
		return "subscription"
	}
	return "tenant"
}

// Stream returns all files as one.
func (r Result) Stream() string {
	var b bytes.Buffer
	for i, file := range r.Files {
		if i > 0 {
			b.WriteString(separator)
		}
		b.WriteString(file.Text)
	}
	return b.String()
}
