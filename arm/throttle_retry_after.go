package arm

import (
	"net/http"
	"regexp"
	"strconv"
	"strings"
	"time"
)

// maxRetryAfter bounds the wait that a header may demand: ARM's contract allows
// 10 s to 10 min, and no timer of the workflow is longer.
const maxRetryAfter = time.Hour

// retryAfterPattern matches the wait in a message. Recorded: "Please try again after
// '7' seconds".
var retryAfterPattern = regexp.MustCompile(`(?i)\b(?:after|in)\s+'?"?(\d+)'?"?\s*(second|minute)s?\b`)

// clock returns the current time, for Retry-After dates and durations.
type clock func() time.Time

// retryAfter returns the wait that a response demands; 0 when it demands none or
// one that is not positive. The order is azcore's: retry-after-ms,
// x-ms-retry-after-ms, Retry-After in seconds or as an HTTP date.
func (now clock) retryAfter(header http.Header) time.Duration {
	for _, name := range []string{"Retry-After-Ms", "X-Ms-Retry-After-Ms"} {
		if wait, ok := parseWait(header.Get(name), time.Millisecond); ok {
			return wait
		}
	}
	value := header.Get("Retry-After")
	if wait, ok := parseWait(value, time.Second); ok {
		return wait
	}
	if date, err := http.ParseTime(value); err == nil {
		return min(max(date.Sub(now()), 0), maxRetryAfter)
	}
	return 0
}

// parseWait returns a positive number of units, at most maxRetryAfter.
func parseWait(value string, unit time.Duration) (time.Duration, bool) {
	number, err := strconv.ParseInt(value, 10, 64)
	if err != nil || number <= 0 {
		return 0, false
	}
	if number > int64(maxRetryAfter/unit) {
		return maxRetryAfter, true
	}
	return time.Duration(number) * unit, true
}

// retryAfterIn returns the wait in a message, 0 without one; some responses have it
// nowhere else.
func retryAfterIn(message string) time.Duration {
	found := retryAfterPattern.FindStringSubmatch(message)
	if found == nil {
		return 0
	}
	unit := time.Second
	if strings.EqualFold(found[2], "minute") {
		unit = time.Minute
	}
	wait, _ := parseWait(found[1], unit)
	return wait
}
