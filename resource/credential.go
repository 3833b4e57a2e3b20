package resource

import (
	"encoding/base64"
	"encoding/json"
	"regexp"
	"slices"
	"strings"
	"unicode/utf8"
)

// credentialForms match credentials by their form, each with the hints of which a text
// contains at least one. The first group that matches is the credential, and is() confirms it.
var credentialForms = []credentialForm{
	{ // AccountKey=..., Password=...: connection strings
		hints: []string{"="},
		form: regexp.MustCompile(`(?i)\b(?:(?:account|sharedaccess|shared|access|primary|secondary|auth|api)[_-]?key|password|passwd|pwd|` +
			`sharedaccesssignature|client[_-]?secret)\s*=\s*(?:"([^"]{4,})"|'([^']{4,})'|["']?([^;\s"']{4,}))`),
		split: func(value string) [][2]int {
			if next := nextParameter.FindStringIndex(value); next != nil {
				value = value[:next[0]]
			}
			if len(value) < minAssigned || variable.MatchString(value) {
				return nil
			}
			return [][2]int{{0, len(value)}}
		},
	},
	{ // ?sig=...: shared access signatures
		hints: []string{"sig=", "Sig=", "SIG="},
		form:  regexp.MustCompile(`(?i)(?:^|[?&;])sig=([^;&\s"']{4,})`),
		is:    func(value string) bool { return !variable.MatchString(value) },
	},
	{ // ?code=...: addresses that need no other proof
		hints: []string{"="},
		form:  regexp.MustCompile(`(?i)[?&](?:code|key|secret|password|[a-z_-]*(?:token|api[_-]?key|subscription-key|client_secret))=([^;&\s"'<>]{16,})`),
		is:    func(value string) bool { return randomness(value) >= randomDigits },
	},
	{ // scheme://user:password@host
		hints: []string{"://"},
		form:  regexp.MustCompile(`\b[a-zA-Z][a-zA-Z0-9+.-]*://[^/\s:@"'<>]*:([^/\s@"'<>]{4,})@[a-zA-Z0-9]`),
		is:    func(value string) bool { return !variable.MatchString(value) },
	},
	{ // https://host/services/T0/B0/...: addresses with a secret in their path
		hints: []string{"://"},
		form:  regexp.MustCompile(`(?i)\bhttps?://([^\s"'<>?#;,()]+)`),
		split: secretSegments,
	},
	{ // JWTs
		hints: []string{"eyJ"},
		form:  regexp.MustCompile(`\b(eyJ[A-Za-z0-9_-]{6,}\.[A-Za-z0-9_-]{4,}(?:\.[A-Za-z0-9_-]*){1,3})`),
		is:    isJWT,
	},
	{ // Authorization: Basic ...
		hints: []string{"asic "},
		form:  regexp.MustCompile(`\b[Bb]asic ([A-Za-z0-9+/]{6,}={0,2})`),
		is:    isBasic,
	},
	{ // Authorization: Bearer ...
		hints: []string{"earer "},
		form:  regexp.MustCompile(`\b[Bb]earer ([A-Za-z0-9._~+/-]{16,}=*)`),
		is:    func(value string) bool { return randomness(value) >= randomDigits },
	},
	{ // private keys, also a cut one
		hints: []string{"-----BEGIN"},
		form:  regexp.MustCompile(`-----BEGIN[A-Z0-9 +]*PRIVATE[ +]KEY(?:[ +]BLOCK)?-----([\s\S]*?)(?:-----END|$)`),
		is:    func(value string) bool { return strings.TrimSpace(value) != "" },
	},
}

// credentialForm is a form of credentials.
type credentialForm struct {
	hints []string
	form  *regexp.Regexp
	// is confirms the group; split replaces it and returns the parts of the group.
	is    func(value string) bool
	split func(value string) [][2]int
}

// nextParameter begins the next parameter of an address: a password may contain &.
var nextParameter = regexp.MustCompile(`&[A-Za-z0-9_.-]+=`)

// minAssigned is the minimum length of the value of a parameter or a member of a connection string.
const minAssigned = 4

// variable matches what stands in place of a credential: $PASS, ${pass}, $(pass), %PASS%,
// {pass}, {{ pass }}, <pass>, (masked), ***, true.
var variable = regexp.MustCompile(`^(?:\$[A-Z][A-Z0-9_]*\W{0,3}|(?i:true|false|null|none)\W*|\$\{.*|\$\(.*|%[A-Z][A-Z0-9_]*%|\{.*|<[^>]*>?|\(masked\).*|@[Mm]icrosoft\.[Kk]ey[Vv]ault\(.*|\*+|\.\.\.\W{0,3})$`)

