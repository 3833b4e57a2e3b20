package cli

import (
	"bytes"
	"io"
	"sync"
	"unicode/utf8"

	"github.com/armature-io/armature/internal/text"
)

// reset ends a color.
const reset = "\x1b[0m"

// Writer writes the output of the CLI. It drops the characters by which text from
// manifests, Azure or Temporal could act on a terminal (text.IsUnsafe, and bytes that
// are no UTF-8), except line breaks, tabs and what an Ink marks, and it breaks the
// commands that CI systems run when they read them in a log. It keeps the first error.
type Writer struct {
	mu   sync.Mutex
	out  io.Writer
	mark []byte
	// rest is the beginning of a character or of a marked sequence that a Write has split.
	rest []byte
	line line
	err  error
}

// NewWriter returns a writer for the sequences of an Ink.
func NewWriter(out io.Writer, ink Ink) *Writer { return &Writer{out: out, mark: []byte(ink.mark)} }

// Write implements io.Writer. After an error it writes nothing more.
func (w *Writer) Write(p []byte) (int, error) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.err != nil {
		return 0, w.err
	}
	data := p
	if len(w.rest) > 0 {
		data = append(w.rest, p...)
	}
	clean := make([]byte, 0, len(data)+16)
	clean, rest := w.clean(clean, data)
	w.rest = bytes.Clone(rest)
	if _, w.err = w.out.Write(clean); w.err != nil {
		return 0, w.err
	}
	return len(p), nil
}

// Err returns the first error of a write, nil if all were written.
func (w *Writer) Err() error {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.err
}

// clean appends what may be written of data, and returns the rest that needs more data.
func (w *Writer) clean(to, data []byte) (clean, rest []byte) {
	for len(data) > 0 {
		if c := data[0]; c >= ' ' && c < 0x7f || c == '\n' || c == '\t' {
			to = w.line.add(to, c)
			data = data[1:]
			continue
		}
		if len(w.mark) > 0 && data[0] == w.mark[0] {
			if own, complete := bytes.CutPrefix(data, w.mark); complete {
				sequence, n := ownSequence(own)
				if n < 0 {
					return to, data
				}
				to = w.line.addOwn(to, sequence)
				data = own[n:]
				continue
			}
			if bytes.HasPrefix(w.mark, data) {
				return to, data
			}
		}
		if !utf8.FullRune(data) {
			return to, data
		}
		r, size := utf8.DecodeRune(data)
		if !text.IsUnsafe(r) {
			w.line.other(r)
			to = append(to, data[:size]...)
		}
		data = data[size:]
	}
	return to, nil
}

// maxSequence is the length of the longest sequence that follows a mark, and maxLink that of
// the longest hyperlink.
const (
	maxSequence = 16
	maxLink     = 4096
)

// ownSequence returns the sequence behind a mark and its length, 0 if there is none
// and -1 if more data is needed.
func ownSequence(data []byte) (string, int) {
	switch {
	case len(data) == 0:
		return "", -1
	case data[0] == '\r':
		return "\r", 1
	case data[0] == ':' && len(data) == 1, data[0] == '\x1b' && len(data) == 1:
		return "", -1
	case data[0] == ':' && data[1] == ':':
		return actions, 2
	case bytes.HasPrefix(data, []byte(linkBegin)):
		return ownLink(data)
	case bytes.HasPrefix([]byte(linkBegin), data):
		return "", -1
	case data[0] != '\x1b' || data[1] != '[':
		return "", 0
	}
	for i, c := range data[2:min(len(data), maxSequence)] {
		switch {
		case c >= '0' && c <= '9' || c == ';':
		case c == 'm' || c == 'A' || c == 'J':
			return string(data[:i+3]), i + 3
		default:
			return "", 0
		}
	}
	if len(data) < maxSequence {
		return "", -1
	}
	return "", 0
}

// ownLink is ownSequence for the part of a hyperlink: an address of visible ASCII.
func ownLink(data []byte) (string, int) {
	for i := len(linkBegin); i < min(len(data), maxLink); i++ {
		switch c := data[i]; {
		case c > ' ' && c < 0x7f:
		case c != '\x1b':
			return "", 0
		case i+1 == len(data):
			return "", -1
		case data[i+1] != '\\':
			return "", 0
		default:
			return string(data[:i+len(linkEnd)]), i + len(linkEnd)
		}
	}
	if len(data) < maxLink {
		return "", -1
	}
	return "", 0
}
