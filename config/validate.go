package config

import (
	"errors"
	"fmt"
	"net"
	"net/netip"
	"net/url"
	"regexp"
	"slices"
	"strings"
	"time"
)

var (
	guidPattern      = regexp.MustCompile(`^[0-9a-fA-F]{8}(-[0-9a-fA-F]{4}){3}-[0-9a-fA-F]{12}$`)
	envNamePattern   = regexp.MustCompile(`^[A-Za-z_][A-Za-z0-9_]*$`)
	userAgentPattern = regexp.MustCompile(`^[A-Za-z0-9./_() -]{0,64}$`)
	startNamePattern = regexp.MustCompile(`^[A-Za-z0-9._:-]{0,64}$`)
	observePattern   = regexp.MustCompile(`^\s*[^\s=!;,'"\\]+=([^=;,'"\\][^;,'"\\]*)?(,\s*[^\s=!;,'"\\]+=([^=;,'"\\][^;,'"\\]*)?)*$`)
	queueNamePattern = regexp.MustCompile(`^[^\s[:cntrl:]]{1,255}$`)
)

// Validate returns every problem of form or safety, one per line, or nil. It reads
// nothing but the environment's AZURE_* names.
func (c Config) Validate() error { return c.problems().err() }

func (c Config) problems() problems {
	p := &problems{}
	p.require(queueNamePattern.MatchString(c.TaskQueue), "task-queue", "must be 1 to 255 characters without spaces, not %q", c.TaskQueue)
	p.oneOf("log.level", c.Log.Level, "debug", "info", "warn", "error")
	p.oneOf("log.format", c.Log.Format, "json", "text")
	if c.HTTP.Listen != "" {
		_, port, err := net.SplitHostPort(c.HTTP.Listen)
		if err == nil {
			_, err = net.LookupPort("tcp", port)
		}
		p.require(err == nil, "http.listen", "must be host:port, not %q", c.HTTP.Listen)
	}
	p.require(c.Metrics.Interval == 0 || c.Metrics.Interval >= minMetricsInterval, "metrics.interval", "must be 0s, or at least %s, not %s", minMetricsInterval, c.Metrics.Interval)
	p.require(!strings.ContainsAny(c.Metrics.Label, "=,' "), "metrics.label", "must be the name of a label, not %q", c.Metrics.Label)
	p.require(c.RereadWindow > 0 && c.RereadWindow <= 10*time.Minute, "reread-window", "must be more than 0s and at most 10m, not %s", c.RereadWindow)
	p.require(c.SettleTime > 0 && c.SettleTime <= 24*time.Hour, "settle-time", "must be more than 0s and at most 24h, not %s", c.SettleTime)
	p.require(c.StopTimeout > 0 && c.StopTimeout <= time.Hour, "stop-timeout", "must be more than 0s and at most 1h, not %s", c.StopTimeout)
	p.require(c.DisappearanceBudget >= 0, "disappearance-budget", "must be a number of PUTs per hour, or 0 for unlimited, not %d", c.DisappearanceBudget)
	p.require(c.PutBudget >= 0, "put-budget", "must be a number of PUTs per hour, or 0 for unlimited, not %d", c.PutBudget)
	p.require(c.Azure.BudgetShare > 0 && c.Azure.BudgetShare <= 1, "azure.budget-share", "must be a number above 0 and at most 1, not %v", c.Azure.BudgetShare)
	p.require(userAgentPattern.MatchString(c.Azure.UserAgentSuffix), "azure.user-agent-suffix",
		"must have at most 64 letters, digits, spaces and the characters ./_-(), not %q", c.Azure.UserAgentSuffix)
	p.require(c.WorkflowCache >= 1, "workflow-cache", "must be at least 1 resource, not %d", c.WorkflowCache)
	c.Worker.check(p)
	p.require(c.OverdueAfter >= 0, "overdue-after", "must be a duration, or 0 for never, not %s", c.OverdueAfter)
	c.fence(p)
	p.require(c.Observe.isValid(), "observe", "must be true, or selectors key=value,key=value separated by semicolons, not %q", string(c.Observe))
	p.require(startNamePattern.MatchString(string(c.StartFrozen)), "start-frozen", "must be true, or a name of at most 64 letters, digits and the characters . _ : -, not %q", c.StartFrozen)
	p.require(c.Rules.Reload == 0 || c.Rules.Reload >= time.Second && c.Rules.Reload <= time.Hour, "rules.reload", "must be 0s, or 1s to 1h, not %s", c.Rules.Reload)
	p.require(c.Signing.MaxAge >= 0, "signing.max-age", "must be a duration, or 0 for ever, not %s", c.Signing.MaxAge)
	p.oneOf("signing.mode", c.Signing.Mode, SigningRequire, SigningWarn)
	c.feed(p)
	c.Audit.check(p)
	c.Callers.check(p)
	c.credentials(p)
	c.secrets(p)
	c.exports(p)
	c.references(p)
	return *p
}

