package service

import (
	"crypto/tls"
	"crypto/x509"
	"errors"
	"fmt"
	"net"
	"net/http"
	"os"
)

// codecTLS returns the TLS configuration of a server, nil without files. It reads the files at each
// connection, so that a renewed certificate needs no restart; the first read is here, so
// that a wrong file ends the start.
func codecTLS(certificate, key string) (*tls.Config, error) {
	if certificate == "" {
		return nil, nil //nolint:nilnil // a server without TLS
	}
	load := func(*tls.ClientHelloInfo) (*tls.Certificate, error) {
		pair, err := tls.LoadX509KeyPair(certificate, key)
		return &pair, err
	}
	if _, err := load(nil); err != nil {
		return nil, fmt.Errorf("read --tls-cert and --tls-key: %w", err)
	}
	return &tls.Config{MinVersion: tls.VersionTLS12, GetCertificate: load}, nil
}

// probeClient returns a client that accepts the certificate of a file and no other,
// whatever name the probe uses for this machine.
func probeClient(certificate string) (*http.Client, error) {
	data, err := os.ReadFile(certificate)
	if err != nil {
		return nil, fmt.Errorf("read --tls-cert: %w", err)
	}
	roots := x509.NewCertPool()
	if !roots.AppendCertsFromPEM(data) {
		return nil, errors.New("read --tls-cert: no certificate in the file")
	}
	config := &tls.Config{
		MinVersion: tls.VersionTLS12, RootCAs: roots,
		InsecureSkipVerify: true, //nolint:gosec // the name differs; VerifyConnection checks the rest
		VerifyConnection: func(state tls.ConnectionState) error {
			_, err := state.PeerCertificates[0].Verify(x509.VerifyOptions{Roots: roots})
			return err
		},
	}
	dialer := net.Dialer{Timeout: checkTimeout}
	return &http.Client{Transport: &http.Transport{TLSClientConfig: config, DialContext: dialer.DialContext}}, nil
}
