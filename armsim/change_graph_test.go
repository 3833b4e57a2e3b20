package armsim_test

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/armature-io/armature/armsim"
)

// feedQuery is the query of a client that follows changes, with the bounds of its window.
const feedQuery = `resourcechanges
| union resourcecontainerchanges
| extend at = todatetime(properties.changeAttributes.timestamp)
| where at >= datetime(%s) and at < datetime(%s)
| project id, at, target = tostring(properties.targetResourceId), change = tostring(properties.changeType), correlation = tostring(properties.changeAttributes.correlationId), author = tostring(properties.changeAttributes.changedBy), kind = tostring(properties.changeAttributes.changedByType), client = tostring(properties.changeAttributes.clientType), operation = tostring(properties.changeAttributes.operation), paths = bag_keys(properties.changes)
| order by at asc, id asc`

// promptly reports every change at once.
var promptly = armsim.ChangeReports{Graph: armsim.Reporting{MaxDelay: -1}, Events: armsim.Reporting{MaxDelay: -1}, Merge: -1}

// graphQuery returns the answer to a query; options is JSON.
func (h *harness) graphQuery(kql, options string, headers ...string) response {
	h.t.Helper()
	encoded, err := json.Marshal(kql)
	if err != nil {
		h.t.Fatal(err)
	}
	body := fmt.Sprintf(`{"subscriptions":[%q],"query":%s,"options":%s}`, sub, encoded, options)
	return h.do("POST", "/providers/Microsoft.ResourceGraph/resources?api-version=2022-10-01", body, headers...)
}

// feedRow is a row of feedQuery.
type feedRow struct {
	ID, Target, Change, Correlation, Author, Kind, Client, Operation string
	At                                                               time.Time
	Paths                                                            []string
}

func (r feedRow) String() string {
	return strings.TrimSpace(fmt.Sprintf("%s %s %s", r.Change, r.Target[strings.LastIndex(r.Target, "/")+1:], strings.Join(r.Paths, " ")))
}

// feed returns all rows of the last ten minutes and the next one.
func (h *harness) feed() []feedRow {
	h.t.Helper()
	from, to := h.clock.Now().Add(-10*time.Minute), h.clock.Now().Add(time.Minute)
	answer := h.graphQuery(fmt.Sprintf(feedQuery, from.Format(time.RFC3339), to.Format(time.RFC3339)), `{"$top":1000}`)
	h.want(answer, 200, "")
	var page struct{ Data []feedRow }
	if err := json.Unmarshal([]byte(answer.raw), &page); err != nil {
		h.t.Fatal(err)
	}
	return page.Data
}

// shortFeed returns the rows in short.
func (h *harness) shortFeed() []string {
	h.t.Helper()
	var short []string
	for _, row := range h.feed() {
		short = append(short, row.String())
	}
	return short
}

// TestGraphRow compares a whole row.
func TestGraphRow(t *testing.T) {
	h := newHarness(t, armsim.Options{Changes: promptly})
	h.makeGroup()
	h.want(h.do("PUT", plain+version, `{"location":"westus2","properties":{"size":"S"}}`), 201, "")
	h.pass(1730 * time.Millisecond)
	h.want(h.do("PUT", plain+version, `{"location":"westus2","properties":{"size":"L"}}`, "Authorization", tokenOf(`{"appid":"`+clientID+`","idtyp":"app"}`), "x-ms-correlation-request-id", "c1"), 200, "")
	rows := h.feed()
	if len(rows) != 3 {
		t.Fatalf("%d rows, want 3: %v", len(rows), rows)
	}
	got := rows[2]
	name, found := strings.CutPrefix(got.ID, plain+"/providers/Microsoft.Resources/changes/")
	if !found || len(name) != 20+1+36 {
		t.Errorf("the ID is %s", got.ID)
	}
	got.ID = ""
	want := feedRow{
		At: h.clock.Now(), Target: plain, Change: "Update", Correlation: "c1", Author: clientID, Kind: "Application", Client: "Unspecified",
		Operation: "Microsoft.Example/things/write", Paths: []string{"properties.size"},
	}
	if fmt.Sprintf("%#v", got) != fmt.Sprintf("%#v", want) {
		t.Errorf("got %#v\nwant %#v", got, want)
	}
	if raw := h.graphQuery("resourcechanges | order by id | limit 1", "{}").raw; !strings.Contains(raw, `"targetResourceType":"microsoft.example/things"`) || !strings.Contains(raw, `"previousValue":"S"`) && !strings.Contains(raw, `"changeType":"Create"`) {
		t.Errorf("a whole row is %s", raw)
	}
	if unknown := rows[0]; unknown.Author != "Unspecified" || unknown.Operation != "Unspecified" || unknown.Paths != nil || unknown.Change != "Create" {
		t.Errorf("the row without an author is %#v", unknown)
	}
}

