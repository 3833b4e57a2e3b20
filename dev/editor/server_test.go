package editor

import (
	"bufio"
	"encoding/json"
	"fmt"
	"io"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"
)

// patience bounds the wait for one message of the server.
const patience = time.Minute

// message is a JSON-RPC message of the language server protocol.
type message struct {
	Version string          `json:"jsonrpc"`
	ID      json.RawMessage `json:"id,omitempty"`
	Method  string          `json:"method,omitempty"`
	Params  json.RawMessage `json:"params,omitempty"`
	Result  json.RawMessage `json:"result,omitempty"`
	Error   json.RawMessage `json:"error,omitempty"`
}

// position is a place in a text, counted from 0.
type position struct {
	Line      int `json:"line"`
	Character int `json:"character"`
}

// diagnostic is one problem that an editor underlines.
type diagnostic struct {
	Range struct {
		Start position `json:"start"`
	} `json:"range"`
	Message string `json:"message"`
}

// server is a running YAML language server. Requests are sent one after the other.
type server struct {
	t        *testing.T
	in       io.WriteCloser
	settings any
	mu       sync.Mutex // guards in
	next     int
	results  chan message
	problems chan problems
}

// problems are the diagnostics of one file.
type problems struct {
	URI         string       `json:"uri"`
	Diagnostics []diagnostic `json:"diagnostics"`
}

// start runs the server for a folder with the settings of the YAML extension.
func start(t *testing.T, folder string, settings map[string]any) *server {
	t.Helper()
	program := os.Getenv(serverVariable)
	if program == "" {
		t.Skipf("%s names no YAML language server; `make test-editor` installs one and runs this test", serverVariable)
	}
	// A store of schemas on the internet would be asked otherwise.
	settings["schemaStore"] = map[string]any{"enable": false}
	settings["validate"], settings["hover"], settings["completion"] = true, true, true
	command := exec.Command(program, "--stdio")
	command.Stderr = os.Stderr
	in, err := command.StdinPipe()
	if err != nil {
		t.Fatal(err)
	}
	out, err := command.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := command.Start(); err != nil {
		t.Fatalf("start the YAML language server: %v", err)
	}
	s := &server{t: t, in: in, settings: settings, results: make(chan message), problems: make(chan problems, 100)}
	done := make(chan struct{})
	go func() {
		defer close(done)
		s.listen(bufio.NewReader(out))
	}()
	t.Cleanup(func() {
		_ = command.Process.Kill()
		<-done
		_ = command.Wait()
	})
	workspace := uri(folder)
	s.request("initialize", map[string]any{
		"processId": os.Getpid(), "rootUri": workspace,
		"workspaceFolders": []any{map[string]any{"uri": workspace, "name": "stack"}},
		"capabilities": map[string]any{
			"workspace":    map[string]any{"configuration": true, "workspaceFolders": true},
			"textDocument": map[string]any{"hover": map[string]any{"contentFormat": []string{"markdown"}}, "publishDiagnostics": map[string]any{}},
		},
	})
	s.notify("initialized", map[string]any{})
	s.notify("workspace/didChangeConfiguration", map[string]any{"settings": map[string]any{"yaml": settings}})
	return s
}

// uri returns the address of a file.
func uri(path string) string {
	return (&url.URL{Scheme: "file", Path: filepath.ToSlash(path)}).String()
}

// listen reads messages until the server ends.
func (s *server) listen(out *bufio.Reader) {
	for {
		m, err := receive(out)
		if err != nil {
			close(s.results)
			return
		}
		switch {
		case m.Method == "textDocument/publishDiagnostics":
			var p problems
			if err := json.Unmarshal(m.Params, &p); err == nil {
				s.problems <- p
			}
		case m.Method == "workspace/configuration":
			s.send(message{ID: m.ID, Result: encoded(s.configuration(m.Params))})
		case m.Method != "" && m.ID != nil:
			s.send(message{ID: m.ID, Result: json.RawMessage("null")})
		case m.Method == "":
			s.results <- m
		}
	}
}

