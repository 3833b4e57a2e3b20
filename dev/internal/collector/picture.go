package collector

import (
	"fmt"
	"html"
	"slices"
	"strings"
	"time"
)

// row is a span in a picture.
type row struct {
	Span
	depth int
}

// rows returns the spans of a trace as a tree. Siblings with the same shape become one row
// each, so that the tree does not depend on how often an operation was polled.
func rows(spans []Span) []row {
	byParent := map[string][]Span{}
	known := map[string]bool{}
	for _, s := range spans {
		known[s.SpanID] = true
	}
	for _, s := range spans {
		if !known[s.Parent] {
			s.Parent = ""
		}
		byParent[s.Parent] = append(byParent[s.Parent], s)
	}
	return below(byParent, "", 0)
}

func below(byParent map[string][]Span, parent string, depth int) []row {
	var all []row
	last := map[string]int{}
	for _, s := range byParent[parent] {
		tree := append([]row{{Span: s, depth: depth}}, below(byParent, s.SpanID, depth+1)...)
		shape := shapeOf(tree)
		if i, again := last[shape]; again {
			all[i].Ended = later(all[i].Ended, s.Ended)
			continue
		}
		last[shape] = len(all)
		all = append(all, tree...)
	}
	return all
}

func later(a, b time.Time) time.Time {
	if b.After(a) {
		return b
	}
	return a
}

func shapeOf(tree []row) string {
	var b strings.Builder
	for _, r := range tree {
		fmt.Fprintf(&b, "%d %s\n", r.depth, r.Name)
	}
	return b.String()
}

// Tree returns a trace as an indented list of names.
func Tree(spans []Span) string {
	var b strings.Builder
	for _, r := range rows(spans) {
		fmt.Fprintf(&b, "%s%s\n", strings.Repeat("  ", r.depth), r.Name)
	}
	return b.String()
}

// Sizes of a picture in pixels.
const (
	rowHeight, labelWidth, barWidth, indent = 22, 360, 520, 14
	pictureWidth                            = labelWidth + barWidth + 110
)

// Picture returns a trace as SVG: a row for each span, with a bar for its time.
func Picture(spans []Span) string {
	all := rows(spans)
	begun, ended := all[0].Begun, all[0].Ended
	for _, r := range all {
		if r.Begun.Before(begun) {
			begun = r.Begun
		}
		ended = later(ended, r.Ended)
	}
	whole := max(ended.Sub(begun), time.Millisecond)
	colors := map[string]string{}
	for i, s := range services(all) {
		colors[s] = []string{"#0f6cbd", "#2e7d32", "#8a5a00"}[i%3]
	}
	var b strings.Builder
	height := rowHeight*(len(all)+2) + 10
	fmt.Fprintf(&b, `<svg xmlns="http://www.w3.org/2000/svg" width="%d" height="%d" viewBox="0 0 %d %d" font-family="system-ui, sans-serif" font-size="12">`+"\n",
		pictureWidth, height, pictureWidth, height)
	fmt.Fprintf(&b, `<rect width="100%%" height="100%%" fill="#ffffff"/>`+"\n")
	x := 8
	for _, s := range services(all) {
		fmt.Fprintf(&b, `<rect x="%d" y="9" width="10" height="10" fill="%s"/><text x="%d" y="18" class="service" fill="#333">%s</text>`+"\n", x, colors[s], x+15, html.EscapeString(s))
		x += 150
	}
	for i, r := range all {
		y := rowHeight * (i + 1)
		left := labelWidth + int(float64(barWidth)*float64(r.Begun.Sub(begun))/float64(whole))
		width := max(2, int(float64(barWidth)*float64(r.Ended.Sub(r.Begun))/float64(whole)))
		fmt.Fprintf(&b, `<text x="%d" y="%d" class="span" fill="#111">%s</text>`, 8+r.depth*indent, y+20, html.EscapeString(r.Name))
		fmt.Fprintf(&b, `<rect x="%d" y="%d" width="%d" height="12" rx="2" fill="%s"/>`, left, y+10, width, colors[r.Service])
		fmt.Fprintf(&b, `<text x="%d" y="%d" fill="#555">%s</text>`+"\n", left+width+5, y+20, r.Ended.Sub(r.Begun).Round(time.Millisecond))
	}
	b.WriteString("</svg>\n")
	return b.String()
}

// services returns the services of a picture in the order of their rows.
func services(all []row) []string {
	var found []string
	for _, r := range all {
		if !slices.Contains(found, r.Service) {
			found = append(found, r.Service)
		}
	}
	return found
}
