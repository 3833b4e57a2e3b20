package activities

import (
	"context"
	"maps"
	"regexp"
	"slices"
	"strings"
	"time"
	"unicode"

	"github.com/armature-io/armature/arm"
	"github.com/armature-io/armature/internal/jsontree"
	"github.com/armature-io/armature/resource"
	"github.com/armature-io/armature/types"
)

// maxIdentities bounds the members that are remembered of one resource.
const maxIdentities = 8

// identifier is a GUID as a whole value, with or without hyphens, also behind a short
// prefix (dcr-0123...).
var identifier = regexp.MustCompile(`^(?:[a-z]{1,8}-)?[0-9a-f]{8}-?(?:[0-9a-f]{4}-?){3}[0-9a-f]{12}$`)

// identityNames are members that identify a resource in every type that has them.
var identityNames = map[string]bool{
	"resourceguid": true, "principalid": true, "immutableid": true, "uniqueid": true, "uniqueidentifier": true,
	"internalid": true, "vmid": true, "guid": true, "uuid": true, "uid": true,
}

// identitySources are the places of such members: a resource has its own there, and those
// of others elsewhere.
var identitySources = []string{"identity", "properties"}

// identityOf returns the values by which Azure identifies a resource wherever it is, by
// path. Azure sets them once and keeps them when it moves the resource; a resource with
// the same name has others. Only published read-only members count: what a body states
// proves nothing.
func identityOf(resourceType string, observed map[string]any) resource.Identity {
	readOnly := types.ReadOnlyOf(resourceType)
	if readOnly == nil {
		return nil
	}
	found := resource.Identity{}
	for _, source := range identitySources {
		members, _ := observed[source].(map[string]any)
		for _, member := range slices.Sorted(maps.Keys(members)) {
			text, isText := members[member].(string)
			path := resource.Path{{Name: source}, {Name: member}}
			if isText && isIdentifier(text) && namesItself(resourceType, member) && readOnly.Cover(path) && len(found) < maxIdentities {
				found[source+"."+member] = strings.ToLower(text)
			}
		}
	}
	if len(found) == 0 {
		return nil
	}
	return found
}

// creationNames are members of properties with the time at which a resource was created.
var creationNames = map[string]bool{
	"createdat": true, "createdatutc": true, "createdtime": true, "createddate": true, "createddatetime": true, "createdon": true,
	"createtime": true, "creationtime": true, "creationdate": true, "timecreated": true, "datecreated": true,
}

// incarnationOf returns the values that distinguish a resource from a later one with the same ID:
// its identity, location, times of creation and ETag. Only the list of groups has the time of a
// resource group; errors come from that list.
func incarnationOf(ctx context.Context, client *arm.Client, id resource.ID, observed map[string]any, etag string) (resource.Identity, error) {
	found := resource.Identity{}
	maps.Copy(found, identityOf(id.Type(), observed))
	add := func(member, text string) {
		if text != "" {
			found[member] = text
		}
	}
	add(resource.ETagMember, etag)
	add("location", resource.NormalLocation(jsontree.Text(observed, "location")))
	add("systemData.createdAt", instant(jsontree.Text(jsontree.Object(observed, "systemData"), "createdAt")))
	properties, readOnly := jsontree.Object(observed, "properties"), types.ReadOnlyOf(id.Type())
	for member := range properties {
		if creationNames[strings.ToLower(member)] && readOnly != nil && readOnly.Cover(resource.Path{{Name: "properties"}, {Name: member}}) {
			add("properties."+member, instant(jsontree.Text(properties, member)))
		}
	}
	if !strings.EqualFold(id.Type(), resource.TypeResourceGroup) {
		return found, nil
	}
	created, err := client.GroupCreatedAt(ctx, id)
	add(groupCreated, instant(created))
	return found, unlessRefused(err)
}

// groupCreated is the time of a resource group's creation in the list of groups.
const groupCreated = "createdTime"

// instant returns a timestamp in one spelling, "" for any other text.
func instant(text string) string {
	at, err := time.Parse(time.RFC3339Nano, text)
	if err != nil {
		return ""
	}
	return at.UTC().Format(time.RFC3339Nano)
}

// isIdentifier reports whether a text is a GUID other than the empty one.
func isIdentifier(text string) bool {
	text = strings.ToLower(text)
	return identifier.MatchString(text) && strings.Trim(text[strings.IndexAny(text+"0", "0123456789"):], "0-") != ""
}

// namesItself reports whether a member names the resource that has it: by a general name,
// or by the name of the type (clusterId of a cluster). A tenantId is the same in all
// resources of a tenant.
func namesItself(resourceType, member string) bool {
	if identityNames[strings.ToLower(member)] {
		return true
	}
	subject, isID := cutWord(member, "Id", "ID", "Guid", "GUID", "Uuid", "Uid")
	if !isID || subject == "" {
		return false
	}
	last := resourceType[strings.LastIndex(resourceType, "/")+1:]
	if strings.EqualFold(last, "tenants") || strings.EqualFold(last, "subscriptions") {
		return false
	}
	return strings.EqualFold(subject, singular(last)) || strings.EqualFold(subject, initials(singular(last))) ||
		strings.HasSuffix(singular(last), capitalized(subject))
}

// cutWord cuts one of the words off the end of a name.
func cutWord(name string, words ...string) (string, bool) {
	for _, word := range words {
		if rest, found := strings.CutSuffix(name, word); found {
			return rest, true
		}
	}
	return "", false
}

// singular returns the singular of a type's last segment: virtualMachine, registry.
func singular(plural string) string {
	switch {
	case strings.HasSuffix(plural, "ies"):
		return plural[:len(plural)-3] + "y"
	case strings.HasSuffix(plural, "sses"), strings.HasSuffix(plural, "xes"):
		return plural[:len(plural)-2]
	}
	return strings.TrimSuffix(plural, "s")
}

// initials returns the first letters of the words of a name in camel case: vm.
func initials(name string) string {
	var letters strings.Builder
	for i, r := range name {
		if i == 0 || unicode.IsUpper(r) {
			letters.WriteRune(unicode.ToLower(r))
		}
	}
	return letters.String()
}

func capitalized(name string) string { return strings.ToUpper(name[:1]) + name[1:] }
