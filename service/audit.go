package service

import (
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net/http"
	"time"

	"github.com/armature-io/armature/arm"
	"github.com/armature-io/armature/config"
	"github.com/armature-io/armature/internal/audit"
)

// maxAuditClose is how long the end of a worker waits for lines that are not written yet.
const maxAuditClose = 10 * time.Second

// newJournal returns the audit trail of a worker, nil for none.
func newJournal(settings config.Audit, stdout io.Writer, metrics *metrics, log *slog.Logger) (*audit.Journal, error) {
	if !settings.IsOn() || metrics == nil {
		return nil, nil //nolint:nilnil // there is none by default
	}
	var sinks []audit.Sink
	var problems []error
	add := func(key string, sink audit.Sink, err error) {
		if err != nil {
			problems = append(problems, fmt.Errorf("%s: %w", key, err))
			return
		}
		sinks = append(sinks, sink)
	}
	if settings.Stdout {
		add("audit.stdout", audit.NewStream(stdout), nil)
	}
	if settings.File != "" {
		sink, err := audit.OpenFile(settings.File, settings.Fsync)
		add("audit.file", sink, err)
	}
	if settings.URL != "" {
		sink, err := newEndpoint(settings)
		add("audit.url", sink, err)
	}
	if err := errors.Join(problems...); err != nil {
		for _, sink := range sinks {
			_ = sink.Close() // nothing was written
		}
		return nil, err
	}
	journal := audit.New(audit.Options{
		Timeout: settings.Timeout, LetWrite: settings.OnFailure == config.AuditContinue, Log: log, Count: metrics.countAudit,
	}, sinks...)
	metrics.observeAudit(journal)
	return journal, nil
}

// newEndpoint returns the sink for audit.url.
func newEndpoint(settings config.Audit) (audit.Sink, error) {
	var token func() (string, error)
	if settings.Token != "" {
		if _, err := settings.Token.Read(); err != nil {
			return nil, err
		}
		token = settings.Token.Read
	}
	return audit.NewEndpoint(settings.URL, &http.Client{Timeout: 30 * time.Second}, token) //nolint:wrapcheck // the caller names the setting
}

// journalOf returns the hook of the ARM client for an audit trail, nil without one.
func journalOf(journal *audit.Journal, write arm.Journal) arm.Journal {
	if !journal.IsOn() {
		return nil
	}
	return write
}

// closeJournal writes what is pending.
func closeJournal(journal *audit.Journal) {
	ctx, cancel := context.WithTimeout(context.Background(), maxAuditClose)
	defer cancel()
	journal.Close(ctx)
}
