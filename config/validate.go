package config

import (
	"errors"
	"fmt"
	"maps"
	"net"
	"net/netip"
	"net/url"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"time"
)

var (
	guid      = regexp.MustCompile(`^[0-9a-fA-F]{8}(-[0-9a-fA-F]{4}){3}-[0-9a-fA-F]{12}$`)
	envName   = regexp.MustCompile(`^[A-Za-z_][A-Za-z0-9_]*$`)
	queueName = regexp.MustCompile(`^[^\s[:cntrl:]]{1,255}$`)
)

// Validate returns every fault of form or safety, one a line, or nil. It reads
// nothing but the environment's AZURE_* names.
func (c Config) Validate() error { return errors.Join(c.faults()...) }

func (c Config) faults() []error {
	f := &faults{}
	f.unless(queueName.MatchString(c.TaskQueue), "task-queue", "want 1 to 255 characters without spaces, not %q", c.TaskQueue)
	f.oneOf("log.level", c.Log.Level, "debug", "info", "warn", "error")
	f.oneOf("log.format", c.Log.Format, "json", "text")
	if c.HTTP.Listen != "" {
		_, port, err := net.SplitHostPort(c.HTTP.Listen)
		if err == nil {
			_, err = net.LookupPort("tcp", port)
		}
		f.unless(err == nil, "http.listen", "want host:port, not %q", c.HTTP.Listen)
	}
	f.unless(c.RereadWindow > 0 && c.RereadWindow <= 10*time.Minute, "reread-window", "want more than 0s, at most 10m, not %s", c.RereadWindow)
	f.unless(c.StopTimeout > 0 && c.StopTimeout <= time.Hour, "stop-timeout", "want more than 0s, at most 1h, not %s", c.StopTimeout)
	f.unless(c.PutBudget >= 0, "put-budget", "want 0 for no bound, or a number of PUTs an hour, not %d", c.PutBudget)
	f.unless(c.WorkflowCache >= 1, "workflow-cache", "want how many resources to keep in memory, at least 1, not %d", c.WorkflowCache)
	f.unless(c.OverdueAfter >= 0, "overdue-after", "want 0 for never, or a duration, not %s", c.OverdueAfter)
	f.unless(c.Rules.Reload == 0 || c.Rules.Reload >= time.Second && c.Rules.Reload <= time.Hour, "rules.reload", "want 0s, or 1s to 1h, not %s", c.Rules.Reload)
	c.credentials(f)
	c.Secrets.check(f)
	c.references(f)
	return f.list
}

// references checks the form of the worker's own secrets, and that no manifest
// can name them.
func (c Config) references(f *faults) {
	own := map[string]Reference{"mask-key": c.MaskKey}
	for prefix, identity := range c.identities() {
		own[prefix+"client-secret"] = identity.ClientSecret
		own[prefix+"certificate-password"] = identity.CertificatePassword
		for key, path := range map[string]string{"certificate": identity.Certificate, "token-file": identity.TokenFile} {
			if path != "" && Reference(fileScheme+path).readableBy(c.Secrets) {
				f.add(prefix+key, "%s lies where manifests may read ($secret): move it out of secrets.dir", path)
			}
		}
	}
	for _, name := range slices.Sorted(maps.Keys(own)) {
		reference := own[name]
		if reference == "" {
			continue
		}
		if reference.variable() == "" && reference.file() == "" {
			f.add(name, "%w", errNoReference)
			continue
		}
		if reference.readableBy(c.Secrets) {
			f.add(name, "%s lies where manifests may read ($secret): move it out of secrets.env-prefix and secrets.dir", reference)
		}
	}
}

func checkAddress(f *faults, name, value string) {
	parsed, err := url.Parse(value)
	if err != nil || parsed.Host == "" || (parsed.Scheme != "https" && parsed.Scheme != "http") {
		f.add(name, "want https://host[:port], not %q", value)
		return
	}
	if parsed.User != nil || parsed.RawQuery != "" || parsed.Fragment != "" || strings.Trim(parsed.Path, "/") != "" {
		f.add(name, "want scheme, host and port only")
		return
	}
	f.unless(parsed.Scheme == "https" || loopback(value), name, "plain HTTP is allowed to this machine (loopback) only, not to %s", parsed.Host)
}

// loopback tells whether a URL's host is this machine.
func loopback(address string) bool {
	parsed, err := url.Parse(address)
	if err != nil {
		return false
	}
	host := parsed.Hostname()
	if strings.EqualFold(host, "localhost") {
		return true
	}
	ip, err := netip.ParseAddr(host)
	return err == nil && ip.IsLoopback()
}

func first(values ...string) string {
	for _, value := range values {
		if value != "" {
			return value
		}
	}
	return ""
}

// check keeps the allow-list from covering the worker's own credentials.
func (s Secrets) check(f *faults) {
	if s.EnvPrefix != "" {
		f.unless(envName.MatchString(s.EnvPrefix) && strings.HasSuffix(s.EnvPrefix, "_"), "secrets.env-prefix",
			"want a variable name that ends with an underscore, not %q", s.EnvPrefix)
		for _, name := range append([]string{"AZURE_", "TEMPORAL_"}, Variables()...) {
			if strings.HasPrefix(name, s.EnvPrefix) || strings.HasPrefix(s.EnvPrefix, name) {
				f.add("secrets.env-prefix", "%q would let manifests read %s*, which is the worker's own", s.EnvPrefix, name)
				break
			}
		}
	}
	if s.Dir != "" {
		f.unless(filepath.IsAbs(s.Dir) && filepath.Clean(s.Dir) != "/", "secrets.dir", "want the absolute path of a folder below /, not %q", s.Dir)
	}
}

// faults collects what is wrong, each with its key.
type faults struct{ list []error }

func (f *faults) add(key, format string, values ...any) {
	f.list = append(f.list, fmt.Errorf(key+": "+format, values...))
}

func (f *faults) unless(ok bool, key, format string, values ...any) {
	if !ok {
		f.add(key, format, values...)
	}
}

func (f *faults) oneOf(key, value string, allowed ...string) {
	f.unless(slices.Contains(allowed, value), key, "want one of %s, not %q", strings.Join(allowed, ", "), value)
}
