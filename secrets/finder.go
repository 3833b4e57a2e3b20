package secrets

import (
	"encoding/base64"
	"encoding/binary"
	"encoding/hex"
	"encoding/json"
	"net/url"
	"regexp"
	"slices"
	"strings"
	"unicode/utf16"

	"github.com/armature-io/armature/internal/jsontree"
	"github.com/armature-io/armature/resource"
)

const (
	// minContained is the minimum length in bytes of a value that is searched for inside
	// other texts. A shorter one is masked only where it is the whole text: "a" would
	// mask everything and hide nothing.
	minContained = 4
	// minFolded is the minimum length of a value that is searched for in other cases too:
	// a shorter one is also a word.
	minFolded = 8
	// minRun is the length in bytes of a piece of a key or password that counts as the whole.
	minRun = 16
	// minCut is the length in bytes of the beginning of a key or password that counts if the text
	// was cut there: messages of ARM are, before anything looks for secrets in them.
	minCut = 6
	// minBase64 is the minimum length of the base64 of a value.
	minBase64 = 5
)

// finder finds values in texts, in any of their encodings.
type finder struct {
	values  []string
	needles []needle
}

// needle is a text to search for.
type needle struct {
	text string
	// folded: text is folded, and is searched for in folded texts.
	folded bool
	// run is the length of a piece of the text that is found too, 0 for the whole text only. With
	// a run, the beginning of the text counts before an ellipsis; if the run is longer than the
	// text, nothing else does.
	run int
	// before and after are the numbers (0 or 1) of base64 characters beside the text that
	// have bits of the value.
	before, after int
}

// newFinder returns a finder of values.
func newFinder(values []string) *finder {
	f := &finder{values: values}
	for _, value := range values {
		for _, text := range texts(layers(value)) {
			f.add(text, 0)
		}
		for _, part := range secretParts(value) {
			for _, text := range texts(layers(part)) {
				f.add(text, minRun)
			}
		}
	}
	return f
}

// add adds the needles of a text: itself, and its base64 and hexadecimal digits, also of
// UTF-16. Pieces of it are found if run is not 0.
func (f *finder) add(text string, run int) {
	folded := len(text) >= minFolded
	switch {
	case len(text) < minContained:
		return
	case len(text) < run:
		short := needle{text: text, folded: folded, run: run}
		if folded {
			short.text = foldText(text)
		}
		f.needles = append(f.needles, short)
		return
	}
	add := func(n needle, length int) {
		n.folded = folded
		if folded {
			n.text = foldText(n.text)
		}
		if run > 0 {
			n.run = min(length, len(n.text))
		}
		f.needles = append(f.needles, n)
	}
	add(needle{text: text}, run)
	for _, raw := range [][]byte{[]byte(text), utf16Bytes(text)} {
		for alignment := range 3 {
			n := base64Needle(raw, alignment)
			if len(n.text) < minBase64 {
				continue
			}
			add(n, base64.RawStdEncoding.EncodedLen(run))
			if inAddress := base64Alphabet.Replace(n.text); !folded && inAddress != n.text {
				n.text = inAddress
				add(n, 0)
			}
		}
		digits := hex.EncodeToString(raw)
		add(needle{text: digits}, hex.EncodedLen(run))
		if !folded {
			add(needle{text: strings.ToUpper(digits)}, 0)
		}
	}
}

// base64Alphabet replaces the standard alphabet of base64 by that of addresses.
var base64Alphabet = strings.NewReplacer("+", "-", "/", "_")

// base64Needle returns the base64 characters that have bits of raw only, if some bytes
// (0 to 2, modulo 3) stand before it.
func base64Needle(raw []byte, alignment int) needle {
	const bits, sextet = 8, 6
	padded := append(make([]byte, alignment), raw...)
	encoded := base64.RawStdEncoding.EncodeToString(padded)
	start := (alignment*bits + sextet - 1) / sextet
	end := len(padded) * bits / sextet
	n := needle{text: encoded[start:end]}
	if alignment*bits%sextet != 0 {
		n.before = 1
	}
	if end < len(encoded) {
		n.after = 1
	}
	return n
}

// utf16Bytes returns a text in UTF-16, little endian, as Windows services encode it.
func utf16Bytes(text string) []byte {
	var raw []byte
	for _, unit := range utf16.Encode([]rune(text)) {
		raw = binary.LittleEndian.AppendUint16(raw, unit)
	}
	return raw
}

// find returns the parts of a text that are values.
func (f *finder) find(text string) [][2]int {
	if text == "" {
		return nil
	}
	if slices.Contains(f.values, text) {
		return [][2]int{{0, len(text)}}
	}
	return f.findIn(layers(text))
}

// findIn returns the parts of the original text that are values in one of its layers.
func (f *finder) findIn(all []layer) (found [][2]int) {
	if len(f.needles) == 0 {
		return nil
	}
	for _, l := range all {
		folded := l.fold()
		for _, n := range f.needles {
			in := l
			if n.folded {
				in = folded
			}
			add := func(start, end int) { found = append(found, in.original(start, end)) }
			n.search(in.text, add)
			n.searchCut(in.text, add)
		}
	}
	return resource.Union(found)
}

