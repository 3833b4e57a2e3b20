package cli

import (
	"strings"
	"unicode"
)

// line is what has been written of the present line.
type line struct {
	// colored means that a color has not ended.
	colored bool
	// begun means that the line has more than blanks and colons.
	begun bool
	// tail are the last characters, as many as a command needs before its bracket.
	tail [len(vso)]byte
}

// Commands that CI systems run when they read them in the output of a step: GitHub
// Actions at the begin of a line ("::error::") and anywhere ("##[error]"), Azure
// Pipelines anywhere ("##vso[task.setvariable]"). Sources: actions/runner,
// src/Runner.Common/ActionCommand.cs; microsoft/azure-pipelines-agent,
// docs/preview/outputvariable.md.
const (
	actions = "::"
	hashes  = "##"
	vso     = "##vso"
)

// add appends an ASCII character. A blank breaks what a CI system would run.
func (l *line) add(to []byte, c byte) []byte {
	switch {
	case c == '\n':
		if l.colored {
			to = append(to, reset...)
		}
		*l = line{}
		return append(to, c)
	case c == '[' && l.isCommand(), c == ':' && !l.begun && l.tail[len(l.tail)-1] == ':':
		to = append(to, ' ')
	}
	if c != ' ' && c != '\t' && c != ':' {
		l.begun = true
	}
	copy(l.tail[:], l.tail[1:])
	l.tail[len(l.tail)-1] = c
	return append(to, c)
}

// isCommand reports whether a bracket would begin the name of a command.
func (l *line) isCommand() bool { return endsLikeCommand(string(l.tail[:])) }

// endsLikeCommand reports whether a text ends as the beginning of a command does.
func endsLikeCommand(text string) bool {
	text = strings.ToLower(text)
	return strings.HasSuffix(text, hashes) || strings.HasSuffix(text, vso)
}

// other notes a character beyond ASCII. GitHub's runner skips all blanks of Unicode.
func (l *line) other(r rune) {
	l.begun = l.begun || !unicode.IsSpace(r)
	l.tail = [len(vso)]byte{}
}

// addOwn appends a sequence that an Ink has marked.
func (l *line) addOwn(to []byte, sequence string) []byte {
	switch {
	case sequence == "":
	case strings.HasSuffix(sequence, "m"):
		l.colored = sequence != reset
	case sequence == "\r":
		l.begun, l.tail = false, [len(vso)]byte{}
	case sequence == actions:
		l.begun = true
	}
	return append(to, sequence...)
}
