package backend

import (
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/armature-io/armature/activities"
	"github.com/armature-io/armature/starter/internal/cli"
	"github.com/armature-io/armature/types"
)

// maxVersionYears is the age of an api-version from which doctor warns.
const maxVersionYears = 2

// APIVersionCheck is the name of the check.
const APIVersionCheck = "api-versions"

// APIVersionFindings returns a warning for each type with resources under an api-version
// that is not published any more, or that is old while a newer stable one is published;
// one finding without a warning if there is none.
func APIVersionFindings(records []Record, now time.Time) []activities.Finding {
	used := map[string]map[string]int{}
	for _, r := range records {
		if r.ID.IsZero() || r.APIVersion == "" {
			continue
		}
		name, published := types.Spelled(r.ID.Type())
		if !published {
			continue
		}
		if used[name] == nil {
			used[name] = map[string]int{}
		}
		used[name][strings.ToLower(r.APIVersion)]++
	}
	var findings []activities.Finding
	for _, name := range slices.Sorted(maps.Keys(used)) {
		var parts []string
		for _, version := range slices.Sorted(maps.Keys(used[name])) {
			if found := apiVersionState(name, version, now); found != "" {
				parts = append(parts, fmt.Sprintf("%s (%s) %s", version, cli.Count(used[name][version], "resource"), found))
			}
		}
		if len(parts) > 0 {
			findings = append(findings, activities.Finding{
				Check: APIVersionCheck, State: activities.FindingWarn, Message: name + ": " + strings.Join(parts, ", "),
				Advice: fmt.Sprintf("the newest stable api-version is %s: set it in the manifests and run `armature plan`, which shows what it changes", types.Newest(name)),
			})
		}
	}
	if len(findings) == 0 {
		message := fmt.Sprintf("those of %s are published and less than %d years old, or the newest", cli.Count(len(used), "managed type"), maxVersionYears)
		return []activities.Finding{{Check: APIVersionCheck, State: activities.FindingOK, Message: message}}
	}
	return findings
}

// apiVersionState returns what is wrong with an api-version of a type, "" if nothing is or
// if no newer stable one is published.
func apiVersionState(name, version string, now time.Time) string {
	newest := types.Newest(name)
	if types.Preview(newest) || version >= newest {
		return ""
	}
	if !slices.Contains(types.Versions(name), version) {
		return "is not published any more"
	}
	date, err := time.Parse(time.DateOnly, version[:min(len(version), len(time.DateOnly))])
	if err != nil || date.AddDate(maxVersionYears, 0, 0).After(now) {
		return ""
	}
	return fmt.Sprintf("is older than %d years", maxVersionYears)
}
