package main

import (
	"bytes"
	"context"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/x509"
	"encoding/pem"
	"math/big"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/armature-io/armature/armsim"
)

func TestRefusedFlags(t *testing.T) {
	tests := map[string]struct {
		args   []string
		code   int
		text   string
		reason string
	}{
		"remote":       {[]string{"--listen", "0.0.0.0:0"}, 1, "not a loopback address", "the control API has no password"},
		"all":          {[]string{"--listen", ":0"}, 1, "not a loopback address", "an empty host is every interface"},
		"no port":      {[]string{"--listen", "localhost"}, 1, "read address", "host:port is required"},
		"scale":        {[]string{"--time-scale", "0"}, 2, "must be positive", "time must pass"},
		"argument":     {[]string{"serve"}, 2, "unexpected argument", "there are no commands"},
		"queue":        {[]string{"--event-queues", "acct"}, 2, "is not ACCOUNT/QUEUE", "a queue has an account"},
		"unknown flag": {[]string{"--nope"}, 2, "nope", "flags are known"},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			var out bytes.Buffer
			ctx, cancel := context.WithTimeout(t.Context(), 10*time.Second) // it serves if the flags are accepted
			defer cancel()
			code := run(ctx, test.args, func(string) string { return "" }, &out)
			if code != test.code || !strings.Contains(out.String(), test.text) {
				t.Errorf("code %d and %q, want %d and %q, since %s", code, out.String(), test.code, test.text, test.reason)
			}
		})
	}
}

func TestProbe(t *testing.T) {
	for name, scheme := range map[string][]string{"http": nil, "https": {"--https", "--ca-out", filepath.Join(t.TempDir(), "ca.pem")}} {
		t.Run(name, func(t *testing.T) {
			listen := armsim.ListenOptions{}
			if scheme != nil {
				listen.TLS, listen.CAFile = true, scheme[2]
			}
			server, err := armsim.New(armsim.Options{}).Listen(listen)
			if err != nil {
				t.Fatal(err)
			}
			_, address, _ := strings.Cut(server.URL(), "://")
			probe := func() int {
				var out bytes.Buffer
				return run(context.Background(), append([]string{"--probe", "--listen", address}, scheme...), func(string) string { return "" }, &out)
			}
			if code := probe(); code != 0 {
				t.Errorf("probing a server that serves exits with %d, want 0", code)
			}
			if err := server.Close(); err != nil {
				t.Fatal(err)
			}
			if code := probe(); code != 1 {
				t.Errorf("probing a closed server exits with %d, want 1", code)
			}
		})
	}
}

func TestServesUntilStopped(t *testing.T) {
	ctx, stop := context.WithCancel(context.Background())
	stop()
	dir := t.TempDir()
	var out bytes.Buffer
	args := []string{"--listen", "0.0.0.0:0", "--allow-remote", "--https", "--cert-dir", dir, "--hosts", "armsim,other"}
	if code := run(ctx, args, func(string) string { return "hidden-secret" }, &out); code != 0 {
		t.Fatalf("code %d: %s", code, out.String())
	}
	if _, err := os.Stat(filepath.Join(dir, "ca.pem")); err != nil {
		t.Error(err)
	}
	if !strings.Contains(out.String(), "url=https://") || strings.Contains(out.String(), "hidden-secret") {
		t.Errorf("wrong log: %s", out.String())
	}
}

