package workflows

import (
	"regexp"
	"strings"

	"github.com/armature-io/armature/internal/text"
)

// Texts of Azure, of users and of extensions are data in the Markdown of the Web UI. Its
// server renders with gomarkdown, its pages with remark: both make links of bare URLs and
// addresses, and the first one passes HTML on, so escapes alone are not enough.

// bareLink matches what a renderer makes a link of without brackets: a scheme, a host, an
// address. A blank between the groups splits it.
var bareLink = regexp.MustCompile(`(?i)(:)(//)|(mailto|xmpp)(:)|(www)(\.)|([-.\w+])(@[-\w]+\.)`)

// htmlTag matches the begin of a tag, a comment or a declaration.
var htmlTag = regexp.MustCompile(`(?i)<([a-z!/?])`)

// linkTarget matches the brackets of a link. gomarkdown allows blanks between them.
var linkTarget = regexp.MustCompile(`\] *\(`)

// unlinked returns a text on one line in which nothing is a link or an image.
func unlinked(s string) string {
	s = linkTarget.ReplaceAllString(text.OneLine(s), "]; (")
	// Matches that overlap need another look.
	for bareLink.MatchString(s) {
		s = bareLink.ReplaceAllString(s, "${1}${3}${5}${7} ${2}${4}${6}${8}")
	}
	return s
}

// inert returns a text on one line without links, images and HTML, and with no more
// changes than these need: the summaries of the timeline are shown as Markdown and as
// text.
func inert(s string) string { return htmlTag.ReplaceAllString(unlinked(s), "< $1") }

// markdownEscaper escapes what Markdown would interpret. A backslash is an entity: two of
// them before a bracket begin a formula.
var markdownEscaper = strings.NewReplacer(`\`, "&#92;", "&", "&amp;", "<", "&lt;", ">", "&gt;", "`", "'",
	"|", `\|`, "*", `\*`, "_", `\_`, "[", `\[`, "]", `\]`, "~", `\~`, "$", `\$`, "#", `\#`)

// plain returns a text for Markdown that shows as it is, without links.
func plain(s string) string { return markdownEscaper.Replace(unlinked(s)) }
