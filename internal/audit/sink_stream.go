package audit

import (
	"bytes"
	"context"
	"fmt"
	"io"
)

// Stream is a sink that writes to a stream that it does not own, such as standard output.
type Stream struct{ out io.Writer }

// NewStream returns a sink for a stream.
func NewStream(out io.Writer) *Stream { return &Stream{out} }

// Name returns "stdout".
func (*Stream) Name() string { return "stdout" }

// Write writes all lines with one call. A reader that is slow makes it wait.
func (s *Stream) Write(_ context.Context, lines []Line) error {
	if _, err := s.out.Write(joined(lines)); err != nil {
		return fmt.Errorf("write to standard output: %w", err)
	}
	return nil
}

// Close does nothing.
func (*Stream) Close() error { return nil }

// joined returns lines with a line break after each.
func joined(lines []Line) []byte {
	var all bytes.Buffer
	for _, line := range lines {
		all.Write(line.JSON)
		all.WriteByte('\n')
	}
	return all.Bytes()
}
