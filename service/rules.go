package service

import (
	"context"
	"log/slog"
	"strings"

	"github.com/armature-io/armature/activities"
	"github.com/armature-io/armature/config"
	"github.com/armature-io/armature/extensions"
	builtin "github.com/armature-io/armature/extensions/azure"
	"github.com/armature-io/armature/extensions/rules"
	"github.com/armature-io/armature/internal/extensionhost"
)

// entries returns the extensions of a worker, without rules.
func (o Options) entries() []extensions.Entry {
	if o.WithoutBuiltIn {
		return o.Extensions
	}
	return append(builtin.BuiltIn(), o.Extensions...)
}

// withRules appends the rules of the configuration to the extensions, so that they run
// last in a chain. It returns a nil set without rules. An invalid rule file prevents the
// start of the worker.
func withRules(ctx context.Context, settings config.Rules, entries []extensions.Entry, log *slog.Logger) ([]extensions.Entry, *rules.Set, error) {
	if settings.Path == "" {
		return entries, nil, nil
	}
	set, warnings, err := rules.Load(settings.Path)
	rules.Warn(ctx, log, warnings)
	if err != nil {
		return entries, nil, err
	}
	log.InfoContext(ctx, "rules loaded", "path", settings.Path, "rules", set.Len())
	return append(entries[:len(entries):len(entries)], set.Entry()), set, nil
}

// builtInPackage is the package of the extensions that come with Armature.
const builtInPackage = "github.com/armature-io/armature/extensions/azure"

// logExtensions logs the links and rules that do not come with Armature, and what is
// probably a mistake in them.
func logExtensions(ctx context.Context, registry *extensionhost.Registry, log *slog.Logger) {
	builtIn := 0
	for _, link := range registry.List() {
		if link.Package == builtInPackage || link.Name == "" {
			builtIn++
			continue
		}
		log.InfoContext(ctx, "extension registered", "name", link.Name, "type", link.Type, "points", strings.Join(link.Points, ","))
	}
	log.InfoContext(ctx, "built-in extensions registered", "entries", builtIn)
	for _, text := range registry.Warnings() {
		log.WarnContext(ctx, "extension may never apply", "issue", text)
	}
}

// rulesState returns the state of the rules for activities, health and metrics, nil without
// rules.
func rulesState(set *rules.Set) func() activities.RulesState {
	if set == nil {
		return nil
	}
	return func() activities.RulesState {
		return activities.RulesState{Path: set.Path(), Count: set.Len(), Err: set.Err()}
	}
}
