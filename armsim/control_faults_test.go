package armsim_test

import (
	"context"
	"encoding/json"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/armature-io/armature/armsim"
)

func TestFaultSelection(t *testing.T) {
	h := newHarness(t, armsim.Options{})
	h.makeGroup()
	h.AddFault(armsim.Fault{Method: "PUT", Type: "microsoft.example/*", Path: "*/t1", After: 1, Count: 2, Status: 503,
		Code: "ServerBusy", Message: "later", Headers: map[string]string{"Retry-After": "7"}})
	body := `{"location":"westus2"}`
	var codes []int
	for range 4 {
		codes = append(codes, h.do("PUT", plain+version, body).status)
	}
	if codes[0] != 201 || codes[1] != 503 || codes[2] != 503 || codes[3] != 200 {
		t.Errorf("statuses %v, want 201 503 503 200: two faults after one match", codes)
	}
	h.want(h.do("PUT", plain+"2"+version, body), 201, "")
	if f := h.Faults()[0]; f.Matched != 4 || f.Fired != 2 {
		t.Errorf("fault counts %d matches and %d firings, want 4 and 2", f.Matched, f.Fired)
	}
	if n := h.Counters().Writes[strings.ToLower(plain)]; n != 2 {
		t.Errorf("%d accepted writes, want 2", n)
	}
	h.RemoveFault("")
	h.AddFault(armsim.Fault{Status: 500, Body: json.RawMessage(`"<html>bad</html>"`)})
	if got := h.do("GET", plain+version, ""); got.raw != "<html>bad</html>" || got.header.Get("Content-Type") != "text/html" {
		t.Errorf("want plain HTML, got %s as %s", got.raw, got.header.Get("Content-Type"))
	}
}

func TestFaultOnPollsOnly(t *testing.T) {
	h := newHarness(t, armsim.Options{})
	h.makeGroup()
	h.AddFault(armsim.Fault{On: "operation", Type: "*/virtualNetworks", Count: 1, Status: 500})
	put := h.do("PUT", vnet+version, `{"location":"westus2"}`)
	h.want(put, 201, "")
	h.want(h.do("GET", vnet+version, ""), 200, "")
	h.want(h.do("GET", put.header.Get("Azure-AsyncOperation"), ""), 500, "InternalServerError")
	h.want(h.do("GET", put.header.Get("Azure-AsyncOperation"), ""), 200, "")
}

// TestAppliedFault checks that the request takes effect and only its response is lost.
func TestAppliedFault(t *testing.T) {
	h := newHarness(t, armsim.Options{})
	h.makeGroup()
	h.AddFault(armsim.Fault{Method: "PUT", Applied: true, Count: 1, Status: 504, Code: "GatewayTimeout"})
	h.want(h.do("PUT", plain+version, `{"location":"westus2"}`), 504, "GatewayTimeout")
	h.want(h.do("GET", plain+version, ""), 200, "")
	if writes := h.Writes(); len(writes) != 2 || writes[1].Generation != 1 || writes[1].ID != plain {
		t.Errorf("writes are %+v, want the group's and the resource's first", writes)
	}
}

func TestResetClosesConnection(t *testing.T) {
	server := serve(t, armsim.Options{})
	server.Simulator().AddFault(armsim.Fault{Reset: true, Count: 1})
	if response, err := http.Get(server.URL() + group + version); err == nil {
		t.Errorf("got %d, want a closed connection", response.StatusCode)
	}
	response, err := http.Get(server.URL() + group + version)
	if err != nil || response.StatusCode != 404 {
		t.Errorf("got %v and %v after the fault, want 404", response, err)
	}
}

func serve(t *testing.T, options armsim.Options) *armsim.Server {
	t.Helper()
	server, err := armsim.New(options).Listen(armsim.ListenOptions{})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := server.Close(); err != nil {
			t.Error(err)
		}
		if err := <-server.Done(); err != nil {
			t.Errorf("serving ended with %v", err)
		}
	})
	return server
}

// waitFor polls a condition until a deadline.
func waitFor(t *testing.T, what string, ok func() bool) {
	t.Helper()
	ticker := time.NewTicker(time.Millisecond)
	defer ticker.Stop()
	deadline := time.NewTimer(10 * time.Second)
	defer deadline.Stop()
	for !ok() {
		select {
		case <-ticker.C:
		case <-deadline.C:
			t.Fatalf("timed out waiting for: %s", what)
		}
	}
}

func TestGate(t *testing.T) {
	server := serve(t, armsim.Options{})
	sim := server.Simulator()
	if err := sim.Put(group, map[string]any{"location": "westus2"}); err != nil {
		t.Fatal(err)
	}
	id := sim.AddFault(armsim.Fault{Method: "PUT", Gate: true})
	put := func(ctx context.Context, done chan<- int) {
		request, err := http.NewRequestWithContext(ctx, "PUT", server.URL()+plain+version, strings.NewReader(`{"location":"westus2"}`))
		if err != nil {
			t.Error(err)
		}
		response, err := http.DefaultClient.Do(request)
		if err != nil {
			done <- 0
			return
		}
		done <- response.StatusCode
	}
	waiting := func(n int) func() bool {
		return func() bool { return sim.Faults()[0].Waiting == n }
	}

	ctx, kill := context.WithCancel(context.Background())
	done := make(chan int, 1)
	go put(ctx, done)
	waitFor(t, "the gate to hold the request", waiting(1))
	kill()
	if got := <-done; got != 0 {
		t.Fatalf("a canceled client got %d", got)
	}
	waitFor(t, "the gate to drop the dead client", waiting(0))
	if n := len(sim.Writes()); n != 0 {
		t.Fatalf("a request that the gate held made %d writes", n)
	}

	go put(context.Background(), done)
	waitFor(t, "the gate to hold the second request", waiting(1))
	if !sim.RemoveFault(id) {
		t.Fatal("the gate was removed")
	}
	if got := <-done; got != 201 {
		t.Fatalf("the released request got %d, want 201", got)
	}
}
