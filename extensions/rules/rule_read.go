package rules

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"net/http"
	"regexp"
	"slices"
	"strings"
	"sync"

	"cel.dev/cel-go/cel"
	"go.yaml.in/yaml/v3"

	"github.com/armature-io/armature/arm"
	"github.com/armature-io/armature/extensions"
	"github.com/armature-io/armature/internal/expression"
	"github.com/armature-io/armature/internal/extensionhost"
	"github.com/armature-io/armature/internal/extensionshare"
	"github.com/armature-io/armature/resource"
	"github.com/armature-io/armature/types"
)

// maxReads is the number of names under read: the reads of one step have 3 s in all.
const maxReads = 4

// read is what a rule reads besides the resource and its owner: one resource, those whose IDs
// stand at a path, or a list.
type read struct {
	name string
	node *yaml.Node
	// id is an expression, or idText a text with expressions, that gives the ID of one resource.
	id     expression.Expression
	idText expression.Template
	// each is where the IDs of several resources stand.
	each idsPath
	// list is the type of the resources of a list.
	list string
	// max bounds the resources of each and list; 0 is a read of one.
	max        int
	apiVersion string
	// waitFor is what the rule waits for, "" for the provisioning state.
	waitFor string
	// spelled is the same for two reads of the same resources.
	spelled string
	// allowed is the number of requests that a pass has for the read.
	allowed int
}

// The values of waitFor: the Ready condition where Armature manages the resource, the
// provisioning state, and nothing, which gives the rule a resource in any state, null for
// one that is absent.
const (
	waitForReady       = "ready"
	waitForProvisioned = "provisioned"
	waitForNothing     = "nothing"
)

// readPattern is the form of a name of a read: a variable of CEL.
var readPattern = regexp.MustCompile(`^[a-z][A-Za-z0-9_]*$`)

// reads compiles the reads of a rule.
func (f *file) reads(s *source, compiled *rule) {
	node := s.parts["read"]
	if node == nil || compiled.at == atError {
		return
	}
	env, err := environment(compiled.at, nil)
	if err != nil {
		return // reported by the caller
	}
	taken := slices.Concat(variables(compiled.at), reservedWords())
	f.entries("read", node, func(key, value *yaml.Node) {
		if !readPattern.MatchString(key.Value) || slices.Contains(taken, key.Value) {
			f.report(key, "%q cannot name a resource that is read: use a lower-case word that CEL and the rule do not have yet", key.Value)
			return
		}
		taken = append(taken, key.Value)
		f.read(env, compiled, key, value)
	})
	if len(compiled.reads) > maxReads {
		f.report(node, "a rule reads at most %d resources, not %d", maxReads, len(compiled.reads))
	}
}

// read compiles one read: the ID alone, or a mapping.
func (f *file) read(env *cel.Env, compiled *rule, key, value *yaml.Node) {
	made, given := read{name: key.Value, node: value}, map[string]*yaml.Node{"id": value}
	if value.Kind == yaml.MappingNode {
		delete(given, "id")
		f.fields(value, "a read", []string{"id", "each", "list", "max", "waitFor", "apiVersion"}, func(name, value *yaml.Node) {
			given[name.Value] = value
		})
	}
	kinds := slices.DeleteFunc([]string{"id", "each", "list"}, func(name string) bool {
		return given[name] == nil || given[name].Kind != yaml.ScalarNode || strings.TrimSpace(given[name].Value) == ""
	})
	if len(kinds) != 1 {
		f.report(value, "read %s needs the ID of a resource: an expression such as desired.properties.environmentId, or a text such as ${ownerID}/databases/master; "+
			"or each with a path of IDs, or list with a type", key.Value)
		return
	}
	if version := given["apiVersion"]; version != nil {
		made.apiVersion = version.Value
	}
	f.waitFor(&made, kinds[0], given["waitFor"])
	f.max(&made, kinds[0], given["max"])
	switch node := given[kinds[0]]; kinds[0] {
	case "each":
		f.each(compiled, &made, node)
	case "list":
		f.list(compiled, &made, node)
	default:
		f.one(env, compiled, &made, node)
	}
	made.spelled = strings.Join([]string{kinds[0], given[kinds[0]].Value, made.apiVersion}, " ")
	compiled.reads = append(compiled.reads, made)
}

// waitFor sets what a read waits for.
func (f *file) waitFor(made *read, kind string, node *yaml.Node) {
	if node == nil {
		return
	}
	made.waitFor = node.Value
	switch {
	case kind == "list":
		f.report(node, "waitFor is not valid beside list: the condition tests the states of a list")
	case !slices.Contains([]string{waitForReady, waitForProvisioned, waitForNothing}, node.Value):
		f.report(node, "waitFor must be ready, provisioned or nothing, not %q", node.Value)
	}
}

