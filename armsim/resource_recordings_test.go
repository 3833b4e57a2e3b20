package armsim_test

import (
	"bytes"
	"compress/gzip"
	"strings"
	"testing"
	"time"

	"github.com/armature-io/armature/armsim"
)

const recordedLines = `{"id":"` + plain + `","cassette":"x","putBody":{"name":"t1","location":"westus2","properties":{"size":1,"none":null}},"putResponse":{"id":"x","properties":{"provisioningState":"Accepted"}},"getBody":{"id":"` + plain + `","name":"T1","type":"Microsoft.Example/Things","etag":"old","location":"West US 2","properties":{"size":1.50,"mode":"Default"}}}
{"id":"` + plain + `","putBody":{"location":"westus2","properties":{"size":2}},"get":{"location":"West US 2","properties":{"size":2,"provisioningState":"Ready"}}}
`

func TestRecordings(t *testing.T) {
	recordings, err := armsim.ReadRecordings(strings.NewReader(recordedLines))
	if err != nil || len(recordings) != 2 {
		t.Fatalf("%d recordings, %v", len(recordings), err)
	}
	h := newHarness(t, armsim.Options{Recordings: recordings})
	h.makeGroup()
	put := h.do("PUT", plain+version, `{"location":"westus2","properties":{"size":1}}`)
	h.want(put, 201, "")
	h.wantAt(put, "properties.provisioningState", "Accepted")
	got := h.do("GET", plain+version, "")
	h.wantAt(got, "properties.mode", "Default")
	h.wantAt(got, "name", "T1")
	if !strings.Contains(got.raw, "1.50") || strings.Contains(got.raw, "provisioningState") || got.at("etag") != got.header.Get("ETag") {
		t.Errorf("the response is not as recorded: %s", got.raw)
	}
	h.want(h.do("PUT", plain+version, `{"location":"westus2","properties":{"size":2}}`, "If-Match", got.header.Get("ETag")), 200, "")
	h.wantAt(h.do("GET", plain+version, ""), "properties.provisioningState", "Ready")
	h.want(h.do("PUT", plain+version, `{"location":"westus2","properties":{"size":3}}`), 200, "")
	h.wantAt(h.do("GET", plain+version, ""), "properties.size", "3")
	if err := h.Patch(plain, map[string]any{"properties": map[string]any{"size": 4}}); err != nil {
		t.Fatal(err)
	}
	h.wantAt(h.do("GET", plain+version, ""), "properties.size", "4")
	h.want(h.do("PUT", plain+"2"+version, `{"location":"westus2","properties":{"size":1}}`), 201, "")
	h.wantAt(h.do("GET", plain+"2"+version, ""), "properties.mode", nil)
}

// TestRecordingAfterOperation checks that the recorded body appears when the operation
// is done, and that the first body of an ID selects its recording even when it differs.
func TestRecordingAfterOperation(t *testing.T) {
	h := newHarness(t, armsim.Options{Recordings: []armsim.Recording{{ID: strings.ToUpper(vnet),
		PutBody: map[string]any{"location": "eastus"}, GetBody: map[string]any{"properties": map[string]any{"subnets": []any{"as recorded"}}}}}})
	h.makeGroup()
	for range 2 {
		h.do("PUT", vnet+version, located)
		during := h.do("GET", vnet+version, "")
		h.wantAt(during, "properties.provisioningState", "Updating")
		h.wantAt(during, "properties.subnets", "[as recorded]")
		h.pass(time.Minute)
		got := h.do("GET", vnet+version, "")
		h.wantAt(got, "properties.subnets", "[as recorded]")
		h.wantAt(got, "properties.provisioningState", nil)
	}
	if err := h.Patch(vnet, map[string]any{"tags": map[string]any{"a": "b"}}); err != nil {
		t.Fatal(err)
	}
	h.wantAt(h.do("GET", vnet+version, ""), "tags.a", "b")
}

func TestReadRecordings(t *testing.T) {
	var zipped bytes.Buffer
	w := gzip.NewWriter(&zipped)
	if _, err := w.Write([]byte(recordedLines)); err != nil {
		t.Fatal(err)
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	if got, err := armsim.ReadRecordings(&zipped); err != nil || len(got) != 2 {
		t.Errorf("%d recordings of a gzip file, %v", len(got), err)
	}
	for name, bad := range map[string]string{
		"no ID": `{"getBody":{}}`, "no GET": `{"id":"` + plain + `"}`, "no resource": `{"id":"/x","getBody":{}}`, "no JSON": `{"id":`, "broken gzip": "\x1f\x8bxxxx",
	} {
		if _, err := armsim.ReadRecordings(strings.NewReader(bad)); err == nil {
			t.Errorf("%s is accepted", name)
		}
	}
	_, err := armsim.ReadRecordings(strings.NewReader(recordedLines + `{"id":"/x"}`))
	if err == nil || !strings.Contains(err.Error(), "recording 3") {
		t.Errorf("the error does not name the recording: %v", err)
	}
}
