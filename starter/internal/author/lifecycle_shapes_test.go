package author_test

import (
	"hash/fnv"
	"net/http"
	"strings"

	"github.com/armature-io/armature/armsim"
	"github.com/armature-io/armature/resource"
	"github.com/armature-io/armature/types"
)

// draw is the provider of one type: the forms in which it responds.
type draw struct {
	answer    armsim.AnswerRule
	operation armsim.OperationSpec
	// existenceOnly is set for a provider without GET.
	existenceOnly bool
}

// operations are twelve forms of a long-running operation.
func operations() []armsim.OperationSpec {
	const seconds = 20
	return []armsim.OperationSpec{
		{Shape: armsim.ShapeSync},
		{Shape: armsim.ShapeSelf},
		{Shape: armsim.ShapeAsync, Seconds: seconds, RetryAfter: []float64{5}},
		{Shape: armsim.ShapeAsync, Seconds: seconds, StatusWords: []string{"Enqueued", "Working on it"}},
		{Shape: armsim.ShapeAsync, Seconds: seconds, HiddenUntilDone: true},
		{Shape: armsim.ShapeAsync, Seconds: seconds, UnderResource: true, EmptyBody: true},
		{Shape: armsim.ShapeLocation, Seconds: seconds, RetryAfter: []float64{0, 10}},
		{Shape: armsim.ShapeLocation, Seconds: seconds, EmptyFinal: true, RetryAfterDate: true, RetryAfter: []float64{5}},
		{Shape: armsim.ShapeBoth, Seconds: seconds},
		{Shape: armsim.ShapeBoth, Seconds: seconds, OperationAPIVersion: "2020-01-01", URLPadding: 2000},
		{Shape: armsim.ShapeState, Seconds: seconds},
		{Shape: armsim.ShapeState, Seconds: seconds, State: "Accepted", HiddenUntilDone: true},
	}
}

// gets are the ways to read a type, lists the statuses of its list.
const (
	getWorks = iota
	headOnly
	listOnly
)

// drawFor draws the forms by a hash of the type's name, so that a failure repeats. A
// provider whose type can be read by nothing does not exist; nor does one of the tenant
// without a list.
func drawFor(desired resource.Desired, shape *types.Shape) draw {
	h := fnv.New32a()
	_, _ = h.Write([]byte(strings.ToLower(shape.Type)))
	n := int(h.Sum32() & 0x7fffffff)
	pick := func(of int) int {
		at := n % of
		n /= of
		return at
	}
	shapes, specs := armsim.AbsentShapes(), operations()
	d := draw{answer: armsim.AnswerRule{Type: shape.Type, Absent: shapes[pick(len(shapes))]}, operation: specs[pick(len(specs))]}
	_, open := shape.PublishedNames()
	read := []int{getWorks, getWorks, getWorks, headOnly, listOnly}[pick(5)]
	if read == listOnly && !open {
		read = headOnly
	}
	d.answer.ListStatus = []int{0, 0, http.StatusNotFound, http.StatusMethodNotAllowed}[pick(4)]
	if strings.EqualFold(shape.Type, "Microsoft.Subscription/aliases") || strings.EqualFold(shape.Type, resource.TypeManagementGroup) {
		d.answer.Absent = "" // no list shows them: armsim has their own forms
	}
	root := desired.Owner.IsZero() || desired.ID.Subscription() == "" && strings.HasSuffix(strings.ToLower(desired.Owner.Type()), "/locations")
	if d.answer.Absent == armsim.AbsentSubscription && (desired.ID.Subscription() == "" || !strings.HasSuffix(strings.ToLower(shape.Type), "subscriptions")) {
		d.answer.ListStatus = 0 // only a list proves it where the provider has no subscriptions
		if desired.ID.Subscription() == "" {
			d.answer.Absent = armsim.AbsentOwnCode
		}
	}
	if read == listOnly || root {
		d.answer.ListStatus = 0
	}
	if root {
		read = getWorks
	}
	d.answer.NoGet, d.answer.NoHead = read != getWorks, read == listOnly
	d.existenceOnly = read != getWorks
	return d
}
