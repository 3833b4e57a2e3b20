package bench

import (
	"os"
	"testing"
)

// TestRequests measures the requests to ARM of a create with an operation of two polls,
// a pass in sync, a blocked pass and a dry run, by verb and per resource. The table in
// package costs has the limits, which an e2e test checks.
func TestRequests(t *testing.T) {
	if os.Getenv(partVariable) == "all" {
		t.Skip("measured in the run of TestHistory")
	}
	measureCosts(t, "requests")
}