// Credentials returns the parts of a text that have the form of a credential, whatever the
// name of their property: keys and passwords of connection strings, shared access
// signatures, secret parts of addresses, JWTs, private keys. The parts are start and end,
// in order, and do not overlap.
func Credentials(text string) [][2]int {
	var found [][2]int
	for _, f := range credentialForms {
		if !slices.ContainsFunc(f.hints, func(hint string) bool { return strings.Contains(text, hint) }) {
			continue
		}
		for _, match := range f.form.FindAllStringSubmatchIndex(text, -1) {
			group := 2
			for match[group] < 0 {
				group += 2
			}
			start, end := match[group], match[group+1]
			if f.split == nil {
				if f.is(text[start:end]) {
					found = append(found, [2]int{start, end})
				}
				continue
			}
			for _, part := range f.split(text[start:end]) {
				found = append(found, [2]int{start + part[0], start + part[1]})
			}
		}
	}
	return Union(found)
}

// Union returns parts of a text in order, with those that overlap or touch made one.
func Union(parts [][2]int) [][2]int {
	slices.SortFunc(parts, func(a, b [2]int) int { return a[0] - b[0] })
	joined := parts[:0]
	for _, part := range parts {
		if last := len(joined) - 1; last >= 0 && part[0] <= joined[last][1] {
			joined[last][1] = max(joined[last][1], part[1])
			continue
		}
		joined = append(joined, part)
	}
	return joined
}

// Replace returns a text with each of the parts, which do not overlap and are in order,
// replaced.
func Replace(text string, parts [][2]int, by string) string {
	if len(parts) == 0 {
		return text
	}
	var b strings.Builder
	end := 0
	for _, part := range parts {
		b.WriteString(text[end:part[0]] + by)
		end = part[1]
	}
	return b.String() + text[end:]
}

// ContainsCredential reports whether a text has a part of Credentials.
func ContainsCredential(text string) bool { return len(Credentials(text)) > 0 }

// ReplaceCredentials replaces the credentials in a text and keeps the text around them.
func ReplaceCredentials(text, by string) string { return Replace(text, Credentials(text), by) }

// secretSegments returns the segments of an address that are secrets: random ones, and in
// the address of a hook also random digits. A resource ID has none: its names are no secrets.
func secretSegments(address string) [][2]int {
	host, path, _ := strings.Cut(address, "/")
	switch first, _, _ := strings.Cut(path, "/"); strings.ToLower(first) {
	case "subscriptions", "providers", "tenants":
		return nil
	}
	var found [][2]int
	least := randomText
	if hookWord.MatchString(host) {
		least = randomDigits
	}
	start := len(host) + 1
	for segment := range strings.SplitSeq(path, "/") {
		if hookWord.MatchString(segment) && randomness(segment) == notRandom {
			least = randomDigits
		}
		if len(segment) >= minSegment && randomness(segment) >= least {
			found = append(found, [2]int{start, start + len(segment)})
		}
		start += len(segment) + 1
	}
	return found
}

// minSegment is the minimum length of a secret in a path: the shortest that is known has 24.
const minSegment = 20

var hookWord = regexp.MustCompile(`(?i)hooks?(?:$|[^a-z])`)

// isJWT reports whether a text begins with a header of a JWT.
func isJWT(text string) bool {
	encoded, _, _ := strings.Cut(text, ".")
	raw, err := base64.RawURLEncoding.DecodeString(encoded)
	var header struct {
		Algorithm string `json:"alg"`
	}
	return err == nil && json.Unmarshal(raw, &header) == nil && header.Algorithm != ""
}

// isBasic reports whether a text is the base64 of a user and a password.
func isBasic(text string) bool {
	raw, err := base64.RawStdEncoding.DecodeString(strings.TrimRight(text, "="))
	_, password, pair := strings.Cut(string(raw), ":")
	return err == nil && pair && password != "" && utf8.Valid(raw)
}

// The degrees of randomness.
const (
	notRandom = iota
	// randomDigits: letters and digits alternate, as in hexadecimal digits.
	randomDigits
	// randomText: small letters, capitals and digits alternate.
	randomText
)

// LooksRandom reports whether a text is one word of at least 16 characters in which small
// letters, capitals and digits alternate, as keys do and names do not.
func LooksRandom(text string) bool { return randomness(text) == randomText }

// randomness returns how random a word looks; a GUID identifies something, so it is none.
func randomness(word string) int {
	const minLength, minText, minDigits = 16, 0.40, 0.25
	if len(word) < minLength || guidForm.MatchString(word) {
		return notRandom
	}
	var seen [3]int
	changes, previous := 0, 0
	for _, r := range word {
		var class int
		switch {
		case r >= 'a' && r <= 'z':
			class = 0
		case r >= 'A' && r <= 'Z':
			class = 1
		case r >= '0' && r <= '9':
			class = 2
		case strings.ContainsRune("+/_-=.~%:", r):
			continue // between words too
		default:
			return notRandom
		}
		seen[class]++
		if class != previous {
			changes++
		}
		previous = class
	}
	share := float64(changes) / float64(len(word)-1)
	switch {
	case seen[0] > 0 && seen[1] > 0 && seen[2] > 0 && share >= minText:
		return randomText
	case seen[0]+seen[1] > 0 && seen[2] > 0 && share >= minDigits:
		return randomDigits
	}
	return notRandom
}

var guidForm = regexp.MustCompile(`^[0-9A-Fa-f]{8}(?:-[0-9A-Fa-f]{4}){3}-[0-9A-Fa-f]{12}`)
