package cli

import (
	"fmt"
	"strings"
	"time"

	"github.com/armature-io/armature/internal/text"
	"github.com/spf13/cobra"
)

// Span returns a duration as text: 8s, 2m10s, 4d2h.
func Span(d time.Duration) string { return text.Duration(d) }

// Ago returns the time that has passed since t, "-" for the zero time.
func Ago(t, now time.Time) string {
	if t.IsZero() {
		return "-"
	}
	return text.Duration(now.Sub(t))
}

// In returns when a time comes: "in 4s", "now", or "-" for the zero time.
func In(t, now time.Time) string {
	switch {
	case t.IsZero():
		return "-"
	case !t.After(now):
		return "now"
	}
	return "in " + text.Duration(t.Sub(now))
}

// Clock returns a time of day in UTC, with its date unless that is today.
func Clock(t, now time.Time) string {
	if day, _, _ := strings.Cut(text.Time(t), " "); day != now.UTC().Format(time.DateOnly) {
		return text.Time(t)
	}
	return t.UTC().Format("15:04:05Z")
}

// OneLine returns a text on one line, without characters that act on a terminal.
func OneLine(s string) string { return text.OneLine(s) }

// shellCommands are characters with which a word runs something. Shells insert the common
// beginning of several offers without quotes.
const shellCommands = "$`;|&<>!\"'\\"

// Offer appends a completion with its description. A name that a shell or a terminal would
// take for something else is no offer.
func Offer(offers []cobra.Completion, name, description string) []cobra.Completion {
	if name == "" || !text.IsSafe(name) || strings.ContainsAny(name, shellCommands) {
		return offers
	}
	return append(offers, cobra.CompletionWithDesc(name, text.OneLine(description)))
}

// Cut returns at most maxRunes characters of a text on one line.
func Cut(s string, maxRunes int) string { return text.Cut(OneLine(s), maxRunes) }

// Count returns "1 issue", "2 issues".
func Count(n int, noun string) string { return CountOf(n, noun, noun+"s") }

// CountOf returns a number with one of two forms: "1 history", "2 histories".
func CountOf(n int, one, many string) string {
	if n == 1 {
		return "1 " + one
	}
	return fmt.Sprintf("%d %s", n, many)
}

// CountAre returns "1 resource is", "2 resources are".
func CountAre(n int, noun string) string { return CountOf(n, noun+" is", noun+"s are") }
