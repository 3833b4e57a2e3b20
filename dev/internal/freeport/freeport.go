// Package freeport reserves ports of the loopback interface for servers that listen
// on them later.
//
// A port that the operating system picks may be taken by then: the system uses the
// same range for outgoing connections and for every other request for a free port.
// The embedded Temporal server exits without a message when that happens.
package freeport

import (
	"fmt"
	"math/rand/v2"
	"net"
	"strconv"
)

const (
	loopback = "127.0.0.1"
	// minPort and maxPort bound the picked ports. They are below the range of
	// outgoing connections, which begins at 32,768 on Linux and 49,152 elsewhere.
	minPort, maxPort = 10_000, 32_000
	// maxTries bounds the search for one free port.
	maxTries = 1000
)

// Ports are ports that this package gives to no other caller, in any process,
// until Release.
type Ports struct {
	// Numbers are the ports in the order of the request.
	Numbers []int
	guards  []net.PacketConn
}

// Reserve returns the requested ports, with a free port for each 0. It fails if a
// requested port is in use.
func Reserve(requested ...int) (*Ports, error) {
	p := &Ports{Numbers: make([]int, len(requested))}
	for i, port := range requested {
		if port == 0 {
			var err error
			if port, err = p.pick(minPort, maxPort); err != nil {
				p.Release()
				return nil, err
			}
		} else if err := checkFree(port); err != nil {
			p.Release()
			return nil, fmt.Errorf("reserve port %d: %w", port, err)
		}
		p.Numbers[i] = port
	}
	return p, nil
}

// Release ends the reservation. Servers that listen on the ports are not affected.
func (p *Ports) Release() {
	for _, guard := range p.guards {
		_ = guard.Close()
	}
	p.guards = nil
}

// pick returns a free port in [low, high). The reservation is the UDP port of the
// same number, which no server here uses and only one process can bind.
func (p *Ports) pick(low, high int) (int, error) {
	var last error
	for range maxTries {
		port := low + rand.IntN(high-low) // #nosec G404 -- no secret
		guard, err := net.ListenPacket("udp", Address(port))
		if err != nil {
			last = err
			continue
		}
		if err := checkFree(port); err != nil {
			_ = guard.Close()
			last = err
			continue
		}
		p.guards = append(p.guards, guard)
		return port, nil
	}
	return 0, fmt.Errorf("find a free port in %d tries: %w", maxTries, last)
}

// checkFree returns an error if the TCP port is in use.
func checkFree(port int) error {
	listener, err := net.Listen("tcp", Address(port))
	if err != nil {
		return err
	}
	return listener.Close()
}

// Address returns a port of the loopback interface as host:port.
func Address(port int) string { return net.JoinHostPort(loopback, strconv.Itoa(port)) }