// TestGraphRecords checks which changes have a record, and of which resource.
func TestGraphRecords(t *testing.T) {
	const net = "?api-version=2024-05-01"
	makeNetwork := func(h *harness) {
		h.want(h.do("PUT", vnet+net, `{"location":"westus2","properties":{"addressSpace":{"addressPrefixes":["10.0.0.0/16"]},"subnets":[{"name":"a","properties":{"addressPrefix":"10.0.0.0/24"}}]}}`), 201, "")
		h.pass(time.Minute)
	}
	for name, test := range map[string]struct {
		change func(h *harness)
		want   []string
		reason string
	}{
		"a write without a difference": {func(h *harness) {
			h.want(h.do("PUT", plain+version, `{"location":"westus2"}`), 201, "")
			h.want(h.do("PUT", plain+version, `{"location":"westus2"}`), 200, "")
		}, []string{"Create t1"}, "the snapshots are the same"},
		"an inline child": {func(h *harness) {
			makeNetwork(h)
			h.want(h.do("PUT", subnet+net, `{"properties":{"addressPrefix":"10.0.1.0/24"}}`), 200, "")
			h.pass(time.Minute)
		}, []string{"Create vnet1", "Update vnet1 etag properties.subnets[0].properties.addressPrefix"}, "the parent has changed"},
		"a deleted inline child": {func(h *harness) {
			makeNetwork(h)
			h.want(h.do("DELETE", subnet+net, ""), 202, "")
			h.pass(time.Minute)
		}, []string{"Create vnet1", "Update vnet1 properties.subnets[0].id"}, "the parent has changed"},
		"a child without a location": {func(h *harness) {
			h.want(h.do("PUT", plain+version, `{"location":"westus2"}`), 201, "")
			h.want(h.do("PUT", plain+"/parts/p"+version, `{"properties":{}}`), 201, "")
		}, []string{"Create t1"}, "it is in no table"},
		"an extension resource": {func(h *harness) {
			h.want(h.do("PUT", group+"/providers/Microsoft.Authorization/locks/l?api-version=2020-05-01", `{"properties":{"level":"CanNotDelete"}}`), 201, "")
		}, nil, "it is in no table"},
		"an action": {func(h *harness) {
			h.want(h.do("PUT", plain+version, `{"location":"westus2"}`), 201, "")
			h.want(h.do("POST", plain+"/listKeys"+version, ""), 200, "")
		}, []string{"Create t1"}, "Event Grid alone reports actions"},
		"a deletion with children": {func(h *harness) {
			h.want(h.do("PUT", plain+version, `{"location":"westus2"}`), 201, "")
			h.want(h.do("PUT", plain+"/parts/p"+version, `{"location":"westus2"}`), 201, "")
			h.pass(time.Minute)
			h.want(h.do("DELETE", plain+version, ""), 200, "")
		}, []string{"Create t1", "Create p", "Delete p", "Delete t1"}, "tracked children have records of their own"},
		"a group": {func(h *harness) {
			h.pass(time.Second)
			h.want(h.do("PUT", group+version, `{"location":"westus2","tags":{"a":"b"}}`), 200, "")
		}, []string{"Update rg1 tags.a"}, "in the table of containers"},
	} {
		t.Run(name, func(t *testing.T) {
			h := newHarness(t, armsim.Options{Changes: promptly})
			h.makeGroup()
			h.pass(time.Second)
			test.change(h)
			got := h.shortFeed()[1:]
			if len(got) == 0 {
				got = nil
			}
			if len(got) != len(test.want) {
				t.Fatalf("%s: got %q, want %q", test.reason, got, test.want)
			}
			slices.Sort(got)
			want := slices.Sorted(slices.Values(test.want))
			for i := range got {
				for _, part := range strings.Fields(want[i]) {
					if part != "etag" && !strings.Contains(got[i], part) {
						t.Errorf("%s: got %q, want %q", test.reason, got, want)
					}
				}
			}
		})
	}
}

