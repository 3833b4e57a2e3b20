package arm

import (
	"net/http"
	"regexp"
	"strconv"
	"strings"
	"time"
)

// maxRetryAfter bounds what a header may ask for: ARM's contract says 10 s to
// 10 min, and no timer of the workflow is longer than this anyway.
const maxRetryAfter = time.Hour

// clock is the source of time, for Retry-After dates and durations.
type clock func() time.Time

// retryAfter reads the wait that an answer asks for; 0 when it asks for none or
// for one that is not positive. The order is azcore's: retry-after-ms,
// x-ms-retry-after-ms, Retry-After in seconds or as an HTTP date.
func (now clock) retryAfter(header http.Header) time.Duration {
	for _, name := range []string{"Retry-After-Ms", "X-Ms-Retry-After-Ms"} {
		if wait, ok := count(header.Get(name), time.Millisecond); ok {
			return wait
		}
	}
	value := header.Get("Retry-After")
	if wait, ok := count(value, time.Second); ok {
		return wait
	}
	if date, err := http.ParseTime(value); err == nil {
		return min(max(date.Sub(now()), 0), maxRetryAfter)
	}
	return 0
}

func count(value string, unit time.Duration) (time.Duration, bool) {
	number, err := strconv.ParseInt(value, 10, 64)
	if err != nil || number <= 0 {
		return 0, false
	}
	if number > int64(maxRetryAfter/unit) {
		return maxRetryAfter, true
	}
	return time.Duration(number) * unit, true
}

// retryAfterIn reads the wait from a message; some answers say it nowhere else.
// Recorded: "Please try again after '7' seconds".
func retryAfterIn(message string) time.Duration {
	found := regexp.MustCompile(`(?i)\b(?:after|in)\s+'?"?(\d+)'?"?\s*(second|minute)s?\b`).FindStringSubmatch(message)
	if found == nil {
		return 0
	}
	unit := time.Second
	if strings.EqualFold(found[2], "minute") {
		unit = time.Minute
	}
	wait, _ := count(found[1], unit)
	return wait
}
