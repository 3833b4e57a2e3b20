package backend

import (
	"errors"
	"strconv"
	"strings"
	"time"
)

// ParseSince returns the time that a user states: a duration or days (7d) before now, a date (UTC)
// or a time; zero for "".
func ParseSince(stated string, now time.Time) (time.Time, error) {
	if stated == "" {
		return time.Time{}, nil
	}
	if ago, err := time.ParseDuration(stated); err == nil && ago >= 0 {
		return now.Add(-ago), nil
	}
	if days, isDays := strings.CutSuffix(stated, "d"); isDays {
		if n, err := strconv.ParseUint(days, 10, 16); err == nil {
			return now.Add(-time.Duration(n) * 24 * time.Hour), nil
		}
	}
	for _, layout := range []string{time.RFC3339, time.DateOnly} {
		if at, err := time.Parse(layout, stated); err == nil {
			return at, nil
		}
	}
	return time.Time{}, errors.New("must be a duration such as 24h or 7d, a date such as 2026-03-01, or a time such as 2026-03-01T08:00:00Z")
}