// TestGraphDelay checks that a record is visible after its delay, and not after its
// retention.
func TestGraphDelay(t *testing.T) {
	reports := armsim.ChangeReports{Graph: armsim.Reporting{MinDelay: time.Minute, MaxDelay: time.Minute}, Retention: 5 * time.Minute}
	h := newHarness(t, armsim.Options{Changes: reports})
	h.makeGroup()
	h.pass(59 * time.Second)
	if rows := h.feed(); len(rows) != 0 {
		t.Errorf("visible too early: %v", rows)
	}
	h.pass(time.Second)
	if rows := h.feed(); len(rows) != 1 {
		t.Errorf("%d rows after the delay, want 1", len(rows))
	}
	h.pass(5 * time.Minute)
	if rows := h.feed(); len(rows) != 0 {
		t.Errorf("visible after the retention: %v", rows)
	}
}

// TestGraphDefaults checks that the defaults lose nothing and are within five minutes.
func TestGraphDefaults(t *testing.T) {
	h := newHarness(t, armsim.Options{})
	h.makeGroup()
	for i := range 50 {
		h.want(h.do("PUT", fmt.Sprintf("%s%d%s", plain, i, version), `{"location":"westus2"}`), 201, "")
	}
	if rows := h.feed(); len(rows) != 0 {
		t.Errorf("%d rows at once", len(rows))
	}
	h.pass(2 * time.Minute)
	if n := len(h.feed()); n == 0 || n == 51 {
		t.Errorf("%d rows after two minutes, want some of 51", n)
	}
	h.pass(3 * time.Minute)
	if n := len(h.feed()); n != 51 {
		t.Errorf("%d rows after five minutes, want 51", n)
	}
}

// TestGraphMerge checks that two updates of one moment have one record, with the author of
// the second one, and none if the second one undoes the first one.
func TestGraphMerge(t *testing.T) {
	put := func(h *harness, size, upn string) {
		h.want(h.do("PUT", plain+version, `{"location":"westus2","properties":{"size":"`+size+`","n":"1"}}`, "Authorization", tokenOf(`{"upn":"`+upn+`"}`)), 200, "")
	}
	for name, test := range map[string]struct {
		second string
		wait   time.Duration
		want   []string
	}{
		"joined":        {"XL", time.Second, []string{"Update t1 properties.size by bob@contoso.com"}},
		"undone":        {"S", time.Second, nil},
		"at other time": {"XL", 3 * time.Second, []string{"Update t1 properties.size by alice@contoso.com", "Update t1 properties.size by bob@contoso.com"}},
	} {
		t.Run(name, func(t *testing.T) {
			h := newHarness(t, armsim.Options{})
			h.makeGroup()
			h.want(h.do("PUT", plain+version, `{"location":"westus2","properties":{"size":"S","n":"1"}}`), 201, "")
			h.pass(time.Minute)
			put(h, "L", "alice@contoso.com")
			h.pass(test.wait)
			put(h, test.second, "bob@contoso.com")
			h.pass(5 * time.Minute)
			var got []string
			for _, row := range h.feed()[2:] {
				got = append(got, row.String()+" by "+row.Author)
			}
			if !slices.Equal(got, test.want) {
				t.Errorf("got %q, want %q", got, test.want)
			}
		})
	}
}

