// Package meter stands between a Temporal server and its clients, counts their requests and
// delays those of slow methods: a gRPC proxy that passes every message on as it is, unless a
// handler of a test says otherwise. It must not know what is in them.
package meter

import (
	"context"
	"fmt"
	"maps"
	"net"
	"strings"
	"sync"
	"time"

	"google.golang.org/grpc"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/credentials/insecure"
	"google.golang.org/grpc/metadata"
	"google.golang.org/grpc/status"
)

// maxMessageBytes is the size of the largest message: a page of a list has some megabytes.
const maxMessageBytes = 64 << 20

// Proxy passes requests on to a server and counts them.
type Proxy struct {
	listener net.Listener
	server   *grpc.Server
	target   *grpc.ClientConn

	mu      sync.Mutex
	counts  map[string]int
	refused map[string]int
	spent   map[string]time.Duration
	delays  map[string]time.Duration
	handler Handler
}

// Call is a request on its way to the server.
type Call struct {
	// Method is the name of the method, such as PollActivityTaskQueue, Request its encoded message.
	Method  string
	Request []byte
	// Send sends the request to the server and returns its encoded response.
	Send func(ctx context.Context) ([]byte, error)
}

// Handler handles a request instead of the server, and may send it. Its result is that of the client.
type Handler func(ctx context.Context, c *Call) ([]byte, error)

// Start returns a proxy on a free port of the loopback interface, to a server at host:port
// without TLS.
func Start(server string) (*Proxy, error) {
	target, err := grpc.NewClient("passthrough:///"+server, grpc.WithTransportCredentials(insecure.NewCredentials()),
		grpc.WithDefaultCallOptions(grpc.ForceCodec(raw{}), grpc.MaxCallRecvMsgSize(maxMessageBytes), grpc.MaxCallSendMsgSize(maxMessageBytes)))
	if err != nil {
		return nil, fmt.Errorf("connect the meter to %s: %w", server, err)
	}
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return nil, fmt.Errorf("listen for the meter: %w", err)
	}
	p := &Proxy{listener: listener, target: target, counts: map[string]int{}, refused: map[string]int{}, spent: map[string]time.Duration{}, delays: map[string]time.Duration{}}
	p.server = grpc.NewServer(grpc.ForceServerCodec(raw{}), grpc.UnknownServiceHandler(p.pass), grpc.MaxRecvMsgSize(maxMessageBytes))
	go func() { _ = p.server.Serve(listener) }() // ends with Stop
	return p, nil
}

// Address returns host:port of the proxy.
func (p *Proxy) Address() string { return p.listener.Addr().String() }

// Stop ends the proxy and its connections.
func (p *Proxy) Stop() {
	p.server.Stop()
	_ = p.target.Close()
}

// Reset sets all counts to zero.
func (p *Proxy) Reset() {
	p.mu.Lock()
	defer p.mu.Unlock()
	clear(p.counts)
	clear(p.refused)
	clear(p.spent)
}

// Requests returns the numbers of requests by method, such as ListWorkflowExecutions.
func (p *Proxy) Requests() map[string]int {
	p.mu.Lock()
	defer p.mu.Unlock()
	return maps.Clone(p.counts)
}

// Refused returns the numbers of those that the server refused as ResourceExhausted.
func (p *Proxy) Refused() map[string]int {
	p.mu.Lock()
	defer p.mu.Unlock()
	return maps.Clone(p.refused)
}

// Delay makes requests of a method, such as DescribeWorkflowExecution, wait before they reach
// the server; 0 ends it.
func (p *Proxy) Delay(method string, delay time.Duration) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.delays[method] = delay
}

// Handle lets a handler see all requests from now on.
func (p *Proxy) Handle(handler Handler) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.handler = handler
}

// handle sends a request, through the handler if there is one.
func (p *Proxy) handle(ctx context.Context, c *Call) ([]byte, error) {
	p.mu.Lock()
	handler := p.handler
	p.mu.Unlock()
	if handler == nil {
		return c.Send(ctx)
	}
	return handler(ctx, c)
}

// wait waits for the delay of a method. The error is that of a client that waits no longer.
func (p *Proxy) wait(ctx context.Context, method string) error {
	p.mu.Lock()
	delay := p.delays[method]
	p.mu.Unlock()
	if delay == 0 {
		return nil
	}
	timer := time.NewTimer(delay)
	defer timer.Stop()
	select {
	case <-timer.C:
		return nil
	case <-ctx.Done():
		return status.FromContextError(ctx.Err()).Err() //nolint:wrapcheck // a status for the client
	}
}

// Spent returns how long the server needed for the requests of a method.
func (p *Proxy) Spent(method string) time.Duration {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.spent[method]
}

// pass passes one unary request on; all of Temporal's are.
func (p *Proxy) pass(_ any, stream grpc.ServerStream) error {
	ctx := stream.Context()
	full, _ := grpc.MethodFromServerStream(stream)
	method := full[strings.LastIndex(full, "/")+1:]
	var request, response []byte
	if err := stream.RecvMsg(&request); err != nil {
		return err //nolint:wrapcheck // the client gets the status as it is
	}
	if header, ok := metadata.FromIncomingContext(ctx); ok {
		ctx = metadata.NewOutgoingContext(ctx, header)
	}
	begun := time.Now()
	err := p.wait(ctx, method)
	if err == nil {
		response, err = p.handle(ctx, &Call{Method: method, Request: request, Send: func(ctx context.Context) (answer []byte, err error) {
			err = p.target.Invoke(ctx, full, &request, &answer)
			return answer, err //nolint:wrapcheck // the client gets the status as it is
		}})
	}
	p.count(method, time.Since(begun), err)
	if err != nil {
		return err //nolint:wrapcheck // the client gets the status as it is
	}
	return stream.SendMsg(&response) //nolint:wrapcheck // the client gets the status as it is
}

func (p *Proxy) count(method string, took time.Duration, err error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.counts[method]++
	p.spent[method] += took
	if status.Code(err) == codes.ResourceExhausted {
		p.refused[method]++
	}
}

// raw is a codec that leaves messages as they are.
type raw struct{}

func (raw) Name() string { return "proto" }

func (raw) Marshal(v any) ([]byte, error) {
	bytes, ok := v.(*[]byte)
	if !ok {
		return nil, fmt.Errorf("pass a message on: %T is no bytes", v)
	}
	return *bytes, nil
}

func (raw) Unmarshal(data []byte, v any) error {
	bytes, ok := v.(*[]byte)
	if !ok {
		return fmt.Errorf("pass a message on: %T is no bytes", v)
	}
	*bytes = append([]byte(nil), data...)
	return nil
}
