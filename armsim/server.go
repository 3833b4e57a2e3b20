package armsim

import (
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/tls"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/pem"
	"errors"
	"fmt"
	"math/big"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"time"
)

// ListenOptions configures a Server. The zero value serves plain HTTP on a free
// loopback port.
type ListenOptions struct {
	// Address is host:port; empty means 127.0.0.1:0.
	Address string
	// TLS serves HTTPS, with a certificate of a CA made for this server unless
	// CertificateFile is set.
	TLS bool
	// CertificateFile and KeyFile are a certificate and its key in PEM, for clients that
	// trust its CA already. Both are set, or neither.
	CertificateFile, KeyFile string
	// CAFile is the file to which the CA is written in PEM; empty keeps the CA in
	// memory only.
	CAFile string
	// Hosts are further names in the certificate, besides the loopback names.
	Hosts []string
	// AllowRemote permits an address beyond loopback. Any client that reaches the port
	// controls the simulator through the control API.
	AllowRemote bool
}

// Server serves a simulator on a port.
type Server struct {
	simulator *Simulator
	http      *http.Server
	address   string
	tls       bool
	caFile    string
	ca        []byte
	done      chan error
}

// Listen serves the simulator until Close. The CA file is complete when it returns.
func (s *Simulator) Listen(o ListenOptions) (*Server, error) {
	if o.Address == "" {
		o.Address = "127.0.0.1:0"
	}
	if err := checkAddress(o); err != nil {
		return nil, err
	}
	server := &Server{simulator: s, tls: o.TLS, caFile: o.CAFile, done: make(chan error, 1)}
	server.http = &http.Server{Handler: s, ReadHeaderTimeout: time.Minute}
	listener, err := net.Listen("tcp", o.Address)
	if err != nil {
		return nil, fmt.Errorf("listen on %s: %w", o.Address, err)
	}
	server.address = listener.Addr().String()
	if o.TLS {
		if listener, err = server.secure(listener, o); err != nil {
			return nil, err
		}
	}
	go func() {
		err := server.http.Serve(listener)
		if errors.Is(err, http.ErrServerClosed) {
			err = nil
		}
		server.done <- err
	}()
	return server, nil
}

func checkAddress(o ListenOptions) error {
	host, _, err := net.SplitHostPort(o.Address)
	if err != nil {
		return fmt.Errorf("read address %q: %w", o.Address, err)
	}
	ip := net.ParseIP(host)
	if o.AllowRemote || host == "localhost" || ip != nil && ip.IsLoopback() {
		return nil
	}
	return fmt.Errorf("listen on %s: not a loopback address; set AllowRemote to let any client that reaches the port control the simulator", o.Address)
}

// secure wraps the listener in TLS and writes the CA file. It offers HTTP/1.1 only,
// because a fault that closes one connection must not affect other requests.
func (s *Server) secure(listener net.Listener, o ListenOptions) (net.Listener, error) {
	certificate, ca, err := serverCertificate(o)
	if err == nil && o.CAFile != "" {
		err = writeFileAtomically(o.CAFile, ca)
	}
	if err != nil {
		return nil, errors.Join(err, listener.Close())
	}
	s.ca = ca
	return tls.NewListener(listener, &tls.Config{
		Certificates: []tls.Certificate{certificate}, MinVersion: tls.VersionTLS12, NextProtos: []string{"http/1.1"},
	}), nil
}

// serverCertificate returns the certificate of the options with the CA that clients trust
// in PEM, nil for a certificate from a file.
func serverCertificate(o ListenOptions) (certificate tls.Certificate, ca []byte, err error) {
	if o.CertificateFile == "" && o.KeyFile == "" {
		return newCertificate(o.Hosts)
	}
	if o.CAFile != "" {
		return certificate, nil, errors.New("serve HTTPS: with a certificate of its own the server has no CA to write: leave the CA file out")
	}
	if certificate, err = tls.LoadX509KeyPair(o.CertificateFile, o.KeyFile); err != nil {
		return certificate, nil, fmt.Errorf("read certificate: %w", err)
	}
	return certificate, nil, nil
}

// writeFileAtomically writes a file so that a reader never sees half of it.
func writeFileAtomically(path string, data []byte) error {
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		return fmt.Errorf("make folder of %s: %w", path, err)
	}
	temporary := path + ".tmp"
	if err := os.WriteFile(temporary, data, 0o644); err != nil {
		return fmt.Errorf("write %s: %w", path, err)
	}
	if err := os.Rename(temporary, path); err != nil {
		return fmt.Errorf("write %s: %w", path, err)
	}
	return nil
}

// URL returns the root of the server, without a trailing slash.
func (s *Server) URL() string {
	if s.tls {
		return "https://" + s.address
	}
	return "http://" + s.address
}

// CAFile returns the file that contains the CA, "" when it is not on disk.
func (s *Server) CAFile() string { return s.caFile }

// CA returns the certificate authority in PEM, nil without TLS.
func (s *Server) CA() []byte { return s.ca }

// Simulator returns the simulator that the server serves.
func (s *Server) Simulator() *Simulator { return s.simulator }

// Done returns a channel that receives one value when serving ended: nil after Close.
func (s *Server) Done() <-chan error { return s.done }

// Close stops serving and closes all connections, also of requests that a gate holds.
func (s *Server) Close() error {
	if err := s.http.Close(); err != nil {
		return fmt.Errorf("close %s: %w", s.address, err)
	}
	return nil
}

const certificateLifetime = 30 * 24 * time.Hour

// newCertificate returns a server certificate for the loopback names and the given
// hosts, and in PEM the new certificate authority that signed it.
func newCertificate(hosts []string) (tls.Certificate, []byte, error) {
	fail := func(err error) (tls.Certificate, []byte, error) {
		return tls.Certificate{}, nil, fmt.Errorf("make certificate for %v: %w", hosts, err)
	}
	caKey, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		return fail(err)
	}
	now := time.Now()
	ca := &x509.Certificate{
		SerialNumber: big.NewInt(now.UnixNano()), Subject: pkix.Name{CommonName: "armsim CA"},
		NotBefore: now.Add(-time.Hour), NotAfter: now.Add(certificateLifetime),
		IsCA: true, BasicConstraintsValid: true, KeyUsage: x509.KeyUsageCertSign | x509.KeyUsageCRLSign,
	}
	caDER, err := x509.CreateCertificate(rand.Reader, ca, ca, &caKey.PublicKey, caKey)
	if err != nil {
		return fail(err)
	}
	serverKey, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		return fail(err)
	}
	server := &x509.Certificate{
		SerialNumber: big.NewInt(now.UnixNano() + 1), Subject: pkix.Name{CommonName: "armsim"},
		NotBefore: now.Add(-time.Hour), NotAfter: now.Add(certificateLifetime),
		KeyUsage: x509.KeyUsageDigitalSignature, ExtKeyUsage: []x509.ExtKeyUsage{x509.ExtKeyUsageServerAuth},
		DNSNames: []string{"localhost"}, IPAddresses: []net.IP{net.IPv4(127, 0, 0, 1), net.IPv6loopback},
	}
	for _, host := range hosts {
		if ip := net.ParseIP(host); ip != nil {
			server.IPAddresses = append(server.IPAddresses, ip)
		} else if host != "" {
			server.DNSNames = append(server.DNSNames, host)
		}
	}
	der, err := x509.CreateCertificate(rand.Reader, server, ca, &serverKey.PublicKey, caKey)
	if err != nil {
		return fail(err)
	}
	return tls.Certificate{Certificate: [][]byte{der, caDER}, PrivateKey: serverKey},
		pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: caDER}), nil
}
