package fleet

import (
	"context"
	"time"

	"github.com/armature-io/armature/workflows"
)

const (
	// firstRepetition and maxRepetition are the shortest and the longest time between two
	// sendings of a message that is not decided yet.
	firstRepetition = 100 * time.Millisecond
	maxRepetition   = 2 * time.Second
	// maxUndecided is how long such a message is sent again. A worker decides within 30 s.
	maxUndecided = 35 * time.Second
)

// UntilDecided calls send again, with growing pauses, while a worker refuses its message
// because it has not decided about it yet. Send must send the same message each time, with
// the same ID: another ID is another message to decide about.
func UntilDecided(ctx context.Context, send func() error) error {
	end := time.Now().Add(maxUndecided)
	for wait := firstRepetition; ; wait = min(2*wait, maxRepetition) {
		err := send()
		if refusalKind(err) != workflows.RefusedNotDecided || time.Now().Add(wait).After(end) || !pause(ctx, wait) {
			return err
		}
	}
}
