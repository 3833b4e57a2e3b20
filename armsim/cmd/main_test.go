package main

import (
	"bytes"
	"context"
	"os"
	"path/filepath"
	"strings"
	"testing"
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
