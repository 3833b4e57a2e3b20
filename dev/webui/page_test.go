package webui

import (
	"bytes"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/chromedp/cdproto/emulation"
	"github.com/chromedp/cdproto/page"
	"github.com/chromedp/chromedp"

	"github.com/armature-io/armature/dev/internal/harness"
	"github.com/armature-io/armature/workflows"
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
// wait, with the plan of a deletion, then freezes, lets everything become Ready, kills the
// worker, and stops Temporal. In each state axe-core looks at every page.
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
		{"changes", pages.changes}, {"freeze", pages.freeze}, {"ready", pages.ready}, {"no worker", pages.noWorker}, {"no Temporal", pages.noTemporal}, {"no program", pages.noProgram},
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

// paths are the addresses of all pages.
func paths() []string {
	id := "id=" + database
	return []string{"/", "/?label=stack=demo&since=24h", "/graph", "/graph?of=" + cluster, "/resource?" + id, "/resource/history?" + id, "/resource/bodies?" + id, "/plan"}
}

// everywhere opens every page; each names the resource, or the plan.
func (p pages) everywhere() {
	p.T.Helper()
	for _, path := range paths() {
		text := "adx"
		if path == "/plan" {
			text = "old.plan"
		}
		begun := time.Now()
		p.show(path, text)
		shown := time.Since(begun)
		p.accessibleIn("dark")
		p.T.Logf("%s is shown after %s, and axe-core has ended after %s", path, shown, time.Since(begun)-shown)
	}
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
	p.b.do("open both bodies", chromedp.Click("#whole summary"))
	// Azure shows no database while its cluster is Updating.
	p.b.until("softDeletePeriod: P30D", "The request cannot be served until the cluster is running")
	p.accessible()
}

// changes answers "what changed overnight, by whom?" from the first page.
func (p pages) changes() {
	p.show("/", "Changed last")
	p.b.do("show the changes since the evening", chromedp.Click(`section[aria-labelledby="changes"] .filters a[href*="18%3A00"]`))
	p.b.until("Changed since", "adx/telemetry", "demo-nsg")
	p.accessible()
	p.show("/?label=stack%3Dother", "Nothing matches", "Everything")
}

// ready is the state in which the demo ends.
func (p pages) ready() {
	p.Sim.Call(http.MethodDelete, "/holds", nil, nil)
	for _, name := range []string{"telemetry", "audit", "traces"} {
		p.UntilPhase(120*time.Second, cluster+"/databases/"+name, workflows.PhaseReady)
	}
	p.show("/", "Everything is Ready")
	p.show("/resource?id="+firewall, "Both whole")
	p.b.do("open both bodies", chromedp.Click("#whole summary"))
	p.b.untilTrue("both bodies stand side by side", `(() => {
  const [manifest, azure] = document.querySelectorAll("#bodies-here pre");
  return !!azure && [manifest, azure].every(side => side.textContent.includes("allow-rule-01")) && azure.textContent.includes("provisioningState: Succeeded") &&
    Math.abs(manifest.getBoundingClientRect().top - azure.getBoundingClientRect().top) < 1;
})()`)
	p.everywhere()
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
	p.tabs()
	p.accessible()
	p.picture("ui-graph", 1280, 800)
	p.show("/graph?q=telemetry", "what matches", "adx/telemetry")
}

// tabs reaches every node of the graph by Tab.
func (p pages) tabs() {
	p.T.Helper()
	names := evaluate[[]string](p.b, `[...document.querySelectorAll("#drawing a")].map(a => a.querySelector("title").textContent)`)
	evaluate[string](p.b, `(document.getElementById("search").focus(), "")`)
	reached := map[string]bool{}
	for range 4 * len(names) {
		p.b.do("press Tab", chromedp.KeyEvent("\t"))
		reached[evaluate[string](p.b, `document.activeElement.closest("#drawing a")?.querySelector("title").textContent ?? ""`)] = true
	}
	for _, name := range names {
		if !reached[name] || !strings.Contains(name, ", ") {
			p.T.Errorf("Tab does not reach %q, or its name has no state", name)
		}
	}
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
	for _, path := range paths() {
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
	defer p.MustCLI("unfreeze", "-l", "stack=demo")
	p.b.until("Writes are frozen", "INC-42", "armature unfreeze -l stack=demo")
	if !evaluate[bool](p.b, `document.activeElement === window.kept && window.kept.isConnected`) {
		p.T.Error("the focus is lost when the page changes")
	}
	p.everywhere()
}

func (p pages) noWorker() {
	p.worker.Kill()
	// A resource whose page was open is only asked again after new events.
	p.show("/resource?id="+cluster+"/databases/audit", "No worker answers on the task queue armature")
	p.everywhere()
}

func (p pages) noTemporal() {
	p.show("/", "Ready")
	p.RestartTemporal(func() {
		p.b.until("Temporal does not answer.", "This is the state of", "adx")
		p.everywhere()
	})
	p.show("/", "Ready")
	p.b.untilTrue("the page sees that Temporal is back", `!document.querySelector("main").textContent.includes("Temporal does not answer")`)
}

func (p pages) noProgram() {
	p.show("/", "Ready")
	if err := p.program.Process.Kill(); err != nil {
		p.T.Fatal(err)
	}
	p.b.untilTrue("the page says that its program is gone", `!document.getElementById("lost").hidden`)
}

// accessible runs the rules of axe-core, in light and dark.
func (p pages) accessible() {
	p.T.Helper()
	p.accessibleIn("light", "dark")
}

func (p pages) accessibleIn(schemes ...string) {
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
	for _, scheme := range schemes {
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
