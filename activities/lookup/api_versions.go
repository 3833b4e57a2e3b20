package lookup

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"strings"
	"sync"
	"time"

	"golang.org/x/sync/singleflight"

	"github.com/armature-io/armature/arm"
	"github.com/armature-io/armature/resource"
)

// maxVersionAge is how long the newest api-version of a type is cached: providers
// add one every few months, and an older one reads a resource as well.
const maxVersionAge = 24 * time.Hour

// apiVersions caches the newest stable api-versions of types by subscription and
// connection, from the provider's list: one request per type, worker and day.
type apiVersions struct {
	client   *arm.Client
	now      func() time.Time
	requests singleflight.Group

	mu    sync.Mutex
	known map[string]apiVersion
}

type apiVersion struct {
	text string
	at   time.Time
}

func newAPIVersions(client *arm.Client, now func() time.Time) *apiVersions {
	return &apiVersions{client: client, now: now, known: map[string]apiVersion{}}
}

// UnknownVersionError is the error of a resource that cannot be read because no
// api-version is stated or listed for it.
type UnknownVersionError struct {
	id  resource.ID
	why string
}

func (e *UnknownVersionError) Error() string {
	return fmt.Sprintf("the newest api-version to read %s with is not known: %s; write %s@<api-version> in the manifest", e.id.Short(), e.why, e.id)
}

// APIVersion returns the api-version to read a resource with where none is stated:
// the constant of a container, else the newest stable one of its type, else the
// newest preview. The error is an [UnknownVersionError], or one of ARM.
func (r *Reader) APIVersion(ctx context.Context, id resource.ID) (string, error) {
	if version := resource.ContainerAPIVersion(id); version != "" {
		return version, nil
	}
	subscription := id.Subscription()
	if subscription == "" {
		return "", &UnknownVersionError{id: id, why: "it is in no subscription whose providers could be listed"}
	}
	v := r.versions
	if _, err := v.client.For(ctx, id); err != nil {
		return "", err
	}
	key := strings.ToLower(subscription+" "+id.Type()) + " " + v.client.ConnectionName(ctx, id)
	if version, ok := v.get(key); ok {
		return version, nil
	}
	done := v.requests.DoChan(key, func() (any, error) {
		ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), Timeout)
		defer cancel()
		return v.request(ctx, key, subscription, id)
	})
	select {
	case result := <-done:
		version, _ := result.Val.(string)
		return version, result.Err
	case <-ctx.Done():
		return "", fmt.Errorf("list the api-versions of %s: %w", id.Type(), ctx.Err())
	}
}

func (v *apiVersions) get(key string) (string, bool) {
	v.mu.Lock()
	defer v.mu.Unlock()
	found, ok := v.known[key]
	return found.text, ok && v.now().Sub(found.at) < maxVersionAge
}

func (v *apiVersions) request(ctx context.Context, key, subscription string, id resource.ID) (string, error) {
	version, err := v.client.APIVersion(ctx, subscription, id.Type())
	failure, _ := errors.AsType[*arm.Error](err)
	switch {
	case failure != nil && (failure.Status == http.StatusForbidden || failure.Status == http.StatusNotFound):
		return "", &UnknownVersionError{id: id, why: fmt.Sprintf("ARM does not show the list of provider %s (%s)", id.Provider(), failure.Answer())}
	case err != nil:
		return "", err
	case version == "":
		return "", &UnknownVersionError{id: id, why: "provider " + id.Provider() + " lists no api-version of " + id.Type()}
	}
	v.mu.Lock()
	defer v.mu.Unlock()
	v.known[key] = apiVersion{text: version, at: v.now()}
	return version, nil
}
