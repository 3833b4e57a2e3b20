package convert

import (
	"strings"

	"github.com/armature-io/armature/resource"
)

// evaluator evaluates the functions of ARM templates whose result is known without a
// deployment.
// Source: https://learn.microsoft.com/azure/azure-resource-manager/templates/template-functions-resource
type evaluator struct {
	conversion *conversion
	from       resource.ID
	expression string
}

func (e evaluator) fail(why string) error { return expressionError(e.expression, why) }

func (e evaluator) value(c *call) (*value, error) {
	if c.function == "" && c.isText {
		return textValue(0, c.literal), nil
	}
	switch name := strings.ToLower(c.function); name {
	case "resourceid", "subscriptionresourceid", "tenantresourceid", "extensionresourceid":
		if c.path != "" {
			break
		}
		args, err := e.texts(c.args)
		if err != nil {
			return nil, err
		}
		return e.resourceID(name, args)
	case "reference":
		return e.reference(c)
	case "concat", "format":
		if c.path == "" {
			return e.joined(name, c.args)
		}
	case "subscription", "resourcegroup", "tenant":
		return e.scope(name + strings.ToLower(c.path))
	case "parameters":
		return nil, e.fail("it is a parameter without a value; give it one in the .bicepparam file")
	}
	if strings.HasPrefix(strings.ToLower(c.function), "list") {
		return nil, e.fail("it reads a secret of another resource; put the secret into a key vault and write {$secret: 'keyvault:...'}")
	}
	return nil, e.fail("only a deployment can evaluate it; write the value into the snapshot")
}

// texts returns the arguments of a function, all of which must be known.
func (e evaluator) texts(args []*call) ([]string, error) {
	var texts []string
	for _, arg := range args {
		v, err := e.value(arg)
		if err != nil {
			return nil, err
		}
		switch {
		case v.kind == reference && v.path == "":
			texts = append(texts, v.id.String())
		case v.kind == text:
			texts = append(texts, v.text)
		default:
			return nil, e.fail("it computes with an observed value; write the result into the snapshot")
		}
	}
	return texts, nil
}

// joined returns the result of concat and of format without formats in its items.
func (e evaluator) joined(name string, args []*call) (*value, error) {
	texts, err := e.texts(args)
	if err != nil {
		return nil, err
	}
	if name == "concat" {
		return e.known(strings.Join(texts, "")), nil
	}
	if len(texts) == 0 {
		return nil, e.fail("format needs a text")
	}
	result := texts[0]
	for i, text := range texts[1:] {
		placeholder := "{" + string(rune('0'+i)) + "}"
		if i > 9 || strings.Contains(text, "{") {
			return nil, e.fail("its text is not simple; write the result into the snapshot")
		}
		result = strings.ReplaceAll(result, placeholder, text)
	}
	if strings.ContainsAny(result, "{}") {
		return nil, e.fail("its text is not simple; write the result into the snapshot")
	}
	return e.known(result), nil
}

// known returns a text, or the reference for the ID of a resource of the conversion.
func (e evaluator) known(s string) *value {
	if id, err := resource.ParseID(s); err == nil && e.conversion.byKey[id.Key()] != nil && !id.Equal(e.from) {
		return &value{kind: reference, id: id}
	}
	return textValue(0, s)
}

// resourceID returns the ID that one of the functions for IDs makes.
func (e evaluator) resourceID(function string, args []string) (*value, error) {
	at := -1
	for i, arg := range args {
		if strings.Contains(arg, "/") && strings.Contains(arg, ".") && !strings.HasPrefix(arg, "/") {
			at = i
			break
		}
	}
	if at < 0 {
		return nil, e.fail("it names no resource type")
	}
	before, typ, names := args[:at], args[at], args[at+1:]
	subscription, group := e.from.Subscription(), e.from.ResourceGroup()
	var owner string
	switch {
	case function == "tenantresourceid" && len(before) == 0:
	case function == "extensionresourceid" && len(before) == 1:
		owner = before[0]
	case function == "subscriptionresourceid" && len(before) <= 1:
		if len(before) == 1 {
			subscription = before[0]
		}
		owner = "/subscriptions/" + subscription
	case function == "resourceid" && len(before) <= 2:
		if len(before) > 0 {
			group = before[len(before)-1]
		}
		if len(before) == 2 {
			subscription = before[0]
		}
		owner = "/subscriptions/" + subscription + "/resourceGroups/" + group
		if group == "" {
			owner = "/subscriptions/" + subscription
		}
	default:
		return nil, e.fail("its arguments are not understood")
	}
	if strings.HasPrefix(owner, "/subscriptions/") && subscription == "" {
		return nil, e.fail("its subscription is not known; make the snapshot with --subscription-id and --resource-group")
	}
	namespace, rest, _ := strings.Cut(typ, "/")
	segments := strings.Split(rest, "/")
	if len(segments) != len(names) {
		return nil, e.fail("it has not one name for each part of the type")
	}
	id := owner + "/providers/" + namespace
	for i, segment := range segments {
		id += "/" + segment + "/" + names[i]
	}
	if _, err := resource.ParseID(id); err != nil {
		return nil, e.fail(err.Error())
	}
	return e.known(id), nil
}

// reference returns the reference for reference(ID or name, api-version, 'full').path.
func (e evaluator) reference(c *call) (*value, error) {
	args, err := e.texts(c.args)
	if err != nil {
		return nil, err
	}
	if len(args) == 0 || len(args) > 3 || c.path == "" || strings.HasPrefix(c.path, "[") {
		return nil, e.fail("it names no property; write the value into the snapshot")
	}
	v := &value{kind: reference, path: "properties" + c.path}
	if len(args) == 3 && strings.EqualFold(args[2], "full") {
		v.path = strings.TrimPrefix(c.path, ".")
	}
	if _, err := resource.ParsePath(v.path); err != nil {
		return nil, e.fail(err.Error())
	}
	if len(args) > 1 {
		v.version = args[1]
	}
	if strings.HasPrefix(args[0], "/") {
		if v.id, err = resource.ParseID(args[0]); err != nil {
			return nil, e.fail(err.Error())
		}
		return v, nil
	}
	for _, r := range e.conversion.resources {
		if strings.EqualFold(r.id.Name(), args[0]) || strings.EqualFold(r.id.Short(), args[0]) || strings.EqualFold(r.label, args[0]) {
			if !v.id.IsZero() && !v.id.Equal(r.id) {
				return nil, e.fail("several resources have the name " + args[0])
			}
			v.id = r.id
		}
	}
	if v.id.IsZero() {
		return nil, e.fail("no resource of the snapshot has the name " + args[0])
	}
	return v, nil
}

// scope returns a property of the subscription or the group of the resource.
func (e evaluator) scope(property string) (*value, error) {
	subscription, group := e.from.Subscription(), e.from.ResourceGroup()
	id := "/subscriptions/" + subscription
	switch {
	case strings.HasSuffix(property, ".tenantid"):
		return nil, e.fail("the tenant is not known; make the snapshot with --tenant-id")
	case subscription == "":
	case property == "subscription.subscriptionid":
		return textValue(0, subscription), nil
	case property == "subscription.id":
		return textValue(0, id), nil
	case group == "":
	case property == "resourcegroup.name":
		return textValue(0, group), nil
	case property == "resourcegroup.id":
		return e.known(id + "/resourceGroups/" + group), nil
	case property == "resourcegroup.location":
		return nil, e.fail("the location of the resource group is not known; make the snapshot with --location")
	}
	return nil, e.fail("only a deployment can evaluate it; write the value into the snapshot")
}
