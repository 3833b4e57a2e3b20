// Package gate blocks a worker at a step of the pass until a test releases it. They
// communicate by files in a folder, because the worker is a process of its own.
package gate

import (
	"context"
	"log/slog"
	"os"
	"path/filepath"
	"time"

	"github.com/armature-io/armature/arm"
	"github.com/armature-io/armature/extensions"
	"github.com/armature-io/armature/resource"
)

// Environment variables with which the test selects the extension point at which the
// worker waits, and the folder of the files. ClockVariable is a duration by which the
// worker's clock is ahead, FreezeVariable the time between two readings of the freezes.
const (
	StepVariable   = "TESTWORKER_STEP"
	FolderVariable = "TESTWORKER_FOLDER"
	ClockVariable  = "TESTWORKER_CLOCK_AHEAD"
	FreezeVariable = "TESTWORKER_FREEZE_INTERVAL"
)

// Files in that folder. The worker waits while HoldFile exists. It creates
// ReachedFile when it starts to wait, and CanceledFile if its context ends before
// the test releases it.
const (
	HoldFile     = "hold"
	ReachedFile  = "reached"
	CanceledFile = "canceled"
)

// Extension points at which a worker can wait.
const (
	OwnerCheck = "PreReconcileOwnerCheck"
	PreCheck   = "PreReconcileCheck"
	Modify     = "ModifyARMResource"
	PostCheck  = "PostReconcileCheck"
	// Write is right before a write leaves, where the worker is asked whether it may.
	Write = "Write"
)

// pollInterval is the time between two checks of HoldFile.
const pollInterval = 10 * time.Millisecond

// gate waits for files in a folder.
type gate struct{ folder string }

func (g gate) has(name string) bool {
	_, err := os.Stat(filepath.Join(g.folder, name))
	return err == nil
}

func (g gate) mark(name string) error {
	return os.WriteFile(filepath.Join(g.folder, name), nil, 0o600)
}

// wait waits until the test releases the step. It returns an error if ctx ends
// first.
func (g gate) wait(ctx context.Context) error {
	if !g.has(HoldFile) {
		return nil
	}
	if err := g.mark(ReachedFile); err != nil {
		return err
	}
	ticker := time.NewTicker(pollInterval)
	defer ticker.Stop()
	for g.has(HoldFile) {
		select {
		case <-ctx.Done():
			if err := g.mark(CanceledFile); err != nil {
				return err
			}
			return ctx.Err()
		case <-ticker.C:
		}
	}
	return nil
}

// Link returns an extension that waits at one point and implements no other one: a
// modifier would cause a read before every PUT. It returns nil for an unknown step,
// which the registry refuses.
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

// BeforeWrite returns a check that waits before each write leaves, and marks its method in
// the folder (ReachedWrite). It lets every write go.
func BeforeWrite(folder string) arm.WriteCheck {
	at := gate{folder: folder}
	return func(ctx context.Context, write arm.Write) error {
		if !at.has(HoldFile) {
			return nil
		}
		if err := at.mark(ReachedWrite(write.Method)); err != nil {
			return err
		}
		return at.wait(ctx)
	}
}

// ReachedWrite returns the name of the file that BeforeWrite makes for a method.
func ReachedWrite(method string) string { return ReachedFile + "-" + method }
