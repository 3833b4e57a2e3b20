package armsim

import (
	"regexp"
	"strconv"
	"time"
)

// deploymentScriptRows returns the row of deployment scripts: Azure deletes one by
// itself when its retentionInterval has passed since the script ended. Source:
// learn.microsoft.com/rest/api/resources/deployment-scripts/create.
func deploymentScriptRows() []typeRule {
	return []typeRule{{
		typePattern: "microsoft.resources/deploymentscripts",
		create:      OperationSpec{Shape: ShapeBoth, Seconds: 30},
		onDone: func(s *Simulator, r *resource) {
			if retention, ok := isoDuration(text(r.body, "properties.retentionInterval")); ok {
				s.expiring[key(r.id)] = s.clock.now().Add(retention)
			}
		},
	}}
}

// expireResources removes the resources whose time has passed.
func (s *Simulator) expireResources() {
	for id, at := range s.expiring {
		if s.clock.now().Before(at) {
			continue
		}
		delete(s.expiring, id)
		if r := s.resources[id]; r != nil {
			s.finishDelete(r)
		}
	}
}

var isoDurationPattern = regexp.MustCompile(`^P(?:(\d+)D)?(?:T(?:(\d+)H)?(?:(\d+)M)?(?:(\d+)S)?)?$`)

// isoDuration returns an ISO 8601 duration of days, hours, minutes and seconds.
func isoDuration(value string) (time.Duration, bool) {
	parts := isoDurationPattern.FindStringSubmatch(value)
	if parts == nil {
		return 0, false
	}
	total := time.Duration(0)
	for i, unit := range []time.Duration{24 * time.Hour, time.Hour, time.Minute, time.Second} {
		if n, err := strconv.Atoi(parts[i+1]); err == nil {
			total += time.Duration(n) * unit
		}
	}
	return total, total > 0
}
