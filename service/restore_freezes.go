package service

import "context"

// restoreFreezes reads the freezes in each interval and starts their workflow again if it
// ended without an unfreeze, until ctx is done.
func (p *process) restoreFreezes(ctx context.Context) {
	logged := ""
	for waited := true; waited; waited = sleep(ctx, p.freezeInterval) {
		restored, err := p.fleet.RestoreFreezes(ctx)
		switch {
		case restored:
			p.log.Warn("the workflow that keeps the freezes ended without an unfreeze, and was started again; its freezes stayed in force: find out who terminated it")
		case err == nil:
			logged = ""
		case err.Error() != logged && !isUnreachable(err) && ctx.Err() == nil: // the health checks log an unreachable server
			logged = err.Error()
			p.log.Warn("cannot keep the freezes, retrying", "error", err)
		}
	}
}