// A certificate that clients trust already, such as one of a Kubernetes Secret, replaces the new CA.
func TestServesWithACertificate(t *testing.T) {
	certificate, key := writeCertificate(t)
	for name, args := range map[string][]string{
		"without a key": {"--https", "--cert", certificate},
		"without TLS":   {"--cert", certificate, "--key", key},
		"and a CA":      {"--https", "--cert", certificate, "--key", key, "--ca-out", filepath.Join(t.TempDir(), "ca.pem"), "--listen", "127.0.0.1:0"},
	} {
		var out bytes.Buffer
		if code := run(context.Background(), args, func(string) string { return "" }, &out); code == 0 {
			t.Errorf("%s: exit code 0\n%s", name, out.String())
		}
	}
	server, err := armsim.New(armsim.Options{}).Listen(armsim.ListenOptions{TLS: true, CertificateFile: certificate, KeyFile: key})
	if err != nil {
		t.Fatal(err)
	}
	defer server.Close()
	var out bytes.Buffer
	args := []string{"--probe", "--https", "--cert", certificate, "--key", key, "--listen", strings.TrimPrefix(server.URL(), "https://")}
	if code := run(context.Background(), args, func(string) string { return "" }, &out); code != 0 {
		t.Errorf("a client that trusts the certificate is not served: %s", out.String())
	}
}

// writeCertificate writes a certificate for localhost and its key, and returns the files.
func writeCertificate(t *testing.T) (certificate, key string) {
	t.Helper()
	private, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	template := &x509.Certificate{
		SerialNumber: big.NewInt(1), DNSNames: []string{"localhost"}, NotAfter: time.Now().Add(time.Hour),
		IsCA: true, BasicConstraintsValid: true,
	}
	der, err := x509.CreateCertificate(rand.Reader, template, template, &private.PublicKey, private)
	if err != nil {
		t.Fatal(err)
	}
	encoded, err := x509.MarshalPKCS8PrivateKey(private)
	if err != nil {
		t.Fatal(err)
	}
	certificate, key = filepath.Join(t.TempDir(), "tls.crt"), filepath.Join(t.TempDir(), "tls.key")
	for path, block := range map[string]*pem.Block{certificate: {Type: "CERTIFICATE", Bytes: der}, key: {Type: "PRIVATE KEY", Bytes: encoded}} {
		if err := os.WriteFile(path, pem.EncodeToMemory(block), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	return certificate, key
}

func TestHelp(t *testing.T) {
	var out bytes.Buffer
	if code := run(context.Background(), []string{"-h"}, func(string) string { return "" }, &out); code != 0 {
		t.Errorf("asking for help exits with %d, want 0", code)
	}
	for _, word := range []string{"simulated Azure Resource Manager", "--ca-out ca.pem", "/_sim/", "ARMSIM_CLIENT_SECRET", "-bodies", "-policy-tags", "-validate"} {
		if !strings.Contains(out.String(), word) {
			t.Errorf("the help does not mention %s:\n%s", word, out.String())
		}
	}
}

func TestBodiesFlag(t *testing.T) {
	file := filepath.Join(t.TempDir(), "bodies.jsonl")
	if err := os.WriteFile(file, []byte(`{"id":"/subscriptions/s/resourceGroups/g","getBody":{"tags":{}}}`), 0o600); err != nil {
		t.Fatal(err)
	}
	var out bytes.Buffer
	noEnv := func(string) string { return "" }
	set, err := parse([]string{"--bodies", file, "--throttle", "--validate", "--policy-tags", "a=b,c=d"}, noEnv, &out)
	if err != nil || !set.simulator.Validate || len(set.simulator.Recordings) != 1 || set.simulator.Throttle.Reads.Capacity != 250 || set.simulator.Policies[0].Tags["c"] != "d" {
		t.Errorf("settings %+v, %v", set.simulator, err)
	}
	if err := os.WriteFile(file, []byte(`{}`), 0o600); err != nil {
		t.Fatal(err)
	}
	for name, args := range map[string][]string{"recording 1": {"--bodies", file}, "no such file": {"--bodies", file + "2"}, "name=value": {"--policy-tags", "a"}} {
		out.Reset()
		if code := run(context.Background(), args, noEnv, &out); code != 2 || !strings.Contains(out.String(), name) {
			t.Errorf("%v exits with %d and %q, want 2 and %q", args, code, out.String(), name)
		}
	}
}