// isValid reports whether the setting has its form.
func (o Observe) isValid() bool {
	return o == "" || o == ObserveAll ||
		!slices.ContainsFunc(strings.Split(string(o), ";"), func(selector string) bool { return !observePattern.MatchString(selector) })
}

// minMetricsInterval is the shortest time between two counts: each is a list.
const minMetricsInterval = 5 * time.Second

// fence checks the generation fence.
func (c Config) fence(p *problems) {
	p.oneOf("generation-fence", c.GenerationFence, FenceOff, FenceBlob)
	const key = "generation-fence-container"
	if c.GenerationFence != FenceBlob {
		p.require(c.FenceContainer == "", key, "allowed with generation-fence blob only")
		return
	}
	container, err := url.Parse(c.FenceContainer)
	if err != nil || container.Host == "" || strings.Trim(container.Path, "/") == "" || container.RawQuery != "" || container.Fragment != "" || container.User != nil {
		p.add(key, "must be the URL of a blob container, https://ACCOUNT.blob.core.windows.net/CONTAINER, without a token in it")
		return
	}
	p.require(container.Scheme == "https" || container.Scheme == "http" && loopback(c.FenceContainer), key, "must begin with https://")
	p.require(c.Azure.Credential != CredentialNone || loopback(c.FenceContainer), key, "needs an azure.credential other than none")
}

// checkAddress checks the URL of an endpoint or authority host.
func checkAddress(p *problems, key, value string) {
	parsed, err := url.Parse(value)
	if err != nil || parsed.Host == "" || (parsed.Scheme != "https" && parsed.Scheme != "http") {
		p.add(key, "must be https://host[:port], not %q", value)
		return
	}
	if parsed.User != nil || parsed.RawQuery != "" || parsed.Fragment != "" || strings.Trim(parsed.Path, "/") != "" {
		p.add(key, "must have scheme, host and port only")
		return
	}
	p.require(parsed.Scheme == "https" || loopback(value), key, "plain HTTP is allowed to this machine (loopback) only, not to %s", parsed.Host)
}

// loopback reports whether a URL's host is this machine.
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

// problem is an invalid value and its key.
type problem struct {
	key string
	err error
}

// problems collects all of them, so that one run reports them at once.
type problems []problem

func (p *problems) add(key, format string, values ...any) {
	*p = append(*p, problem{key, fmt.Errorf(key+": "+format, values...)})
}

// require adds a problem unless ok.
func (p *problems) require(ok bool, key, format string, values ...any) {
	if !ok {
		p.add(key, format, values...)
	}
}

// oneOf adds a problem unless the value is allowed.
func (p *problems) oneOf(key, value string, allowed ...string) {
	p.require(slices.Contains(allowed, value), key, "must be one of %s, not %q", strings.Join(allowed, ", "), value)
}

// without returns the problems of other keys.
func (p problems) without(keys []string) problems {
	return slices.DeleteFunc(p, func(problem problem) bool { return slices.Contains(keys, problem.key) })
}

// err returns the problems, one per line, or nil.
func (p problems) err() error {
	var errs []error
	for _, problem := range p {
		errs = append(errs, problem.err)
	}
	return errors.Join(errs...)
}
