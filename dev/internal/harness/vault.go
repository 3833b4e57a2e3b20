package harness

import (
	"bufio"
	"io"
	"net"
	"net/http"
	"sync"
	"testing"

	"github.com/armature-io/armature/armsim"
)

// VaultSuffix is the suffix of the key vaults of a world with Options.Vaults.
const VaultSuffix = "vault.example"

// startVaultProxy starts an HTTP proxy that connects every host to the simulator, so that a
// worker finds key vaults by their names. It returns its URL.
func startVaultProxy(t testing.TB, address string) string {
	t.Helper()
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = listener.Close() })
	go func() {
		for {
			client, err := listener.Accept()
			if err != nil {
				return
			}
			go connect(client, address)
		}
	}()
	return "http://" + listener.Addr().String()
}

// connect serves one CONNECT.
func connect(client net.Conn, address string) {
	defer func() { _ = client.Close() }()
	reader := bufio.NewReader(client)
	request, err := http.ReadRequest(reader)
	if err != nil || request.Method != http.MethodConnect {
		return
	}
	server, err := net.Dial("tcp", address)
	if err != nil {
		return
	}
	defer func() { _ = server.Close() }()
	if _, err := io.WriteString(client, "HTTP/1.1 200 Connection established\r\n\r\n"); err != nil {
		return
	}
	var both sync.WaitGroup
	both.Go(func() {
		_, _ = io.Copy(server, reader)
		_ = server.Close()
	})
	both.Go(func() {
		_, _ = io.Copy(client, server)
		_ = client.Close()
	})
	both.Wait()
}

// VaultSecret returns a secret of a key vault, without versions where there is none.
func (s *Sim) VaultSecret(vault, name string) armsim.VaultSecret {
	s.t.Helper()
	var secrets []armsim.VaultSecret
	s.Call(http.MethodGet, "/vaults", nil, &secrets)
	for _, secret := range secrets {
		if secret.Vault == vault && secret.Name == name {
			return secret
		}
	}
	return armsim.VaultSecret{}
}
