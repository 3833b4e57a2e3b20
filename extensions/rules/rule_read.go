package rules

import (
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
	"github.com/armature-io/armature/internal/extensionshare"
	"github.com/armature-io/armature/resource"
	"github.com/armature-io/armature/types"
)

// maxReads is the number of resources that a rule may read: the reads of one step have
// 3 s in all.
const maxReads = 4

// read is another resource that a rule reads.
type read struct {
	name string
	// id is an expression, or idText a text with expressions.
	id         expression.Expression
	idText     expression.Template
	apiVersion string
	// waitFor is what the rule waits for, "" for the provisioning state.
	waitFor string
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

func (r *rule) readNames() []string {
	names := make([]string, len(r.reads))
	for i, other := range r.reads {
		names[i] = other.name
	}
	return names
}

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
		if made, ok := f.read(env, compiled, key, value); ok {
			compiled.reads = append(compiled.reads, made)
		}
	})
	if len(compiled.reads) > maxReads {
		f.report(node, "a rule reads at most %d resources, not %d", maxReads, len(compiled.reads))
	}
}

// read compiles one read: the ID alone, or a mapping with id, waitFor and apiVersion.
func (f *file) read(env *cel.Env, compiled *rule, key, value *yaml.Node) (read, bool) {
	made, id := read{name: key.Value}, field{}
	if value.Kind == yaml.MappingNode {
		f.fields(value, "a read", []string{"id", "waitFor", "apiVersion"}, func(name, value *yaml.Node) {
			switch name.Value {
			case "id":
				id = field{text: value.Value, node: value}
			case "apiVersion":
				made.apiVersion = value.Value
			default:
				if !slices.Contains([]string{waitForReady, waitForProvisioned, waitForNothing}, value.Value) {
					f.report(value, "waitFor must be ready, provisioned or nothing, not %q", value.Value)
				}
				made.waitFor = value.Value
			}
		})
	} else {
		id = field{text: value.Value, node: value}
	}
	if id.node == nil || id.node.Kind != yaml.ScalarNode || strings.TrimSpace(id.text) == "" {
		f.report(value, "read %s needs the ID of a resource: an expression such as desired.properties.environmentId, or a text such as ${ownerID}/databases/master", key.Value)
		return made, false
	}
	what := "read " + key.Value
	if strings.Contains(id.text, "${") || strings.HasPrefix(id.text, "/") {
		made.idText = f.template(env, compiled, what, id, true)
		return made, true
	}
	expr, problems := expression.Compile(env, id.text, nil)
	f.reportProblems(what, id.node, problems)
	compiled.parts = append(compiled.parts, part{what, id.node, []expression.Expression{expr}, true})
	made.id = expr
	return made, true
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

// readNameKey is the key of a read's name in the context of its resolver.
type readNameKey struct{}

// readResult is what all reads of a rule gave.
type readResult struct {
	// ids are the resources that were read.
	ids []resource.ID
	// reason and message are set while the rule waits for one of them.
	reason  resource.Reason
	message string
}

// options returns the options of a block of the rule: a change of what was read, and of
// others, wakes it.
func (r readResult) options(own []extensions.Option, others ...resource.ID) []extensions.Option {
	ids := slices.Concat(others, r.ids)
	if len(ids) == 0 {
		return own
	}
	return append(slices.Clone(own), extensions.WithWaitingFor(ids...))
}

// readAll reads what the rule reads into the variables.
func (r *rule) readAll(ctx context.Context, vars map[string]any, resolver extensions.Resolver) (readResult, error) {
	readings := make([]reading, len(r.reads))
	var pending sync.WaitGroup
	for i, other := range r.reads {
		id, err := other.target(ctx, vars)
		readings[i] = reading{read: other, ID: id, err: err}
		if err != nil || id.IsZero() {
			continue
		}
		pending.Go(func() {
			version := other.apiVersion
			if version == "" {
				version = types.Newest(id.Type())
			}
			readings[i].Resolution, readings[i].err = resolver.Resolve(context.WithValue(ctx, readNameKey{}, other.name), resource.Reference{ID: id, APIVersion: version})
		})
	}
	pending.Wait()
	var result readResult
	for _, got := range readings {
		if arm.DoubtOf(got.err) == arm.DoubtRepeatable {
			got.err = nil // not found, as far as ARM shows
		}
		if got.err != nil {
			return result, fmt.Errorf("read %s: %w%s", got.name, got.err, forbiddenHint(got.err))
		}
		vars[got.name] = bodyOf(got.Object)
		noteRead(ctx, got)
		if got.IsZero() {
			continue
		}
		result.ids = append(result.ids, got.ID)
		if result.message == "" && got.waitFor != waitForNothing {
			result.reason, result.message = got.waits()
		}
	}
	return result, nil
}

// noteRead notes what a rule on trial reads. An ID that is not set is not read.
func noteRead(ctx context.Context, got reading) {
	sight := extensionshare.SightOf(ctx)
	if !sight.IsOn() || got.IsZero() {
		return
	}
	var body map[string]any
	if got.Object.Exists() {
		body = got.Object.Observed
	}
	sight.NoteRead(got.name, body)
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
		if marker, ok := value.(map[string]any); ok { // a $ref whose resource is not there yet
			value = marker[resource.RefMarker]
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
	text, ok := value.(string)
	if ok && text == "" {
		return resource.ID{}, nil
	}
	if !ok {
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
