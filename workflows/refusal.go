package workflows

import (
	"github.com/armature-io/armature/activities"
	"github.com/armature-io/armature/resource"
)

// noteRefusal records a verdict with severity Error that ARM gave for a PUT, or the
// post-check for what exists. The verdict of a check before the PUT needs no record: the
// check is made again.
func (s *State) noteRefusal(p *pass, verdict resource.Verdict) {
	if p.generation != s.Generation || p.post == nil && p.put.Content == "" {
		return
	}
	refusal := &activities.Refusal{Verdict: verdict}
	if p.post == nil {
		refusal.Sent = p.put.Content
	}
	refusal.Verdict.Differences, refusal.Verdict.WaitingFor = nil, nil
	s.Write.Refusal = refusal
}
