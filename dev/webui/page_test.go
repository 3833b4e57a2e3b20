package webui

import (
	"bytes"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/chromedp/cdproto/emulation"
	"github.com/chromedp/cdproto/page"
	"github.com/chromedp/chromedp"

	"github.com/armature-io/armature/dev/internal/harness"
)

const (
	// axeVariable names the file axe.min.js.
	axeVariable = "AXE"
	// pageModulesVariable names the folder node_modules with the packages that the pages embed.
	pageModulesVariable = "PAGE_MODULES"
)

// pages is a world whose pages are served, and a browser with a session.
type pages struct {
	story
	address string
	program harness.Pages
}

// TestPages opens the pages of `armature ui` for a cluster that is Updating while its databases
// wait, then freezes, kills the worker, and stops Temporal.
func TestPages(t *testing.T) {
	if os.Getenv(chromiumVariable) == "" {
		t.Skip("no browser: `make test-webui` installs Chromium and runs this test")
	}
	t.Parallel() // both stories mostly wait
	p := pages{story: newStory(t)}
	p.serve()
	p.watch()
	p.b.resize(1400, 960)
	p.b.open(p.program.Address)
	p.b.until("made")
	p.address, _, _ = strings.Cut(p.program.Address, "/plan?")
	for _, look := range []struct {
		name string
		do   func(pages)
	}{
		{"overview", pages.overview}, {"plan", pages.plan}, {"graph", pages.graphPage}, {"resource", pages.resourcePage}, {"keys", pages.keys}, {"narrow", pages.narrow},
		{"freeze", pages.freeze}, {"no worker", pages.noWorker}, {"no Temporal", pages.noTemporal}, {"no program", pages.noProgram},
	} {
		t.Run(look.name, func(t *testing.T) {
			own := p
			own.story = p.on(t)
			look.do(own)
			if found := evaluate[string](own.b, `JSON.stringify(window.violations ?? [])`); found != "[]" {
				t.Errorf("the policy refused %s", found)
			}
		})
	}
}

// serve starts `armature ui` with the plan of a deletion.
func (p *pages) serve() {
	p.T.Helper()
	// A plan has an exit code of its own: there are changes.
	if result := p.CLI("plan", "--delete", database, firewall, "--cascade", "--with-data", "--out", "old.plan"); !p.Exists("old.plan") {
		p.T.Fatal(result)
	}
	p.program = p.StartPages("--web-ui", p.ui.Address(), "--plan", "old.plan")
}

// watch records what the content security policy refuses.
func (p *pages) watch() {
	p.T.Helper()
	_, err := chromedp.Call(p.b.ctx, page.AddScriptToEvaluateOnNewDocument, page.AddScriptToEvaluateOnNewDocumentParams{
		Source: `window.violations = []; document.addEventListener("securitypolicyviolation", event => window.violations.push(event.violatedDirective + " " + event.blockedURI));`,
	})
	if err != nil {
		p.T.Fatal(err)
	}
}

// show opens a page and waits for texts.
func (p pages) show(path string, texts ...string) {
	p.T.Helper()
	p.b.open(p.address + path)
	p.b.until(texts...)
}

func (p pages) overview() {
	p.show("/", "Nothing needs a person", "Goes on alone", "Operating", "Holds up 3", "adx/telemetry", "Changed last", "By stack")
	p.accessible()
	p.picture("ui-overview", 1280, 800)
}

func (p pages) resourcePage() {
	p.show("/", "Holds up 3")
	p.b.do("open the page of a database", chromedp.Click(`.held a[href*="telemetry"]`))
	p.b.until("Not Ready", "waits for", "Root cause:", "Next try", "CheckOwner", "properties.softDeletePeriod", "P1D", "PUT", "accepted")
	if title := evaluate[string](p.b, "document.title"); !strings.HasPrefix(title, "adx/telemetry – ") {
		p.T.Errorf("the title is %q", title)
	}
	p.b.untilTrue("the next try is a countdown", `/in \d+s|now/.test(document.querySelector(".next time").textContent)`)
	p.accessible()
	p.picture("ui-resource", 1280, 1000)
}

func (p pages) graphPage() {
	p.show("/graph", "root causes and what waits for them", "waits for")
	p.b.untilTrue("the graph is drawn", `document.querySelectorAll("#drawing a").length === 4 && document.querySelectorAll("#drawing path.blocked").length === 3`)
	labels := evaluate[string](p.b, `[...document.querySelectorAll("#drawing a[href]")].map(a => a.querySelector("title").textContent).sort().join("\n")`)
	if !strings.Contains(labels, "kusto database adx/telemetry, Blocked, data") {
		p.T.Errorf("the nodes are named\n%s", labels)
	}
	if n := evaluate[int](p.b, `document.querySelectorAll("li.node a.ref").length`); n < 4 {
		p.T.Errorf("the list has %d links, want one for each node", n)
	}
	p.accessible()
	p.picture("ui-graph", 1280, 800)
	p.show("/graph?q=telemetry", "what matches", "adx/telemetry")
}

// plan shows what a deletion would take, and that its plan holds.
func (p pages) plan() {
	p.show("/plan", "Deletion", "The plan still holds.", "Lost data", "demo-nsg")
	p.b.do("follow a link to a row", chromedp.Click(`.first a`))
	p.accessible()
}