// search calls found with each part of a text that is the needle, or a piece of it.
func (n needle) search(text string, found func(start, end int)) {
	if n.run > len(n.text) {
		return
	}
	if n.run == 0 {
		for from := 0; ; {
			i := strings.Index(text[from:], n.text)
			if i < 0 {
				return
			}
			start, end := from+i, from+i+len(n.text)
			found(n.widen(text, start, end))
			from = end
		}
	}
	// Each piece of run bytes contains one of the blocks that begin at a multiple of their length.
	block := (n.run + 1) / 2
	for i := 0; i+block <= len(text); i += block {
		if !strings.Contains(n.text, text[i:i+block]) {
			continue
		}
		for start := max(0, i+block-n.run); start <= i && start+n.run <= len(text); start++ {
			if piece := text[start : start+n.run]; strings.Contains(n.text, piece) && !repeats(piece) {
				found(n.widen(text, start, start+n.run))
			}
		}
	}
}

const (
	ellipsis = "…"
	// maxCutEscape bounds what is left of escapes inside each other.
	maxCutEscape = 16
)

// cutEscape matches escapes inside each other that a cut has ended.
var cutEscape = regexp.MustCompile(`(?:\\+(?:[ux][0-9a-fA-F]{0,3})?|%[0-9a-fA-F]?|&#?\w{0,6})+$`)

// searchCut calls found with the beginning of the needle before each ellipsis.
func (n needle) searchCut(text string, found func(start, end int)) {
	if n.run == 0 {
		return
	}
	for from := 0; ; {
		i := strings.Index(text[from:], ellipsis)
		if i < 0 {
			return
		}
		end := from + i
		last := end - len(cutEscape.FindString(text[max(from, end-maxCutEscape):end]))
		for length := min(len(n.text)-1, last-from); length >= min(minCut, len(n.text)-1); length-- {
			if strings.HasSuffix(text[from:last], n.text[:length]) {
				found(last-length, end)
				break
			}
		}
		from = end + len(ellipsis)
	}
}

// widen returns a part of a text that is the needle or a piece of it, with the characters
// around it that have bits of the value, and the padding.
func (n needle) widen(text string, start, end int) (int, int) {
	const alphabet = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/-_"
	piece := text[start:end]
	if n.before > 0 && start > 0 && strings.HasPrefix(n.text, piece) && strings.IndexByte(alphabet, text[start-1]) >= 0 {
		start--
	}
	if n.after > 0 && end < len(text) && strings.HasSuffix(n.text, piece) && strings.IndexByte(alphabet, text[end]) >= 0 {
		end++
		for end < len(text) && text[end] == '=' {
			end++
		}
	}
	return start, end
}

// repeats reports whether a text has few different bytes: a row of zeros is no piece of a key.
func repeats(text string) bool {
	const few = 5
	var different []byte
	for i := range len(text) {
		if !slices.Contains(different, text[i]) {
			different = append(different, text[i])
		}
	}
	return len(different) < few
}

// secretParts returns the parts of a value that are secret by themselves, so that pieces of
// them count: the key of a connection string and not its host, the signature of an address
// and not its path. A value of one word is its own part, unless it names something.
func secretParts(value string) []string {
	var document any
	if strings.HasPrefix(strings.TrimSpace(value), "{") && json.Unmarshal([]byte(value), &document) == nil {
		var parts []string
		jsontree.Edit(document, func(name string, value any) (any, jsontree.Next) {
			if text, isText := value.(string); isText {
				switch found := secretParts(text); {
				case resource.SecretName(name):
					parts = append(parts, text)
				case resource.ContainsCredential(text):
					parts = append(parts, found...)
				}
			}
			return value, jsontree.Inside
		})
		return parts
	}
	var parts []string
	for _, at := range resource.Credentials(value) {
		parts = append(parts, value[at[0]:at[1]])
	}
	assignments := assignment.FindAllStringSubmatch(value, -1)
	for _, match := range assignments {
		if resource.SecretName(match[1]) {
			parts = append(parts, match[2])
		}
	}
	if len(parts) > 0 {
		return parts
	}
	words := strings.Fields(value)
	if len(words) == 1 && len(assignments) == 0 && !names(value) || passphrase.MatchString(value) {
		return []string{value}
	}
	for _, word := range words {
		if resource.LooksRandom(word) {
			parts = append(parts, word)
		}
	}
	return parts
}

// assignment is a member of a connection string or a parameter of an address.
var assignment = regexp.MustCompile(`([A-Za-z][A-Za-z0-9_. -]*?)\s*=\s*([^;&\s"',]{4,})`)

// passphrase is a password of several words.
var passphrase = regexp.MustCompile(`^[\pL\pN]+(?: [\pL\pN]+)+$`)

// host is a host, perhaps with a port.
var host = regexp.MustCompile(`^[a-z0-9-]+(?:\.[a-z0-9-]+)*\.[a-z]{2,}(?::[0-9]+)?$`)

// names reports whether a word names something: an address, a path or ID, a host.
func names(word string) bool {
	if address, err := url.Parse(word); err == nil && address.Scheme != "" && address.Host != "" {
		return true
	}
	_, err := resource.ParseID(word)
	return err == nil || host.MatchString(word)
}
