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

// maxReportBytes bounds the body that is read from /readyz.
const maxReportBytes = 4 << 10

// probe requests /readyz from the worker that listens at the address of the settings.
// The error contains what is not ready.
func probe(ctx context.Context, settings config.Config, _ Options) error {
	host, err := localAddress(settings.HTTP.Listen)
	if err != nil {
		return fmt.Errorf("probe worker: http.listen %q is not host:port, so the worker has no health server", settings.HTTP.Listen)
	}
	return checkHealth(ctx, http.DefaultClient, "worker", "http://"+host+"/readyz")
}

// localAddress returns the address at which this machine reaches a server that listens
// at listen: the loopback address if the server listens at any address.
func localAddress(listen string) (string, error) {
	host, port, err := net.SplitHostPort(listen)
	if err != nil {
		return "", err
	}
	if ip := net.ParseIP(host); host == "" || ip.IsUnspecified() {
		host = "127.0.0.1"
	}
	return net.JoinHostPort(host, port), nil
}

// checkHealth requests a health URL. The error contains the response unless its status
// is 200. The name of the server is for errors.
func checkHealth(ctx context.Context, client *http.Client, name, url string) error {
	ctx, cancel := context.WithTimeout(ctx, checkTimeout)
	defer cancel()
	request, err := http.NewRequestWithContext(ctx, http.MethodGet, url, http.NoBody)
	if err != nil {
		return fmt.Errorf("probe %s: %w", name, err)
	}
	response, err := client.Do(request)
	if err != nil {
		return fmt.Errorf("probe %s: %w", name, err)
	}
	defer response.Body.Close()
	report, err := io.ReadAll(io.LimitReader(response.Body, maxReportBytes))
	if err != nil {
		return fmt.Errorf("probe %s: %w", name, err)
	}
	if response.StatusCode != http.StatusOK {
		return fmt.Errorf("probe %s: not ready: %s", name, strings.TrimSpace(string(report)))
	}
	return nil
}
