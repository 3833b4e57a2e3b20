package schema

import (
	"bytes"
	"path"
	"regexp"
	"strings"
)

// modeline matches the comment that names a schema.
var modeline = regexp.MustCompile(`(?m)^\s*#\s*yaml-language-server\s*:\s*\$schema\s*=`)

// byteOrderMark may precede the text of a file.
var byteOrderMark = []byte("\xef\xbb\xbf")

// AddModeline returns a manifest with a first line that names the schema, and false if
// it has such a line already. file is its path below the folder of the schema, with
// slashes.
func AddModeline(text []byte, file string) ([]byte, bool) {
	if modeline.Match(text) {
		return text, false
	}
	end := "\n"
	if first, _, found := bytes.Cut(text, []byte("\n")); found && bytes.HasSuffix(first, []byte("\r")) {
		end = "\r\n"
	}
	up := strings.Repeat("../", strings.Count(path.Clean(file), "/"))
	line := "# yaml-language-server: $schema=" + up + File + end
	rest, marked := bytes.CutPrefix(text, byteOrderMark)
	var out []byte
	if marked {
		out = append(out, byteOrderMark...)
	}
	return append(append(out, line...), rest...), true
}
