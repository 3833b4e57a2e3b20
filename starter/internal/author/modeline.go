package author

import (
	"bytes"
	"path"
	"regexp"
	"strings"
)

var (
	// modeline matches the comment that names a schema.
	modeline = regexp.MustCompile(`(?m)^#\s*(yaml-language-server\s*:|\$schema:)`)
	// documentStart matches the line that starts a document.
	documentStart = regexp.MustCompile(`(?m)^---([ \t].*)?\r?\n`)
	// statesType matches the field with which a document is a manifest, and statesRules the one
	// with which it has rules.
	statesType  = regexp.MustCompile(`(?m)^["']?type["']?\s*:`)
	statesRules = regexp.MustCompile(`(?m)^["']?rules["']?\s*:`)
)

// HasRules reports whether a file is one of rules.
func HasRules(text []byte) bool { return statesRules.Match(text) }

// byteOrderMark may precede the text of a file.
var byteOrderMark = []byte("\xef\xbb\xbf")

// AddModelines returns a file in which each manifest, or for RulesFile each document with rules,
// begins with a comment that names the schema, and how many were added: servers read it for
// each document. file is its path below the folder of the schema, with slashes.
func AddModelines(text []byte, file, schema string) ([]byte, int) {
	states := statesType
	if schema == RulesFile {
		states = statesRules
	}
	up := strings.Repeat("../", strings.Count(path.Clean(file), "/"))
	line := "# yaml-language-server: $schema=" + up + schema + lineEnd(text)
	rest, marked := bytes.CutPrefix(text, byteOrderMark)
	var out bytes.Buffer
	if marked {
		out.Write(byteOrderMark)
	}
	added := 0
	add := func(start, document []byte) {
		out.Write(start)
		if states.Match(document) && !modeline.Match(document) {
			out.WriteString(line)
			added++
		}
		out.Write(document)
	}
	begin, end := 0, 0
	for _, mark := range documentStart.FindAllIndex(rest, -1) {
		add(rest[begin:end], rest[end:mark[0]])
		begin, end = mark[0], mark[1]
	}
	add(rest[begin:end], rest[end:])
	return out.Bytes(), added
}

// lineEnd returns how the lines of a text end.
func lineEnd(text []byte) string {
	if first, _, found := bytes.Cut(text, []byte("\n")); found && bytes.HasSuffix(first, []byte("\r")) {
		return "\r\n"
	}
	return "\n"
}
