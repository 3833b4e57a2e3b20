package arm

import (
	"crypto/tls"
	"crypto/x509"
	"errors"
)

// Untrusted tells a certificate that does not verify from another fault of the
// network.
func Untrusted(err error) bool {
	var verification *tls.CertificateVerificationError
	var authority x509.UnknownAuthorityError
	var hostname x509.HostnameError
	return errors.As(err, &verification) || errors.As(err, &authority) || errors.As(err, &hostname)
}
