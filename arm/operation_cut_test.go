package arm

import (
	"errors"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
)

// TestTruncatedResponses covers connections that end in the middle of a body.
func TestTruncatedResponses(t *testing.T) {
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Content-Length", "1000")
		if r.Method == http.MethodPut {
			w.WriteHeader(http.StatusCreated)
		}
		_, _ = w.Write([]byte(`{"status":"Succeeded"}`))
		if err := http.NewResponseController(w).Flush(); err != nil {
			t.Error(err)
		}
		panic(http.ErrAbortHandler) // cuts the connection
	}))
	t.Cleanup(server.Close)
	client, id := clientFor(t, server.URL, nil), parseID(t, clusterID)

	var answer *Error
	if _, err := client.Get(testContext(t), id, apiVersion); err == nil || errors.As(err, &answer) {
		t.Errorf("get: got %v, want a transport error", err)
	}
	op, err := client.Put(testContext(t), id, apiVersion, []byte(`{}`), PutOptions{})
	if err != nil || op.Outcome != OutcomeUnreadable || op.Done {
		t.Errorf("put: got %+v, %v: it was accepted, only its response is lost", op, err)
	}
	poller := `{"via":"azure-asyncoperation","poller":"{\"type\":\"RawMessage\",\"token\":{\"asyncURL\":\"` + server.URL + `/op?s=signed\"}}"}`
	if poll, err := client.Poll(testContext(t), poller); err == nil || strings.Contains(err.Error(), "signed") {
		t.Errorf("poll: got %+v, %v, want an error: the response is incomplete", poll, err)
	}
}
