package manifest

import (
	"cmp"
	"fmt"

	"github.com/armature-io/armature/resource"
	"github.com/armature-io/armature/types"
)

// Validation is how the findings of the published types count.
type Validation string

// The ways to validate. Default distinguishes faults and warnings, Strict makes faults
// of both, Warn makes warnings of both, Off checks nothing.
const (
	ValidationDefault Validation = "default"
	ValidationStrict  Validation = "strict"
	ValidationWarn    Validation = "warn"
	ValidationOff     Validation = "off"
)

// Validations returns all ways to validate.
func Validations() []Validation {
	return []Validation{ValidationDefault, ValidationStrict, ValidationWarn, ValidationOff}
}

// The rules beside the ones of package types.
const (
	UnknownType     types.Rule = "unknown-type"
	UnknownVersion  types.Rule = "unknown-api-version"
	TypeNotWritable types.Rule = "type-not-writable"
	WrongScope      types.Rule = "wrong-scope"
	InvalidName     types.Rule = "invalid-name"
	UnknownMarker   types.Rule = "unknown-marker"
)

// Rules returns all rules of issues, of this package and of types.
func Rules() []types.Rule {
	own := []types.Rule{InvalidManifest, UnknownType, UnknownVersion, TypeNotWritable, WrongScope, InvalidName, UnknownMarker, OpenName, UnknownAction, OwnedValue, ReleaseValue, InvalidAddress, LiteralSecret}
	return append(own, types.Rules()...)
}

// severity returns the weight of a finding.
func (v Validation) severity(isFault bool) Severity {
	switch {
	case v == ValidationStrict:
		return SeverityFault
	case isFault && v != ValidationWarn:
		return SeverityFault
	}
	return SeverityWarning
}

// validator checks one draft against the published types.
type validator struct {
	loader *loader
	draft  *draft
	how    Validation
}

// validate checks a draft if Options.Validate is set. It needs the type and reports as much
// as it can beside the issues of Load.
func (l *loader) validate(d *draft) {
	how := l.howToValidate(d)
	if !l.options.Validate || how == ValidationOff || d.typ == "" {
		return
	}
	v := validator{loader: l, draft: d, how: how}
	v.checkReads()
	shape := v.checkType()
	if shape == nil {
		return
	}
	v.checkWritable(shape)
	v.checkOutputs(shape)
	v.checkExports(shape)
	v.checkName(shape)
	if body := d.root.get("body"); body != nil && body.kind == kindObject && markerOf(body) == "" {
		v.checkBody(shape, body)
		v.checkAddresses(body)
		v.checkSecrets(shape, body, nil)
	}
}

// howToValidate returns how the findings about a draft count.
func (l *loader) howToValidate(d *draft) Validation {
	return cmp.Or(l.options.Validation, d.validation)
}

// found is one finding of a validator.
type found struct {
	rule       types.Rule
	isFault    bool
	at         position
	path       string
	suggestion string
}

func (v validator) report(f found, format string, args ...any) {
	v.loader.issues = append(v.loader.issues, Issue{
		File: f.at.in(v.draft.file), Line: f.at.line, Column: f.at.column, Path: f.path, Message: fmt.Sprintf(format, args...),
		Severity: v.how.severity(f.isFault), Rule: f.rule, Suggestion: f.suggestion,
	})
}

// checkBody reports the findings in the body.
func (v validator) checkBody(shape *types.Shape, body *node) {
	start := resource.Path{{Name: "body"}}
	stated, _ := v.stated(body, start).(map[string]any)
	for _, name := range identityFields() {
		delete(stated, name)
	}
	if n := len(v.draft.segments); n > 0 {
		shape = shape.Named(v.draft.segments[n-1])
	}
	findings := shape.Check(stated)
	for _, finding := range findings {
		if finding.Rule == types.MissingProperty && (v.isPartial() || isConsequence(finding, findings)) {
			continue
		}
		at, path, value := locateFinding(v.draft, finding)
		if finding.Rule == types.ValueNotAllowed && v.loader.options.facts(shape.Type).hasValue(finding.Path, value) {
			continue
		}
		f := found{rule: finding.Rule, isFault: finding.Fault, at: at, path: path, suggestion: finding.Suggestion}
		v.report(f, "%s%s", finding.Message, advice(shape, finding, value))
	}
}

// isPartial reports whether the body may lack what the type requires, because Armature
// never creates the resource: it only observes it, or merges the body into an existing
// one, or patches that.
func (v validator) isPartial() bool {
	d := v.draft.desired
	return d.Policy == resource.PolicyObserve || d.Put == resource.PutPatch || d.Adopt == resource.AdoptOnly && d.Put == resource.PutMerge
}

// stated returns a node as package types checks it: a $ref without path, a $secret,
// a $text and a $guid are texts that are not known yet, any other object of markers stays as it is.
func (v validator) stated(n *node, path resource.Path) any {
	switch n.kind {
	case kindList:
		list := make([]any, len(n.items))
		for i, item := range n.items {
			list[i] = v.stated(item, append(path, resource.Step{Index: i, IsIndex: true}))
		}
		return list
	case kindObject:
		switch marker := markerOf(n); {
		case marker == resource.SecretMarker, marker == resource.TextMarker, marker == resource.GUIDMarker, marker == resource.RefMarker && n.get("path") == nil:
			return types.UnknownText{}
		case marker == resource.PlainMarker:
			return v.stated(n.get(marker), path)
		}
		if v.checkMarker(n, path) {
			return nil
		}
		object := make(map[string]any, len(n.fields))
		for _, f := range n.fields {
			object[f.name] = v.stated(f.value, append(path, resource.Step{Name: f.name}))
		}
		if markerOf(n) != "" {
			delete(object, "path")
		}
		return object
	}
	return n.scalar()
}
