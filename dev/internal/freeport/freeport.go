// Package freeport picks ports of the loopback interface for servers that listen on
// them only later.
//
// A port that the system picks may be gone by then: it gives the same ones to
// outgoing connections, and to whoever else asks for a free port. The embedded
// Temporal server ends the process without a word when that happens.
package freeport

import (
	"fmt"
	"math/rand/v2"
	"net"
	"strconv"
)

const (
	loopback = "127.0.0.1"
	// lowest and highest bound what is picked: below the ports that systems give to
	// connections, from 32,768 on Linux and 49,152 elsewhere.
	lowest, highest = 10_000, 32_000
	// tries bounds the search: a machine on which as many ports in a row are taken
	// has no room for a server.
	tries = 1000
)

// Taken are ports that nobody else takes who asks this package, until Release.
type Taken struct {
	// Ports are in the order in which they were wanted.
	Ports  []int
	guards []net.PacketConn
}

// Take replaces each 0 by a free port, and fails when a given port is taken.
func Take(wanted ...int) (*Taken, error) {
	t := &Taken{Ports: make([]int, len(wanted))}
	for i, port := range wanted {
		if port == 0 {
			var err error
			if port, err = t.pick(lowest, highest); err != nil {
				t.Release()
				return nil, err
			}
		} else if err := free(port); err != nil {
			t.Release()
			return nil, fmt.Errorf("take port %d: %w", port, err)
		}
		t.Ports[i] = port
	}
	return t, nil
}

// Release lets go of the ports. Whoever listens on one by then keeps it.
func (t *Taken) Release() {
	for _, guard := range t.guards {
		_ = guard.Close()
	}
	t.guards = nil
}

// pick finds a port from low up to below high. Its guard is the UDP port of the
// same number, which no server here uses and only one process can have.
func (t *Taken) pick(low, high int) (int, error) {
	var last error
	for range tries {
		port := low + rand.IntN(high-low) // #nosec G404 -- no secret
		guard, err := net.ListenPacket("udp", Address(port))
		if err != nil {
			last = err
			continue
		}
		if err := free(port); err != nil {
			_ = guard.Close()
			last = err
			continue
		}
		t.guards = append(t.guards, guard)
		return port, nil
	}
	return 0, fmt.Errorf("find a free port in %d tries: %w", tries, last)
}

// free reports why nobody can listen on a port now.
func free(port int) error {
	listener, err := net.Listen("tcp", Address(port))
	if err != nil {
		return err
	}
	return listener.Close()
}

// Address is a port of the loopback interface, as host:port.
func Address(port int) string { return net.JoinHostPort(loopback, strconv.Itoa(port)) }
