package config

import (
	"net/url"
	"path/filepath"
	"time"
)

// Audit configures where the audit trail goes. Without a destination, there is none.
type Audit struct {
	// Stdout writes lines to standard output, File appends them to a file, URL sends them
	// to an HTTPS endpoint and OTLP to an OpenTelemetry collector; "" is none.
	Stdout bool
	File   string
	URL    string
	OTLP   string `mapstructure:"otlp"`
	// Fsync makes each line of File reach the disk before the write that it announces.
	Fsync bool
	// Token is the bearer token for URL.
	Token Reference
	// Spill is a file that keeps the lines for URL until they are sent, of at most
	// SpillMegabytes; "" keeps them in memory.
	Spill          string
	SpillMegabytes int `mapstructure:"spill-megabytes"`
	// OnFailure is AuditStop or AuditContinue; Timeout is how long a write waits for its
	// line.
	OnFailure string `mapstructure:"on-failure"`
	Timeout   time.Duration
}

// What audit.on-failure may be.
const (
	AuditStop     = "stop"
	AuditContinue = "continue"
)

// IsOn reports whether there is an audit trail.
func (a Audit) IsOn() bool { return a.Stdout || a.File != "" || a.URL != "" || a.OTLP != "" }

// check checks the section.
func (a Audit) check(p *problems) {
	p.oneOf("audit.on-failure", a.OnFailure, AuditStop, AuditContinue)
	p.require(a.Timeout >= time.Second && a.Timeout <= 30*time.Second, "audit.timeout", "must be 1s to 30s, not %s", a.Timeout)
	p.require(a.SpillMegabytes >= 1, "audit.spill-megabytes", "must be at least 1, not %d", a.SpillMegabytes)
	p.require(a.Spill == "" || a.URL != "", "audit.spill", "keeps the lines for audit.url, which is empty")
	p.require(a.Token == "" || a.URL != "", "audit.token", "is for audit.url, which is empty")
	checkAuditPath(p, "audit.file", a.File)
	checkAuditPath(p, "audit.spill", a.Spill)
	checkAuditURL(p, "audit.url", a.URL, loopback(a.URL))
	checkAuditURL(p, "audit.otlp", a.OTLP, true)
}

func checkAuditPath(p *problems, key, path string) {
	p.require(path == "" || filepath.IsAbs(path), key, "must be an absolute path, not %q", path)
}

// checkAuditURL checks an address; plain allows one without TLS.
func checkAuditURL(p *problems, key, address string, plain bool) {
	if address == "" {
		return
	}
	u, err := url.Parse(address)
	switch {
	case err != nil || u.Host == "" || u.User != nil:
		p.add(key, "must be a URL without a password in it: https://host/path")
	case u.Scheme != "https" && (u.Scheme != "http" || !plain):
		p.add(key, "must begin with https://")
	}
}
