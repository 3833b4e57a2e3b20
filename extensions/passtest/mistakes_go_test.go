package passtest_test

import (
	"context"
	"errors"
	"maps"
	"net/http"
	"strings"
	"testing"

	"github.com/armature-io/armature/armsim"
	"github.com/armature-io/armature/extensions"
	"github.com/armature-io/armature/extensions/extensiontest"
	"github.com/armature-io/armature/extensions/passtest"
	"github.com/armature-io/armature/resource"
)

// kitTest is the test of an author with the kit, for an entry.
func kitTest(entry extensions.Entry) func(t *testing.T) {
	return func(t *testing.T) {
		suite := extensiontest.Suite{Entry: entry, ID: thing}
		states := []extensiontest.States{{Path: "properties.state", Block: []string{"Busy"}, Pass: []string{"Idle"}, Message: "thing is %s"}}
		if _, isOwner := entry.Link.(OwnerLink); isOwner {
			suite.Owner = states
		} else {
			suite.Self = states
		}
		extensiontest.Run(t, suite)
	}
}

// passTest is the test of an author that runs a whole pass, which ought to end Ready; with
// an event that makes ARM refuse the PUT it ought to end with the code.
func passTest(link any, events ...passtest.Event) func(t *testing.T) {
	return func(t *testing.T) {
		result := passtest.Run(t, own(link), passtest.Script{Manifest: manifest(1), Events: events})
		if c := result.Passes[0].Condition; !c.Ready && (len(events) == 0 || c.Reason != "SizeIsFinal") {
			t.Errorf("%s (by %s): %s", c.Reason, c.Origin, c.Message)
		}
	}
}

const (
	methodLine = `passtest_test\.\w+\.\w+, mistakes_links_test\.go:\d+`
	ownLine    = `mistakes_go_test\.go:\d+`
	linkName   = `passtest_test\.\w+\.\w+`
)

