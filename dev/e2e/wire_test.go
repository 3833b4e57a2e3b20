package e2e

import (
	"io"
	"net"
	"net/url"
	"sync"
	"testing"
)

// wire is a TCP proxy to a server, which a test cuts and mends. While it is cut, it
// closes each new connection at once.
type wire struct {
	listener net.Listener
	target   string
	mu       sync.Mutex
	whole    bool
	hungUp   int
	open     map[net.Conn]struct{}
}

// newWire returns a wire to target (host:port), which is cut until mend.
func newWire(t testing.TB, target string) *wire {
	t.Helper()
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	w := &wire{listener: listener, target: target, open: map[net.Conn]struct{}{}}
	t.Cleanup(func() { _ = listener.Close(); w.cut() })
	go w.serve()
	return w
}

// newWireToURL returns a wire to the host of a URL.
func newWireToURL(t testing.TB, target string) *wire {
	t.Helper()
	parsed, err := url.Parse(target)
	if err != nil {
		t.Fatal(err)
	}
	return newWire(t, parsed.Host)
}

func (w *wire) address() string { return w.listener.Addr().String() }

func (w *wire) mend() {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.whole = true
}

// cut also closes the open connections.
func (w *wire) cut() {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.whole = false
	for connection := range w.open {
		_ = connection.Close()
	}
	clear(w.open)
}

// dialed returns the number of connections closed at once.
func (w *wire) dialed() int {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.hungUp
}

func (w *wire) serve() {
	for {
		near, err := w.listener.Accept()
		if err != nil {
			return
		}
		far, err := net.Dial("tcp", w.target)
		if err != nil || !w.join(near, far) {
			_ = near.Close()
			if far != nil {
				_ = far.Close()
			}
			continue
		}
		go w.carry(near, far)
		go w.carry(far, near)
	}
}

func (w *wire) join(near, far net.Conn) bool {
	w.mu.Lock()
	defer w.mu.Unlock()
	if !w.whole {
		w.hungUp++
		return false
	}
	w.open[near], w.open[far] = struct{}{}, struct{}{}
	return true
}

// carry copies one direction; its end is the end of both.
func (w *wire) carry(from, to net.Conn) {
	_, _ = io.Copy(to, from)
	_, _ = from.Close(), to.Close()
	w.mu.Lock()
	defer w.mu.Unlock()
	delete(w.open, from)
	delete(w.open, to)
}
