package main

import (
	"bytes"
	"context"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/armature-io/armature/armsim"
)

func TestRefusedFlags(t *testing.T) {
	tests := map[string]struct {
		args   []string
		code   int
		says   string
		reason string
	}{
		"remote":       {[]string{"--listen", "0.0.0.0:0"}, 1, "not a loopback address", "the control API has no password"},
		"all":          {[]string{"--listen", ":0"}, 1, "not a loopback address", "an empty host is every interface"},
		"no port":      {[]string{"--listen", "localhost"}, 1, "read address", "host:port is required"},
		"scale":        {[]string{"--time-scale", "0"}, 2, "must be positive", "time must pass"},
		"argument":     {[]string{"serve"}, 2, "unexpected argument", "there are no commands"},
		"unknown flag": {[]string{"--nope"}, 2, "nope", "flags are known"},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			var out bytes.Buffer
			code := run(context.Background(), test.args, func(string) string { return "" }, &out)
			if code != test.code || !strings.Contains(out.String(), test.says) {
				t.Errorf("code %d and %q, want %d and %q, since %s", code, out.String(), test.code, test.says, test.reason)
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
			ask := func() int {
				var out bytes.Buffer
				return run(context.Background(), append([]string{"--probe", "--listen", address}, scheme...), func(string) string { return "" }, &out)
			}
			if code := ask(); code != 0 {
				t.Errorf("probing a server that serves ends with %d, want 0", code)
			}
			if err := server.Close(); err != nil {
				t.Fatal(err)
			}
			if code := ask(); code != 1 {
				t.Errorf("probing a closed server ends with %d, want 1", code)
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
		t.Errorf("log is off: %s", out.String())
	}
}