// TestGraphFaults checks losses, doubles and disorder of a thousand changes.
func TestGraphFaults(t *testing.T) {
	reports := armsim.ChangeReports{Graph: armsim.Reporting{MaxDelay: time.Minute, Lost: 0.1, Doubled: 0.1, Shuffled: 0.1}}
	h := newHarness(t, armsim.Options{Changes: reports, PageSize: 1})
	h.makeGroup()
	for i := range 999 {
		h.want(h.do("PUT", fmt.Sprintf("%s%d%s", plain, i, version), `{"location":"westus2"}`), 201, "")
	}
	h.pass(time.Minute)
	early := h.feed()
	h.pass(time.Minute)
	answer := h.graphQuery("resourcechanges | project id, target = tostring(properties.targetResourceId) | order by id asc", `{"$top":1000}`)
	seen := map[string]int{}
	for {
		for _, row := range answer.at("data").([]any) {
			seen[row.(map[string]any)["target"].(string)]++
		}
		token, more := answer.at("$skipToken").(string)
		if !more {
			break
		}
		answer = h.graphQuery("resourcechanges | project id, target = tostring(properties.targetResourceId) | order by id asc", `{"$top":1000,"$skipToken":"`+token+`"}`)
	}
	doubled := 0
	for _, n := range seen {
		doubled += n - 1
	}
	if lost := 999 - len(seen); lost < 60 || lost > 140 || doubled < 60 || doubled > 140 {
		t.Errorf("of 999 changes %d are lost and %d doubled, want about 100 each", lost, doubled)
	}
	if late := len(seen) + doubled - len(early); late < 60 || late > 180 {
		t.Errorf("%d reports came later than the longest delay, want about 100", late)
	}
}

// TestGraphHalfway checks that an accepted write can have a record before its end.
func TestGraphHalfway(t *testing.T) {
	reports := promptly
	reports.Halfway = 1
	h := newHarness(t, armsim.Options{Changes: reports})
	h.makeGroup()
	h.pass(time.Second)
	h.want(h.do("PUT", vnet+"?api-version=2024-05-01", `{"location":"westus2"}`), 201, "")
	if got, want := h.shortFeed()[1:], []string{"Create vnet1"}; !slices.Equal(got, want) {
		t.Errorf("got %q before the end, want %q", got, want)
	}
	h.pass(time.Minute)
	if got := h.shortFeed(); len(got) != 3 || !strings.Contains(got[2], "properties.provisioningState") {
		t.Errorf("got %q after the end", got)
	}
}

// TestGraphRights checks that a query returns what its principal may read, and that the
// service refuses it if that is nothing.
func TestGraphRights(t *testing.T) {
	h := newHarness(t, armsim.Options{Changes: promptly})
	h.makeGroup()
	h.want(h.do("PUT", plain+version, `{"location":"westus2"}`), 201, "")
	h.Deny(armsim.Denial{Scope: plain, Method: "GET"})
	if got, want := h.shortFeed(), []string{"Create rg1"}; !slices.Equal(got, want) {
		t.Errorf("got %q, want %q", got, want)
	}
	h.Deny(armsim.Denial{Scope: root + "*"})
	h.want(h.graphQuery("resourcechanges | project id", "{}"), 403, "AuthorizationFailed")
	h.AllowAll()
	h.Deny(armsim.Denial{Scope: "/providers/Microsoft.ResourceGraph*"})
	refused := h.graphQuery("resourcechanges | project id", "{}")
	h.want(refused, 403, "AuthorizationFailed")
	if !strings.Contains(refused.raw, "'Microsoft.ResourceGraph/resources/read'") {
		t.Errorf("the refusal names another action: %s", refused.raw)
	}
}

// TestChangesQuota checks that queries of changes count for the quota of a principal.
func TestChangesQuota(t *testing.T) {
	h := newHarness(t, armsim.Options{Changes: promptly})
	for range 15 {
		h.want(h.graphQuery("resourcechanges | project id", "{}"), 200, "")
	}
	throttled := h.graphQuery("resourcechanges | project id", "{}")
	h.want(throttled, 429, "RateLimiting")
	if throttled.header.Get("Retry-After") != "5" {
		t.Errorf("Retry-After is %q", throttled.header.Get("Retry-After"))
	}
	h.want(h.graphQuery("resourcechanges | project id", "{}", "Authorization", tokenOf(`{"oid":"another"}`)), 200, "")
}

