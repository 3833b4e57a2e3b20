package activities

import (
	"fmt"
	"net/http"
	"testing"
	"time"

	"github.com/armature-io/armature/resource"
)

// held counts the bodies that the readings hold.
func (r *readings) held() int {
	n := 0
	for _, of := range r.known {
		for _, got := range of {
			if got.object.Exists() {
				n++
			}
		}
	}
	return n
}

// A worker looks after thousands of resources: it must not hold the bodies of
// those that no check asks for.
func TestReadingsHoldNoBodyThatNobodyAsksFor(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.put(thingText, thingBody)
	thing := id(t, thingText)
	w.acts.owners.readings.forget(thing, readAs{apiVersion: "2023-08-15"}) // as its PUT does
	w.advance(time.Second)
	_, err := run(w, w.acts.GetResource, GetResourceInput{ID: thing, APIVersion: "2023-08-15"})
	must(t, err)
	if n := w.acts.owners.readings.held(); n != 0 {
		t.Errorf("the bodies of %d resources are held that are nobody's owner", n)
	}
}

func TestReadingsDropWhatIsTooOld(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	in := CheckOwnerInput{Desired: desired(t, databaseText, `{}`)}
	w.put(clusterText, `{"location":"westus2","properties":{"state":"Running"}}`)
	want(t, local(w, w.acts.CheckOwner, in).Verdict, resource.ActionProceed, "", "", "allows changes")
	r := w.acts.owners.readings
	if n := r.held(); n != 1 {
		t.Fatalf("%d bodies are held, want that of the owner", n)
	}
	w.advance(r.maxAge)
	r.keep(id(t, thingText), readAs{apiVersion: "2024-01-01"}, reading{object: &resource.Object{}, at: w.acts.now(), asked: true})
	if n := r.held(); n != 0 {
		t.Errorf("%d bodies are held that serve nobody any more", n)
	}
	// Its own pass teaches it all the same: somebody asked for it once.
	_, err := run(w, w.acts.GetResource, GetResourceInput{ID: in.Desired.Owner, APIVersion: in.Desired.OwnerAPIVersion})
	must(t, err)
	before := w.gets()
	want(t, local(w, w.acts.CheckOwner, in).Verdict, resource.ActionProceed, "", "", "allows changes")
	if after := w.gets(); after != before {
		t.Errorf("the child made %d GETs for what its owner's own pass saw", after-before)
	}
}

func TestReadingsAreBounded(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	r := w.acts.owners.readings
	for i := range readingsKept + 10 {
		thing := id(t, fmt.Sprintf("/subscriptions/%s/resourceGroups/g%d", "11111111-2222-3333-4444-555555555555", i))
		r.keep(thing, readAs{}, reading{object: &resource.Object{}, at: w.acts.now(), asked: true})
	}
	if n := len(r.known); n > readingsKept || n < readingsKept/2 {
		t.Errorf("%d readings are kept, want at most %d and no less than half of them", n, readingsKept)
	}
}

// gets counts the GETs so far.
func (w *world) gets() int {
	n := 0
	for _, request := range w.requests() {
		if len(request) > 3 && request[:3] == http.MethodGet {
			n++
		}
	}
	return n
}

// A PUT changes what everybody reads, whoever made it and in whatever version.
func TestReadingsForgetWhatOthersRead(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	r, thing := w.acts.owners.readings, id(t, thingText)
	other := readAs{apiVersion: "2022-01-01", credential: "readers"}
	r.keep(thing, other, reading{object: &resource.Object{}, at: w.acts.now(), asked: true})
	r.forget(thing, readAs{apiVersion: "2024-01-01"})
	if _, ok := r.cached(thing, other, time.Time{}); ok {
		t.Error("the reading of another credential from before the PUT still counts")
	}
}
