package service_test

import (
	"bytes"
	"context"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/armature-io/armature/internal/payload"
	"github.com/armature-io/armature/service"
	"go.temporal.io/sdk/converter"
)

// TestCodecServerWithKeys checks that the codec server finds the worker's keys in each place
// of its configuration, and reads both what it has the key of and what is clear.
func TestCodecServerWithKeys(t *testing.T) {
	const text = "0101010101010101010101010101010101010101010101010101010101010101"
	folder := t.TempDir()
	for name, content := range map[string]string{
		"key": text, "worker.yaml": "encryption:\n  keys: ['a=file:" + filepath.Join(folder, "key") + "']\n",
	} {
		if err := os.WriteFile(filepath.Join(folder, name), []byte(content), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	writer, err := payload.New(payload.Options{WriteKey: "a", Keys: []payload.Key{{ID: "a", Secret: bytes.Repeat([]byte{1}, payload.KeySize)}}})
	if err != nil {
		t.Fatal(err)
	}
	for name, tc := range map[string]struct {
		args []string
		env  map[string]string
	}{
		"flag":     {args: []string{"--encryption-keys", "a=file:" + filepath.Join(folder, "key")}},
		"config":   {args: []string{"--config", filepath.Join(folder, "worker.yaml")}},
		"variable": {env: map[string]string{"ARMATURE_ENCRYPTION_KEYS": "a=env:PAYLOADS", "PAYLOADS": text}},
	} {
		t.Run(name, func(t *testing.T) {
			for variable, value := range tc.env {
				t.Setenv(variable, value)
			}
			ctx, stop := context.WithCancel(t.Context())
			addresses, exitCodes := make(chan string, 1), make(chan int, 1)
			go func() {
				exitCodes <- service.Main(ctx, append([]string{"codec", "--listen", "127.0.0.1:0"}, tc.args...),
					service.Options{OnListen: func(address string) { addresses <- address }, Stdout: &bytes.Buffer{}, Stderr: &bytes.Buffer{}})
			}()
			remote := converter.NewRemotePayloadCodec(converter.RemotePayloadCodecOptions{Endpoint: "http://" + <-addresses, Client: http.Client{}})
			read := converter.NewCodecDataConverter(converter.GetDefaultDataConverter(), remote)
			for form, from := range map[string]*payload.Converters{"encrypted": writer, "clear": payload.Clear()} {
				sealed, err := from.Data.ToPayload(strings.Repeat("a body ", 1000))
				if err != nil {
					t.Fatal(err)
				}
				var got string
				if err := read.FromPayload(sealed, &got); err != nil || !strings.HasPrefix(got, "a body ") {
					t.Errorf("%s: %.20q, %v", form, got, err)
				}
			}
			stop()
			<-exitCodes
		})
	}
	var stderr bytes.Buffer
	code := service.Main(t.Context(), []string{"codec", "--listen", "127.0.0.1:0", "--encryption-keys", "a=" + text}, service.Options{Stderr: &stderr, Stdout: &bytes.Buffer{}})
	if code != service.ExitConfig || strings.Contains(stderr.String(), text) || !strings.Contains(stderr.String(), "never as the key itself") {
		t.Errorf("the key itself in place of a reference: exit code %d, %s", code, stderr.String())
	}
}
