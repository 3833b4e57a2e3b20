package service

import (
	"log/slog"
	"strings"
	"testing"

	"go.temporal.io/api/serviceerror"
)

// TestQuietPolls checks that lines keep their attributes and groups, and that warnings
// about an unreachable server are dropped.
func TestQuietPolls(t *testing.T) {
	t.Parallel()
	var out strings.Builder
	log := slog.New(quietPolls{Handler: slog.NewTextHandler(&out, &slog.HandlerOptions{ReplaceAttr: func(groups []string, a slog.Attr) slog.Attr {
		if a.Key == slog.TimeKey {
			return slog.Attr{}
		}
		return a
	}})})
	run := log.With("workflow", "w").With("run", "r")
	other := run.With("attempt", 1)
	run.WithGroup("armature").With("id", "/x").Info("grouped")
	other.Info("plain", "more", true)
	run.Warn("poll", "error", serviceerror.NewUnavailable("gone"))
	want := "level=INFO msg=grouped workflow=w run=r armature.id=/x\nlevel=INFO msg=plain workflow=w run=r attempt=1 more=true\n"
	if out.String() != want {
		t.Errorf("got\n%swant\n%s", out.String(), want)
	}
}
