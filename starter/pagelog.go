package main

import (
	"fmt"
	"strings"

	"github.com/armature-io/armature/resource"
	"github.com/armature-io/armature/workflows"
)

func (p *page) differences() {
	v := p.view
	if len(v.Differences) == 0 {
		return
	}
	p.line("Differences", "of %s, observed -> desired", p.at(v.DifferencesAt))
	for i, d := range v.Differences {
		if i == p.most(differencesShown) {
			p.line("", "… and %d more: `armature get %s -o yaml`", len(v.Differences)-i, v.called())
			break
		}
		p.line("", "%s", "  "+p.difference(d))
	}
}

// difference is "path: observed -> desired".
func (p *page) difference(d resource.Difference) string {
	return cut(d.Path+": "+orAbsent(d.Observed)+" -> "+orAbsent(d.Desired), p.most(lineMax))
}

func orAbsent(value string) string {
	if value == "" {
		return "(absent)"
	}
	return value
}

func (p *page) decisions() {
	decisions := p.view.Decisions
	if len(decisions) == 0 {
		return
	}
	p.line("Decisions", "the last ones, newest below")
	for _, d := range decisions[max(0, len(decisions)-p.most(decisionsShown)):] {
		p.line("", "%s", "  "+cut(p.decision(d), p.most(lineMax)))
	}
}

func (p *page) decision(d workflows.Decision) string {
	words := []string{clock(d.At, p.now), fmt.Sprintf("pass %d", d.Pass), d.Step}
	for _, word := range []string{string(d.Action), string(d.Reason)} {
		if word != "" {
			words = append(words, word)
		}
	}
	line := strings.Join(words, " ")
	if d.Message != "" {
		line += ": " + d.Message
	}
	if d.Count > 1 {
		line += fmt.Sprintf(" (%d times)", d.Count)
	}
	return line
}