// goMistakes are those of authors of links.
func goMistakes() map[string]mistake {
	kit := func(says string, link Link) mistake {
		return mistake{by: "test kit", when: inGoTest, says: says, at: methodLine, try: kitTest(own(link))}
	}
	owner := func(says string, link OwnerLink) mistake {
		return mistake{by: "test kit", when: inGoTest, says: says, at: methodLine, try: kitTest(own(link))}
	}
	registry := func(says string, entry extensions.Entry) mistake {
		return mistake{by: "test kit, and the worker's start", when: inGoTest, says: says, at: `extension (\*?passtest_test\.\w+( \(mistakes_links_test\.go:\d+\))?|<nil>)`, try: kitTest(entry)}
	}
	pass := func(says string, link any, events ...passtest.Event) mistake {
		return mistake{by: "whole passes", when: inGoTest, says: says, at: linkName, try: passTest(link, events...)}
	}
	typed := func(name string) extensions.Entry {
		return extensions.Entry{Type: name, Link: Link(given.right)}
	}
	refused := passtest.Event{Do: func(s *armsim.Simulator) {
		s.AddFault(armsim.Fault{Method: http.MethodPut, Type: thingType, Status: http.StatusConflict, Code: "SizeIsSet", Message: "The size is set."})
	}}
	all := map[string]mistake{
		"a missing owner is dereferenced": owner(`panicked in PreReconcileOwnerCheck at mistakes_go_test\.go:\d+: runtime error: [^\n]*`, func(_ context.Context, owner *resource.Object, next func() (preResult, error)) (preResult, error) {
			_ = owner.ID.Type() + owner.Freshness
			return next()
		}),
		"an owner of another type is judged": owner(`owner_of_another_type`, func(_ context.Context, owner *resource.Object, next func() (preResult, error)) (preResult, error) {
			if state, _ := owner.StringAt("properties.state"); strings.EqualFold(state, "Busy") {
				return extensions.BlockReconcile("thing is " + state), nil
			}
			return next()
		}),
		"an owner check returns skip": owner(`it returned "Skip" in PreReconcileOwnerCheck; only proceed and block are valid`, func(context.Context, *resource.Object, func() (preResult, error)) (preResult, error) {
			return extensions.SkipReconcile("nothing to do"), nil
		}),
		"the Go type of one api-version is asserted": kit(`panicked in PreReconcileCheck at mistakes_go_test\.go:\d+: interface conversion`, func(g given) (preResult, error) {
			_ = g.obj.Observed["properties"].(map[string]any)["state"].(string)
			return g.right()
		}),
		"the zero result is returned": kit(`it returned no result in PreReconcileCheck`, func(given) (preResult, error) { return preResult{}, nil }),
		"next is not called":          kit(`next was called 0 times, want once`, func(g given) (preResult, error) { return extensions.ProceedWithReconcile(), nil }),
		"next is called twice": kit(`next was called 2 times`, func(g given) (preResult, error) {
			_, _ = g.right()
			return g.right()
		}),
		"next is called with nil": kit(`it called next in PreReconcileCheck with nil instead of t1`, func(g given) (preResult, error) {
			g.obj = nil
			return g.callNext()
		}),
		"next is called with the owner": kit(`it called next in PreReconcileCheck with [^\n]* instead of t1`, func(g given) (preResult, error) {
			g.obj = g.owner
			return g.right()
		}),
		"next is called with another context": kit(`next was called with another context`, func(g given) (preResult, error) {
			return g.next(context.Background(), g.obj, g.owner, g.resolver, g.client, g.log)
		}),
		"an error of next is swallowed": kit(`want the error of the next link`, func(g given) (preResult, error) {
			if result, err := g.right(); err == nil {
				return result, nil
			}
			return extensions.ProceedWithReconcile(), nil
		}),
		"the input is changed": kit(`changed its input in PreReconcileCheck: a link must not change t1`, func(g given) (preResult, error) {
			g.obj.Desired["seen"] = true
			return g.right()
		}),
		"a check never returns": kit(`did not return in 3s`, func(given) (preResult, error) {
			<-make(chan struct{})
			return preResult{}, nil
		}),
		"a check waits until it is canceled": kit(`did not return in 3s`, func(g given) (preResult, error) {
			<-g.ctx.Done()
			return preResult{}, g.ctx.Err()
		}),
		"a goroutine of the link panics": {by: "Go", when: inGoTest, says: `panic: lost`, at: ownLine, try: kitTest(own(Link(func(g given) (preResult, error) {
			done := make(chan struct{})
			go func() {
				defer close(done)
				panic("lost")
			}()
			<-done
			return g.right()
		})))},
		"a link keeps state": func() mistake {
			calls := 0
			return kit(`a second call with the same input`, func(g given) (preResult, error) {
				if calls++; calls%2 == 0 {
					return extensions.BlockReconcile("again"), nil
				}
				return g.right()
			})
		}(),
		"an error where a block is meant": kit(`got Error Warning CheckFailed [^\n]* want Block Warning ReconciliationBlocked`, func(g given) (preResult, error) {
			if result, _ := g.right(); result.Action() == resource.ActionBlock {
				return preResult{}, errors.New(result.Message())
			}
			return g.callNext()
		}),
		"a state word is compared with its case": kit(`block_busy`, func(g given) (preResult, error) {
			if state, _ := g.obj.StringAt("properties.state"); state == "Busy" && !extensions.Forced(g.ctx) {
				return extensions.BlockReconcile("thing is Busy"), nil
			}
			return g.callNext()
		}),
		"a request that the suite does not allow": kit(`made the requests [^\n]*want at most 0`, func(g given) (preResult, error) {
			_, _ = g.client.Get(g.ctx, g.obj.ID, "2023-01-01")
			return g.right()
		}),
		"a read without an api-version": kit(`invalid api-version ""`, func(g given) (preResult, error) {
			if _, err := g.client.Get(g.ctx, g.obj.ID, ""); err != nil {
				return preResult{}, err
			}
			return g.right()
		}),
		"a read of the zero reference": kit(`the reference names nothing`, func(g given) (preResult, error) {
			if _, err := g.resolver.Resolve(g.ctx, resource.Reference{}); err != nil {
				return preResult{}, err
			}
			return g.right()
		}),
		"a modifier returns nil": pass(`it returned no payload in ModifyARMResource`, Modifier(func(map[string]any, func() (map[string]any, error)) (map[string]any, error) { return nil, nil })),
		"a modifier sets the id of the payload": pass(`it set id of the payload in ModifyARMResource`, Modifier(func(p map[string]any, next func() (map[string]any, error)) (map[string]any, error) {
			p["id"] = peer
			return next()
		})),
		"a modifier returns what is no JSON": pass(`it returned a payload in ModifyARMResource that is not valid JSON`, Modifier(func(p map[string]any, next func() (map[string]any, error)) (map[string]any, error) {
			p["f"] = func() {}
			return next()
		})),
		"a classifier changes the error":         pass(`it changed the error in ClassifyError; change the ErrorDetails that next returns`, Renamer{}, refused),
		"an unknown retry class of a classifier": pass(`it returned the unknown retry class "Sometimes" in ClassifyError`, OddClass{}, refused),

		"a type with an api-version":       registry(`has the api-version 2023-01-01; an entry is for all versions: write "Contoso.Things/things"`, typed(thingType+"@2023-01-01")),
		"a type with a slash at its end":   registry(`begins or ends with a slash; write "Contoso.Things/things"`, typed(thingType+"/")),
		"a type with a blank":              registry(`has blanks around it; write "Contoso.Things/things"`, typed(" "+thingType)),
		"a resource ID for a type":         registry(`is the ID of one resource; write its type "Contoso.Things/things"`, typed(thing)),
		"a misspelt type":                  registry(`Armature knows no type Microsoft.Kusto/clustrs \(did you mean Microsoft.Kusto/clusters\?\)`, typed("Microsoft.Kusto/clustrs")),
		"no link":                          registry(`the entry has neither a link nor facts`, extensions.Entry{Type: thingType}),
		"a nil pointer as a link":          registry(`the link is a nil \*passtest_test.ByPointer; register a value, for example &passtest_test.ByPointer\{\}`, own((*ByPointer)(nil))),
		"a value whose methods need &":     registry(`its method PreReconcileCheck has a pointer receiver, so the value has no such method: register &passtest_test.ByPointer\{\}`, own(ByPointer{})),
		"a link without a point":           registry(`it implements no extension point`, own(NoPoint{})),
		"a wrong signature beside a point": registry(`its method PostReconcileCheck is not the one of PostReconciliationChecker and is never called`, own(OtherSignature{given.right})),
		"a misspelt method beside a point": registry(`its method PostReconcilCheck is never called \(did you mean PostReconcileCheck\?\)`, own(OtherName{given.right})),
	}
	for name, option := range map[string]struct {
		text   string
		option extensions.Option
		says   string
	}{
		"a block without a message":            {"", extensions.Option{}, `it returned a block without a message in PreReconcileCheck; state what the resource waits for`},
		"a reason of two words":                {"thing is busy", extensions.WithReason("two words"), `it returned the invalid reason "two words" in PreReconcileCheck; use one word [^\n;]*`},
		"an unknown severity in an option":     {"thing is busy", extensions.WithSeverity("Fatal"), `it returned the invalid severity "Fatal" in PreReconcileCheck; use Info, Warning or Error`},
		"an unknown retry class in an option ": {"thing is busy", extensions.WithRetry("Sometimes"), `it returned the invalid retry class "Sometimes" in PreReconcileCheck; use Fast, Slow, VerySlow or None`},
	} {
		all[strings.TrimSpace(name)] = kit(option.says, func(g given) (preResult, error) {
			if result, err := g.right(); err != nil || result.Action() != resource.ActionBlock {
				return result, err
			}
			return extensions.BlockReconcile(option.text, option.option), nil
		})
	}
	maps.Copy(all, quietMistakes())
	return all
}
