package convert

import (
	"bufio"
	"bytes"
	"regexp"
	"slices"
	"strings"

	"github.com/armature-io/armature/manifest"
	"github.com/armature-io/armature/resource"
	"github.com/armature-io/armature/types"
)

// idText matches a resource ID in a text. In JSON a string that is an ID as a whole counts
// first, because names may contain blanks and brackets.
// Source: https://learn.microsoft.com/azure/azure-resource-manager/management/resource-name-rules
var idText = regexp.MustCompile(`(?i)(?:/subscriptions/[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}|/providers/microsoft\.management/managementgroups/` + segment + `)` +
	`(?:/resourcegroups/` + segment + `)?(?:/providers/` + segment + `(?:/` + segment + `/` + segment + `)+)*`)

// segment is a part of an ID in a text. A dot at its end belongs to the text.
const segment = "[^/\\s\"'`<>|,;:\\\\(){}\\[\\]?#%&=*]*[^/\\s\"'`<>|,;:\\\\(){}\\[\\]?#%&=*.]"

// Found are the resource IDs of texts.
type Found struct {
	IDs []resource.ID
	// Notes are the IDs that are left out, and why.
	Notes manifest.Issues
	// Release are the lines that make the old tool let go of the resources.
	Release []string
}

// FindIDs returns the resource IDs of files of any kind, sorted, each once. Of a state of
// Terraform, an export of Pulumi and a list of the Azure CLI it returns the resources that
// they list, of any other text every ID. Its error is of type manifest.Issues.
func FindIDs(options Options, paths ...string) (Found, error) {
	c := &conversion{options: options, byKey: map[string]*Resource{}}
	f := &finder{conversion: c, ids: map[string]resource.ID{}}
	c.eachFile(paths, nil, f.read)
	if len(c.faults) == 0 && len(f.ids) == 0 {
		c.file = ""
		c.fault(0, "no resource ID was found in %s; an ID begins with /subscriptions/", strings.Join(paths, ", "))
	}
	if len(c.faults) > 0 {
		return Found{}, sorted(c.faults)
	}
	found := Found{Notes: sorted(c.notes), Release: c.release}
	for _, id := range f.ids {
		found.IDs = append(found.IDs, id)
	}
	slices.SortFunc(found.IDs, func(a, b resource.ID) int { return strings.Compare(a.Key(), b.Key()) })
	return found, nil
}

// finder collects IDs.
type finder struct {
	*conversion
	ids     map[string]resource.ID
	skipped map[string]bool
}

func (f *finder) read(data []byte) {
	f.skipped = map[string]bool{}
	if isJSON(data) {
		if root, err := readJSON(data); err == nil {
			if f.listed(root) {
				return
			}
			root.walk(nil, func(_ resource.Path, v *value) *value {
				for _, member := range v.fields {
					f.inText(member.line, member.name)
				}
				if v.kind == text && !f.add(v.line, v.text) {
					f.inText(v.line, v.text)
				}
				return v
			})
			return
		}
	}
	lines := bufio.NewScanner(bytes.NewReader(data))
	lines.Buffer(nil, maxFileBytes+1)
	for line := 1; lines.Scan(); line++ {
		f.inText(line, lines.Text())
	}
}

func (f *finder) inText(line int, text string) {
	for _, id := range idText.FindAllString(text, -1) {
		f.add(line, id)
	}
}

// add adds an ID if it is that of a resource that a manifest can have. It reports whether
// the text is an ID.
func (f *finder) add(line int, text string) bool {
	if !strings.HasPrefix(text, "/") {
		return false
	}
	id, err := resource.ParseID(text)
	if err != nil || id.Subscription() != "" && !guid.MatchString(id.Subscription()) {
		return false
	}
	if !strings.EqualFold(id.Type(), resource.TypeResourceGroup) && id.IsContainer() {
		return true
	}
	why := ""
	switch shape := types.Lookup(id.Type(), types.Newest(id.Type())); {
	case shape == nil:
		why = "its type is not published; if it is a resource, name it to `armature import`"
	case strings.EqualFold(id.Type(), deployments):
		why = "a deployment is no resource to manage"
	case shape.Writable == 0 && shape.Readable != 0:
		why = "a PUT cannot create its type"
	}
	switch {
	case why == "" && f.ids[id.Key()].IsZero():
		f.ids[id.Key()] = spelled(id, id.Type())
	case why == "":
	case !f.skipped[id.Key()]:
		f.skipped[id.Key()] = true
		f.note(line, "%s is left out: %s", id, why)
	}
	return true
}

// listed adds the resources of a document whose structure is known. It reports whether it
// is: the IDs that such a document only mentions are not its resources.
func (f *finder) listed(root *value) bool {
	if resources := root.get("resources"); resources != nil && root.get("terraform_version") != nil {
		f.stateIDs(resources)
		return true
	}
	if module := root.get("values", "root_module"); module != nil {
		f.shownIDs(module)
		return true
	}
	if resources := root.get("deployment", "resources"); resources != nil {
		f.pulumiIDs(resources)
		return true
	}
	items := root
	for _, name := range []string{"value", "data", "resources"} {
		if members := root.get(name); members != nil && members.kind == list {
			items = members
		}
	}
	if items.kind != list || len(items.items) == 0 || !slices.ContainsFunc(items.items, func(item *value) bool { return item.textOf("id") != "" }) {
		return false
	}
	for _, item := range items.items {
		if id := item.get("id"); id != nil && !f.add(id.line, id.text) {
			f.note(id.line, "%q is left out: it is no resource ID", id.text)
		}
	}
	if root.get("actionOnUnmanage") != nil {
		f.release = append(f.release, "Deployment stack: az stack group delete --name STACK --resource-group GROUP --action-on-unmanage detachAll")
	}
	return true
}

// stateIDs adds the managed resources of a state of Terraform.
func (f *finder) stateIDs(resources *value) {
	for _, r := range resources.items {
		instances := r.get("instances")
		if r.textOf("mode") != "managed" || instances == nil {
			continue
		}
		for _, instance := range instances.items {
			address := strings.TrimPrefix(r.textOf("module")+"."+r.textOf("type")+"."+r.textOf("name"), ".") + index(instance.get("index_key"))
			f.stateID(instance.line, address, instance.textOf("attributes", "id"))
		}
	}
}

func (f *finder) stateID(line int, address, id string) {
	if !f.add(line, id) {
		f.note(line, "%s is left out: its ID is not one of ARM", address)
		return
	}
	f.release = append(f.release, "terraform state rm "+shellQuote(address))
}

// shownIDs adds the managed resources of a module as `terraform show -json` writes it.
func (f *finder) shownIDs(module *value) {
	if resources := module.get("resources"); resources != nil {
		for _, r := range resources.items {
			if r.textOf("mode") == "managed" {
				f.stateID(r.line, r.textOf("address"), r.textOf("values", "id"))
			}
		}
	}
	if children := module.get("child_modules"); children != nil {
		for _, child := range children.items {
			f.shownIDs(child)
		}
	}
}

// pulumiIDs adds the resources of `pulumi stack export`.
func (f *finder) pulumiIDs(resources *value) {
	for _, r := range resources.items {
		if custom := r.get("custom"); custom == nil || custom.text != "true" || r.textOf("id") == "" || strings.HasPrefix(r.textOf("type"), "pulumi:") {
			continue
		}
		if !f.add(r.line, r.textOf("id")) {
			f.note(r.line, "%s is left out: its ID is not one of ARM", r.textOf("urn"))
			continue
		}
		f.release = append(f.release, "pulumi state delete "+shellQuote(r.textOf("urn")))
	}
}
