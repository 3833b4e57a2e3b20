package main

import (
	"context"
	"crypto/tls"
	"crypto/x509"
	"errors"
	"fmt"
	"net"
	"net/http"
	"os"
	"time"

	"github.com/armature-io/armature/armsim"
)

const probeTimeout = 5 * time.Second

// probe checks whether a simulator that was started with the same flags is serving, so
// that the health check of a container needs no other program.
func probe(ctx context.Context, o armsim.ListenOptions) error {
	_, port, err := net.SplitHostPort(o.Address)
	if err != nil {
		return fmt.Errorf("read address %q: %w", o.Address, err)
	}
	url := "http://localhost:" + port + "/_sim/health"
	transport := &http.Transport{}
	defer transport.CloseIdleConnections()
	if o.TLS {
		url = "https://localhost:" + port + "/_sim/health"
		file := o.CAFile
		if file == "" {
			file = o.CertificateFile // a certificate is trusted as its own CA
		}
		pem, err := os.ReadFile(file)
		if err != nil {
			return fmt.Errorf("read CA: %w", err)
		}
		roots := x509.NewCertPool()
		if !roots.AppendCertsFromPEM(pem) {
			return errors.New("read CA: " + file + " contains no certificate")
		}
		transport.TLSClientConfig = &tls.Config{RootCAs: roots, MinVersion: tls.VersionTLS12}
	}
	request, err := http.NewRequestWithContext(ctx, http.MethodGet, url, nil)
	if err != nil {
		return fmt.Errorf("probe %s: %w", url, err)
	}
	response, err := (&http.Client{Transport: transport, Timeout: probeTimeout}).Do(request)
	if err != nil {
		return fmt.Errorf("probe %s: %w", url, err)
	}
	defer func() { _ = response.Body.Close() }() // nothing left to read
	if response.StatusCode != http.StatusOK {
		return fmt.Errorf("probe %s: unexpected status %s", url, response.Status)
	}
	return nil
}
