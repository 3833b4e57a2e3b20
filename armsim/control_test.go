package armsim_test

import (
	"net/url"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/armature-io/armature/armsim"
)

// TestControlAPI calls the documented paths over HTTP.
func TestControlAPI(t *testing.T) {
	h := newHarness(t, armsim.Options{RequireAuth: true})
	ok := func(method, path, body string) response {
		t.Helper()
		got := h.do(method, "/_sim/"+path, body)
		if got.status/100 != 2 {
			t.Fatalf("%s %s: %d %s", method, path, got.status, got.raw)
		}
		return got
	}
	h.wantAt(ok("GET", "health", ""), "status", "ok")
	h.wantAt(ok("PUT", "time", `{"scale":60,"advanceSeconds":5}`), "scale", 60)
	ok("PUT", "resources", `{"id":"`+database+`","body":{"location":"westus2"}}`)
	if got := ok("GET", "resources?type=*clusters&id=*adx", ""); !strings.Contains(got.raw, `"state":"Succeeded"`) {
		t.Errorf("the parent was not created: %s", got.raw)
	}
	ok("PATCH", "resources", `{"id":"`+cluster+`","patch":{"properties":{"enablePurge":true}}}`)
	if got := ok("GET", "resources?type=*clusters", ""); !strings.Contains(got.raw, `"enablePurge":true`) {
		t.Errorf("the patch was not applied: %s", got.raw)
	}
	ok("PUT", "state", `{"id":"`+cluster+`","provisioningState":"Updating","properties":{"state":"Stopped"}}`)
	ok("POST", "secrets", `{"type":"*clusters","properties":["primaryKey"]}`)
	ok("GET", "secrets", "")
	fault := ok("POST", "faults", `{"method":"GET","status":503,"code":"X","count":1}`).at("id").(string)
	ok("GET", "faults", "")
	ok("POST", "faults/"+fault+"/release", "")
	ok("POST", "operations", `{"type":"*","on":"put","spec":{"shape":"both","polls":2,"retryAfter":[1,2]}}`)
	ok("GET", "operations", "")
	ok("DELETE", "operations", "")
	ok("POST", "holds", `{"type":"*"}`)
	ok("DELETE", "holds", "")
	ok("PUT", "providers", `{"namespace":"Microsoft.X","registrationState":"NotRegistered"}`)
	ok("POST", "deny", `{"scope":"*"}`)
	ok("DELETE", "deny", "")
	ok("PUT", "throttle", `{"reads":{"capacity":1,"refillPerSecond":1}}`)
	ok("PUT", "throttle", `{}`)
	ok("PUT", "options", `{"readAfterWriteSeconds":5}`)
	ok("DELETE", "resources?id="+url.QueryEscape(cluster), "")
	ok("GET", "counters", "")
	ok("GET", "requests?method=GET", "")
	ok("GET", "writes?id=*", "")
	ok("POST", "reset?all=true", "")
	if got := ok("GET", "resources", ""); strings.TrimSpace(got.raw) != "[]" {
		t.Errorf("the reset did not remove resources: %s", got.raw)
	}
	for path, body := range map[string]string{"time": `{"scale":-1}`, "faults": `{"typo":1}`, "nothing": "", "resources": `{"id":"/x"}`} {
		method := "PUT"
		if path == "faults" {
			method = "POST"
		}
		if got := h.do(method, "/_sim/"+path, body); got.status/100 != 4 || got.at("error") == nil {
			t.Errorf("%s with %s: got %d %s, want a 4xx with an error text", path, body, got.status, got.raw)
		}
	}
}

func TestControlRoutes(t *testing.T) {
	tests := map[string]struct {
		method, path, body string
		status             int
		text, reason       string
	}{
		"unknown path":     {"GET", "/_sim/nothing", "", 404, `{"error":"unknown control path /_sim/nothing"}`, "the error names the path"},
		"root":             {"GET", "/_sim/", "", 404, `{"error":"unknown control path /_sim/"}`, "there is no index"},
		"other method":     {"DELETE", "/_sim/counters", "", 405, `{"error":"DELETE is not possible here"}`, "the method is refused, in JSON"},
		"other method, id": {"PUT", "/_sim/faults/f", "", 405, `{"error":"PUT is not possible here"}`, "paths with an ID refuse methods too"},
		"any method":       {"POST", "/_sim/health", "", 200, `{"status":"ok"}`, "health accepts every method"},
		"case":             {"GET", "/_SIM/Health", "", 200, `{"status":"ok"}`, "the path matches without regard to case"},
		"trailing slash":   {"GET", "/_sim/health/", "", 200, `{"status":"ok"}`, "a trailing slash is ignored"},
		"case of an ID":    {"DELETE", "/_sim/faults/Fault-X", "", 404, `{"error":"there is no fault Fault-X"}`, "an ID keeps its case"},
		"unknown field":    {"POST", "/_sim/deny", `{"typo":1}`, 400, `{"error":"parse body: json: unknown field \"typo\""}`, "a typo in a test must not go unnoticed"},
		"bad command":      {"POST", "/_sim/policies", `{"effect":"deny"}`, 400, `{"error":"a policy needs a name and the effect modify or deny"}`, "a policy is identified by its name"},
		"all faults":       {"DELETE", "/_sim/faults", "", 200, `{"ok":true}`, "removing none of no faults succeeds"},
		"all policies":     {"DELETE", "/_sim/policies", "", 200, `{"ok":true}`, "removing all policies needs no name"},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			h := newHarness(t, armsim.Options{})
			got := h.do(test.method, test.path, test.body)
			if got.status != test.status || strings.TrimSpace(got.raw) != test.text {
				t.Errorf("got %d %s, want %d %s, since %s", got.status, got.raw, test.status, test.text, test.reason)
			}
		})
	}
}

