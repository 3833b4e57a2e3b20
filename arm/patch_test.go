package arm

import (
	"net/http"
	"testing"
)

// TestPatch sends a PATCH with its ETag and follows its operation.
func TestPatch(t *testing.T) {
	client, sent := postServer(t, http.StatusOK, `{"name":"t1"}`)
	operation, err := client.Patch(t.Context(), thing(t), "2024-01-01", []byte(`{"tags":{}}`), PutOptions{IfMatch: `"1"`})
	if err != nil || !operation.Done || operation.Outcome != OutcomeSucceeded {
		t.Errorf("patch: %+v %v", operation, err)
	}
	if method, _, ifMatch, body := sent(); method != http.MethodPatch || ifMatch != `"1"` || body != `{"tags":{}}` {
		t.Errorf("sent %s If-Match %s %s", method, ifMatch, body)
	}
	client, _ = postServer(t, http.StatusBadRequest, `{"error":{"code":"Bad","message":"no"}}`)
	if _, err := client.Patch(t.Context(), thing(t), "2024-01-01", nil, PutOptions{}); err == nil {
		t.Error("a refusal is no error")
	}
}
