package config

import (
	"net/url"
	"path/filepath"
	"time"
)

// Audit configures where the audit trail goes. Without a destination, there is none.
type Audit struct {
	// Stdout writes lines to standard output, File appends them to a file, URL sends them
	// to an HTTPS endpoint; "" is none.
	Stdout bool
	File   string
	URL    string
	// Fsync makes each line of File reach the disk before the write that it announces.
	Fsync bool
	// Token is the bearer token for URL.
	Token Reference
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
func (a Audit) IsOn() bool { return a.Stdout || a.File != "" || a.URL != "" }

// check checks the section.
func (a Audit) check(p *problems) {
	p.oneOf("audit.on-failure", a.OnFailure, AuditStop, AuditContinue)
	p.require(a.Timeout >= time.Second && a.Timeout <= 30*time.Second, "audit.timeout", "must be 1s to 30s, not %s", a.Timeout)
	p.require(a.Token == "" || a.URL != "", "audit.token", "is for audit.url, which is empty")
	p.require(a.File == "" || filepath.IsAbs(a.File), "audit.file", "must be an absolute path, not %q", a.File)
	checkAuditURL(p, a.URL)
}

// checkAuditURL checks the endpoint. HTTP without TLS is for this machine only.
func checkAuditURL(p *problems, address string) {
	if address == "" {
		return
	}
	u, err := url.Parse(address)
	switch {
	case err != nil || u.Host == "" || u.User != nil:
		p.add("audit.url", "must be a URL without a password in it: https://host/path")
	case u.Scheme != "https" && (u.Scheme != "http" || !loopback(address)):
		p.add("audit.url", "must begin with https://")
	}
}
