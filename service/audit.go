package service

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net/http"
	"os"
	"time"

	"github.com/armature-io/armature/arm"
	"github.com/armature-io/armature/audit"
	"github.com/armature-io/armature/config"
	"github.com/armature-io/armature/internal/tracing/otlp"
)

// maxAuditClose is how long the end of a worker waits for lines that are not written yet.
const maxAuditClose = 10 * time.Second

// newJournal returns the audit trail of a worker, nil for none.
func newJournal(settings config.Audit, version string, stdout io.Writer, metrics *metrics, log *slog.Logger) (*audit.Journal, error) {
	if !settings.IsOn() || metrics == nil {
		return nil, nil //nolint:nilnil // there is none by default
	}
	client := &http.Client{Timeout: 30 * time.Second}
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
		sink, err := newEndpoint(settings, client, metrics, log)
		add("audit.url", sink, err)
	}
	if settings.OTLP != "" {
		sink, err := newCollector(settings.OTLP, version, client)
		add("audit.otlp", sink, err)
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

// newEndpoint returns the sink for audit.url, behind its spill file where there is one.
func newEndpoint(settings config.Audit, client *http.Client, metrics *metrics, log *slog.Logger) (audit.Sink, error) {
	var token func() (string, error)
	if settings.Token != "" {
		if _, err := settings.Token.Read(); err != nil {
			return nil, err
		}
		token = settings.Token.Read
	}
	endpoint, err := audit.NewEndpoint(settings.URL, client, token)
	if err != nil || settings.Spill == "" {
		return endpoint, err
	}
	spill, err := audit.NewSpill(settings.Spill, int64(settings.SpillMegabytes)<<20, endpoint, func(err error) {
		if refused, isRefused := errors.AsType[*audit.RefusedError](err); isRefused {
			refused.Report(log, metrics.countAudit, endpoint.Name())
			return
		}
		metrics.countAudit(endpoint.Name(), audit.OutcomeFailed, 1)
		log.Warn("cannot send audit lines; they stay in audit.spill and are tried again", "error", err)
	})
	if err != nil {
		return nil, err //nolint:wrapcheck // the caller names the setting
	}
	metrics.observeSpill(spill.Unsent)
	return spill, nil
}

// newCollector returns the sink for audit.otlp, with the headers that the standard variables
// of OpenTelemetry state.
func newCollector(target, version string, client *http.Client) (audit.Sink, error) {
	headers, err := otlp.Headers(cmp.Or(os.Getenv("OTEL_EXPORTER_OTLP_LOGS_HEADERS"), os.Getenv("OTEL_EXPORTER_OTLP_HEADERS")))
	if err != nil {
		return nil, fmt.Errorf("OTEL_EXPORTER_OTLP_HEADERS: %w", err)
	}
	return audit.NewCollector(target, version, client, headers) //nolint:wrapcheck // the caller names the setting
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
