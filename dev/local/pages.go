package main

import (
	"bytes"
	"context"
	"fmt"
	"strings"
	"sync"
)

// pages are the pages of `armature ui` over the demo, and the address that it printed last.
type pages struct {
	mu      sync.Mutex
	address string
	// printed is closed with the first address.
	printed chan struct{}
}

// Write keeps the address of a line: each opens the pages once.
func (p *pages) Write(line []byte) (int, error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	isFirst := p.address == ""
	p.address = strings.TrimSpace(string(line))
	if isFirst {
		close(p.printed)
	}
	return len(line), nil
}

// last returns the address that opens the pages next, "" for none.
func (p *pages) last() string {
	if p == nil {
		return ""
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.address
}

// startPages serves the pages until the demo stops.
func (d *demo) startPages(ctx context.Context) error {
	d.pages = &pages{printed: make(chan struct{})}
	args := []string{"ui"}
	if d.ui != nil {
		args = append(args, "--web-ui", d.ui.Address())
	}
	ctx, cancel := context.WithCancel(ctx)
	command := d.command(ctx, args...)
	// The output of the demo takes one writer at a time.
	var problem bytes.Buffer
	command.Stdout, command.Stderr = d.pages, &problem
	ended := make(chan error, 1)
	go func() { ended <- command.Run() }()
	select {
	case <-d.pages.printed:
		d.stops = append(d.stops, func() {
			cancel()
			<-ended //nolint:errcheck // it ends because the demo does
		})
		return nil
	case err := <-ended:
		cancel()
		return fmt.Errorf("start the pages: %w\n%s", err, &problem)
	}
}
