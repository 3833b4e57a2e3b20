package docs

import (
	"fmt"
	"os/exec"
	"regexp"
	"strconv"
	"strings"
)

// block is a fenced block of a page.
type block struct {
	// line is that of the first line inside, from 1.
	line     int
	language string
	// session starts a new shell; notRun is the reason why the block is not run.
	session, notRun string
	text            string
}

// command is a command at a prompt, with the output and exit code on the page.
type command struct {
	line int
	text string
	// output are the lines that the page shows; nil where it shows none.
	output []string
	// exit is the exit code that the page states.
	exit int
	// background is set for a command that keeps running.
	background bool
}

var (
	fence      = regexp.MustCompile("^( *)```(.*)$")
	annotation = regexp.MustCompile(`^ *<!-- (session|not run): (.+) -->$`)
	exits      = regexp.MustCompile(`# .*\bexits (?:with )?(\d+)`)
	fileName   = regexp.MustCompile(`^(?:# ([\w./-]+\.ya?ml)|// ([\w./-]+\.go))\b`)
)

// background is the comment of a command that keeps running.
const background = "in another terminal"

// blocks returns the fenced blocks of a page in order.
func blocks(page string) ([]block, error) {
	var all []block
	var inside *block
	var before []string // the match of an annotation on the line before
	indent := ""
	for i, line := range strings.Split(page, "\n") {
		match := fence.FindStringSubmatch(line)
		switch {
		case inside == nil && match != nil:
			indent = match[1]
			inside = &block{line: i + 2, language: strings.TrimSpace(match[2])}
			if before != nil && before[1] == "session" {
				inside.session = before[2]
			} else if before != nil {
				inside.notRun = before[2]
			}
		case inside != nil && match != nil && match[2] == "":
			all, inside = append(all, *inside), nil
		case inside != nil:
			inside.text += strings.TrimPrefix(line, indent) + "\n"
		}
		before = annotation.FindStringSubmatch(line)
	}
	if inside != nil {
		return nil, fmt.Errorf("line %d: the block does not end", inside.line)
	}
	return all, nil
}

// commands returns the commands of a block ```sh or ```console.
func (b block) commands() ([]command, error) {
	var all []command
	text, start := "", 0
	for i, line := range strings.Split(strings.TrimSuffix(b.text, "\n"), "\n") {
		if b.language == "console" {
			typed, prompt := strings.CutPrefix(line, "$ ")
			if !prompt && text == "" {
				if len(all) == 0 {
					return nil, fmt.Errorf("line %d: output without a command", b.line+i)
				}
				last := &all[len(all)-1]
				last.output = append(last.output, line)
				continue
			}
			line = typed
		}
		if text == "" {
			start = b.line + i
		}
		if text += line + "\n"; onlyComments(text) || !complete(text) {
			continue
		}
		all = append(all, newCommand(start, strings.TrimSuffix(text, "\n")))
		text = ""
	}
	if !onlyComments(text) {
		return nil, fmt.Errorf("line %d: bash does not accept: %s", start, text)
	}
	return all, nil
}

func newCommand(line int, text string) command {
	c := command{line: line, text: text, background: strings.Contains(text, background)}
	if match := exits.FindStringSubmatch(text); match != nil {
		c.exit, _ = strconv.Atoi(match[1]) // the expression takes digits alone
	}
	return c
}

func onlyComments(text string) bool {
	for line := range strings.Lines(text) {
		if line = strings.TrimSpace(line); line != "" && !strings.HasPrefix(line, "#") {
			return false
		}
	}
	return true
}

// complete reports whether bash accepts a text as complete commands. For a here
// document that does not end, bash only prints a warning.
func complete(text string) bool {
	if strings.HasSuffix(text, "\\\n") {
		return false
	}
	check := exec.Command("bash", "-n")
	check.Stdin = strings.NewReader(text)
	output, err := check.CombinedOutput()
	return err == nil && len(output) == 0
}

// file returns the name of the file that a block of YAML or Go contains, or "".
func (b block) file() string {
	match := fileName.FindStringSubmatch(b.text)
	switch {
	case match == nil:
		return ""
	case b.language == "yaml":
		return match[1]
	case b.language == "go":
		return match[2]
	}
	return ""
}
