package service

import (
	"context"
	"fmt"
	"io"
	"net"
	"net/http"
	"strings"

	"github.com/armature-io/armature/config"
)

// maxReport bounds what is read of /readyz, in bytes.
const maxReport = 4 << 10

// probe asks /readyz of the worker that listens where settings say. The error
// is what is not ready.
func probe(ctx context.Context, settings config.Config, _ Options) error {
	host, err := reachable(settings.HTTP.Listen)
	if err != nil {
		return fmt.Errorf("probe worker: http.listen %q serves no health", settings.HTTP.Listen)
	}
	return askHealth(ctx, "worker", "http://"+host+"/readyz")
}

// reachable is the address at which this machine reaches what listens at
// listen: one of loopback, where that is any address.
func reachable(listen string) (string, error) {
	host, port, err := net.SplitHostPort(listen)
	if err != nil {
		return "", err
	}
	if ip := net.ParseIP(host); host == "" || ip.IsUnspecified() {
		host = "127.0.0.1"
	}
	return net.JoinHostPort(host, port), nil
}

// askHealth asks one address of this machine. The error is what it says unless
// it answers 200.
func askHealth(ctx context.Context, who, address string) error {
	ctx, cancel := context.WithTimeout(ctx, lookTimeout)
	defer cancel()
	request, err := http.NewRequestWithContext(ctx, http.MethodGet, address, http.NoBody)
	if err != nil {
		return fmt.Errorf("probe %s: %w", who, err)
	}
	response, err := http.DefaultClient.Do(request)
	if err != nil {
		return fmt.Errorf("probe %s: %w", who, err)
	}
	defer response.Body.Close()
	report, err := io.ReadAll(io.LimitReader(response.Body, maxReport))
	if err != nil {
		return fmt.Errorf("probe %s: %w", who, err)
	}
	if response.StatusCode != http.StatusOK {
		return fmt.Errorf("probe %s: it is not ready: %s", who, strings.TrimSpace(string(report)))
	}
	return nil
}
