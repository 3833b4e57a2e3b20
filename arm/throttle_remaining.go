package arm

import "time"

// maxReportAge is how old a report of a budget may be: an idle bucket fills within a
// minute.
const maxReportAge = time.Minute

// Remaining returns the requests that the scarcest budget of a subscription allows now, by
// verb (reads, writes, deletes), as the responses of the last minute reported it: 0 after a
// 429. A verb without such a response is absent.
func (t *Throttle) Remaining() map[string]float64 {
	t.mu.Lock()
	defer t.mu.Unlock()
	now, left := t.now(), map[string]float64{}
	for _, b := range t.buckets {
		if b.verb == "" || b.reportedAt.IsZero() || now.Sub(b.reportedAt) > maxReportAge {
			continue
		}
		if least, known := left[b.verb]; !known || b.remaining < least {
			left[b.verb] = b.remaining
		}
	}
	return left
}
