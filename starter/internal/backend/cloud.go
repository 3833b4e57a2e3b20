package backend

import (
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"
	"unicode"

	"github.com/armature-io/armature/activities"
	enumspb "go.temporal.io/api/enums/v1"
)

// CloudRegistration returns the commands and the Terraform resources that register search
// attributes in a namespace of Temporal Cloud, whose frontend refuses the registration by
// an SDK. Sources: docs.temporal.io/cloud/tcld/namespace, and the Terraform provider
// temporalio/temporalcloud.
func CloudRegistration(namespace string, attributes map[string]enumspb.IndexedValueType) string {
	var tcld, terraform strings.Builder
	fmt.Fprintf(&tcld, "tcld namespace search-attributes add --namespace %s", namespace)
	for _, name := range slices.Sorted(maps.Keys(attributes)) {
		kind := attributes[name].String()
		fmt.Fprintf(&tcld, " \\\n  --search-attribute %s=%s", name, kind)
		fmt.Fprintf(&terraform, "resource \"temporalcloud_namespace_search_attribute\" %q {\n  namespace_id = %q\n  name         = %q\n  type         = %q\n}\n",
			snake(name), namespace, name, kind)
	}
	return tcld.String() + "\n\n" + terraform.String()
}

// snake returns a name such as ArmType as arm_type.
func snake(name string) string {
	var b strings.Builder
	for i, r := range name {
		if i > 0 && unicode.IsUpper(r) {
			b.WriteByte('_')
		}
		b.WriteRune(unicode.ToLower(r))
	}
	return b.String()
}

// actionsPerPass are the billed actions of a pass in sync, and of one that ends blocked as the
// one before: a timer and a set of local activities (docs/cost.md).
const actionsPerPass = 2

// blockedEvery is the mean time between the passes of a resource that is not Ready.
const blockedEvery = 3 * time.Minute

// CloudActions is an estimate of the billed actions in a day.
type CloudActions struct {
	Ready, Waiting, Asleep int
	PerDay                 float64
}

// EstimateActions returns the actions per day of so many resources that are Ready and looked at
// after each interval, that wait for something, and that have no next try.
func EstimateActions(ready, waiting, asleep int, interval time.Duration) CloudActions {
	const day = 24 * time.Hour
	a := CloudActions{Ready: ready, Waiting: waiting, Asleep: asleep}
	if interval > 0 {
		a.PerDay += float64(ready) * actionsPerPass * float64(day) / float64(interval)
	}
	a.PerDay += float64(waiting) * actionsPerPass * float64(day) / float64(blockedEvery)
	return a
}

// FeedActions are the billed actions of one feed in a day without changes: a heartbeat every two
// minutes, and an activity and a memo every ten.
const FeedActions = 24 * (30 + 2*6)

// followedActions and ownActions are those of a resource in a day, with a feed that reports its
// changes and without one.
const (
	followedActions = actionsPerPass
	ownActions      = 24 * actionsPerPass
)

// MinFollowed is the number of resources from which on a feed saves actions.
const MinFollowed = FeedActions/(ownActions-followedActions) + 1

// FeedCost compares the actions of so many resources that are Ready with and without feeds.
func FeedCost(ready, feeds int) activities.Finding {
	without, with := ready*ownActions, ready*followedActions+feeds*FeedActions
	found := finding("cost of the feed", fmt.Sprintf("about %d actions per day for %d Ready resources if their changes are reported, %d without a feed", with, ready, without))
	if ready < feeds*MinFollowed {
		found.State = activities.FindingWarn
		found.Advice = fmt.Sprintf("below %d resources for each feed the interval alone costs less; the feed still sees changes sooner and names authors", MinFollowed)
	}
	return found
}

// String returns the estimate in a sentence.
func (a CloudActions) String() string {
	return fmt.Sprintf("about %.0f actions per day, %.1f million in 30 days: %d Ready, %d waiting, %d that only a message wakes",
		a.PerDay, a.PerDay*30/1e6, a.Ready, a.Waiting, a.Asleep)
}
