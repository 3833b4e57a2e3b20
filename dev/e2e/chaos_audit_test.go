package e2e

import (
	"bufio"
	"encoding/json"
	"fmt"
	"maps"
	"net/http"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/armature-io/armature/armsim"
	"github.com/armature-io/armature/dev/internal/harness"
	"github.com/armature-io/armature/internal/audit"
)

// auditedOptions returns the options of a worker with an audit trail in a file of its own.
func auditedOptions(t *testing.T, folder string) harness.WorkerOptions {
	t.Helper()
	file, err := os.CreateTemp(folder, "audit-*.jsonl")
	if err != nil {
		t.Fatal(err)
	}
	if err := file.Close(); err != nil {
		t.Fatal(err)
	}
	// The processes are killed, not the machine.
	return harness.WorkerOptions{Env: []string{"ARMATURE_AUDIT_FILE=" + file.Name(), "ARMATURE_AUDIT_FSYNC=false"}}
}

// auditTrail returns the records of all workers, in the order of each file. The last line of
// a worker that was killed may be cut off.
func auditTrail(t testing.TB, folder string) (records []audit.Record, text string) {
	t.Helper()
	files, err := filepath.Glob(filepath.Join(folder, "audit-*.jsonl"))
	if err != nil {
		t.Fatal(err)
	}
	for _, name := range files {
		content, err := os.ReadFile(name)
		if err != nil {
			t.Fatal(err)
		}
		text += string(content)
		lines := bufio.NewScanner(strings.NewReader(string(content)))
		lines.Buffer(nil, 1<<20)
		for lines.Scan() {
			var record audit.Record
			if err := json.Unmarshal(lines.Bytes(), &record); err == nil {
				records = append(records, record)
			}
		}
	}
	return records, text
}

// sentWrites returns the requests that could change something and arrived at the simulator,
// for the resources in a group, by the key under which the worker sent them.
func sentWrites(t *testing.T, s scenarios, group string) map[string]armsim.Request {
	t.Helper()
	prefix := strings.ToLower(subscription + "/resourceGroups/" + group + "/providers/")
	sent := map[string]armsim.Request{}
	for _, request := range s.Sim.Requests("") {
		if request.Method == http.MethodGet || request.Method == http.MethodHead || !strings.HasPrefix(strings.ToLower(request.ID), prefix) {
			continue
		}
		if request.ClientRequestID == "" || request.CorrelationID == "" {
			t.Errorf("%s %s arrived without the key of an audit line", request.Method, request.ID)
		}
		if _, twice := sent[request.ClientRequestID]; twice {
			t.Errorf("two requests arrived with the key %s", request.ClientRequestID)
		}
		sent[request.ClientRequestID] = request
	}
	return sent
}

// checkAudit checks that the lines, without those that repeat a key, are the requests that
// arrived at the simulator. A request of which no outcome is known may have arrived or not. It
// returns the number of these.
func checkAudit(t *testing.T, s scenarios, folder, group string) (open int) {
	t.Helper()
	records, _ := auditTrail(t, folder)
	sent := sentWrites(t, s, group)
	unknown, unseen, certain := 0, 0, 0
	for _, record := range audit.Deduplicate(records) {
		if record.Event != audit.EventWrite {
			continue
		}
		request, arrived := sent[record.Key]
		delete(sent, record.Key)
		switch {
		case record.Result == audit.ResultNotSent && arrived:
			t.Errorf("the line says that it was not sent, and it arrived: %+v", record)
		case record.Result == audit.ResultNotSent:
		case record.Result.IsOpen() && !arrived:
			unseen++
			if record.Result != audit.ResultSending {
				t.Errorf("ARM answered, or broke the connection, and the simulator has no such request: %+v", record)
			}
		case !arrived:
			t.Errorf("the line says that ARM answered, and the simulator has no such request: %+v", record)
		default:
			if record.Result.IsOpen() {
				unknown++
			} else {
				certain++
			}
			checkLine(t, record, request)
		}
	}
	for _, key := range slices.Sorted(maps.Keys(sent)) {
		t.Errorf("%s %s arrived (status %d), and no line has its key %s", sent[key].Method, sent[key].ID, sent[key].Status, key)
	}
	t.Logf("audit: %d lines, %d requests at ARM: %d with their outcome, %d that arrived and whose outcome the worker did not live to write; %d more were announced and did not arrive",
		len(records), certain+unknown, certain, unknown, unseen)
	if certain == 0 {
		t.Error("no line has an outcome: the comparison compared nothing")
	}
	return unknown + unseen
}

// checkLine compares a line with the request that arrived.
func checkLine(t *testing.T, record audit.Record, request armsim.Request) {
	t.Helper()
	line := fmt.Sprintf("%s %s %s %s", record.Method, strings.ToLower(record.ID), record.APIVersion, record.CorrelationID)
	arrived := fmt.Sprintf("%s %s %s %s", request.Method, strings.ToLower(request.ID), request.APIVersion, request.CorrelationID)
	if line != arrived {
		t.Errorf("the line says %s, what arrived was %s", line, arrived)
	}
	if !record.Result.IsOpen() && record.Status != request.Status {
		t.Errorf("the line of %s has status %d, ARM returned %d", line, record.Status, request.Status)
	}
	if record.Generation == 0 || record.By == nil || record.By.Name == "" || record.By.Verified {
		t.Errorf("the line of %s has generation %d by %+v, want the generation and an unverified user", line, record.Generation, record.By)
	}
}