// TestChangesAfterRestore checks that restored resources are no changes, and are compared
// with what they were.
func TestChangesAfterRestore(t *testing.T) {
	h := newHarness(t, armsim.Options{Changes: promptly})
	h.makeGroup()
	h.want(h.do("PUT", plain+version, `{"location":"westus2","properties":{"size":"S"}}`), 201, "")
	saved, err := h.Snapshot()
	if err != nil {
		t.Fatal(err)
	}
	h = newHarness(t, armsim.Options{Changes: promptly})
	if err := h.Restore(saved); err != nil {
		t.Fatal(err)
	}
	if rows := h.feed(); len(rows) != 0 {
		t.Errorf("restored resources are changes: %v", rows)
	}
	h.want(h.do("PUT", plain+version, `{"location":"westus2","properties":{"size":"L"}}`), 200, "")
	if got, want := h.shortFeed(), []string{"Update t1 properties.size"}; !slices.Equal(got, want) {
		t.Errorf("got %q, want %q", got, want)
	}
	if got, want := h.lastChanges(0), []string{"Update t1 properties.size by Unspecified"}; !slices.Equal(got, want) {
		t.Errorf("got %q, want %q", got, want)
	}
}

// TestChangeQueries checks what the parser refuses.
func TestChangeQueries(t *testing.T) {
	for query, status := range map[string]int{
		"resourcechanges":              200,
		" ResourceChanges\n|limit 1\n": 200,
		"resourcecontainerchanges | where properties.changeType == 'Create' | project id":                                  200,
		"resourcechanges|extend a=tostring(properties.changeType)|where a=~'create'and a=='Create'|project id|order by id": 200,
		"resourcechanges | where name in ('a')":                                                                            400,
		"resourcechanges | join resources on id":                                                                           400,
		"resourcechanges | where at > datetime(2026-05-01)":                                                                400,
		"resourcechanges | extend at = todatetime(properties.changeAttributes.timestamp) | where at > datetime(yesterday)": 400,
		"resourcechanges | extend at = todatetime(properties.changeAttributes.timestamp) | where at > ago(1d)":             400,
		"resourcechanges | project id, at":                                                                                 400,
		"resourcechanges | project id = tostring(name | order by id":                                                       400,
		"resourcechanges | summarize count()":                                                                              400,
		"resourcechanges | project id | where name == 'a'":                                                                 400,
		"resourcechanges | where name == 'a' or name == 'b'":                                                               400,
		"resourcechanges | union resources":                                                                                400,
		"resourcechanges | where name == 'a' | union resourcecontainerchanges":                                             400,
		"resourcechanges | project":                                                                                        400,
		"resourcechanges; resourcechanges":                                                                                 400,
	} {
		t.Run(query, func(t *testing.T) {
			h := newHarness(t, armsim.Options{Changes: promptly})
			h.makeGroup()
			answer := h.graphQuery(query, "{}")
			if answer.status != status || status == 400 && !strings.Contains(answer.raw, `"InvalidQuery"`) {
				t.Errorf("got %d, want %d: %s", answer.status, status, answer.raw)
			}
		})
	}
}

// TestGraphScaledTime checks that timestamps are in real time: the clock of a client does
// not follow the simulated one.
func TestGraphScaledTime(t *testing.T) {
	h := newHarness(t, armsim.Options{TimeScale: 600, Changes: promptly})
	h.makeGroup()
	h.Advance(time.Hour)
	h.pass(time.Second)
	sent := h.clock.Now()
	h.want(h.do("PUT", vnet+"?api-version=2024-05-01", `{"location":"westus2"}`), 201, "")
	h.pass(time.Second)
	rows := h.feed()
	if want := sent.Add(5 * time.Millisecond); len(rows) != 2 || !rows[1].At.Equal(want) {
		t.Errorf("the rows are %v, want the end of an operation of 3 s at %s", rows, want)
	}
	sent = h.clock.Now()
	h.want(h.do("PUT", vnet+"2?api-version=2024-05-01", `{"location":"westus2"}`), 201, "")
	h.Advance(time.Hour)
	if rows = h.feed(); len(rows) != 3 || rows[2].At.Before(sent) {
		t.Errorf("the rows are %v, want none before its request at %s", rows, sent)
	}
}

// TestReportsByControl checks that the control API changes how later changes are reported.
func TestReportsByControl(t *testing.T) {
	h := newHarness(t, armsim.Options{Changes: promptly})
	h.makeGroup()
	h.want(h.do("PUT", "/_sim/reports", `{"graph":{"lost":1}}`), 200, "")
	h.want(h.do("PUT", plain+version, `{"location":"westus2"}`), 201, "")
	if got, want := h.shortFeed(), []string{"Create rg1"}; !slices.Equal(got, want) {
		t.Errorf("got %q, want %q", got, want)
	}
}
