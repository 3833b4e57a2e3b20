package manifest

import (
	"regexp"
	"strings"
	"unicode"

	"github.com/armature-io/armature/resource"
)

// Bounds of the parameters of a DELETE: they are part of its URL.
const (
	maxDeleteParameters     = 8
	maxDeleteParameterBytes = 256
)

// parameterName is the form of the name of a parameter.
var parameterName = regexp.MustCompile(`^[A-Za-z][A-Za-z0-9_.$-]{0,63}$`)

// reservedParameters are set by Armature or by ARM, or carry a signature; in lower case.
var reservedParameters = []string{"api-version", "sig", "signature", "code", "$skiptoken", "$filter", "$top"}

// readDeletion reads how a resource is deleted.
func (l *loader) readDeletion(d *draft, deletion *node) {
	if deletion.kind != kindObject {
		l.at(d, deletion.position, "reconcile.delete", "%s; write a mapping of query, purge, unmanaged", deletion.found())
		return
	}
	l.checkFields(d, deletion, "reconcile.delete.", []string{"query", "purge", "unmanaged"})
	isTrue := func(name string) bool {
		value := deletion.get(name)
		if value != nil && value.kind != kindBoolean {
			l.at(d, value.position, "reconcile.delete."+name, "%s; write true or false", value.found())
		}
		return value != nil && value.kind == kindBoolean && value.text == "true"
	}
	d.desired.Deletion.Purge, d.desired.Deletion.Unmanaged = isTrue("purge"), isTrue("unmanaged")
	query := deletion.get("query")
	switch {
	case query == nil:
		return
	case query.kind != kindObject:
		l.at(d, query.position, "reconcile.delete.query", "%s; write a mapping like {forceDeletion: true}", query.found())
		return
	case len(query.fields) > maxDeleteParameters:
		l.at(d, query.position, "reconcile.delete.query", "it has %d parameters; at most %d are allowed", len(query.fields), maxDeleteParameters)
		return
	}
	for _, f := range query.fields {
		if message := parameterIssue(f); message != "" {
			l.at(d, f.position, "reconcile.delete.query."+f.name, "%s", message)
			continue
		}
		if d.desired.Deletion.Query == nil {
			d.desired.Deletion.Query = map[string]string{}
		}
		d.desired.Deletion.Query[f.name] = f.value.text
	}
}

// parameterIssue returns what is wrong with a parameter, "" for nothing.
func parameterIssue(f field) string {
	name := strings.ToLower(f.name)
	for _, reserved := range reservedParameters {
		if name == reserved {
			return "the parameter cannot be set by a manifest; remove it"
		}
	}
	isScalar := f.value.kind == kindText || f.value.kind == kindNumber || f.value.kind == kindBoolean
	switch {
	case !parameterName.MatchString(f.name):
		return "it is not the name of a parameter; write letters, digits and _ . $ -, at most 64"
	case resource.SecretName(f.name):
		return "its name is that of a secret, and a URL must not carry secrets; remove it"
	case !isScalar:
		return f.value.found() + "; a parameter is a text, a number, true or false"
	case f.value.text == "" || len(f.value.text) > maxDeleteParameterBytes || strings.ContainsFunc(f.value.text, unicode.IsControl):
		return "the value is empty, longer than 256 bytes or has control characters; correct it"
	}
	return ""
}
