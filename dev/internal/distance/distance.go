// Package distance plays the network between a Temporal server and its clients: a TCP
// proxy that delivers every byte late. It must not know what passes through it.
package distance

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"sync"
	"time"
)

const (
	// chunkBytes is the size of one read.
	chunkBytes = 64 << 10
	// maxChunks bounds what is under way in one direction of a connection: 256 reads of
	// at most 64 KiB.
	maxChunks = 256
)

// Proxy accepts connections and passes them on to a server.
type Proxy struct {
	listener net.Listener
	server   string
	oneWay   time.Duration
	stop     context.CancelFunc
	group    sync.WaitGroup
}

// Start returns a proxy on a free port of the loopback interface. A response arrives
// roundTrip later than without it: half of that is added to each direction. Bytes keep
// their order, and what follows does not wait for an answer, as on a network.
func Start(server string, roundTrip time.Duration) (*Proxy, error) {
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return nil, fmt.Errorf("listen for a distant server: %w", err)
	}
	ctx, stop := context.WithCancel(context.Background())
	p := &Proxy{listener: listener, server: server, oneWay: roundTrip / 2, stop: stop}
	p.group.Go(func() { p.accept(ctx) })
	return p, nil
}

// Address returns host:port of the proxy.
func (p *Proxy) Address() string { return p.listener.Addr().String() }

// Stop closes the proxy and its connections.
func (p *Proxy) Stop() {
	p.stop()
	_ = p.listener.Close() // no connection is lost that Stop does not close
	p.group.Wait()
}

func (p *Proxy) accept(ctx context.Context) {
	for {
		client, err := p.listener.Accept()
		if err != nil {
			return
		}
		p.group.Go(func() { p.connect(ctx, client) })
	}
}

// connect joins a client with the server until one of them closes.
func (p *Proxy) connect(ctx context.Context, client net.Conn) {
	defer func() { _ = client.Close() }()
	var dialer net.Dialer
	server, err := dialer.DialContext(ctx, "tcp", p.server)
	if err != nil {
		return // the client sees a closed connection, as of a server that is down
	}
	defer func() { _ = server.Close() }()
	closeBoth := context.AfterFunc(ctx, func() { _, _ = client.Close(), server.Close() })
	defer closeBoth()
	var both sync.WaitGroup
	both.Go(func() { delay(server, client, p.oneWay) })
	both.Go(func() { delay(client, server, p.oneWay) })
	both.Wait()
}

// chunk is the bytes of one read, with the time at which they arrive.
type chunk struct {
	bytes   []byte
	arrives time.Time
}

// delay copies from one connection to the other, late, and closes both at the end.
func delay(to, from net.Conn, late time.Duration) {
	line := make(chan chunk, maxChunks)
	go func() {
		defer close(line)
		for {
			bytes := make([]byte, chunkBytes)
			n, err := from.Read(bytes)
			if n > 0 {
				line <- chunk{bytes[:n], time.Now().Add(late)}
			}
			if err != nil {
				return
			}
		}
	}()
	var failed error
	for c := range line {
		if failed == nil {
			<-time.After(time.Until(c.arrives))
			_, failed = to.Write(c.bytes)
		}
		if failed != nil {
			_ = from.Close() // ends the reads, and so the loop
		}
	}
	if half, ok := to.(interface{ CloseWrite() error }); ok && failed == nil {
		if err := half.CloseWrite(); err == nil || errors.Is(err, io.EOF) {
			return
		}
	}
	_ = to.Close()
}
