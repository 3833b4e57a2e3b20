package lookup

import (
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"time"

	"github.com/armature-io/armature/arm"
	"github.com/armature-io/armature/resource"
)

// maxStatedAge is the longest age that GetWithin accepts: what does not change for an hour is
// not worth a check in each pass.
const maxStatedAge = time.Hour

// Age is how old a reading is: a text for verdicts, and the time until it expires, 0 for a
// fresh one.
type Age struct {
	Text        string
	UntilExpiry time.Duration
}

// GetWithin returns a resource as a GET of at most maxAge ago showed it, secrets masked, and
// its age. Readings from before since, unless that is zero, do not count. An
// absent resource is an error of ARM (arm.IsAbsent), as Get returns it; what may not be read is
// cached for a moment only.
func (r *Reader) GetWithin(ctx context.Context, id resource.ID, apiVersion string, maxAge time.Duration, since time.Time) (arm.Response, Age, error) {
	reader := r
	if maxAge > r.maxAge && r.long != nil {
		reader = r.long
	}
	reader.NoteRequest(id, since)
	got := reader.Read(ctx, id, apiVersion, r.now().Add(-max(maxAge, 0)))
	var age Age
	if got.Err == nil {
		age.Text = got.Object.Freshness
		if old := r.now().Sub(got.at); old >= maxFreshAge && old < maxAge {
			age.UntilExpiry = min(maxAge, reader.maxAge) - old + time.Second
		}
	}
	switch {
	case got.Err != nil:
		return arm.Response{}, age, fmt.Errorf("get %s: %w", id, got.Err)
	case !got.Object.Exists():
		return arm.Response{}, age, fmt.Errorf("get %s: %w", id, &arm.Error{
			Status: http.StatusNotFound, Code: "ResourceNotFound", Class: arm.ClassAbsent, Message: "the resource does not exist (" + got.Object.Freshness + ")",
		})
	}
	body, err := json.Marshal(got.Object.Observed)
	if err != nil {
		return arm.Response{}, age, fmt.Errorf("get %s: %w", id, err)
	}
	return arm.Response{Status: http.StatusOK, Body: body}, age, nil
}
