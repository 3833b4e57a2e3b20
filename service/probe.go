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
	_, port, err := net.SplitHostPort(settings.HTTP.Listen)
	if err != nil {
		return fmt.Errorf("probe worker: http.listen %q serves no health", settings.HTTP.Listen)
	}
	ctx, cancel := context.WithTimeout(ctx, lookTimeout)
	defer cancel()
	request, err := http.NewRequestWithContext(ctx, http.MethodGet, "http://127.0.0.1:"+port+"/readyz", http.NoBody)
	if err != nil {
		return fmt.Errorf("probe worker: %w", err)
	}
	response, err := http.DefaultClient.Do(request)
	if err != nil {
		return fmt.Errorf("probe worker: %w", err)
	}
	defer response.Body.Close()
	report, err := io.ReadAll(io.LimitReader(response.Body, maxReport))
	if err != nil {
		return fmt.Errorf("probe worker: %w", err)
	}
	if response.StatusCode != http.StatusOK {
		return fmt.Errorf("probe worker: it is not ready: %s", strings.TrimSpace(string(report)))
	}
	return nil
}
