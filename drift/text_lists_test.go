package drift_test

import (
	"strings"
	"testing"

	"github.com/armature-io/armature/drift"
	"github.com/armature-io/armature/resource"
)

// TestTextLists corrects a resource while other tools change a list of texts in it: what they
// added stays and waits, what they removed comes back, and everything else is corrected.
func TestTextLists(t *testing.T) {
	const network, app = "Microsoft.Network/virtualNetworks", "Microsoft.App/containerApps"
	prefixes := resource.ParsePaths([]string{"properties.addressSpace.addressPrefixes"})[0]
	args := resource.ParsePaths([]string{"properties.template.containers[name=a].args"})[0]
	for name, c := range map[string]struct {
		reason       string
		resourceType string // network by default
		path         resource.Path
		// stated is the manifest's list, kept what Azure showed after the last PUT ("" for
		// stated), now what it shows; want is the list of the correction. held are the items
		// that wait.
		stated, kept, now, want, held string
		refused                       bool
		// differs is set if the list itself is corrected, beside the other value.
		differs bool
		// ends is set if nothing waits after the correction.
		ends bool
	}{
		"added":             {reason: "the item stays", stated: "a b", now: "a x b", want: "a x b", held: "x"},
		"added and removed": {reason: "the missing item follows the one before it", stated: "a b c", now: "x a c", want: "x a b c", held: "x", differs: true},
		"first one removed": {reason: "without one before it, it is the first", stated: "a b", now: "x b", want: "a x b", held: "x", differs: true},
		"only theirs":       {reason: "nothing of the manifest is left", stated: "a", now: "x", want: "a x", held: "x", differs: true},
		"longer":            {reason: "two were added, one was removed", stated: "a b", now: "x b y", want: "a x b y", held: "x y", differs: true},
		"removed":           {reason: "nothing of others is there", stated: "a b c", now: "a c", want: "a b c", differs: true},
		"another order":     {reason: "nothing of others is there", stated: "a b", now: "b a", want: "a b", differs: true},
		"order and item":    {reason: "the order differs: only this list waits", stated: "a b c", now: "b a x", want: "b a x", held: "x"},
		"sorted":            {reason: "Azure sorted it after the last PUT", stated: "b a", kept: "a b", now: "a b", want: "b a"},
		"sorted and added":  {reason: "the list waits as Azure shows it", stated: "b a", kept: "a b", now: "a b x", want: "a b x", held: "x"},
		"of the service":    {reason: "the service added one by itself", stated: "a", kept: "a s", now: "a s", want: "a"},
		"its own came back": {reason: "only the manifest's was removed", stated: "a", kept: "a s", now: "s", want: "a s", held: "s", differs: true, ends: true},
		"other spelling":    {reason: "Azure keeps another spelling of an item", stated: "a b", kept: "A1 b", now: "A1 x", want: "a b x", held: "x", differs: true},
		"twice":             {reason: "no set: a value is there twice", stated: "a b", now: "a a", want: "a b", differs: true},
		"command":           {reason: "the order of arguments has a meaning: no mixture", resourceType: app, path: args, stated: "a b", now: "a x", want: "a b", differs: true},
		"longer command":    {reason: "it waits as a whole", resourceType: app, path: args, stated: "a b", now: "a x y", want: "a x y", held: "x y"},
		"refused":           {reason: "Azure refused the mixture: the list is sent as it shows it", stated: "a b", now: "a x", want: "a x", held: "x", refused: true},
	} {
		t.Run(name, func(t *testing.T) {
			opts := drift.Options{Type: network, APIVersion: "2024-05-01", Key: []byte("key"), KeepOthers: true}
			at, shell := prefixes, `{"properties":{"enableDdosProtection":%,"addressSpace":{"addressPrefixes":[]}}}`
			if c.resourceType != "" {
				opts.Type, opts.APIVersion, at = c.resourceType, "2024-03-01", c.path
				shell = `{"properties":{"template":{"containers":[{"name":"a","args":[]}],"scale":{"minReplicas":%}}}}`
			}
			made := func(value, list string) map[string]any {
				made := body(t, []byte(strings.Replace(shell, "%", value, 1)))
				var items []any
				for _, item := range strings.Fields(list) {
					items = append(items, item)
				}
				parent, _ := at[:len(at)-1].Get(made)
				parent.(map[string]any)[at[len(at)-1].Name] = items
				return made
			}
			desired, put := made("1", c.stated), opts
			put.Put, put.Sent = true, true
			kept := c.stated
			if c.kept != "" {
				kept = c.kept
			}
			opts.Baseline = stored(t, drift.NewBaseline(desired, made("1", kept), put))
			if c.refused {
				opts.Baseline = opts.Baseline.WithRefusedMixture()
			}
			opts.Hold = true
			listed := func(body map[string]any) string {
				value, _ := at.Get(body)
				return strings.Trim(strings.NewReplacer(`"`, "", ",", " ").Replace(text(value)), "[]")
			}
			check := func(now, want, held string, differs bool) drift.Sent {
				observed := made("2", now)
				found := drift.Compare(desired, observed, opts)
				if len(found.Held.Paths) != len(strings.Fields(held)) || len(found.Differences) == 0 || (len(found.Differences) > 1) != differs {
					t.Errorf("%s: held %v, want %q; differences %v", c.reason, found.Held.Paths, held, found.Differences)
				}
				for _, item := range strings.Fields(held) {
					if !strings.Contains(strings.Join(found.Held.Paths, " "), `] "`+item+`"`) {
						t.Errorf("%s: %v wait, not %s", c.reason, found.Held.Paths, item)
					}
				}
				if found.HoldsItems != (differs && held != "") {
					t.Errorf("%s: sends items of others: %t", c.reason, found.HoldsItems)
				}
				sent := drift.Body(desired, desired, observed, opts)
				if got := listed(sent.Body); got != want {
					t.Errorf("%s: the correction has %q, want %q", c.reason, got, want)
				}
				return sent
			}
			sent := check(c.now, c.want, c.held, c.differs)
			if c.held == "" {
				return
			}
			// After the correction the items still wait, unless Azure had kept them before, and the
			// list is not corrected again.
			after := opts
			after.Put, after.Sent, after.Kept = true, true, sent.Kept
			opts.Baseline = stored(t, drift.NewBaseline(desired, made("1", c.want), after))
			if c.ends {
				check(c.want, c.stated, "", false)
				return
			}
			check(c.want, c.want, c.held, false)
		})
	}
}
