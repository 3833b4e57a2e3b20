package main

import (
	"fmt"
	"strings"
	"time"
	"unicode"
	"unicode/utf8"

	"github.com/armature-io/armature/resource"
)

// kind is the resource type in words: "kusto cluster". The provider is left out
// where the type's own words hold it: "virtual network", "resource group".
func kind(id resource.ID) string {
	full := id.Type()
	last := full[strings.LastIndex(full, "/")+1:]
	words := singular(camelWords(last))
	provider := strings.ToLower(id.Provider()[strings.LastIndex(id.Provider(), ".")+1:])
	if provider == "" || strings.Contains(words, provider) || strings.Contains(provider, strings.Fields(words + " ?")[0]) {
		return words
	}
	return provider + " " + words
}

// described is "kusto cluster adx".
func described(id resource.ID) string { return kind(id) + " " + id.Short() }

// camelWords splits camelCase into lower-cased words.
func camelWords(name string) string {
	var b strings.Builder
	runes := []rune(name)
	for i, r := range runes {
		if i > 0 && unicode.IsUpper(r) && (!unicode.IsUpper(runes[i-1]) || i+1 < len(runes) && unicode.IsLower(runes[i+1])) {
			b.WriteByte(' ')
		}
		b.WriteRune(unicode.ToLower(r))
	}
	return b.String()
}

// singular takes the plural of English off the last word of a type.
func singular(words string) string {
	for _, rule := range []struct{ end, with string }{
		{"ies", "y"}, {"sses", "ss"}, {"xes", "x"}, {"ss", "ss"}, {"is", "is"}, {"us", "us"}, {"s", ""},
	} {
		if strings.HasSuffix(words, rule.end) {
			return strings.TrimSuffix(words, rule.end) + rule.with
		}
	}
	return words
}

// span is a duration for people, in at most two units: 8s, 2m10s, 3h5m, 4d2h.
func span(d time.Duration) string {
	d = max(0, d).Round(time.Second)
	seconds := int64(d / time.Second)
	units := []struct {
		name string
		size int64
	}{{"d", 86400}, {"h", 3600}, {"m", 60}, {"s", 1}}
	text, count := "", 0
	for _, u := range units {
		n := seconds / u.size
		seconds %= u.size
		if n > 0 && count < 2 {
			text += fmt.Sprintf("%d%s", n, u.name)
		}
		if text != "" {
			count++
		}
	}
	if text == "" {
		return "0s"
	}
	return text
}

// since is how long ago a time was, "-" for none.
func since(t, now time.Time) string {
	if t.IsZero() {
		return "-"
	}
	return span(now.Sub(t))
}

// until is when the next try comes, "-" for never by itself.
func until(t, now time.Time) string {
	switch {
	case t.IsZero():
		return "-"
	case !t.After(now):
		return "now"
	}
	return "in " + span(t.Sub(now))
}

// clock is a time of day in the zone of now, with the date when it is not
// today's.
func clock(t, now time.Time) string {
	t = t.In(now.Location())
	if t.Format(time.DateOnly) == now.Format(time.DateOnly) {
		return t.Format(time.TimeOnly)
	}
	return t.Format(time.DateTime)
}

// visible is a text on one line without what moves a terminal's cursor: some
// texts come from Azure.
func visible(text string) string {
	return strings.Map(func(r rune) rune {
		if unicode.IsControl(r) {
			return -1
		}
		return r
	}, strings.ReplaceAll(strings.ReplaceAll(text, "\n", " "), "\t", " "))
}

// cut shortens a text for one line of at most n characters.
func cut(text string, n int) string {
	text = visible(strings.Join(strings.Fields(text), " "))
	if utf8.RuneCountInString(text) <= n {
		return text
	}
	return string([]rune(text)[:max(0, n-1)]) + "…"
}

// cutBytes shortens a text to n bytes without splitting a character.
func cutBytes(text string, n int) string {
	if len(text) <= n {
		return text
	}
	for n > 0 && !utf8.RuneStart(text[n]) {
		n--
	}
	return text[:n]
}