// one compiles the ID of one resource.
func (f *file) one(env *cel.Env, compiled *rule, made *read, node *yaml.Node) {
	what := "read " + made.name
	if strings.Contains(node.Value, "${") || strings.HasPrefix(node.Value, "/") {
		made.idText = f.template(env, compiled, what, field{text: node.Value, node: node}, true)
		return
	}
	expr, problems := expression.Compile(env, node.Value, nil)
	f.reportProblems(what, node, problems)
	compiled.parts = append(compiled.parts, part{what, node, []expression.Expression{expr}, true})
	made.id = expr
}

// reservedWords are words that CEL does not accept as variables, and functions.
func reservedWords() []string {
	return append([]string{
		"as", "break", "const", "continue", "else", "false", "for", "function", "if", "import", "in", "let", "loop", "namespace", "null",
		"package", "return", "true", "var", "void", "while", "has",
	}, expression.Names()...)
}

// reading is what came of one read: nothing for an ID that is not set.
type reading struct {
	read
	resource.ID
	extensions.Resolution
	err error
}

// readNameKey is the key of a readPlace in the context of its resolver.
type readNameKey struct{}

// readPlace is the name of a read, and the position of a resource in it.
type readPlace struct {
	name  string
	index int
}

// maxWaits is the number of resources that a verdict waits for: the search attribute of a
// waiting workflow has no more keys.
const maxWaits = 32

// readResult is what all reads of a rule gave.
type readResult struct {
	// ids are the resources that were read, unready those of them that are absent, changing,
	// broken or busy.
	ids, unready []resource.ID
	// reason and message are set while the rule waits for one of them.
	reason  resource.Reason
	message string
}

// options returns the options of a block of the rule: a change of what was read, and of
// others, wakes it. Of more than maxWaits resources those that are not ready come first.
func (r readResult) options(own []extensions.Option, others ...resource.ID) []extensions.Option {
	ids := slices.Concat(others, r.ids)
	if len(ids) > maxWaits {
		ids = slices.Concat(others, r.unready, r.ids)
	}
	var waits []resource.ID
	for _, id := range ids {
		if len(waits) < maxWaits && !slices.ContainsFunc(waits, id.Equal) {
			waits = append(waits, id)
		}
	}
	if len(waits) == 0 {
		return own
	}
	return append(slices.Clone(own), extensions.WithWaitingFor(waits...))
}

// add adds a resource that was read.
func (r *readResult) add(id resource.ID, ready bool) {
	r.ids = append(r.ids, id)
	if !ready {
		r.unready = append(r.unready, id)
	}
}

// readAll reads what the rule reads into the variables.
func (r *rule) readAll(ctx context.Context, vars map[string]any, resolver extensions.Resolver) (readResult, error) {
	all := make([]asked, len(r.reads))
	for i, other := range r.reads {
		var err error
		if all[i], err = other.ask(ctx, vars); err != nil {
			return readResult{}, fmt.Errorf("read %s: %w", other.name, err)
		}
	}
	var pending sync.WaitGroup
	for i := range all {
		all[i].send(ctx, &pending, resolver)
	}
	pending.Wait()
	var result readResult
	for i := range all {
		if err := all[i].take(vars, &result); err != nil {
			return result, fmt.Errorf("read %s: %w%s", all[i].name, err, forbiddenHint(err))
		}
	}
	noteReads(ctx, all, vars)
	return result, nil
}

// noteReads notes what a rule on trial read, as a test states it: a body, nil for an absent
// resource, or a list of bodies. An ID that is not set is not read.
func noteReads(ctx context.Context, all []asked, vars map[string]any) {
	sight := extensionshare.SightOf(ctx)
	if !sight.IsOn() {
		return
	}
	for i := range all {
		if len(all[i].readings) == 0 && all[i].from.Parent.IsZero() {
			continue
		}
		read := expression.Value(vars[all[i].name])
		if native, err := expression.Native(read); err == nil && !expression.IsNull(read) {
			sight.NoteRead(all[i].name, native)
		} else {
			sight.NoteRead(all[i].name, nil)
		}
	}
}

// asked is a read with the resources that it asks for, and then with the answers.
type asked struct {
	read
	readings []reading
	// from is the list that is asked for; without a parent it is none.
	from    extensionhost.List
	listing extensionhost.Listing
	err     error
	// self is the resource of the rule, which is no part of its lists.
	self resource.ID
}

// ask returns what a read asks for. It is an error if that is more than it may.
func (o read) ask(ctx context.Context, vars map[string]any) (asked, error) {
	made, requests := asked{read: o}, 0
	if o.list != "" {
		var err error
		if made.from, made.self, err = o.listOf(vars); err != nil {
			return made, err
		}
		if !made.from.Parent.IsZero() {
			requests = o.requests()
		}
	} else {
		ids, err := o.targets(ctx, vars)
		if err != nil {
			return made, err
		}
		for _, id := range ids {
			made.readings = append(made.readings, reading{read: o, ID: id})
		}
		requests = len(ids)
	}
	if requests > o.allowed {
		return made, fmt.Errorf("it takes %d requests and has %d: the rules of a type share the %d requests of a pass in the order of the files; lower max in their reads",
			requests, o.allowed, maxPassRequests)
	}
	return made, nil
}

