package audit

import (
	"bytes"
	"context"
	"errors"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
)

// picky takes batches without a line of its list; busy answers 503 to all.
type picky struct {
	refuses  []string
	busy     bool
	requests int
	taken    []string
}

func (p *picky) send(_ context.Context, lines []Line) error {
	p.requests++
	if p.busy {
		return errors.New("503")
	}
	for _, line := range lines {
		for _, refused := range p.refuses {
			if line.Key == refused {
				return &contentError{errors.New("422")}
			}
		}
	}
	for _, line := range lines {
		p.taken = append(p.taken, line.Key)
	}
	return nil
}

// TestDeliver checks which lines a server gets that refuses some, and which are given up.
func TestDeliver(t *testing.T) {
	t.Parallel()
	cases := map[string]struct {
		reason  string
		server  picky
		lines   string
		taken   string
		refused string
		failed  bool
	}{
		"all taken":   {"one request", picky{}, "abcd", "abcd", "", false},
		"one refused": {"it does not stop the others", picky{refuses: []string{"c"}}, "abcde", "abde", "c", false},
		"two refused": {"each is found", picky{refuses: []string{"a", "e"}}, "abcde", "bcd", "ae", false},
		"all refused": {"the server is misconfigured, and nothing is given up", picky{refuses: []string{"a", "b", "c"}}, "abc", "", "", true},
		"alone":       {"nothing shows that the server takes any line", picky{refuses: []string{"a"}}, "a", "", "", true},
		"busy":        {"the server's state is not the content of a line", picky{busy: true}, "abc", "", "", true},
	}
	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			var lines []Line
			for _, key := range strings.Split(c.lines, "") {
				lines = append(lines, line(t, key))
			}
			err := deliver(t.Context(), lines, c.server.send)
			given, isRefused := errors.AsType[*RefusedError](err)
			var refused strings.Builder
			if isRefused {
				for _, line := range given.Lines {
					refused.WriteString(line.Key)
				}
			}
			if diff := cmp.Diff([]string{c.taken, c.refused}, []string{strings.Join(c.server.taken, ""), refused.String()}); diff != "" {
				t.Errorf("%s: taken and refused (-want +got):\n%s", c.reason, diff)
			}
			if failed := err != nil && !isRefused; failed != c.failed {
				t.Errorf("%s: got %v", c.reason, err)
			}
		})
	}
	many := picky{}
	var lines []Line
	for n := range maxBatchLines {
		key := strings.Repeat("x", n)
		many.refuses, lines = append(many.refuses, key), append(lines, line(t, key))
	}
	if err := deliver(t.Context(), lines, many.send); err == nil || many.requests > maxDeliveries {
		t.Errorf("%d requests for lines that are all refused (%v), want at most %d", many.requests, err, maxDeliveries)
	}
}

// TestRefusedLine checks that the write of a line that is refused for good is not sent, that
// other lines arrive, and that the refused one is reported as lost.
func TestRefusedLine(t *testing.T) {
	t.Parallel()
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if body, _ := io.ReadAll(r.Body); bytes.Contains(body, []byte("poison")) {
			w.WriteHeader(http.StatusUnprocessableEntity)
		}
	}))
	t.Cleanup(server.Close)
	counted := &fake{}
	endpoint, err := NewEndpoint(server.URL, nil, nil)
	if err != nil {
		t.Fatal(err)
	}
	j := New(Options{Timeout: time.Minute, Count: counted.count}, endpoint)
	refusal := make(chan error, 1)
	go func() {
		_, err := j.Begin(t.Context(), Record{Key: "poison", Event: EventWrite})
		refusal <- err
	}()
	// The others show that the endpoint takes lines.
	for ended := false; !ended; {
		if err := j.Write(t.Context(), Record{Key: "good", Event: EventWrite}); err != nil {
			t.Fatalf("another line is stopped: %v", err)
		}
		ended = counted.counted(OutcomeLost) == 1
	}
	if err := <-refusal; err == nil {
		t.Error("the write of the refused line may be sent")
	}
	j.Close(t.Context())
	if lost := counted.counted(OutcomeLost); lost != 1 {
		t.Errorf("%d lines are lost, want the refused one", lost)
	}
}
