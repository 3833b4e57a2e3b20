package service

import (
	"context"
	"log/slog"

	"github.com/armature-io/armature/config"
	"github.com/armature-io/armature/extensions"
	"github.com/armature-io/armature/extensions/rules"
)

// withRules adds the rules of the configuration behind the extensions: in a
// chain they speak after those. A fault in a rule file refuses the worker.
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
