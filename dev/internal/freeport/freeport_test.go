package freeport

import (
	"net"
	"testing"
)

// TestTake holds that whoever asks meanwhile gets other ports, and that a port is
// free for its owner although it is held.
func TestTake(t *testing.T) {
	seen := map[int]bool{}
	for range 50 {
		taken, err := Take(0, 0)
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(taken.Release)
		for _, port := range taken.Ports {
			if port < lowest || port >= highest {
				t.Errorf("port %d is one that a system gives to connections", port)
			}
			if seen[port] {
				t.Errorf("port %d is taken twice", port)
			}
			seen[port] = true
		}
	}
	for port := range seen {
		listener, err := net.Listen("tcp", Address(port))
		if err != nil {
			t.Fatalf("its owner cannot have port %d: %v", port, err)
		}
		if _, err := Take(port); err == nil {
			t.Errorf("port %d is given although somebody listens there", port)
		}
		_ = listener.Close()
		break
	}
}

// TestPick holds what is left out: what others hold, and where somebody listens.
func TestPick(t *testing.T) {
	first := &Taken{}
	t.Cleanup(first.Release)
	port, err := first.pick(lowest, highest)
	if err != nil {
		t.Fatal(err)
	}
	other := &Taken{}
	t.Cleanup(other.Release)
	if _, err := other.pick(port, port+1); err == nil {
		t.Error("a port that is held is picked once more")
	}
	first.Release()
	listener, err := net.Listen("tcp", Address(port))
	if err != nil {
		t.Fatal(err)
	}
	if _, err := other.pick(port, port+1); err == nil {
		t.Error("a port is picked on which somebody listens")
	}
	_ = listener.Close()
	if got, err := other.pick(port, port+1); err != nil || got != port {
		t.Errorf("a port that was let go is not picked: %d, %v", got, err)
	}
}
