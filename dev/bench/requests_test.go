package bench

import (
	"os"
	"testing"
)

// TestRequests measures the requests to ARM of a create with an operation of two
// polls, a pass in sync, a blocked pass and a dry run, by verb and a resource.
// The table in package costs says what they may be, and an e2e test holds it.
func TestRequests(t *testing.T) {
	if os.Getenv(partVariable) == "all" {
		t.Skip("measured in the run of TestHistory")
	}
	measureCosts(t, "requests")
}
