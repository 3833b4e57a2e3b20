package activities

import (
	"testing"
	"time"
)

// A verdict on a reading that others made some time ago is looked at again when
// that has expired: what it waits for may be over since.
func TestBlockOnAnOldReadingIsLookedAtSoon(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.put(clusterText, `{"location":"westus2","properties":{"provisioningState":"Updating"}}`)
	in := CheckOwnerInput{Desired: desired(t, databaseText, `{}`)}
	if got := local(w, w.acts.CheckOwner, in).Verdict; got.RetryWithin != 0 {
		t.Errorf("on a fresh reading the next try comes within %s, want what the class says", got.RetryWithin)
	}
	w.advance(20 * time.Second)
	if got := local(w, w.acts.CheckOwner, in).Verdict; got.RetryWithin != 11*time.Second {
		t.Errorf("on a reading of 20 s ago the next try comes within %s, want 11s", got.RetryWithin)
	}
	w.advance(11 * time.Second)
	if got := local(w, w.acts.CheckOwner, in).Verdict; got.RetryWithin != 0 || len(w.requests()) != 2 {
		t.Errorf("then it is read again: %v, within %s", w.requests(), got.RetryWithin)
	}
}
