package otlp

import (
	"crypto/tls"
	"crypto/x509"
	"errors"
	"fmt"
	"net/url"
	"os"
	"strconv"
	"strings"
	"unicode"
)

// prefix begins the names of the variables of the exporter. Each may also be set for traces
// alone.
const prefix = "OTEL_EXPORTER_OTLP_"

// check returns an error for variables that the exporter would print to standard error with
// their values, which may be secrets, and then ignore. The error has no value of a header.
func check(lookup func(string) (string, bool)) error {
	var problems []error
	for _, scope := range []string{prefix, prefix + "TRACES_"} {
		checks := []struct {
			name  string
			check func(value string) error
		}{
			{"HEADERS", checkHeaders},
			{"ENDPOINT", checkEndpoint},
			{"CERTIFICATE", checkAuthorities},
			{"TIMEOUT", func(value string) error {
				if _, err := strconv.Atoi(value); err != nil {
					return errors.New("must be a number of milliseconds")
				}
				return nil
			}},
		}
		for _, c := range checks {
			if value, _ := lookup(scope + c.name); value != "" {
				if err := c.check(value); err != nil {
					problems = append(problems, fmt.Errorf("%s%s: %w", scope, c.name, err))
				}
			}
		}
		certificate, _ := lookup(scope + "CLIENT_CERTIFICATE")
		key, _ := lookup(scope + "CLIENT_KEY")
		if certificate != "" && key != "" {
			if _, err := tls.LoadX509KeyPair(certificate, key); err != nil {
				problems = append(problems, fmt.Errorf("%sCLIENT_CERTIFICATE and CLIENT_KEY: %w", scope, err))
			}
		}
	}
	return errors.Join(problems...)
}

// checkHeaders checks name=value, separated by commas, with values encoded as in URLs. The
// error has the position of the header and never its value.
func checkHeaders(headers string) error {
	for i, pair := range strings.Split(headers, ",") {
		if strings.TrimSpace(pair) == "" {
			continue
		}
		name, value, found := strings.Cut(pair, "=")
		decoded, err := url.PathUnescape(strings.TrimSpace(value))
		if !found || err != nil || !isToken(strings.TrimSpace(name)) || strings.ContainsFunc(decoded, unicode.IsControl) {
			return fmt.Errorf("header %d is not NAME=VALUE with a value that is encoded as in URLs, for example authorization=Bearer%%20TOKEN", i+1)
		}
	}
	return nil
}

// isToken reports whether a text may be the name of a header (RFC 9110, section 5.6.2).
func isToken(name string) bool {
	return name != "" && !strings.ContainsFunc(name, func(r rune) bool {
		letter := r <= unicode.MaxASCII && (unicode.IsLetter(r) || unicode.IsDigit(r))
		return !letter && !strings.ContainsRune("!#$%&'*+-.^_`|~", r)
	})
}

func checkEndpoint(value string) error {
	u, err := url.Parse(strings.TrimSpace(value))
	socket := err == nil && u.Scheme == "unix" // of gRPC
	if err != nil || !socket && (u.Host == "" || u.Scheme != "http" && u.Scheme != "https") {
		return errors.New("must be the URL of a collector: http://host:4318 or https://host")
	}
	return nil
}

func checkAuthorities(path string) error {
	text, err := os.ReadFile(path)
	if err != nil {
		return err //nolint:wrapcheck // its text names the file
	}
	if !x509.NewCertPool().AppendCertsFromPEM(text) {
		return fmt.Errorf("no certificate in %s (PEM)", path)
	}
	return nil
}
