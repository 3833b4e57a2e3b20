package armsim_test

import (
	"strings"
	"testing"
	"time"

	"github.com/armature-io/armature/armsim"
)

const lock = "/providers/Microsoft.Authorization/locks/"

func TestLocks(t *testing.T) {
	child := plain + "/kids/k"
	tests := map[string]struct {
		scope, level string
		method, id   string
		status       int
		code         string
		reason       string
	}{
		"delete at the scope":       {plain, "CanNotDelete", "DELETE", plain, 409, "ScopeLocked", "the lock is on the resource"},
		"delete below":              {group, "CanNotDelete", "DELETE", child, 409, "ScopeLocked", "locks are inherited"},
		"delete under subscription": {root, "CanNotDelete", "DELETE", child, 409, "ScopeLocked", "locks are inherited from any scope"},
		"delete above":              {child, "CanNotDelete", "DELETE", group, 409, "ScopeLocked", "it would delete a locked resource"},
		"delete beside":             {plain, "CanNotDelete", "DELETE", plain + "2", 200, "", "the lock is on another resource"},
		"write under CanNotDelete":  {group, "CanNotDelete", "PUT", plain, 200, "", "only deletes are refused"},
		"write under ReadOnly":      {group, "ReadOnly", "PUT", plain, 409, "ScopeLocked", "writes are refused too"},
		"create under ReadOnly":     {group, "ReadOnly", "PUT", plain + "3", 409, "ScopeLocked", "writes are refused too"},
		"action under ReadOnly":     {group, "readonly", "POST", plain + "/listKeys", 409, "ScopeLocked", "a POST is a write"},
		"delete under ReadOnly":     {group, "ReadOnly", "DELETE", plain, 409, "ScopeLocked", "deletes are refused too"},
		"write above ReadOnly":      {plain, "ReadOnly", "PUT", group, 200, "", "a write does not change resources below"},
		"read under ReadOnly":       {group, "ReadOnly", "GET", plain, 200, "", "reads are not refused"},
		"delete of the lock":        {group, "ReadOnly", "DELETE", group + lock + "l", 200, "", "a lock does not protect itself"},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			h := newHarness(t, armsim.Options{})
			for _, id := range []string{child, plain + "2"} {
				if err := h.Put(id, map[string]any{"location": "westus2"}); err != nil {
					t.Fatal(err)
				}
			}
			h.want(h.do("PUT", test.scope+lock+"l"+version, `{"properties":{"level":"`+test.level+`","notes":"keep"}}`), 201, "")
			got := h.do(test.method, test.id+version, located)
			if got.status != test.status || got.code() != test.code {
				t.Fatalf("got %d %q, want %d %q since %s: %s", got.status, got.code(), test.status, test.code, test.reason, got.raw)
			}
			if test.code != "" && !strings.Contains(got.raw, "following scope(s) are locked: '"+test.scope+"'") {
				t.Errorf("the message does not name the locked scope: %s", got.raw)
			}
			h.Delete(test.scope + lock + "l")
			if got := h.do(test.method, test.id+version, located); got.code() == "ScopeLocked" {
				t.Errorf("still locked: %s", got.raw)
			}
		})
	}
}

func TestLockList(t *testing.T) {
	h := newHarness(t, armsim.Options{})
	if err := h.Put(plain, map[string]any{"location": "westus2"}); err != nil {
		t.Fatal(err)
	}
	level := `{"properties":{"level":"CanNotDelete"}}`
	h.want(h.do("PUT", group+lock+"bad"+version, `{"properties":{"level":"Sometimes"}}`), 400, "BadRequest")
	for _, scope := range []string{root, group, plain} {
		h.want(h.do("PUT", scope+lock+"l"+version, level), 201, "")
		h.want(h.do("PUT", scope+lock+"l"+version, level), 200, "")
		h.wantAt(h.do("GET", scope+lock+"l"+version, ""), "properties.level", "CanNotDelete")
	}
	for url, want := range map[string]int{
		root + lock: 3, group + lock: 3, plain + lock: 3,
	} {
		url = strings.TrimSuffix(url, "/") + version
		list := h.do("GET", url, "")
		if got := len(list.at("value").([]any)); got != want {
			t.Errorf("%s lists %d locks, want %d: %s", url, got, want, list.raw)
		}
	}
	atScope := h.do("GET", group+strings.TrimSuffix(lock, "/")+version+"&$filter=atScope()", "")
	if got := len(atScope.at("value").([]any)); got != 2 {
		t.Errorf("atScope() lists %d locks, want the group's and the subscription's: %s", got, atScope.raw)
	}
	h.want(h.do("DELETE", group+version, ""), 409, "ScopeLocked")
	for _, scope := range []string{plain, group, root} {
		h.want(h.do("DELETE", scope+lock+"l"+version, ""), 200, "")
	}
	h.want(h.do("DELETE", group+version, ""), 202, "")
	h.pass(time.Hour)
	h.want(h.do("GET", group+version, ""), 404, "ResourceGroupNotFound")
}