// configuration returns the settings of the sections that the server asks for.
func (s *server) configuration(params json.RawMessage) []any {
	var request struct{ Items []struct{ Section string } }
	_ = json.Unmarshal(params, &request) // an odd request gets no settings
	values := make([]any, len(request.Items))
	for i, item := range request.Items {
		if item.Section == "yaml" {
			values[i] = s.settings
		}
	}
	return values
}

func encoded(value any) json.RawMessage {
	raw, err := json.Marshal(value)
	if err != nil {
		return json.RawMessage("null") // maps and texts always encode
	}
	return raw
}

// receive reads one message: headers, an empty line, and as many bytes as they state.
func receive(out *bufio.Reader) (message, error) {
	length := 0
	for {
		line, err := out.ReadString('\n')
		if err != nil {
			return message{}, err
		}
		line = strings.TrimSpace(line)
		if line == "" {
			break
		}
		if value, found := strings.CutPrefix(line, "Content-Length: "); found {
			if length, err = strconv.Atoi(value); err != nil {
				return message{}, err
			}
		}
	}
	raw := make([]byte, length)
	if _, err := io.ReadFull(out, raw); err != nil {
		return message{}, err
	}
	var m message
	err := json.Unmarshal(raw, &m)
	return m, err
}

func (s *server) send(m message) {
	m.Version = "2.0"
	raw := encoded(m)
	s.mu.Lock()
	defer s.mu.Unlock()
	fmt.Fprintf(s.in, "Content-Length: %d\r\n\r\n%s", len(raw), raw)
}

func (s *server) notify(method string, params any) {
	s.send(message{Method: method, Params: encoded(params)})
}

// request sends a request and returns its result.
func (s *server) request(method string, params any) json.RawMessage {
	s.t.Helper()
	s.next++
	id := json.RawMessage(strconv.Itoa(s.next))
	s.send(message{ID: id, Method: method, Params: encoded(params)})
	select {
	case m, open := <-s.results:
		if !open || m.Error != nil || string(m.ID) != string(id) {
			s.t.Fatalf("%s: the server ended or refused: %s", method, m.Error)
		}
		return m.Result
	case <-time.After(patience):
		s.t.Fatalf("%s: no result within %s", method, patience)
	}
	return nil
}

// open opens a file and returns its first diagnostics, and how long they took.
func (s *server) open(path string) ([]diagnostic, time.Duration) {
	s.t.Helper()
	began := time.Now()
	s.notify("textDocument/didOpen", map[string]any{"textDocument": map[string]any{
		"uri": uri(path), "languageId": "yaml", "version": 1, "text": read(s.t, path),
	}})
	timeout := time.After(patience)
	for {
		select {
		case p := <-s.problems:
			if p.URI == uri(path) {
				return p.Diagnostics, time.Since(began)
			}
		case <-timeout:
			s.t.Fatalf("%s: no diagnostics within %s", path, patience)
		}
	}
}

// complete returns the labels that the server offers at a position.
func (s *server) complete(path string, at position) []string {
	s.t.Helper()
	var list struct{ Items []struct{ Label string } }
	if err := json.Unmarshal(s.at("textDocument/completion", path, at), &list); err != nil {
		s.t.Fatal(err)
	}
	labels := make([]string, len(list.Items))
	for i, item := range list.Items {
		labels[i] = item.Label
	}
	return labels
}

// hover returns the text that the server shows at a position.
func (s *server) hover(path string, at position) string {
	s.t.Helper()
	var shown struct{ Contents struct{ Value string } }
	if err := json.Unmarshal(s.at("textDocument/hover", path, at), &shown); err != nil {
		s.t.Fatal(err)
	}
	return shown.Contents.Value
}

func (s *server) at(method, path string, at position) json.RawMessage {
	s.t.Helper()
	return s.request(method, map[string]any{"textDocument": map[string]any{"uri": uri(path)}, "position": at})
}
