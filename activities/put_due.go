package activities

import (
	"context"
	"fmt"

	"github.com/armature-io/armature/drift"
	"github.com/armature-io/armature/resource"
)

// checkDue returns the result of the step if a read shows that no PUT is due, nil if one is.
func (p *put) checkDue(ctx context.Context) *PutResourceResult {
	state := p.request.Object.ProvisioningState()
	if p.registry.InFlight(p.in.Desired.ID.Type(), state) && (p.repeated || !p.in.Force) {
		return &PutResourceResult{
			Sent:    p.repeated,
			Verdict: p.report("PutResource", resource.Proceed(fmt.Sprintf("joined the operation in flight (%s): no PUT", state))),
		}
	}
	// maySent, not repeated: a run that was reset has repeated in all its passes, although the
	// pre-check requested a PUT of the broken resource.
	if p.maySent && resource.Broken(state) {
		return p.done("the operation ended meanwhile: " + state)
	}
	compared := p.request
	object := *p.request.Object
	object.Observed = p.mask(ctx, object.Observed, p.in.Desired.Target())
	compared.Object = &object
	found := drift.Compare(object.Desired, object.Observed, compared.Comparison())
	p.masked, p.changed = object.Observed, nil
	for _, difference := range found.Differences {
		p.changed = append(p.changed, difference.Path)
	}
	if resource.Broken(state) {
		p.changed = []string{statePath}
	}
	if p.in.Kind.creates() && p.maySent && !found.InSync && drift.IsCreation(object.Desired, object.Observed, found, compared.Comparison()) {
		return p.done("it was absent before a PUT whose answer was lost, and exists now: it is verified, and not sent again")
	}
	if p.in.Kind == PutUncompared && !p.repeated || resource.Broken(state) {
		return p.checkWritable(ctx)
	}
	if len(found.Differences) > 0 || p.in.Force && !found.InSync {
		return p.checkWritable(ctx)
	}
	return p.done("in sync meanwhile: no PUT")
}

// checkWritable returns the result of the step if a PUT is due and must not be sent: the resource
// was stopped since the pass read it, or a correction would reset values that only a newer
// api-version shows. It returns nil if the PUT may be sent.
func (p *put) checkWritable(ctx context.Context) *PutResourceResult {
	if verdict, stopped := p.registry.Stopped(p.request.Object); stopped && !p.in.Force {
		return p.stopUnsent(verdict, p.maySent)
	}
	if held := p.checkNewer(ctx); held != nil {
		return p.stopUnsent(*held, p.maySent)
	}
	return nil
}

func (p *put) done(message string) *PutResourceResult {
	return &PutResourceResult{Done: true, Sent: p.repeated, Verdict: p.report("PutResource", resource.Proceed(message))}
}

// stop returns a result whose verdict stops the pass.
func (p *put) stop(verdict resource.Verdict) *PutResourceResult {
	result := &PutResourceResult{Verdict: p.report("PutResource", verdict), Memory: p.memory}
	if verdict.Class == resource.RetryNone && p.request.Object != nil {
		result.Content = p.content()
	}
	return result
}

// stopUnsent is stop for an attempt that sends no PUT. unknown is set if an earlier attempt may
// have sent one.
func (p *put) stopUnsent(verdict resource.Verdict, unknown bool) *PutResourceResult {
	p.noteUnsent()
	result := p.stop(verdict)
	result.Unknown = unknown
	return result
}
