package backend

import (
	"errors"
	"time"
)

// ParseSince returns the time that a user states: a duration before now, a date (UTC) or a time;
// zero for "".
func ParseSince(stated string, now time.Time) (time.Time, error) {
	if stated == "" {
		return time.Time{}, nil
	}
	if ago, err := time.ParseDuration(stated); err == nil && ago >= 0 {
		return now.Add(-ago), nil
	}
	for _, layout := range []string{time.RFC3339, time.DateOnly} {
		if at, err := time.Parse(layout, stated); err == nil {
			return at, nil
		}
	}
	return time.Time{}, errors.New("must be a duration such as 24h, a date such as 2026-03-01, or a time such as 2026-03-01T08:00:00Z")
}
