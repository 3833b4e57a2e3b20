package convert

import (
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/armature-io/armature/manifest"
	"github.com/armature-io/armature/resource"
)

// Format is the format of the files of a conversion.
type Format string

// The formats.
const (
	BicepSnapshot  Format = "bicep-snapshot"
	AzAPI          Format = "azapi"
	TerraformState Format = "terraform-state"
	ASO            Format = "aso"
	IDs            Format = "ids"
)

// Formats returns the names of the formats.
func Formats() []string {
	return []string{string(ASO), string(AzAPI), string(BicepSnapshot), string(IDs), string(TerraformState)}
}

// Options of a conversion.
type Options struct {
	From  Format
	Stdin io.Reader
	// Subscription locates what a file names without its subscription; "" if all IDs are
	// complete.
	Subscription string
	// Adopt, Policy and Credential are written into every manifest; "" writes none. A
	// policy of the source has precedence.
	Adopt, Policy, Credential string
}

// Result is what a conversion writes and prints.
type Result struct {
	// Files are the manifests: one file for each resource group.
	Files []File
	// Count is the number of manifests.
	Count int
	// Notes are what was left out and why, and warnings of the published types, by place.
	Notes manifest.Issues
	// Secrets are the placeholders of secrets that the workers need.
	Secrets []Secret
	// Release are the lines that make the old tool let go of the resources.
	Release []string
}

// Secret is a placeholder: the environment variable that it names, and the property.
type Secret struct{ Variable, Resource, Path string }

// Resource is one resource of a source on its way to a manifest.
type Resource struct {
	file string
	line int
	// label is the name of the resource in the source, for example a Terraform address.
	label   string
	id      resource.ID
	version string
	body    *value
	// ownerVersion is the version to read the owner with, "" where a loader knows it.
	ownerVersion string
	// comments are the lines above the manifest, safe to print; nil for its place in the
	// source.
	comments []string
	// needs are resources that the source names as dependencies.
	needs      []resource.ID
	ignore     []string
	policy     string
	put        string
	validation string
	// query are the parameters of the DELETE.
	query *value
}

// conversion is the state of one conversion.
type conversion struct {
	options   Options
	resources []*Resource
	byKey     map[string]*Resource
	faults    manifest.Issues
	notes     manifest.Issues
	secrets   []Secret
	variables map[string]bool
	release   []string
	// names counts the resources of each name. lastNamesOnly uses no longer forms of names,
	// so that a name stays the same when others are added.
	names         map[string]int
	lastNamesOnly bool
	// file is the file that is being read.
	file string
}

// Convert reads the files, or folders, of a format and returns their manifests. Its error
// is of type manifest.Issues and lists all faults of all files.
func Convert(options Options, paths ...string) (Result, error) {
	c := newConversion(options)
	c.read(paths)
	if len(c.resources) == 0 && len(c.faults) == 0 {
		c.file = ""
		c.fault(0, "no resource was found in %s; name a file of the format that --from states", strings.Join(paths, ", "))
	}
	if len(c.faults) == 0 {
		c.dropInline()
		for _, r := range c.resources {
			c.checkMarkers(r)
			c.placeSecrets(r)
		}
		c.linkAll()
	}
	files := c.render()
	if len(c.faults) > 0 {
		return Result{}, sorted(c.faults)
	}
	return Result{Files: files, Count: len(c.resources), Notes: sorted(c.notes), Secrets: c.secrets, Release: c.release}, nil
}

func (c *conversion) read(paths []string) {
	switch c.options.From {
	case BicepSnapshot:
		c.eachFile(paths, nil, c.readSnapshot)
	case TerraformState:
		c.eachFile(paths, nil, c.readState)
	case ASO:
		c.readASO(paths)
	case AzAPI:
		for _, path := range paths {
			c.readAzAPI(path)
		}
	default:
		c.fault(0, "the format %q is not known; allowed are %s", c.options.From, strings.Join(Formats(), ", "))
	}
}

// add adds a resource unless its ID is there already.
func (c *conversion) add(r *Resource) {
	r.file = c.file
	if first := c.byKey[r.id.Key()]; first != nil {
		c.fault(r.line, "%s is there twice, first at %s; remove one, or convert the files one by one", r.id, manifest.Source{File: first.file, Line: first.line})
		return
	}
	c.byKey[r.id.Key()] = r
	c.resources = append(c.resources, r)
}

// fault records what the conversion cannot express. A fault refuses the whole conversion.
func (c *conversion) fault(line int, format string, args ...any) {
	c.faults = append(c.faults, manifest.Issue{
		File: c.file, Line: line, Message: fmt.Sprintf(format, args...), Severity: manifest.SeverityFault, Rule: manifest.InvalidManifest,
	})
}

// note records what was left out on purpose.
func (c *conversion) note(line int, format string, args ...any) {
	c.notes = append(c.notes, manifest.Issue{File: c.file, Line: line, Message: fmt.Sprintf(format, args...), Severity: manifest.SeverityWarning})
}

// failed records an error of a reader.
func (c *conversion) failed(err error) {
	line := 0
	if at, ok := errors.AsType[*lineError](err); ok {
		line = at.line
	}
	c.fault(line, "%v", err)
}

// parseID returns a resource ID of the source.
func (c *conversion) parseID(line int, text string) (resource.ID, bool) {
	id, err := resource.ParseID(text)
	if err != nil {
		c.fault(line, "%v", err)
	}
	return id, err == nil
}

// child returns the ID of a resource of a type below an owner.
func child(owner, typ, name string) string {
	namespace, rest, _ := strings.Cut(typ, "/")
	segments := strings.Split(rest, "/")
	switch {
	case strings.EqualFold(typ, resource.TypeResourceGroup):
		return owner + "/resourceGroups/" + name
	case len(segments) > 1 && strings.HasSuffix(strings.ToLower(typeOf(owner)), strings.ToLower("/"+segments[len(segments)-2])):
		return owner + "/" + segments[len(segments)-1] + "/" + name
	case len(segments) > 1:
		// The name has a part for each level.
		id := strings.TrimSuffix(owner, "/") + "/providers/" + namespace
		names := strings.Split(name, "/")
		for i, segment := range segments {
			if i >= len(names) {
				return ""
			}
			id += "/" + segment + "/" + names[i]
		}
		return id
	}
	return strings.TrimSuffix(owner, "/") + "/providers/" + typ + "/" + name
}

func typeOf(id string) string {
	parsed, err := resource.ParseID(id)
	if err != nil {
		return ""
	}
	return parsed.Type()
}

// IsGUID reports whether a text has the form of a subscription's ID.
func IsGUID(text string) bool { return guid.MatchString(text) }

// sorted returns issues by file, line and text.
func sorted(issues manifest.Issues) manifest.Issues {
	slices.SortStableFunc(issues, func(a, b manifest.Issue) int {
		if order := strings.Compare(a.File, b.File); order != 0 {
			return order
		}
		if a.Line != b.Line {
			return a.Line - b.Line
		}
		return strings.Compare(a.Path+a.Message, b.Path+b.Message)
	})
	return slices.CompactFunc(issues, func(a, b manifest.Issue) bool {
		return a == b
	})
}
