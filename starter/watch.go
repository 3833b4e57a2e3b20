package main

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/jedib0t/go-pretty/v6/text"
	"github.com/spf13/cobra"
)

// watchRest is how much longer than a look took a watch rests before the next
// one, so that a list of thousands does not keep Temporal busy by being watched.
const watchRest = 4

// showing is how a command that reads shows its answer.
type showing struct {
	output format
	watch  bool
}

// addShowing adds -o and --watch.
func (a *app) addShowing(c *cobra.Command, how *showing) {
	a.addOutput(c, &how.output)
	c.Flags().BoolVarP(&how.watch, "watch", "w", false, "show it again whenever it changes, until Ctrl-C")
}

// frame is one answer.
type frame struct {
	// render writes it; the app's clock is the one from which ages are told.
	render func(a *app) error
	// lines are what a log of changes shows instead; nil for all that render
	// writes.
	lines func(a *app) []changed
	// key is what must change before it is written again; "" for all but the ages
	// of what render writes.
	key string
	// ended: nothing of it can change any more.
	ended bool
}

// changed is one line of a log of changes.
type changed struct {
	// of is what the line speaks of; is what must change for a new line.
	of, is, text string
}

// looker reads one answer.
type looker = func(ctx context.Context, b *backend) (frame, error)

// show shows an answer once, or again and again.
func (a *app) show(ctx context.Context, how showing, look looker) error {
	b, err := a.connect(ctx, a)
	if err != nil {
		return err
	}
	defer b.close()
	if how.watch {
		return a.watch(ctx, b, how.output, look)
	}
	f, err := look(ctx, b)
	if err != nil {
		return err
	}
	return f.render(a)
}

// watch shows answers until Ctrl-C, which is no failure, or until the last one.
// On a terminal it redraws; elsewhere it appends what changed.
func (a *app) watch(ctx context.Context, b *backend, output format, look looker) error {
	w := watcher{app: a, output: output, begun: a.now(), last: map[string]string{}}
	for {
		begun := a.now()
		f, err := look(ctx, b)
		if err == nil {
			err = w.show(f)
		}
		switch {
		case ctx.Err() != nil:
			return nil
		case exitCode(err) == exitUnreachable && w.shown:
			w.away(err)
		case err != nil || f.ended:
			return err
		}
		rest := max(pollEvery, watchRest*a.now().Sub(begun).Round(time.Second))
		select {
		case <-ctx.Done():
			return nil
		case <-a.after(rest):
		}
	}
}

// watcher remembers what was shown.
type watcher struct {
	app    *app
	output format
	begun  time.Time
	shown  bool
	// last is what a log wrote last, by what it speaks of.
	last  map[string]string
	notes string
	// block is what stands on the terminal, so many lines high.
	block  string
	height int
}

// away says once that Temporal does not answer; the watch goes on.
func (w *watcher) away(err error) {
	if text := err.Error(); w.notes != text {
		w.notes = text
		w.app.note("note: %s; the watch goes on", text)
		w.block, w.height = "", 0
	}
}

// show writes an answer where it differs from the last one.
func (w *watcher) show(f frame) error {
	out, notes, err := w.written(f, w.app.now())
	if err != nil {
		w.app.printf("%s", out)
		return err
	}
	w.shown = true
	at := w.app.now().Format(time.TimeOnly)
	switch {
	case w.output == formatJSON:
		err = w.append(f, compact(out))
	case w.output == formatYAML:
		err = w.append(f, "---\n"+out)
	case w.app.terminal:
		w.draw(out + notes)
		return nil
	case f.lines != nil:
		w.log(f.lines(w.app), at)
	default:
		err = w.append(f, "--- "+at+"\n"+out)
	}
	if notes != w.notes {
		w.notes = notes
		fmt.Fprint(w.app.err, notes)
	}
	return err
}

// written is what an answer writes at a time, and the notes beside it.
func (w *watcher) written(f frame, now time.Time) (out, notes string, err error) {
	var text, beside bytes.Buffer
	copied := *w.app
	copied.out, copied.err = &text, &beside
	copied.now = func() time.Time { return now }
	err = f.render(&copied)
	return text.String(), beside.String(), err
}

// append writes a text where the answer is not the last one. An age alone is no
// change, so what would have been written when the watch began is compared.
func (w *watcher) append(f frame, text string) error {
	key := f.key
	var err error
	if key == "" {
		key, _, err = w.written(f, w.begun)
	}
	if w.last[""] != key {
		w.last[""] = key
		w.app.printf("%s", text)
	}
	return err
}

// compact is JSON on one line.
func compact(raw string) string {
	var line bytes.Buffer
	if json.Compact(&line, []byte(raw)) != nil {
		return raw
	}
	return line.String() + "\n"
}

// log appends the lines that changed.
func (w *watcher) log(lines []changed, at string) {
	here := map[string]bool{}
	for _, line := range lines {
		here[line.of] = true
		if last, known := w.last[line.of]; !known || last != line.is {
			w.last[line.of] = line.is
			w.app.printf("%s  %s\n", at, line.text)
		}
	}
	for _, of := range slices.Sorted(maps.Keys(w.last)) {
		if !here[of] {
			delete(w.last, of)
			w.app.printf("%s  %s  is not here any more\n", at, of)
		}
	}
}

// draw replaces the block that was drawn last, cut to the terminal.
func (w *watcher) draw(out string) {
	width, height := w.app.size()
	lines := strings.Split(strings.TrimSuffix(out, "\n"), "\n")
	if room := max(2, height-2); len(lines) > room {
		lines = append(lines[:room-1], fmt.Sprintf("… and %d more lines", len(lines)-room+1))
	}
	for i, line := range lines {
		lines[i] = text.Snip(line, max(10, width-1), "…")
	}
	block := strings.Join(lines, "\n")
	if block == w.block {
		return
	}
	up := ""
	if w.height > 0 {
		up = fmt.Sprintf("\x1b[%dA\r", w.height)
	}
	w.app.printf("%s\x1b[J%s\n", up, block)
	w.block, w.height = block, len(lines)
}

// watched are the targets of a command that shows resources: those that were
// named are found once and followed to their end, others are listed each time.
type watched struct {
	selection
	records []record
}

// views are the states of the targets.
func (t *watched) views(ctx context.Context, b *backend, reread bool) ([]view, error) {
	if t.records == nil || len(t.names) == 0 {
		var err error
		if t.records, err = b.targets(ctx, t.selection); err != nil {
			return nil, err
		}
	} else {
		reread = true
	}
	w := &viewer{reader: b}
	if reread {
		return w.described(ctx, t.records)
	}
	return w.views(ctx, t.records)
}

// over reports that all that was named is gone.
func (t *watched) over(views []view) bool {
	for _, v := range views {
		if !v.Gone {
			return false
		}
	}
	return len(t.names) > 0
}
