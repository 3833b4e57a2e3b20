package freeport

import (
	"net"
	"testing"
)

// TestReserve checks that ports are reserved once, and that a reserved port can be
// used and then not be reserved.
func TestReserve(t *testing.T) {
	seen := map[int]bool{}
	for range 50 {
		ports, err := Reserve(0, 0)
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(ports.Release)
		for _, port := range ports.Numbers {
			if port < minPort || port >= maxPort {
				t.Errorf("port %d is outside of the range", port)
			}
			if seen[port] {
				t.Errorf("port %d was reserved twice", port)
			}
			seen[port] = true
		}
	}
	for port := range seen {
		listener, err := net.Listen("tcp", Address(port))
		if err != nil {
			t.Fatalf("listen on reserved port %d: %v", port, err)
		}
		if _, err := Reserve(port); err == nil {
			t.Errorf("port %d was reserved while a server listens on it", port)
		}
		_ = listener.Close()
		break
	}
}

// TestPick checks that ports which are reserved or in use are skipped.
func TestPick(t *testing.T) {
	first := &Ports{}
	t.Cleanup(first.Release)
	port, err := first.pick(minPort, maxPort)
	if err != nil {
		t.Fatal(err)
	}
	other := &Ports{}
	t.Cleanup(other.Release)
	if _, err := other.pick(port, port+1); err == nil {
		t.Error("a reserved port was picked again")
	}
	first.Release()
	listener, err := net.Listen("tcp", Address(port))
	if err != nil {
		t.Fatal(err)
	}
	if _, err := other.pick(port, port+1); err == nil {
		t.Error("a port was picked while a server listens on it")
	}
	_ = listener.Close()
	if got, err := other.pick(port, port+1); err != nil || got != port {
		t.Errorf("a released port was not picked: %d, %v", got, err)
	}
}