func TestCountersAndLogs(t *testing.T) {
	h := newHarness(t, armsim.Options{})
	h.makeGroup()
	put := h.do("PUT", vnet+version, `{"location":"westus2"}`, "x-ms-correlation-request-id", "run-1")
	h.do("GET", put.header.Get("Azure-AsyncOperation"), "")
	h.do("GET", strings.ToUpper(vnet)+version, "")
	h.do("PUT", vnet+version, `{}`) // busy, so not accepted
	c := h.Counters()
	id := strings.ToLower(vnet)
	if c.ByMethod["GET"] != 1 || c.ByMethod["PUT"] != 3 || c.ByID[id]["GET"] != 1 || c.ByType["microsoft.network/virtualnetworks"]["PUT"] != 2 ||
		c.ByKind["operation"]["GET"] != 1 || c.Writes[id] != 1 || c.ByStatus[409] != 1 || c.Total != 5 {
		t.Errorf("wrong counters: %+v", c)
	}
	log := h.Requests()
	if len(log) != 5 || log[1].CorrelationID != "run-1" || log[1].Status != 201 || log[4].Code != "AnotherOperationInProgress" {
		t.Errorf("wrong log: %+v", log)
	}
	writes := h.Writes()
	if last := writes[len(writes)-1]; last.CorrelationID != "run-1" || last.Generation != 1 || last.Body["location"] != "westus2" {
		t.Errorf("wrong last write: %+v", last)
	}
	h.ResetCounters()
	if c := h.Counters(); c.Total != 0 || len(h.Requests()) != 0 || len(h.Writes()) != 0 {
		t.Errorf("the reset left %+v", c)
	}
}

func TestLogIsBounded(t *testing.T) {
	h := newHarness(t, armsim.Options{MaxRequests: 3})
	for range 10 {
		h.do("GET", group+version, "")
	}
	if log := h.Requests(); len(log) != 3 || log[2].Seq != 10 {
		t.Errorf("log has %d entries, want the last 3: %+v", len(log), log)
	}
	if n := h.Counters().Total; n != 10 {
		t.Errorf("counted %d, want 10: counters are not bounded", n)
	}
}

func TestTimeScale(t *testing.T) {
	h := newHarness(t, armsim.Options{})
	h.makeGroup()
	h.do("PUT", cluster+version, clusterBody) // 600 simulated seconds
	h.pass(100 * time.Second)
	if err := h.SetTimeScale(50); err != nil {
		t.Fatal(err)
	}
	h.pass(9 * time.Second)
	h.wantAt(h.do("GET", cluster+version, ""), "properties.provisioningState", "Creating")
	h.pass(time.Second)
	h.wantAt(h.do("GET", cluster+version, ""), "properties.provisioningState", "Succeeded")
}

// TestConcurrentUse is for the race detector, and checks that exactly one of many
// creators succeeds.
func TestConcurrentUse(t *testing.T) {
	h := newHarness(t, armsim.Options{})
	h.makeGroup()
	var group sync.WaitGroup
	created := make(chan int, 200)
	for range 8 {
		group.Go(func() {
			for range 10 {
				created <- h.do("PUT", plain+version, `{"location":"westus2"}`, "If-None-Match", "*").status
				h.do("GET", plain+version, "")
				h.do("GET", "/_sim/counters", "")
				h.AddFault(armsim.Fault{Method: "POST"})
				h.Resources("", "")
			}
		})
	}
	group.Wait()
	close(created)
	wins := 0
	for status := range created {
		if status == 201 {
			wins++
		}
	}
	if wins != 1 {
		t.Errorf("%d creators succeeded, want 1", wins)
	}
}
