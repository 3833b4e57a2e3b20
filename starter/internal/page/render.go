package page

import (
	"bytes"
	"crypto/sha256"
	"embed"
	"encoding/hex"
	"html/template"
	"io/fs"
	"net/http"
	"path"
	"strings"
	"time"

	"github.com/armature-io/armature/starter/internal/cli"
)

// The templates, one for each page, in the layout of all.
const (
	pageOverview = "overview"
	pageGraph    = "graph"
	pageResource = "resource"
	pageHistory  = "history"
	pageBodies   = "bodies"
	pagePlan     = "plan"
	pageMessage  = "message"
)

//go:embed templates
var templateFiles embed.FS

//go:embed static/page.css static/page.js static/graph.js static/icon.svg
//go:embed static/npm/htmx.org/dist/htmx.min.js static/npm/@dagrejs/dagre/dist/dagre.min.js
var staticFiles embed.FS

// templates are parsed once, with the program.
var templates = parseTemplates()

func parseTemplates() map[string]*template.Template {
	layout := template.Must(template.New("layout").Funcs(template.FuncMap{
		"file": staticAddress, "plural": plural, "moment": newMoment, "dict": args,
	}).ParseFS(templateFiles, "templates/layout.html.tmpl", "templates/parts.html.tmpl"))
	parsed := map[string]*template.Template{}
	for _, name := range []string{pageOverview, pageGraph, pageResource, pageHistory, pageBodies, pagePlan, pageMessage} {
		parsed[name] = template.Must(template.Must(layout.Clone()).ParseFS(templateFiles, "templates/"+name+".html.tmpl"))
	}
	return parsed
}

// args returns its arguments: a part of a template with more than one value.
func args(values ...any) []any { return values }

// moment is a time for people and for the script, which shows its age.
type moment struct{ Machine, Text string }

func newMoment(t time.Time) moment {
	return moment{Machine: t.UTC().Format(time.RFC3339), Text: t.UTC().Format("2006-01-02 15:04Z")}
}

// frame returns what every page has.
func (s *Server) frame(r *http.Request, state *snapshot, here string) Frame {
	f := Frame{
		Title: here, Here: here, Self: r.URL.RequestURI(), Namespace: s.options.Namespace, Query: r.URL.Query().Get("q"), ReadAt: state.readAt,
		HasPlan: s.plans != nil, Others: s.options.Others, User: userName(r.Context()),
	}
	if state.err != nil {
		f.setAway(state.err)
		return f
	}
	if len(state.workers) == 0 {
		f.Notes = append(f.Notes, Note{Tone: ToneBad, Text: segments("No worker polls the task queue " + s.options.TaskQueue +
			": nothing is checked or written. Start one; `armature doctor` shows what it needs.")})
	}
	return f
}

// render writes a page. A browser that shows the same page already gets no body.
func (s *Server) render(w http.ResponseWriter, r *http.Request, name string, model any) {
	var body bytes.Buffer
	if err := templates[name].ExecuteTemplate(&body, "layout", model); err != nil {
		s.failed(w, r, err)
		return
	}
	sum := sha256.Sum256(body.Bytes())
	tag := `"` + hex.EncodeToString(sum[:16]) + `"`
	w.Header().Set("ETag", tag)
	if r.Header.Get("If-None-Match") == tag {
		w.WriteHeader(http.StatusNotModified)
		return
	}
	w.Header().Set("Content-Type", "text/html; charset=utf-8")
	_, _ = w.Write(body.Bytes())
}

// message is a page without data: an error, or an empty state.
type message struct {
	Title, Text string
	// Action and Href are a link, "" for none.
	Action, Href string
	// Refresh follows the link without a click.
	Refresh bool
}

// Segments returns the text with its commands.
func (m message) Segments() []Segment { return segments(m.Text) }

// failed writes a page about an error.
func (s *Server) failed(w http.ResponseWriter, r *http.Request, err error) {
	if r.Context().Err() != nil {
		return
	}
	writeMessage(w, http.StatusServiceUnavailable, message{Title: "This page cannot be shown now", Text: cli.OneLine(err.Error()), Action: "Try again", Href: r.URL.RequestURI()})
}

// notFound writes a page about an address that has no page.
func (s *Server) notFound(w http.ResponseWriter, _ *http.Request, text string) {
	writeMessage(w, http.StatusNotFound, message{Title: "Not found", Text: cli.OneLine(text), Action: "Overview", Href: "/"})
}

// writeMessage writes a message in a page of its own, which asks nothing again.
func writeMessage(w http.ResponseWriter, status int, m message) {
	var body bytes.Buffer
	frame := Frame{Title: m.Title}
	if m.Refresh {
		frame.Refresh = m.Href
	}
	if err := templates[pageMessage].ExecuteTemplate(&body, "layout", struct {
		Frame
		Message message
	}{Frame: frame, Message: m}); err != nil {
		http.Error(w, m.Title, status)
		return
	}
	w.Header().Set("Content-Type", "text/html; charset=utf-8")
	w.WriteHeader(status)
	_, _ = w.Write(body.Bytes())
}

// static has the embedded files by their addresses, which change with the content.
var static = readStatic()

type staticFile struct {
	content []byte
	kind    string
}

var staticKinds = map[string]string{".css": "text/css; charset=utf-8", ".js": "text/javascript; charset=utf-8", ".svg": "image/svg+xml"}

func readStatic() map[string]staticFile {
	files := map[string]staticFile{}
	// The files are part of the program: walking them cannot fail.
	_ = fs.WalkDir(staticFiles, "static", func(name string, entry fs.DirEntry, _ error) error {
		if entry.IsDir() {
			return nil
		}
		content, err := staticFiles.ReadFile(name)
		if err != nil {
			return err
		}
		files[versioned(name, content)] = staticFile{content: content, kind: staticKinds[path.Ext(name)]}
		return nil
	})
	return files
}

// versioned returns the address of a file: its name with a part of its hash.
func versioned(name string, content []byte) string {
	sum := sha256.Sum256(content)
	return "/static/" + hex.EncodeToString(sum[:6]) + "/" + path.Base(name)
}

// staticAddress returns the address of an embedded file, "" for an unknown name.
func staticAddress(name string) string {
	for address := range static {
		if strings.HasSuffix(address, "/"+name) {
			return address
		}
	}
	return ""
}

// serveStatic serves an embedded file. It has no data of the estate.
func serveStatic(w http.ResponseWriter, r *http.Request) {
	file, known := static[r.URL.Path]
	if !known {
		writeMessage(w, http.StatusNotFound, message{Title: "Not found", Text: "There is no such file."})
		return
	}
	w.Header().Set("Content-Type", file.kind)
	w.Header().Set("Cache-Control", "private, max-age=31536000, immutable")
	_, _ = w.Write(file.content)
}
