package cli

import (
	"crypto/rand"

	"github.com/jedib0t/go-pretty/v6/text"
)

// Ink is the permission to write what a terminal or a CI system runs: colors, cursor
// controls and workflow commands. Each is preceded by a mark, a random text of this run
// that the Writer removes. Text from elsewhere cannot contain it, so the Writer needs no
// guess about which escape sequences are Armature's. The mark has the form of an escape
// sequence: tables count it as no columns. The zero Ink writes plain text.
type Ink struct {
	mark string
	// Colors switches colors on.
	Colors bool
}

// NewInk returns an Ink with a random mark and without colors.
func NewInk() Ink { return Ink{mark: "\x1b[" + rand.Text() + "m"} }

// WithColors returns an Ink with the same mark.
func (i Ink) WithColors(on bool) Ink { return Ink{mark: i.mark, Colors: on} }

// Paint returns a text in a color.
func (i Ink) Paint(color text.Color, s string) string {
	if !i.Colors {
		return s
	}
	return i.Control(color.EscapeSeq()) + s + i.Control(text.Reset.EscapeSeq())
}

// The parts of a hyperlink of a terminal (OSC 8): its address is between them, and an empty
// one ends it.
const (
	linkBegin = "\x1b]8;;"
	linkEnd   = "\x1b\\"
)

// Link returns an address that a terminal opens, even if its line breaks. Terminals without
// hyperlinks show the address alone.
func (i Ink) Link(address string) string {
	return i.Control(linkBegin+address+linkEnd) + address + i.Control(linkBegin+linkEnd)
}

// Control returns one cursor control (`\r`, or an escape sequence), one part of a
// hyperlink, or the "::" of a workflow command, with the mark that lets it pass.
func (i Ink) Control(sequence string) string { return i.mark + sequence }
