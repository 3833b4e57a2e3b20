// Package text formats durations, times and long texts for people. It imports
// nothing of this module. Its functions are pure, so that workflow code may call
// them.
package text

import (
	"encoding/json"
	"fmt"
	"strconv"
	"strings"
	"time"
	"unicode/utf8"
)

const day = 24 * time.Hour

// Duration returns a duration in at most two units, rounded to seconds: 8s, 2m10s,
// 3h5m, 4d2h. A negative duration is 0s.
func Duration(d time.Duration) string {
	d = max(0, d).Round(time.Second)
	days := ""
	switch {
	case d >= day:
		days = strconv.FormatInt(int64(d/day), 10) + "d"
		if d = (d % day).Truncate(time.Hour); d == 0 {
			return days
		}
	case d >= time.Hour:
		d = d.Truncate(time.Minute)
	}
	text := d.String()
	if strings.HasSuffix(text, "m0s") {
		text = strings.TrimSuffix(text, "0s")
	}
	if strings.HasSuffix(text, "h0m") {
		text = strings.TrimSuffix(text, "0m")
	}
	return days + text
}

// Time returns a time in UTC to the second: 2026-01-31 12:00:00Z.
func Time(t time.Time) string { return t.UTC().Format("2006-01-02 15:04:05Z") }

// Cut shortens a text to at most maxRunes characters; a shortened text ends with
// an ellipsis.
func Cut(text string, maxRunes int) string {
	if utf8.RuneCountInString(text) <= maxRunes {
		return text
	}
	return string([]rune(text)[:max(0, maxRunes-1)]) + "…"
}

// CutBytes shortens a text to at most maxBytes bytes without splitting a character.
func CutBytes(text string, maxBytes int) string {
	if len(text) <= maxBytes {
		return text
	}
	for maxBytes > 0 && !utf8.RuneStart(text[maxBytes]) {
		maxBytes--
	}
	return text[:maxBytes]
}

// JSON returns a value as compact JSON, with <, > and & as they are.
func JSON(value any) (string, error) {
	var b strings.Builder
	encoder := json.NewEncoder(&b)
	encoder.SetEscapeHTML(false)
	if err := encoder.Encode(value); err != nil {
		return "", fmt.Errorf("encode as JSON: %w", err)
	}
	return strings.TrimSuffix(b.String(), "\n"), nil
}
