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
	// statesType matches the field with which a document is a manifest.
	statesType = regexp.MustCompile(`(?m)^["']?type["']?\s*:`)
)

// byteOrderMark may precede the text of a file.
var byteOrderMark = []byte("\xef\xbb\xbf")

// AddModelines returns a file in which each manifest begins with a comment that names
// the schema, and how many were added: servers read it for each document. file is its
// path below the folder of the schema, with slashes.
func AddModelines(text []byte, file string) ([]byte, int) {
	up := strings.Repeat("../", strings.Count(path.Clean(file), "/"))
	line := "# yaml-language-server: $schema=" + up + File + lineEnd(text)
	rest, marked := bytes.CutPrefix(text, byteOrderMark)
	var out bytes.Buffer
	if marked {
		out.Write(byteOrderMark)
	}
	added := 0
	add := func(start, document []byte) {
		out.Write(start)
		if statesType.Match(document) && !modeline.Match(document) {
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
