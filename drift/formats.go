package drift

import (
	"net/netip"
	"regexp"
	"strconv"
	"strings"
	"time"
)

// isSameTime reports whether both texts are the same instant.
func isSameTime(p cursor) bool {
	a, b, ok := texts(p)
	if !ok || len(a) < len("2006-01-02") || len(b) < len("2006-01-02") || a[4] != '-' {
		return false
	}
	atA, okA := instant(a)
	atB, okB := instant(b)
	return okA && okB && atA.Equal(atB)
}

// instant parses an RFC 3339 time. As in .NET, the zone defaults to UTC and the
// time of day to midnight.
func instant(text string) (time.Time, bool) {
	for _, layout := range [...]string{time.RFC3339Nano, "2006-01-02T15:04:05.999999999", time.DateOnly} {
		if at, err := time.Parse(layout, text); err == nil {
			return at, true
		}
	}
	return time.Time{}, false
}

// isSameDuration reports whether both texts are the same duration: PT24H is P1D,
// and .NET writes 1.00:00:00.
func isSameDuration(p cursor) bool {
	a, b, ok := texts(p)
	if !ok {
		return false
	}
	lengthA, okA := duration(a)
	lengthB, okB := duration(b)
	return okA && okB && lengthA == lengthB
}

// duration parses an ISO 8601 duration, or a .NET TimeSpan with days or fractions,
// and returns seconds. Years and months have no fixed length and are not parsed.
func duration(text string) (float64, bool) {
	if len(text) < 3 || len(text) > 40 {
		return 0, false
	}
	if parts := isoDuration.FindStringSubmatch(text); parts != nil {
		return inSeconds(parts[1:], 7*24*3600, 24*3600, 3600, 60, 1)
	}
	if parts := timeSpan.FindStringSubmatch(text); parts != nil {
		return inSeconds(parts[1:], 24*3600, 3600, 60, 1)
	}
	return 0, false
}

func inSeconds(parts []string, units ...float64) (float64, bool) {
	sum := 0.0
	for i, part := range parts {
		if part == "" {
			continue
		}
		n, err := strconv.ParseFloat(part, 64)
		if err != nil {
			return 0, false
		}
		sum += n * units[i]
	}
	return sum, true
}

// isSameAddress reports whether both texts are the same IP address or range; a
// range of one address is that address.
func isSameAddress(p cursor) bool {
	a, b, ok := texts(p)
	if !ok || a == "" || b == "" || !strings.ContainsAny(a, ".:") {
		return false
	}
	rangeA, okA := addresses(a)
	rangeB, okB := addresses(b)
	return okA && okB && rangeA == rangeB
}

func addresses(text string) (netip.Prefix, bool) {
	if prefix, err := netip.ParsePrefix(text); err == nil {
		return prefix, true
	}
	address, err := netip.ParseAddr(text)
	if err != nil || address.Zone() != "" {
		return netip.Prefix{}, false
	}
	return netip.PrefixFrom(address, address.BitLen()), true
}

// isSameLines reports whether two texts differ only in their line endings.
func isSameLines(p cursor) bool {
	a, b, ok := texts(p)
	return ok && (strings.Contains(a, "\n") || strings.Contains(b, "\n")) && normalLines(a) == normalLines(b)
}

func normalLines(text string) string {
	return strings.TrimRight(strings.ReplaceAll(text, "\r\n", "\n"), "\n")
}

var (
	isoDuration = regexp.MustCompile(`^P(?:(\d+)W)?(?:(\d+)D)?(?:T(?:(\d+)H)?(?:(\d+)M)?(?:(\d+(?:\.\d+)?)S)?)?$`)
	timeSpan    = regexp.MustCompile(`^(?:(\d+)\.)?(\d\d):(\d\d):(\d\d(?:\.\d+)?)$`)
)