// keys uses the pages without a mouse.
func (p pages) keys() {
	p.show("/", "Holds up 3")
	p.b.do("press /", chromedp.KeyEvent("/"))
	p.b.untilTrue("the search has the focus", `document.activeElement.id === "search"`)
	evaluate[string](p.b, `document.activeElement.value = ""`) // chromedp sends a character, whatever its key did
	p.b.do("search", chromedp.KeyEvent("nsg\r"))
	p.b.until("what matches", "demo-nsg")
	p.b.untilTrue("the graph is drawn", `document.querySelectorAll("#drawing a").length === 1`)
	evaluate[string](p.b, `(document.getElementById("zone").focus(), "")`)
	p.b.do("press Tab", chromedp.KeyEvent("\t"))
	p.b.untilTrue("the focus is in the page", `document.activeElement.closest("main") !== null`)
	p.b.do("press o", chromedp.KeyEvent("o"))
	p.b.until("Goes on alone")
}

// narrow checks that a page fits on a phone.
func (p pages) narrow() {
	p.b.resize(390, 844)
	for _, path := range []string{"/", "/graph", "/resource?id=" + database} {
		p.show(path, "adx")
		wide := evaluate[[]string](p.b, `[...document.querySelectorAll("main *")]
  .filter(e => e.getBoundingClientRect().right > document.documentElement.clientWidth && !e.closest(".scroll, .drawing, .hidden"))
  .map(e => e.outerHTML.slice(0, 120))`)
		if len(wide) > 0 {
			p.T.Errorf("%s is too wide for a phone:\n%s", path, strings.Join(wide, "\n"))
		}
	}
	p.b.resize(1400, 960)
}

// freeze checks that a change appears by itself, and leaves focus and open parts alone.
func (p pages) freeze() {
	p.show("/", "Holds up 3")
	evaluate[string](p.b, `(() => {
  window.kept = document.querySelector(".cause h3 a");
  window.kept.focus();
  return "";
})()`)
	p.MustCLI("freeze", "-l", "stack=demo", "--reason", "INC-42")
	p.b.until("Writes are frozen", "INC-42", "armature unfreeze -l stack=demo")
	if !evaluate[bool](p.b, `document.activeElement === window.kept && window.kept.isConnected`) {
		p.T.Error("the focus is lost when the page changes")
	}
	p.accessible()
	p.MustCLI("unfreeze", "-l", "stack=demo")
}

func (p pages) noWorker() {
	p.worker.Kill()
	p.show("/resource?id="+database, "No worker answers on the task queue armature")
	p.accessible()
}

func (p pages) noTemporal() {
	p.show("/", "Holds up 3")
	p.RestartTemporal(func() {
		p.b.until("Temporal does not answer.", "This is the state of", "adx")
		p.accessible()
	})
	p.b.untilTrue("the page sees that Temporal is back", `!document.querySelector("main").textContent.includes("Temporal does not answer")`)
}

func (p pages) noProgram() {
	p.show("/", "Holds up 3")
	if err := p.program.Process.Kill(); err != nil {
		p.T.Fatal(err)
	}
	p.b.untilTrue("the page says that its program is gone", `!document.getElementById("lost").hidden`)
}

// accessible runs the rules of axe-core, in light and dark.
func (p pages) accessible() {
	p.T.Helper()
	file := os.Getenv(axeVariable)
	if file == "" {
		p.T.Log("no axe-core: `make test-webui` installs it")
		return
	}
	script, err := os.ReadFile(file)
	if err != nil {
		p.T.Fatal(err)
	}
	for _, scheme := range []string{"light", "dark"} {
		_, err := chromedp.Call(p.b.ctx, emulation.SetEmulatedMedia, emulation.SetEmulatedMediaParams{Features: []*emulation.MediaFeature{{Name: "prefers-color-scheme", Value: scheme}}})
		if err != nil {
			p.T.Fatal(err)
		}
		evaluate[string](p.b, string(script)+`;
window.axeFound = null;
axe.run().then(result => { window.axeFound = result.violations.filter(v => ["serious", "critical"].includes(v.impact)).map(v => v.id + ": " + v.nodes.map(n => n.html + " " + n.failureSummary).join("\n")); });
""`)
		p.b.untilTrue("axe-core has ended", "window.axeFound !== null")
		if found := evaluate[[]string](p.b, "window.axeFound"); len(found) > 0 {
			p.T.Errorf("%s, axe-core finds:\n%s", scheme, strings.Join(found, "\n"))
		}
	}
	if _, err := chromedp.Call(p.b.ctx, emulation.SetEmulatedMedia, emulation.SetEmulatedMediaParams{}); err != nil {
		p.T.Fatal(err)
	}
}

// picture keeps a picture of the window.
func (p pages) picture(name string, width, height int64) {
	p.T.Helper()
	p.b.resize(width, height)
	evaluate[string](p.b, `(scrollTo(0, 0), "")`)
	shot, err := chromedp.Call(p.b.ctx, page.CaptureScreenshot, page.CaptureScreenshotParams{})
	if err != nil {
		p.T.Fatalf("take screenshot %s: %v", name, err)
	}
	p.b.keep(name, shot.Data)
	p.b.resize(1400, 960)
}

// TestPageFiles compares the embedded files with the packages that npm has checked by the
// package-lock.
func TestPageFiles(t *testing.T) {
	modules := os.Getenv(pageModulesVariable)
	if modules == "" {
		t.Skip("no packages: `make test-webui` installs them and runs this test")
	}
	const folder = "../../starter/internal/page/static/npm"
	sums, err := os.ReadFile(filepath.Join(folder, "SHA256SUMS"))
	if err != nil {
		t.Fatal(err)
	}
	for _, line := range strings.Split(strings.TrimSpace(string(sums)), "\n") {
		_, name, _ := strings.Cut(line, "  ")
		embedded, err := os.ReadFile(filepath.Join(folder, filepath.FromSlash(name)))
		if err != nil {
			t.Fatal(err)
		}
		if published, err := os.ReadFile(filepath.Join(modules, filepath.FromSlash(name))); err != nil || !bytes.Equal(embedded, published) {
			t.Errorf("%s differs from the package: %v; make page-files", name, err)
		}
	}
}
