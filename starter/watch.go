package starter

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"time"

	"github.com/armature-io/armature/starter/internal/backend"
	"github.com/armature-io/armature/starter/internal/cli"
	"github.com/armature-io/armature/starter/internal/screen"
	"github.com/spf13/cobra"
)

// watchInterval is the shortest time between two reads of a watch, for each list request
// of a read.
const watchInterval = 2 * time.Second

// watchPauseFactor is how many times longer than its last read a watch waits before
// the next one, so that a list of thousands does not keep Temporal busy.
const watchPauseFactor = 4

// display is how a command that reads shows its output.
type display struct {
	output cli.Format
	watch  bool
}

// addDisplay adds -o and --watch.
func (a *app) addDisplay(c *cobra.Command, how *display) {
	cli.AddFormat(c, &how.output)
	c.Flags().BoolVarP(&how.watch, "watch", "w", false, "repeat whenever something changes, until Ctrl-C")
}

// frame is one output of a command.
type frame struct {
	// render writes the frame. Ages are relative to the app's clock.
	render func(a *app) error
	// lines are what a log of changes has instead; nil logs everything that render
	// writes.
	lines func(a *app) []logLine
	// key is what must change before the frame is written again; "" means
	// everything that render writes except ages.
	key string
	// final means that nothing in it can change any more.
	final bool
}

// logLine is one line of a log of changes: subject is the resource, key is what must
// change for a new line.
type logLine struct{ subject, key, text string }

// fetchFrame reads one frame.
type fetchFrame = func(ctx context.Context, b *connection) (frame, error)

// show writes a frame once, or with --watch whenever it changes.
func (a *app) show(ctx context.Context, how display, fetch fetchFrame) error {
	b, err := a.connection(ctx)
	if err != nil {
		return err
	}
	if how.watch {
		return a.watch(ctx, b, how.output, fetch)
	}
	f, err := fetch(ctx, b)
	if err != nil {
		return err
	}
	return f.render(a)
}

// watch writes frames until Ctrl-C, which is no failure, or until the final frame. A
// terminal is redrawn; elsewhere changes are appended.
func (a *app) watch(ctx context.Context, b *connection, output cli.Format, fetch fetchFrame) error {
	w := watcher{app: a, output: output, begun: a.now(), last: map[string]string{}}
	for {
		begun, sent := a.now(), backend.Lists(b.Reader)
		f, err := fetch(ctx, b)
		if err == nil {
			err = w.show(f)
		}
		switch {
		case ctx.Err() != nil || a.isClosed():
			return nil
		case cli.ExitCode(err) == cli.ExitUnreachable && w.shown:
			w.noteUnreachable(err)
		case err != nil || f.final:
			return err
		}
		lists := time.Duration(max(1, backend.Lists(b.Reader)-sent))
		pause := max(lists*watchInterval, watchPauseFactor*a.now().Sub(begun).Round(time.Second))
		select {
		case <-ctx.Done():
			return nil
		case <-a.after(pause):
		}
	}
}

// watcher writes the frames of one watch.
type watcher struct {
	app    *app
	output cli.Format
	begun  time.Time
	shown  bool
	// last has the key of the last line of each subject.
	last  map[string]string
	notes string
	block screen.Block
}

// noteUnreachable notes once that Temporal does not respond.
func (w *watcher) noteUnreachable(err error) {
	if text := err.Error(); w.notes != text {
		w.notes = text
		w.app.note("note: %s; the watch continues", text)
		w.block = screen.Block{}
	}
}

// show writes a frame if it differs from the last one.
func (w *watcher) show(f frame) error {
	out, notes, err := w.render(f, w.app.now())
	if err != nil {
		w.app.printf("%s", out)
		return err
	}
	w.shown = true
	at := cli.Clock(w.app.now(), w.app.now())
	switch {
	case w.output == cli.FormatJSON:
		err = w.append(f, compact(out))
	case w.output == cli.FormatYAML:
		err = w.append(f, "---\n"+out)
	case w.app.terminal:
		width, height := w.app.size()
		w.block.Draw(w.app.out, w.app.ink, screen.Crop(out+notes, width, height))
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

// render returns what a frame writes at a time, and its notes.
func (w *watcher) render(f frame, now time.Time) (out, notes string, err error) {
	var stdout, stderr bytes.Buffer
	copied := *w.app
	copied.out, copied.err = &stdout, &stderr
	copied.now = func() time.Time { return now }
	err = f.render(&copied)
	return stdout.String(), stderr.String(), err
}

// append writes a text if the frame changed. An age alone is no change, so frames
// without a key are compared as of the begin of the watch.
func (w *watcher) append(f frame, text string) error {
	key := f.key
	var err error
	if key == "" {
		key, _, err = w.render(f, w.begun)
	}
	if w.last[""] != key {
		w.last[""] = key
		w.app.printf("%s", text)
	}
	return err
}

// compact returns JSON on one line.
func compact(raw string) string {
	var line bytes.Buffer
	if json.Compact(&line, []byte(raw)) != nil {
		return raw
	}
	return line.String() + "\n"
}

// log appends the lines that changed.
func (w *watcher) log(lines []logLine, at string) {
	present := map[string]bool{}
	for _, line := range lines {
		present[line.subject] = true
		if key, known := w.last[line.subject]; !known || key != line.key {
			w.last[line.subject] = line.key
			w.app.printf("%s  %s\n", at, line.text)
		}
	}
	for _, subject := range slices.Sorted(maps.Keys(w.last)) {
		if !present[subject] {
			delete(w.last, subject)
			w.app.printf("%s  %s  was removed\n", at, subject)
		}
	}
}