// send sends the requests and adds them to pending.
func (a *asked) send(ctx context.Context, pending *sync.WaitGroup, resolver extensions.Resolver) {
	for i := range a.readings {
		got := &a.readings[i]
		pending.Go(func() {
			version := cmp.Or(a.apiVersion, types.Newest(got.Type()))
			at := context.WithValue(ctx, readNameKey{}, readPlace{a.name, i})
			got.Resolution, got.err = resolver.Resolve(at, resource.Reference{ID: got.ID, APIVersion: version})
		})
	}
	if a.from.Parent.IsZero() {
		return
	}
	lister, ok := resolver.(extensionhost.Lister)
	if !ok {
		a.err = errors.New("no resources can be listed here")
		return
	}
	pending.Go(func() {
		a.listing, a.err = lister.List(context.WithValue(ctx, readNameKey{}, readPlace{name: a.name}), a.from)
	})
}

// take puts the answers into the variables and the result.
func (a *asked) take(vars map[string]any, result *readResult) error {
	if a.list != "" {
		return a.takeList(vars, result)
	}
	bodies := []any{}
	for _, got := range a.readings {
		if arm.DoubtOf(got.err) == arm.DoubtRepeatable {
			got.err = nil // not found, as far as ARM shows
		}
		if got.err != nil {
			return got.err
		}
		bodies = append(bodies, bodyOf(got.Object))
		result.add(got.ID, got.Ready)
		if result.message == "" && got.waitFor != waitForNothing {
			result.reason, result.message = got.waits()
		}
	}
	switch {
	case a.isMany():
		vars[a.name] = expression.Value(bodies)
	case len(bodies) == 1:
		vars[a.name] = bodies[0]
	default:
		vars[a.name] = bodyOf(nil)
	}
	return nil
}

// target returns the ID of the resource to read, the zero ID where it is not set.
func (o read) target(ctx context.Context, vars map[string]any) (resource.ID, error) {
	var value any
	if !o.id.IsZero() {
		got, err := o.id.Eval(ctx, vars)
		if err != nil {
			return resource.ID{}, fmt.Errorf("evaluate the ID: %w", err)
		}
		if value = got.Value(); expression.IsNull(got) {
			return resource.ID{}, nil
		}
		if native, err := expression.Native(got); err == nil {
			value = native
		}
	} else {
		for _, part := range o.idText.Expressions() {
			if got, err := part.Eval(ctx, vars); err == nil && expression.IsNull(got) {
				return resource.ID{}, nil
			}
		}
		text, err := o.idText.Render(ctx, vars)
		if err != nil {
			return resource.ID{}, fmt.Errorf("evaluate the ID: %w", err)
		}
		value = text
	}
	return idOf(value)
}

// idOf returns the ID that a value of a body is, the zero ID where it is not set.
func idOf(value any) (resource.ID, error) {
	if marker, ok := value.(map[string]any); ok && marker[resource.RefMarker] != nil { // a $ref whose resource is not there yet
		value = marker[resource.RefMarker]
	}
	text, ok := value.(string)
	switch {
	case value == nil, ok && text == "":
		return resource.ID{}, nil
	case !ok:
		return resource.ID{}, fmt.Errorf("the ID is not a text but %s", expression.Text(expression.Value(value)))
	}
	return resource.ParseID(text)
}

// waits returns why the rule waits for a resource, "" where it does not.
func (g reading) waits() (resource.Reason, string) {
	what := fmt.Sprintf("The resource %q (%s), which this check reads as %s,", g.Short(), g.Type(), g.name)
	switch {
	case !g.Found:
		return resource.ReasonReferenceNotFound, what + " does not exist in Azure"
	case g.Ready && g.waitFor == waitForReady && g.Managed != nil && !g.Managed.Ready:
		return resource.ReasonReferenceNotReady, fmt.Sprintf("%s is not ready: its Ready condition in Armature is %s", what, g.Managed.Reason)
	case g.Ready:
		return "", ""
	case g.Refusal != "":
		return resource.ReasonReferenceNotReady, what + " is not ready: " + g.Refusal
	}
	return resource.ReasonReferenceNotReady, fmt.Sprintf("%s is not ready: its provisioning state is %q", what, g.Object.ProvisioningState())
}

// forbiddenHint returns what to do about a read that Azure refused.
func forbiddenHint(err error) string {
	if failure, ok := errors.AsType[*arm.Error](err); ok && failure.Status == http.StatusForbidden {
		return "; grant the credential of this resource the role Reader there"
	}
	return ""
}
