// Package hostile plays an Azure Resource Manager that attacks its clients. A
// [Server] serves HTTPS on loopback. It returns scripted answers to the requests that
// a test names, leaves the rest to an honest handler (the simulator), and records
// every request with its token. A second server is the foreign host to which scripted
// answers try to send a client: it must receive nothing.
package hostile

import (
	"bytes"
	"encoding/pem"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
)

// Request is a request that a server received.
type Request struct {
	Method, Path, Query string
	// Authorization is the header with the token, "" without one.
	Authorization string
	Header        http.Header
	Body          string
	// Scripted reports whether the answer was a hostile one.
	Scripted bool
}

// Server is one host. Its certificate is its own authority.
type Server struct {
	t      testing.TB
	http   *httptest.Server
	honest http.Handler

	mu       sync.Mutex
	rules    []*rule
	requests []Request
}

// rule is a scripted answer to the requests of a method and path.
type rule struct {
	method, path string
	left         int // further answers; negative is no end
	answer       http.Handler
}

// Start starts a server that stops with the test. Requests without a scripted answer
// go to honest; nil answers 404.
func Start(t testing.TB, honest http.Handler) *Server {
	t.Helper()
	if honest == nil {
		honest = http.NotFoundHandler()
	}
	s := &Server{t: t, honest: honest}
	s.http = httptest.NewUnstartedServer(http.HandlerFunc(s.serve))
	s.http.StartTLS()
	t.Cleanup(func() {
		s.http.CloseClientConnections() // of answers that have no end
		s.http.Close()
	})
	return s
}

// URL returns the base URL, https://127.0.0.1:port.
func (s *Server) URL() string { return s.http.URL }

// Host returns host:port.
func (s *Server) Host() string { return s.http.Listener.Addr().String() }

// CAFile writes the certificate into folder and returns the file's path. A client that
// trusts it trusts every server of this package.
func (s *Server) CAFile(folder string) string {
	s.t.Helper()
	path := filepath.Join(folder, "hostile-ca.pem")
	block := pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: s.http.Certificate().Raw})
	if err := os.WriteFile(path, block, 0o600); err != nil {
		s.t.Fatal(err)
	}
	return path
}

// Answer scripts the answer to requests of a method ("" for each) to a path, which may
// end with * for all that begins with the rest; upper and lower case are equal. Times
// bounds the number of scripted answers; 0 is no bound. The latest rule counts.
func (s *Server) Answer(method, path string, times int, answer http.HandlerFunc) {
	if times == 0 {
		times = -1
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	s.rules = append([]*rule{{method: method, path: strings.ToLower(path), left: times, answer: answer}}, s.rules...)
}

// Change passes requests to the honest handler and changes its answer.
func (s *Server) Change(method, path string, times int, change func(*httptest.ResponseRecorder)) {
	s.Answer(method, path, times, func(w http.ResponseWriter, r *http.Request) {
		recorded := httptest.NewRecorder()
		s.honest.ServeHTTP(recorded, r)
		change(recorded)
		for name, values := range recorded.Header() {
			w.Header()[name] = values
		}
		w.WriteHeader(recorded.Code)
		_, _ = w.Write(recorded.Body.Bytes())
	})
}

// Requests returns the requests to a path, "" for all of them, oldest first.
func (s *Server) Requests(path string) []Request {
	s.mu.Lock()
	defer s.mu.Unlock()
	var some []Request
	for _, request := range s.requests {
		if path == "" || matches(strings.ToLower(path), strings.ToLower(request.Path)) {
			some = append(some, request)
		}
	}
	return some
}

// Count returns the number of requests of a method to a path.
func (s *Server) Count(method, path string) int {
	count := 0
	for _, request := range s.Requests(path) {
		if request.Method == method {
			count++
		}
	}
	return count
}

func (s *Server) serve(w http.ResponseWriter, r *http.Request) {
	body, err := io.ReadAll(r.Body)
	if err != nil {
		return // the client is gone
	}
	r.Body = io.NopCloser(bytes.NewReader(body))
	answer := s.match(r)
	s.mu.Lock()
	s.requests = append(s.requests, Request{
		Method: r.Method, Path: r.URL.Path, Query: r.URL.RawQuery, Authorization: r.Header.Get("Authorization"),
		Header: r.Header.Clone(), Body: string(body), Scripted: answer != nil,
	})
	s.mu.Unlock()
	if answer == nil {
		answer = s.honest
	}
	answer.ServeHTTP(w, r)
}

// match returns the scripted answer to a request and counts it, or nil.
func (s *Server) match(r *http.Request) http.Handler {
	s.mu.Lock()
	defer s.mu.Unlock()
	path := strings.ToLower(r.URL.Path)
	for _, rule := range s.rules {
		if rule.left == 0 || rule.method != "" && rule.method != r.Method || !matches(rule.path, path) {
			continue
		}
		rule.left--
		return rule.answer
	}
	return nil
}

// matches reports whether a path is that of a rule; both are in lower case.
func matches(rule, path string) bool {
	prefix, open := strings.CutSuffix(rule, "*")
	return rule == path || open && strings.HasPrefix(path, prefix)
}
