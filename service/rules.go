package service

import (
	"context"
	"log/slog"

	"github.com/armature-io/armature/config"
	"github.com/armature-io/armature/extensions"
	"github.com/armature-io/armature/extensions/rules"
)

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
