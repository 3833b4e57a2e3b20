package secrets

import (
	"html"
	"slices"
	"strconv"
	"strings"
	"unicode"
	"unicode/utf16"
	"unicode/utf8"
)

// maxDecodings bounds how many encodings inside each other are decoded: an address in a
// JSON text in a JSON text has three.
const maxDecodings = 4

// layer is a copy of a text in which some of its encodings are decoded.
type layer struct {
	text string
	// from has the offset in the original text of each byte, and the original's length at
	// the end. Bytes that were one escape have one offset. nil is the original itself.
	from []int
}

// layers returns a text, and the copies that result when all its escapes are decoded once,
// twice, and so on, and when its lines are joined.
func layers(text string) []layer {
	all := []layer{{text: text}}
	for range maxDecodings {
		next := all[len(all)-1].rewrite(`%\&`, unescape)
		if next.text == all[len(all)-1].text {
			break
		}
		all = append(all, next)
	}
	if strings.Contains(all[len(all)-1].text, "\n") {
		all = append(all, all[len(all)-1].rewrite("\n", joinLines))
	}
	return all
}

// original returns the part of the original text that a part of the layer stands for.
func (l layer) original(start, end int) [2]int {
	if l.from == nil {
		return [2]int{start, end}
	}
	for end < len(l.text) && l.from[end] == l.from[end-1] {
		end++ // the other bytes of the same escape
	}
	return [2]int{l.from[start], l.from[end]}
}

// rewrite returns the layer in which a function has replaced parts of the text. The
// function gets the text from some byte on and returns how many bytes it replaces, 0 for
// none, after it appended their replacement. It replaces nothing in texts without any of chars.
func (l layer) rewrite(chars string, replace func(to []byte, rest string) ([]byte, int)) layer {
	if !strings.ContainsAny(l.text, chars) {
		return l
	}
	text, from := make([]byte, 0, len(l.text)), make([]int, 0, len(l.text)+1)
	for i := 0; i < len(l.text); {
		longer, size := replace(text, l.text[i:])
		if size == 0 {
			longer, size = append(text, l.text[i]), 1
		}
		for range len(longer) - len(text) {
			from = append(from, l.offset(i))
		}
		text, i = longer, i+size
	}
	return layer{text: string(text), from: append(from, l.offset(len(l.text)))}
}

func (l layer) offset(i int) int {
	if l.from == nil {
		return i
	}
	return l.from[i]
}

// fold returns the layer without the differences that services and encodings make: case,
// the two alphabets of base64, and the two forms of a space in an address.
func (l layer) fold() layer {
	if strings.IndexFunc(l.text, func(r rune) bool { return r >= utf8.RuneSelf }) < 0 {
		return layer{text: foldText(l.text), from: l.from} // of the same length
	}
	text, from := make([]byte, 0, len(l.text)), make([]int, 0, len(l.text)+1)
	for i, size := 0, 0; i < len(l.text); i += size {
		var r rune
		r, size = utf8.DecodeRuneInString(l.text[i:])
		before := len(text)
		if r == utf8.RuneError && size == 1 {
			text = append(text, l.text[i])
		} else {
			text = utf8.AppendRune(text, foldRune(r))
		}
		for range len(text) - before {
			from = append(from, l.offset(i))
		}
	}
	return layer{text: string(text), from: append(from, l.offset(len(l.text)))}
}

func foldText(text string) string { return strings.Map(foldRune, text) }

func foldRune(r rune) rune {
	switch r {
	case '-', ' ':
		return '+'
	case '_':
		return '/'
	}
	return unicode.ToLower(r)
}

// joinLines replaces the end of a line and the indentation of the next by nothing.
func joinLines(to []byte, rest string) ([]byte, int) {
	if rest[0] != '\n' && rest[0] != '\r' {
		return to, 0
	}
	return to, len(rest) - len(strings.TrimLeft(rest, "\r\n\t "))
}

// unescape decodes the escape with which a text begins: %2b, %u002b, \u002b, \x2b, \n, \/,
// &#43;, &#x2b;, &amp;.
func unescape(to []byte, rest string) ([]byte, int) {
	switch {
	case len(rest) < 2:
	case rest[0] == '%':
		if code, ok := digits(rest, 1, 2); ok {
			return append(to, byte(code)), 3
		}
		if r, size := codeUnit(rest); size > 0 {
			return utf8.AppendRune(to, r), size
		}
	case rest[0] == '\\':
		if r, size := codeUnit(rest); size > 0 {
			return utf8.AppendRune(to, r), size
		}
		if code, ok := digits(rest, 2, 2); ok && rest[1] == 'x' {
			return append(to, byte(code)), 4
		}
		if i := strings.IndexByte("bfnrt", rest[1]); i >= 0 {
			return append(to, "\b\f\n\r\t"[i]), 2
		}
		if rest[1] == 'u' || rest[1] == 'x' {
			return to, 0 // cut, or no escape
		}
		return append(to, rest[1]), 2
	case rest[0] == '&':
		const longest = 12
		if end := strings.IndexByte(rest[:min(len(rest), longest)], ';'); end > 0 {
			if decoded := html.UnescapeString(rest[:end+1]); decoded != rest[:end+1] {
				return append(to, decoded...), end + 1
			}
		}
	}
	return to, 0
}

// codeUnit decodes \u002b or %u002b, and a pair of them if it is one character.
func codeUnit(rest string) (rune, int) {
	const size = 6
	unit := func(rest string) (rune, bool) {
		if len(rest) < size || rest[1] != 'u' {
			return 0, false
		}
		code, ok := digits(rest, 2, 4)
		return rune(code), ok
	}
	first, ok := unit(rest)
	if !ok {
		return 0, 0
	}
	if utf16.IsSurrogate(first) && len(rest) > size && rest[size] == rest[0] {
		if second, ok := unit(rest[size:]); ok {
			if pair := utf16.DecodeRune(first, second); pair != utf8.RuneError {
				return pair, 2 * size
			}
		}
	}
	return first, size
}

// digits returns the value of some hexadecimal digits of a text.
func digits(text string, start, number int) (uint64, bool) {
	if len(text) < start+number {
		return 0, false
	}
	value, err := strconv.ParseUint(text[start:start+number], 16, 16)
	return value, err == nil
}

// texts returns the different texts of layers.
func texts(all []layer) []string {
	var different []string
	for _, l := range all {
		if !slices.Contains(different, l.text) {
			different = append(different, l.text)
		}
	}
	return different
}
