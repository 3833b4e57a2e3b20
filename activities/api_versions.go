package activities

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

// versionKept is how long the newest api-version of a type is kept: providers add
// one in months, and another one reads a resource as well.
const versionKept = 24 * time.Hour

// apiVersions are the newest stable api-versions of types, by subscription, as the
// provider's list says: one request for each type, worker and day.
type apiVersions struct {
	client *arm.Client
	now    func() time.Time
	group  singleflight.Group

	mu    sync.Mutex
	known map[string]listedVersion
}

type listedVersion struct {
	text string
	at   time.Time
}

func newAPIVersions(client *arm.Client, now func() time.Time) *apiVersions {
	return &apiVersions{client: client, now: now, known: map[string]listedVersion{}}
}

// unknownVersion is the error of a resource that cannot be read, since nobody says
// with which api-version.
type unknownVersion struct {
	id  resource.ID
	why string
}

func (e *unknownVersion) Error() string {
	return fmt.Sprintf("the newest api-version to read %s with is not known: %s; write %s@<api-version> in the manifest", e.id.Short(), e.why, e.id)
}

// of is the api-version with which a resource is read when nobody states one: the
// constant of a container, else the newest stable one of its type, else the newest
// preview. An error is an [unknownVersion], or a fault that another try may mend.
func (v *apiVersions) of(ctx context.Context, id resource.ID) (string, error) {
	if version := resource.ContainerAPIVersion(id); version != "" {
		return version, nil
	}
	subscription := id.Subscription()
	if subscription == "" {
		return "", &unknownVersion{id: id, why: "it stands in no subscription whose providers could be listed"}
	}
	key := strings.ToLower(subscription + " " + id.Type())
	if version, ok := v.cached(key); ok {
		return version, nil
	}
	answer := v.group.DoChan(key+" "+arm.CredentialName(ctx), func() (any, error) {
		ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), readBudget)
		defer cancel()
		return v.listed(ctx, key, subscription, id)
	})
	select {
	case result := <-answer:
		version, _ := result.Val.(string)
		return version, result.Err
	case <-ctx.Done():
		return "", fmt.Errorf("list the api-versions of %s: %w", id.Type(), ctx.Err())
	}
}

func (v *apiVersions) cached(key string) (string, bool) {
	v.mu.Lock()
	defer v.mu.Unlock()
	found, ok := v.known[key]
	return found.text, ok && v.now().Sub(found.at) < versionKept
}

// listed asks ARM.
func (v *apiVersions) listed(ctx context.Context, key, subscription string, id resource.ID) (string, error) {
	version, err := v.client.APIVersion(ctx, subscription, id.Type())
	var failure *arm.Error
	switch {
	case errors.As(err, &failure) && (failure.Status == http.StatusForbidden || failure.Status == http.StatusNotFound):
		return "", &unknownVersion{id: id, why: fmt.Sprintf("ARM does not show the list of provider %s (%d %s)", id.Provider(), failure.Status, failure.Code)}
	case err != nil:
		return "", err
	case version == "":
		return "", &unknownVersion{id: id, why: "provider " + id.Provider() + " lists no api-version of " + id.Type()}
	}
	v.mu.Lock()
	defer v.mu.Unlock()
	v.known[key] = listedVersion{text: version, at: v.now()}
	return version, nil
}

// namesVersions adds to the verdict of an owner check which api-versions were taken
// because nobody stated one.
func namesVersions(verdict resource.Verdict, in CheckOwnerInput, owner *resource.Object, references []resource.Reference) resource.Verdict {
	var taken []string
	if owner != nil && in.Desired.OwnerAPIVersion == "" {
		taken = append(taken, owner.ID.Short()+" with "+owner.APIVersion)
	}
	for _, reference := range references {
		taken = append(taken, reference.ID.Short()+" with "+reference.APIVersion)
	}
	const most = 3
	if more := len(taken) - most; more > 0 {
		taken = append(taken[:most], fmt.Sprintf("%d more", more))
	}
	if len(taken) > 0 {
		verdict.Message = strings.TrimPrefix(verdict.Message+"; read "+strings.Join(taken, ", ")+", the newest api-version of the type", "; ")
	}
	return verdict
}
