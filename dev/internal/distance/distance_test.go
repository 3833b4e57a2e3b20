package distance

import (
	"bytes"
	"io"
	"net"
	"testing"
	"time"
)

// echo starts a server that sends back what it receives.
func echo(t *testing.T) string {
	t.Helper()
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = listener.Close() })
	go func() {
		for {
			connection, err := listener.Accept()
			if err != nil {
				return
			}
			go func() {
				defer func() { _ = connection.Close() }()
				_, _ = io.Copy(connection, connection)
			}()
		}
	}()
	return listener.Addr().String()
}

// dial connects to an echo server at a distance.
func dial(t *testing.T, roundTrip time.Duration) net.Conn {
	t.Helper()
	proxy, err := Start(echo(t), roundTrip)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(proxy.Stop)
	connection, err := net.Dial("tcp", proxy.Address())
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = connection.Close() })
	return connection
}

func TestRoundTrip(t *testing.T) {
	const roundTrip = 60 * time.Millisecond
	connection := dial(t, roundTrip)
	start := time.Now()
	if _, err := connection.Write([]byte("x")); err != nil {
		t.Fatal(err)
	}
	if _, err := io.ReadFull(connection, make([]byte, 1)); err != nil {
		t.Fatal(err)
	}
	if took := time.Since(start); took < roundTrip {
		t.Errorf("an answer came after %s, want at least %s", took, roundTrip)
	}
}

// Twenty messages that do not wait for each other take about one round trip: a proxy
// that sleeps after each read would take twenty.
func TestMessagesFollowEachOther(t *testing.T) {
	const roundTrip = 100 * time.Millisecond
	connection := dial(t, roundTrip)
	start := time.Now()
	for range 20 {
		if _, err := connection.Write([]byte("x")); err != nil {
			t.Fatal(err)
		}
		<-time.After(time.Millisecond)
	}
	if _, err := io.ReadFull(connection, make([]byte, 20)); err != nil {
		t.Fatal(err)
	}
	if took := time.Since(start); took > 5*roundTrip {
		t.Errorf("20 messages took %s, want about one round trip of %s", took, roundTrip)
	}
}

func TestBytesKeepTheirOrder(t *testing.T) {
	connection := dial(t, 2*time.Millisecond)
	sent := make([]byte, 3<<20)
	for i := range sent {
		sent[i] = byte(i * 7 >> 3)
	}
	go func() {
		_, _ = connection.Write(sent)
		_ = connection.(*net.TCPConn).CloseWrite()
	}()
	received, err := io.ReadAll(connection)
	if err != nil {
		t.Fatal(err)
	}
	if !bytes.Equal(received, sent) {
		t.Errorf("received %d bytes that differ from the %d sent", len(received), len(sent))
	}
}
