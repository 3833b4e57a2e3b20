package activities

import (
	"testing"
	"time"
)

// TestBlockOnCachedReadingExpires checks that a block based on a cached reading is
// retried when the reading has expired: the resource may have changed since.
func TestBlockOnCachedReadingExpires(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.put(clusterText, `{"location":"westus2","properties":{"provisioningState":"Updating"}}`)
	in := CheckOwnerInput{Desired: desired(t, databaseText, `{}`)}
	if got := local(w, w.acts.CheckOwner, in).Verdict; got.RetryWithin != 0 {
		t.Errorf("on a fresh reading the next try comes within %s, want the wait of the class", got.RetryWithin)
	}
	w.advance(20 * time.Second)
	if got := local(w, w.acts.CheckOwner, in).Verdict; got.RetryWithin != 11*time.Second {
		t.Errorf("on a reading of 20 s ago the next try comes within %s, want 11s", got.RetryWithin)
	}
	w.advance(11 * time.Second)
	if got := local(w, w.acts.CheckOwner, in).Verdict; got.RetryWithin != 0 || len(w.requests()) != 2 {
		t.Errorf("after expiry: requests %v, next try within %s; want a second read", w.requests(), got.RetryWithin)
	}
}
