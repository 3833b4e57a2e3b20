package armsim_test

import (
	"compress/gzip"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/armature-io/armature/armsim"
)

// trace is a recorded long-running operation, as far as this test uses it.
type trace struct {
	Method  string `json:"method"`
	Type    string `json:"type"`
	Initial struct {
		Status             int     `json:"status"`
		AsyncOperation     string  `json:"azureAsyncOperation"`
		Location           string  `json:"location"`
		RetryAfter         string  `json:"retryAfter"`
		ProvisioningState  *string `json:"provisioningState"`
		BodyEmpty          bool    `json:"bodyEmpty"`
		LocationIsResource bool    `json:"locationIsResource"`
	} `json:"initial"`
	Polls []poll `json:"polls"`
}

type poll struct {
	Via        string  `json:"via"`
	Status     int     `json:"status"`
	BodyStatus *string `json:"bodyStatus"`
	RetryAfter string  `json:"retryAfter"`
	EmptyBody  bool    `json:"emptyBody"`
	Repeat     int     `json:"repeat"`
}

// TestCorpusOperations checks that the simulator can reproduce every recorded
// operation: status and headers of the first response, and every read of the operation
// with its status, status text and Retry-After. Reads that failed (500, 503) are
// skipped, because they are faults; see Fault.
func TestCorpusOperations(t *testing.T) {
	traces := readTraces(t)
	good := 0
	for i, tr := range traces {
		if err := tr.replay(t); err != nil {
			t.Errorf("trace %d, %s %s: %v", i+1, tr.Method, tr.Type, err)
			continue
		}
		good++
	}
	t.Logf("score operations.shown %d/%d", good, len(traces))
}

func readTraces(t *testing.T) []trace {
	t.Helper()
	unzipped, err := gzip.NewReader(openCorpus(t, "lro.jsonl.gz"))
	if err != nil {
		t.Fatal(err)
	}
	var out []trace
	for d, n := json.NewDecoder(unzipped), 0; ; n++ {
		var tr trace
		if err := d.Decode(&tr); errors.Is(err, io.EOF) {
			return out
		} else if err != nil {
			t.Fatal(err)
		}
		if !testing.Short() || n%10 == 0 {
			out = append(out, tr)
		}
	}
}

// reads returns the trace's reads of the operation, one by one.
func (tr trace) reads() []poll {
	var out []poll
	for _, p := range tr.Polls {
		if p.Via == "resource" || p.Status >= 500 {
			continue
		}
		for range max(1, p.Repeat) {
			out = append(out, p)
		}
	}
	return out
}

func (p poll) word() string {
	if p.BodyStatus == nil {
		return ""
	}
	return *p.BodyStatus
}

// ended reports whether the operation was over at this read.
func (p poll) ended() bool {
	if p.Via == "location" {
		return p.Status != 202
	}
	switch strings.ToLower(p.word()) {
	case "succeeded", "failed", "canceled":
		return true
	}
	return false
}

// spec returns the operation as a rule of the simulator.
func (tr trace) spec() armsim.OperationSpec {
	in, reads := tr.Initial, tr.reads()
	spec := armsim.OperationSpec{
		Shape: armsim.ShapeSync, Status: in.Status, EmptyBody: in.BodyEmpty, DeleteBody: !in.BodyEmpty, Seconds: 1, RetryAfter: []float64{number(in.RetryAfter)},
	}
	switch location := in.Location != "" && !in.LocationIsResource; {
	case in.AsyncOperation != "" && in.Location != "":
		spec.Shape = armsim.ShapeBoth
	case in.AsyncOperation != "":
		spec.Shape = armsim.ShapeAsync
	case location:
		spec.Shape = armsim.ShapeLocation
	case in.Location != "" && in.Status == 202: // under the resource's own path, distinguished by the query
		spec.Shape, spec.UnderResource = armsim.ShapeLocation, true
	case in.Location != "":
		spec.Shape = armsim.ShapeSelf
	case in.ProvisioningState != nil && !strings.EqualFold(*in.ProvisioningState, "Succeeded"):
		spec.Shape = armsim.ShapeState
	}
	if in.ProvisioningState != nil {
		spec.FirstState = *in.ProvisioningState
	}
	for _, p := range reads {
		if p.ended() {
			spec.FinalStatus, spec.EmptyFinal = p.Status, p.EmptyBody
			if strings.EqualFold(p.word(), "failed") || strings.EqualFold(p.word(), "canceled") {
				spec.Outcome = p.word()
			}
			break
		}
		spec.Polls++
		spec.PollStatus = p.Status
		spec.StatusWords = append(spec.StatusWords, p.word())
		spec.RetryAfter = append(spec.RetryAfter, number(p.RetryAfter))
	}
	return spec
}

func number(s string) float64 {
	n, _ := strconv.ParseFloat(s, 64) // an absent header is 0
	return n
}

// replay sends the trace's requests to a simulator with its operation.
func (tr trace) replay(t *testing.T) error {
	t.Helper()
	h := newHarness(t, armsim.Options{Operations: []armsim.OperationRule{{Type: "*/things", Spec: tr.spec()}}})
	if err := h.Put(plain, map[string]any{"location": "westus2"}); err != nil {
		return err
	}
	method := map[string]string{"DELETE": "DELETE"}[tr.Method]
	if method == "" {
		method = "PUT" // the operation of a POST has the same headers
	}
	first := h.do(method, plain+version, located)
	want := tr.Initial
	switch got := first.header; {
	case first.status != want.Status:
		return fmt.Errorf("the first response is %d, want %d", first.status, want.Status)
	case (got.Get("Azure-AsyncOperation") != "") != (want.AsyncOperation != ""), (got.Get("Location") != "") != (want.Location != ""):
		return fmt.Errorf("the first response's headers are %v", got)
	case number(got.Get("Retry-After")) != number(want.RetryAfter):
		return fmt.Errorf("the first Retry-After is %q, want %q", got.Get("Retry-After"), want.RetryAfter)
	case want.BodyEmpty != (first.raw == ""):
		return fmt.Errorf("the first body is %q", first.raw)
	}
	h.pass(time.Minute)
	for i, p := range tr.reads() {
		url := first.header.Get("Azure-AsyncOperation")
		if p.Via == "location" {
			url = first.header.Get("Location")
		}
		if err := p.compare(h.do("GET", url, "")); err != nil {
			return fmt.Errorf("read %d: %w", i+1, err)
		}
		if p.ended() {
			break
		}
	}
	return nil
}

func (p poll) compare(got response) error {
	if got.status != p.Status {
		return fmt.Errorf("the status is %d, want %d", got.status, p.Status)
	}
	if word, _ := got.at("status").(string); p.Via != "location" && !strings.EqualFold(word, p.word()) {
		return fmt.Errorf("the status text is %q, want %q", word, p.word())
	}
	if !p.ended() && number(got.header.Get("Retry-After")) != number(p.RetryAfter) {
		return fmt.Errorf("Retry-After is %q, want %q", got.header.Get("Retry-After"), p.RetryAfter)
	}
	return nil
}
