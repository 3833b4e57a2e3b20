package extensionhost

import (
	"errors"
	"fmt"
	"path/filepath"
	"reflect"
	"runtime"
	"strings"

	"github.com/armature-io/armature/extensions"
	"github.com/armature-io/armature/internal/nearest"
)

// pointType is an extension point as an interface of one method.
type pointType struct {
	reflect.Type
	// common is set for a method name that a link may have for purposes of its own.
	common bool
}

// method returns the method of the point.
func (p pointType) method() reflect.Method { return p.Method(0) }

// pointTypes returns all extension points.
func pointTypes() []pointType {
	return []pointType{
		{reflect.TypeFor[extensions.PreReconciliationOwnerChecker](), false},
		{reflect.TypeFor[extensions.PreReconciliationChecker](), false},
		{reflect.TypeFor[extensions.PostReconciliationChecker](), false},
		{reflect.TypeFor[extensions.ARMResourceModifier](), false},
		{reflect.TypeFor[extensions.ErrorClassifier](), false},
		{reflect.TypeFor[extensions.SuccessHandler](), false},
		{reflect.TypeFor[extensions.RestingStater](), false},
		{reflect.TypeFor[InlineLister](), false},
		{reflect.TypeFor[extensions.ObservationTrimmer](), false},
		{reflect.TypeFor[extensions.Deleter](), true},
		{reflect.TypeFor[extensions.Importer](), true},
		{reflect.TypeFor[extensions.ChildLister](), true},
		{reflect.TypeFor[LinkSource](), true},
		{reflect.TypeFor[FactSource](), true},
	}
}

// linkIssues returns what is wrong with a link: an error if a method of it would never be
// called although it is meant for a point, or if the link has no point at all; and warnings
// about methods whose names look like one.
func linkIssues(link any) (warnings []string, err error) {
	of := reflect.TypeOf(link)
	if of == nil {
		return nil, errors.New("the entry has neither a link nor facts")
	}
	value := reflect.ValueOf(link)
	if (of.Kind() == reflect.Pointer || of.Kind() == reflect.Func) && value.IsNil() {
		return nil, fmt.Errorf("the link is a nil %s; register a value, for example &%s{}", of, strings.TrimPrefix(of.String(), "*"))
	}
	implemented := 0
	for _, point := range pointTypes() {
		name := point.method().Name
		method, has := of.MethodByName(name)
		switch {
		case of.Implements(point):
			implemented++
		case has && point.common:
			warnings = append(warnings, signatureText(point, method))
		case has:
			return nil, errors.New(signatureText(point, method))
		case of.Kind() != reflect.Pointer && reflect.PointerTo(of).Implements(point):
			return nil, fmt.Errorf("its method %s has a pointer receiver, so the value has no such method: register &%s{}", name, of)
		}
	}
	misspelt := misspeltMethods(of)
	if implemented == 0 {
		return nil, errors.New(strings.Join(append([]string{"it implements no extension point"}, misspelt...), ": "))
	}
	return append(warnings, misspelt...), nil
}

// signatureText reports a method with the name of a point and another signature.
func signatureText(point pointType, method reflect.Method) string {
	got := make([]string, 0, method.Type.NumIn())
	for i := 1; i < method.Type.NumIn(); i++ { // 0 is the receiver
		got = append(got, method.Type.In(i).String())
	}
	results := make([]string, 0, method.Type.NumOut())
	for i := range method.Type.NumOut() {
		results = append(results, method.Type.Out(i).String())
	}
	return fmt.Sprintf("its method %s is not the one of %s and is never called: it is func(%s) (%s), the point needs %s",
		method.Name, point.Name(), strings.Join(got, ", "), strings.Join(results, ", "), point.method().Type)
}

// maxMisspelt is the largest edit distance at which a method's name is taken for the
// misspelt name of a point.
const maxMisspelt = 3

// misspeltMethods returns a warning for each method whose name is nearly that of a point.
func misspeltMethods(of reflect.Type) []string {
	if of.Kind() != reflect.Pointer {
		of = reflect.PointerTo(of)
	}
	names := map[string]bool{}
	for _, point := range pointTypes() {
		names[point.method().Name] = true
	}
	var warnings []string
	for i := range of.NumMethod() {
		name := of.Method(i).Name
		if names[name] {
			continue
		}
		for _, point := range pointTypes() {
			meant := point.method().Name
			if !point.common && nearest.Distance(strings.ToLower(name), strings.ToLower(meant)) <= maxMisspelt {
				warnings = append(warnings, fmt.Sprintf("its method %s is never called (did you mean %s?)", name, meant))
				break
			}
		}
	}
	return warnings
}

// typeAndLine returns the Go type of a link, with the file and line of its first method.
func typeAndLine(link any) string {
	name := fmt.Sprintf("%T", link)
	of := reflect.TypeOf(link)
	if of == nil {
		return name
	}
	for _, of := range []reflect.Type{of, reflect.PointerTo(of)} {
		for i := range of.NumMethod() {
			at := runtime.FuncForPC(of.Method(i).Func.Pointer())
			// A method of an embedded type, or of the value for a pointer, is generated.
			if file, line := at.FileLine(at.Entry()); filepath.Ext(file) == ".go" {
				return fmt.Sprintf("%s (%s:%d)", name, filepath.Base(file), line)
			}
		}
	}
	return name
}
