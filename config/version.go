package config

import "strings"

// Version is the place of the worker in a worker deployment of Temporal.
type Version struct {
	// Deployment is the name of the deployment, "" for TEMPORAL_DEPLOYMENT_NAME. With neither,
	// the worker has no version.
	Deployment string
	// BuildID is the version, "" for TEMPORAL_WORKER_BUILD_ID. With neither, it is made from
	// the program.
	BuildID string `mapstructure:"build-id"`
	// FirstVersion is one of the First constants.
	FirstVersion string `mapstructure:"first-version"`
}

// Values of worker.first-version: what a worker does where no version of its deployment was
// ever current.
const (
	// FirstAuto is FirstWait for a build ID from TEMPORAL_WORKER_BUILD_ID, which a controller
	// sets that also makes versions current, and FirstCurrent for any other.
	FirstAuto    = "auto"
	FirstCurrent = "current"
	FirstWait    = "wait"
)

// check adds the invalid values. Temporal's own rules for the two names are stricter than
// these only in their length.
func (v Version) check(p *problems) {
	p.oneOf("worker.first-version", v.FirstVersion, FirstAuto, FirstCurrent, FirstWait)
	p.require(!strings.ContainsAny(v.Deployment, ".:") && !strings.HasPrefix(v.Deployment, "__"), "worker.deployment",
		"must not contain . or :, nor begin with __, not %q", v.Deployment)
	p.require(!strings.HasPrefix(v.BuildID, "__"), "worker.build-id", "must not begin with __, not %q", v.BuildID)
}
