// Package gate holds a worker at a step of the pass until a test lets it go on.
// The two meet in a folder, so the package needs nothing of the test's process.
package gate

import (
	"context"
	"log/slog"
	"os"
	"path/filepath"
	"time"

	"github.com/armature-io/armature/extensions"
	"github.com/armature-io/armature/resource"
)

// Variables of the environment by which the test says at which extension point
// the worker waits, and in which folder the two meet.
const (
	StepVariable   = "TESTWORKER_STEP"
	FolderVariable = "TESTWORKER_FOLDER"
)

// Files in that folder. The worker waits while HoldFile is there. It creates
// ReachedFile when it begins to wait, and LeftFile when its context ended before
// the test let it go on: the test came too late.
const (
	HoldFile    = "hold"
	ReachedFile = "reached"
	LeftFile    = "left"
)

// The extension points at which a worker can wait.
const (
	OwnerCheck = "PreReconcileOwnerCheck"
	PreCheck   = "PreReconcileCheck"
	Modify     = "ModifyARMResource"
	PostCheck  = "PostReconcileCheck"
)

// look is the time between two looks at the folder.
const look = 10 * time.Millisecond

// gate waits in a folder.
type gate struct{ folder string }

func (g gate) has(name string) bool {
	_, err := os.Stat(filepath.Join(g.folder, name))
	return err == nil
}

func (g gate) mark(name string) error {
	return os.WriteFile(filepath.Join(g.folder, name), nil, 0o600)
}

// wait returns when the test lets the step go on, or with the error of ctx.
func (g gate) wait(ctx context.Context) error {
	if !g.has(HoldFile) {
		return nil
	}
	if err := g.mark(ReachedFile); err != nil {
		return err
	}
	ticker := time.NewTicker(look)
	defer ticker.Stop()
	for g.has(HoldFile) {
		select {
		case <-ctx.Done():
			if err := g.mark(LeftFile); err != nil {
				return err
			}
			return ctx.Err()
		case <-ticker.C:
		}
	}
	return nil
}

// Link is the extension that waits at one point and implements no other: a
// modifier alone would make every PUT read first. An unknown step gives no
// extension, which the registry refuses.
func Link(step, folder string) any {
	at := gate{folder: folder}
	switch step {
	case OwnerCheck:
		return ownerChecker{at}
	case PreCheck:
		return preChecker{at}
	case Modify:
		return modifier{at}
	case PostCheck:
		return postChecker{at}
	}
	return nil
}

type ownerChecker struct{ gate }

// PreReconcileOwnerCheck waits in step 1.
func (g ownerChecker) PreReconcileOwnerCheck(
	ctx context.Context, owner *resource.Object, resolver extensions.Resolver, client extensions.ARMClient,
	log *slog.Logger, next extensions.PreReconcileOwnerCheckFunc,
) (extensions.PreReconcileCheckResult, error) {
	if err := g.wait(ctx); err != nil {
		return extensions.PreReconcileCheckResult{}, err
	}
	return next(ctx, owner, resolver, client, log)
}

type preChecker struct{ gate }

// PreReconcileCheck waits in step 3.
func (g preChecker) PreReconcileCheck(
	ctx context.Context, obj, owner *resource.Object, resolver extensions.Resolver, client extensions.ARMClient,
	log *slog.Logger, next extensions.PreReconcileCheckFunc,
) (extensions.PreReconcileCheckResult, error) {
	if err := g.wait(ctx); err != nil {
		return extensions.PreReconcileCheckResult{}, err
	}
	return next(ctx, obj, owner, resolver, client, log)
}

type modifier struct{ gate }

// ModifyARMResource waits in step 4, before the PUT.
func (g modifier) ModifyARMResource(
	ctx context.Context, payload map[string]any, obj, owner *resource.Object, resolver extensions.Resolver,
	client extensions.ARMClient, log *slog.Logger, next extensions.ARMResourceModifierFunc,
) (map[string]any, error) {
	if err := g.wait(ctx); err != nil {
		return nil, err
	}
	return next(ctx, payload, obj, owner, resolver, client, log)
}

type postChecker struct{ gate }

// PostReconcileCheck waits in step 5.
func (g postChecker) PostReconcileCheck(
	ctx context.Context, obj, owner *resource.Object, resolver extensions.Resolver, client extensions.ARMClient,
	log *slog.Logger, next extensions.PostReconcileCheckFunc,
) (extensions.PostReconcileCheckResult, error) {
	if err := g.wait(ctx); err != nil {
		return extensions.PostReconcileCheckResult{}, err
	}
	return next(ctx, obj, owner, resolver, client, log)
}
