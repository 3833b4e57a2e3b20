package audit

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"sync"
	"time"
)

// spillSuffix is the suffix of the file with the number of bytes that were sent.
const spillSuffix = ".sent"

// maxLastSend is how long the end of a worker waits for the other sink.
const maxLastSend = 5 * time.Second

// Spill is a sink in front of another one: it keeps lines in a file on this machine until
// the other sink has them, also across restarts. A line counts as written once it is on
// the disk, so that an outage of the other sink stops no write until the file is full.
type Spill struct {
	next     Sink
	path     string
	maxBytes int64
	warn     func(error)
	stop     context.CancelFunc
	ended    chan struct{}

	mu sync.Mutex
	// file is the open file, size its length, sent the part that the other sink has.
	file       *os.File
	size, sent int64
	added      chan struct{}
}

// NewSpill returns a sink that passes lines on to next through a file of at most maxBytes.
// No other process may use the file. Warn receives the failures of next; the lines of a
// *RefusedError are given up.
func NewSpill(path string, maxBytes int64, next Sink, warn func(error)) (*Spill, error) {
	file, err := os.OpenFile(path, os.O_RDWR|os.O_APPEND|os.O_CREATE, 0o600)
	if err != nil {
		return nil, fmt.Errorf("open spill file: %w", err)
	}
	if err := lockFile(file); err != nil {
		_ = file.Close() // nothing was written
		return nil, fmt.Errorf("%s is in use by another worker: each worker needs a spill file of its own", path)
	}
	if err := endLine(file); err != nil {
		_ = file.Close() // nothing was written
		return nil, fmt.Errorf("end the last line of %s: %w", path, err)
	}
	info, err := file.Stat()
	if err != nil {
		_ = file.Close() // nothing was written
		return nil, fmt.Errorf("open spill file: %w", err)
	}
	ctx, cancel := context.WithCancel(context.Background())
	s := &Spill{
		next: next, path: path, maxBytes: maxBytes, warn: warn, stop: cancel, ended: make(chan struct{}),
		file: file, size: info.Size(), added: make(chan struct{}, 1),
	}
	if noted, err := os.ReadFile(path + spillSuffix); err == nil {
		_, _ = fmt.Sscan(string(noted), &s.sent) // without a number, all lines are sent again
	}
	if s.sent > s.size || s.sent < 0 {
		s.sent = 0
	}
	if err := s.noteSent(s.sent); err != nil {
		cancel()
		_ = file.Close() // nothing was written
		return nil, err
	}
	go s.forward(ctx)
	return s, nil
}

// Name returns the name of the sink behind it.
func (s *Spill) Name() string { return s.next.Name() }

// Write appends the lines to the file.
func (s *Spill) Write(_ context.Context, lines []Line) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	data := joined(lines)
	if s.size+int64(len(data)) > s.maxBytes {
		return fmt.Errorf("the spill file has %d bytes that are not sent yet, and may have %d", s.size-s.sent, s.maxBytes)
	}
	n, err := s.file.Write(data)
	if err == nil {
		err = s.file.Sync()
	}
	if err != nil {
		err = errors.Join(err, s.file.Truncate(s.size)) // no half of a line
		return fmt.Errorf("append to the spill file: %w", err)
	}
	s.size += int64(n)
	select {
	case s.added <- struct{}{}:
	default:
	}
	return nil
}

// Unsent returns the number of bytes that the other sink does not have.
func (s *Spill) Unsent() int64 {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.size - s.sent
}

// forward passes the lines on, in order, until ctx ends.
func (s *Spill) forward(ctx context.Context) {
	defer close(s.ended)
	delay := minRetryDelay
	for ctx.Err() == nil {
		idle, err := s.forwardBatch(ctx)
		switch {
		case err != nil && ctx.Err() == nil:
			s.warn(err)
			wait(ctx, delay, nil)
			delay = min(2*delay, maxRetryDelay)
		case idle:
			wait(ctx, time.Hour, s.added)
		default:
			delay = minRetryDelay
		}
	}
}

// wait waits for a time, or until it is woken.
func wait(ctx context.Context, delay time.Duration, woken <-chan struct{}) {
	timer := time.NewTimer(delay)
	defer timer.Stop()
	select {
	case <-timer.C:
	case <-woken:
	case <-ctx.Done():
	}
}

// forwardBatch passes one batch on. It reports true where there was none.
func (s *Spill) forwardBatch(ctx context.Context) (idle bool, err error) {
	s.mu.Lock()
	from, until := s.sent, s.size
	s.mu.Unlock()
	if from == until {
		return true, nil
	}
	lines, read, err := readLines(io.NewSectionReader(s.file, from, until-from))
	if err != nil {
		return false, err
	}
	bounded, cancel := context.WithTimeout(ctx, maxSinkTime)
	defer cancel()
	if len(lines) > 0 {
		err := s.next.Write(bounded, lines)
		if refused, isRefused := errors.AsType[*RefusedError](err); isRefused {
			s.warn(refused)
		} else if err != nil {
			return false, err
		}
	}
	return false, s.note(from + read)
}

// note records how much the other sink has, and empties the file once it has all.
func (s *Spill) note(sent int64) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	if sent < s.size {
		s.sent = sent
		return s.noteSent(sent)
	}
	// In this order: a number that outlasts its lines would skip later ones.
	if err := s.noteSent(0); err != nil {
		return err
	}
	if err := s.file.Truncate(0); err != nil {
		return fmt.Errorf("empty the spill file: %w", err)
	}
	s.sent, s.size = 0, 0
	return nil
}

// noteSent writes the number of bytes that were sent beside the file.
func (s *Spill) noteSent(sent int64) error {
	if err := os.WriteFile(s.path+spillSuffix, fmt.Appendln(nil, sent), 0o600); err != nil {
		return fmt.Errorf("note what was sent: %w", err)
	}
	return nil
}

// readLines returns the lines of a batch and the bytes that they take up. What is no
// record, such as the rest of a line after a crash, is skipped.
func readLines(from io.Reader) (lines []Line, size int64, err error) {
	reader := bufio.NewReader(from)
	for len(lines) < maxBatchLines && size < maxBatchBytes {
		data, err := reader.ReadBytes('\n')
		size += int64(len(data))
		data = bytes.TrimSpace(data)
		var record Record
		if len(data) > 0 && json.Unmarshal(data, &record) == nil {
			lines = append(lines, Line{Record: record, JSON: data})
		}
		switch {
		case errors.Is(err, io.EOF):
			return lines, size, nil
		case err != nil:
			return nil, 0, fmt.Errorf("read the spill file: %w", err)
		}
	}
	return lines, size, nil
}

// Close gives the other sink a last moment, and ends the forwarding. Lines that it does not
// have then stay in the file for the next start.
func (s *Spill) Close() error {
	for end := time.Now().Add(maxLastSend); s.Unsent() > 0 && time.Now().Before(end); {
		wait(context.Background(), minRetryDelay, nil)
	}
	s.stop()
	<-s.ended
	return errors.Join(s.next.Close(), s.file.Close())
}
