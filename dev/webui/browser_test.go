package webui

import (
	"context"
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/chromedp/cdproto/page"
	"github.com/chromedp/chromedp"
)

const (
	// pageTimeout bounds how long a page may take until it shows what it should;
	// generous, since CI machines are slow and the Web UI refreshes by itself.
	pageTimeout = 60 * time.Second
)

// browser is one tab of Chromium.
type browser struct {
	t   testing.TB
	ctx context.Context
}

// openBrowser starts Chromium, with no cookies and no local storage; it ends with the test.
func openBrowser(t testing.TB, more ...chromedp.ExecAllocatorOption) *browser {
	t.Helper()
	options := append(chromedp.DefaultExecAllocatorOptions[:], chromedp.ExecPath(os.Getenv(chromiumVariable)))
	options = append(options, more...)
	if os.Geteuid() == 0 {
		options = append(options, chromedp.NoSandbox) // Chromium refuses its sandbox to root
	}
	ctx, cancel := chromedp.NewExecAllocator(t.Context(), options...)
	t.Cleanup(cancel)
	ctx, cancel = chromedp.NewContext(ctx)
	t.Cleanup(cancel)
	b := &browser{t: t, ctx: ctx}
	// The browser ends with the context of its first action.
	if err := chromedp.Do(b.ctx); err != nil {
		t.Fatalf("start %s: %v", os.Getenv(chromiumVariable), err)
	}
	b.resize(1400, 960)
	return b
}

// on returns the browser for a subtest, so that failures belong to the subtest.
func (b *browser) on(t testing.TB) *browser { return &browser{t: t, ctx: b.ctx} }

// resize sets the size of the window, in CSS pixels. The Web UI's own menu takes
// 255 of the width.
func (b *browser) resize(width, height int64) {
	b.t.Helper()
	b.do("resize the window", chromedp.EmulateViewport(width, height))
}

// open opens an address.
func (b *browser) open(address string) {
	b.t.Helper()
	b.do("open "+address, chromedp.Navigate(address))
}

func (b *browser) do(what string, action chromedp.Action[chromedp.Void]) {
	b.t.Helper()
	ctx, cancel := context.WithTimeout(b.ctx, pageTimeout)
	defer cancel()
	if err := chromedp.Do(ctx, action); err != nil {
		b.t.Fatalf("%s: %v", what, err)
	}
}

// evaluate returns the value of a JavaScript expression in the page.
func evaluate[T any](b *browser, expression string) T {
	b.t.Helper()
	ctx, cancel := context.WithTimeout(b.ctx, pageTimeout)
	defer cancel()
	value, err := chromedp.Run(ctx, chromedp.Evaluate[T](expression))
	if err != nil {
		b.t.Fatalf("evaluate %s: %v", expression, err)
	}
	return value
}

// shownScript is the text of the page without the Web UI's own menus, that of
// pictures (the timeline) and of frames (the current details) too, blanks folded.
const shownScript = `(() => {
  const texts = [document.querySelector('main')?.textContent ?? ''];
  for (const frame of document.querySelectorAll('iframe')) texts.push(frame.contentDocument?.body?.textContent ?? '');
  return texts.join(' ').replace(/\s+/g, ' ');
})()`

// until waits until the page shows all texts, and returns its text.
func (b *browser) until(texts ...string) string {
	b.t.Helper()
	quoted, err := json.Marshal(texts)
	if err != nil {
		b.t.Fatal(err)
	}
	b.untilTrue("the page shows "+strings.Join(texts, " and "), string(quoted)+".every(text => "+shownScript+".includes(text))")
	return evaluate[string](b, shownScript)
}

// untilTrue waits until a JavaScript expression is true.
func (b *browser) untilTrue(what, expression string) {
	b.t.Helper()
	ctx, cancel := context.WithTimeout(b.ctx, pageTimeout)
	defer cancel()
	ticker := time.NewTicker(100 * time.Millisecond)
	defer ticker.Stop()
	for {
		done, err := chromedp.Run(ctx, chromedp.Evaluate[bool](expression))
		if done && err == nil {
			return
		}
		select {
		case <-ctx.Done():
			b.screenshot("failed-" + filepath.Base(b.t.Name()))
			b.t.Fatalf("waited %s until %s\nerror: %v\nthe page shows: %s", pageTimeout, what, err, evaluate[string](b, shownScript))
		case <-ticker.C:
		}
	}
}

// screenshot keeps a picture of the page without the Web UI's own menus.
func (b *browser) screenshot(name string) {
	b.t.Helper()
	b.screenshotFrom(name, "")
}

// screenshotFrom keeps a picture of the page, starting at a heading.
func (b *browser) screenshotFrom(name, heading string) {
	b.t.Helper()
	quoted, err := json.Marshal(heading)
	if err != nil {
		b.t.Fatal(err)
	}
	clip := evaluate[page.Viewport](b, `(() => {
  const box = document.querySelector('main').getBoundingClientRect();
  const start = [...document.querySelectorAll('main h2')].find(h => h.textContent.trim() === `+string(quoted)+`);
  const y = start ? start.getBoundingClientRect().y - 16 : Math.max(0, box.y);
  return {x: box.x, y, width: innerWidth - box.x, height: innerHeight - y, scale: 1};
})()`)
	ctx, cancel := context.WithTimeout(b.ctx, pageTimeout)
	defer cancel()
	shot, err := chromedp.Call(ctx, page.CaptureScreenshot, page.CaptureScreenshotParams{Clip: &clip})
	if err != nil {
		b.t.Fatalf("take screenshot %s: %v", name, err)
	}
	b.keep(name, shot.Data)
}

// keep writes a screenshot, small enough for a page of the docs.
func (b *browser) keep(name string, picture []byte) {
	b.t.Helper()
	folder := os.Getenv(screenshotsVariable)
	if folder == "" {
		folder = b.t.ArtifactDir()
	}
	small, err := shrink(picture)
	if err != nil {
		b.t.Fatalf("shrink screenshot %s: %v", name, err)
	}
	if len(small) > maxScreenshot {
		b.t.Errorf("screenshot %s has %d bytes, want at most %d", name, len(small), maxScreenshot)
	}
	if err := os.WriteFile(filepath.Join(folder, name+".png"), small, 0o600); err != nil {
		b.t.Fatal(err)
	}
}
