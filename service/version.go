package service

import (
	"cmp"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"

	"github.com/armature-io/armature/config"
	"go.temporal.io/sdk/worker"
	"go.temporal.io/sdk/workflow"
)

// Variables in which the Temporal worker controller passes a worker its version.
const (
	deploymentVariable = "TEMPORAL_DEPLOYMENT_NAME"
	buildVariable      = "TEMPORAL_WORKER_BUILD_ID"
)

// buildHashLength is the number of hexadecimal digits of the program's hash in a build ID.
const buildHashLength = 12

// version is the place of the process in a worker deployment; its zero value has none.
type version struct {
	worker.DeploymentOptions
	// first is set where the process makes its version current if none ever was.
	first bool
}

// newVersion returns the version that the settings, or the variables, give the worker. A
// build ID without a deployment is an error: the worker would run without versions.
func newVersion(settings config.Version, program string) (version, error) {
	name := cmp.Or(settings.Deployment, os.Getenv(deploymentVariable))
	given := os.Getenv(buildVariable)
	build := cmp.Or(settings.BuildID, given)
	switch {
	case name == "" && build == "":
		return version{}, nil
	case name == "":
		return version{}, fmt.Errorf("read worker version: a build ID without a deployment has no effect: set worker.deployment or %s too, or neither it nor %s",
			deploymentVariable, buildVariable)
	case build == "":
		var err error
		if build, err = buildID(program); err != nil {
			return version{}, fmt.Errorf("read worker version: %w; set worker.build-id", err)
		}
	}
	return version{
		DeploymentOptions: worker.DeploymentOptions{
			UseVersioning:             true,
			Version:                   worker.WorkerDeploymentVersion{DeploymentName: name, BuildID: build},
			DefaultVersioningBehavior: workflow.VersioningBehaviorPinned,
		},
		first: settings.FirstVersion == config.FirstCurrent || settings.FirstVersion != config.FirstWait && (given == "" || settings.BuildID != ""),
	}, nil
}

// buildID returns the version of the program and a hash of its file. Two builds of different
// code never share one, and two workers of one build do.
func buildID(program string) (string, error) {
	path, err := os.Executable()
	if err != nil && filepath.IsAbs(os.Args[0]) { // no /proc
		path, err = os.Args[0], nil
	}
	if err != nil {
		return "", fmt.Errorf("find the program's file: %w", err)
	}
	file, err := os.Open(path)
	if err != nil {
		return "", fmt.Errorf("hash the program: %w", err)
	}
	defer func() { _ = file.Close() }()
	hash := sha256.New()
	if _, err := io.Copy(hash, file); err != nil {
		return "", fmt.Errorf("hash the program %s: %w", path, err)
	}
	name := strings.Map(func(r rune) rune {
		if strings.ContainsRune("._-+", r) || r >= '0' && r <= '9' || r >= 'a' && r <= 'z' || r >= 'A' && r <= 'Z' {
			return r
		}
		return '-'
	}, program)
	return strings.TrimLeft(name, "_") + "-" + hex.EncodeToString(hash.Sum(nil))[:buildHashLength], nil
}
